//! Reads the object `mcpr` at the top of the file.

use std::path::Path;

use mcpr_auth::Rate;
use mcpr_registry::Naming;
use mcpr_upstream::Timeouts;

use super::plans::{history, named, project, toolset};
use super::{
    Control, Drain, GatewayOptions, Limits, Listen, LogFile, LogOptions, PerPrincipal, Startup, TlsFiles,
};
use crate::fault::Fault;
use crate::keys;
use crate::paths::Folder;
use crate::read::Members;
use crate::tree::Node;

/// Reads all of it over the defaults. `folder` tells a file's folder, which relative paths start from.
pub(crate) fn read(node: &Node, folder: &dyn Fn(&Path) -> Folder) -> Result<GatewayOptions, Fault> {
    let members = node.members(&keys::GATEWAY)?;
    let mut options = GatewayOptions::default();
    serving(&mut options, &members)?;
    members.read_into(&mut options.tls, "tls", |node| tls(node, folder))?;
    members.read("naming", |node| naming(&mut options.naming, node))?;
    members.read("resources", |node| resources(&mut options.naming, node))?;
    members.read_into(&mut options.startup, "startup", startup)?;
    members.read_into(&mut options.timeouts, "timeouts", |node| {
        timeouts(node, Timeouts::default())
    })?;
    members.read_into(&mut options.pins, "pins", |node| node.choice(&keys::PINS))?;
    members.read_into(&mut options.drain, "drain", drain)?;
    members.read_into(&mut options.control, "control", control)?;
    members.read_into(&mut options.limits, "limits", limits)?;
    members.read_into(&mut options.log, "log", |node| log(node, folder))?;
    plans(&mut options, &members)?;
    Ok(options)
}

fn serving(options: &mut GatewayOptions, members: &Members<'_>) -> Result<(), Fault> {
    members.read_into(&mut options.listen, "listen", |node| {
        let listen = node
            .text()?
            .parse::<Listen>()
            .map_err(|error| node.fault(format_args!("is not valid: {error}")))?;
        Ok(listen.with_port(super::DEFAULT_PORT))
    })?;
    members.read_into(&mut options.allowed_hosts, "allowedHosts", |node| {
        each(node, host)
    })?;
    members.read_into(&mut options.allowed_origins, "allowedOrigins", |node| {
        each(node, origin)
    })
}

fn tls(node: &Node, folder: &dyn Fn(&Path) -> Folder) -> Result<Option<TlsFiles>, Fault> {
    let members = node.members(&keys::TLS)?;
    let path = |node: &Node| Ok(folder(&node.place.file).path(&node.filled()?));
    match (members.read("cert", path)?, members.read("key", path)?) {
        (Some(cert), Some(key)) => Ok(Some(TlsFiles { cert, key })),
        (None, None) => Ok(None),
        _ => Err(node.fault("needs both `cert` and `key`, the files of a certificate and of its key")),
    }
}

fn each<T>(node: &Node, how: impl Fn(&Node) -> Result<T, Fault>) -> Result<Vec<T>, Fault> {
    node.items()?.iter().map(how).collect()
}

fn host(node: &Node) -> Result<String, Fault> {
    let host = node.filled()?;
    let name = host.strip_suffix(":*").unwrap_or(&host);
    if name.is_empty() || name.contains(['/', '*', '@']) {
        return Err(node.fault("must be a host such as `mcp.example.com`, without scheme, path or `*`"));
    }
    Ok(host)
}

fn origin(node: &Node) -> Result<String, Fault> {
    let origin = node.filled()?;
    let rest = origin.split_once("://").map_or("", |(_, rest)| rest);
    if rest.is_empty() || rest.contains(['/', '*', '@']) {
        return Err(node.fault("must be an origin such as `https://example.com`, without path or `*`"));
    }
    Ok(origin)
}

fn naming(naming: &mut Naming, node: &Node) -> Result<(), Fault> {
    let members = node.members(&keys::NAMING)?;
    members.read_into(&mut naming.prefix, "prefix", |node| node.choice(&keys::PREFIX))?;
    members.read_into(&mut naming.separator, "separator", separator)?;
    members.read_into(&mut naming.max_length, "maxLength", |node| node.whole(16..=128))?;
    members.read_into(&mut naming.hyphens, "hyphens", |node| node.choice(&keys::HYPHENS))
}

fn separator(node: &Node) -> Result<String, Fault> {
    let text = node.text()?;
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if (1..=8).contains(&text.len()) && text.chars().all(legal) {
        Ok(text.to_owned())
    } else {
        Err(node.fault("must be 1 to 8 letters, digits, `_` or `-`: clients accept no others in names"))
    }
}

fn resources(naming: &mut Naming, node: &Node) -> Result<(), Fault> {
    let members = node.members(&keys::RESOURCES)?;
    members.read_into(&mut naming.uris, "uris", |node| node.choice(&keys::URIS))?;
    members.read_into(&mut naming.raw_schemes, "rawSchemes", |node| each(node, scheme))
}

fn scheme(node: &Node) -> Result<String, Fault> {
    let text = node.text()?;
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    if text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(legal) {
        Ok(text.to_ascii_lowercase())
    } else {
        Err(node.fault("must be the scheme of a URI such as `ui`, without `:`"))
    }
}

fn startup(node: &Node) -> Result<Startup, Fault> {
    let mut startup = Startup::default();
    let members = node.members(&keys::STARTUP)?;
    members.read_into(&mut startup.mode, "mode", |node| node.choice(&keys::START_MODE))?;
    members.read_into(&mut startup.order, "order", |node| {
        node.choice(&keys::START_ORDER)
    })?;
    members.read_into(&mut startup.parallel, "parallel", |node| node.whole(1..=1000))?;
    members.read_into(&mut startup.when, "when", |node| node.choice(&keys::START_WHEN))?;
    members.read_into(&mut startup.list_wait, "listWait", Node::duration)?;
    Ok(startup)
}

/// Reads time limits, of the gateway or of a server, over those in `base`.
pub(crate) fn timeouts(node: &Node, base: Timeouts) -> Result<Timeouts, Fault> {
    let mut timeouts = base;
    let members = node.members(&keys::TIMEOUTS)?;
    members.read_into(&mut timeouts.start, "start", Node::duration)?;
    members.read_into(&mut timeouts.call, "call", Node::limit)?;
    members.read_into(&mut timeouts.silence, "silence", Node::limit)?;
    Ok(timeouts)
}

fn control(node: &Node) -> Result<Control, Fault> {
    let mut control = Control::default();
    let members = node.members(&keys::CONTROL)?;
    members.read_into(&mut control.token, "token", Node::boolean)?;
    Ok(control)
}

fn drain(node: &Node) -> Result<Drain, Fault> {
    let mut drain = Drain::default();
    let members = node.members(&keys::DRAIN)?;
    members.read_into(&mut drain.grace, "grace", Node::duration)?;
    Ok(drain)
}

fn limits(node: &Node) -> Result<Limits, Fault> {
    let mut limits = Limits::default();
    let members = node.members(&keys::LIMITS)?;
    members.read_into(&mut limits.request_body, "requestBody", Node::size)?;
    members.read_into(&mut limits.connections, "connections", |node| {
        node.whole(1..=1_000_000)
    })?;
    members.read_into(&mut limits.server_message, "serverMessage", Node::size)?;
    members.read_into(&mut limits.list_pages, "listPages", |node| {
        node.whole(1..=1_000_000)
    })?;
    members.read_into(&mut limits.page_size, "pageSize", page_size)?;
    members.read_into(&mut limits.sessions, "sessions", |node| node.whole(1..=1_000_000))?;
    members.read_into(&mut limits.session_idle, "sessionIdle", Node::duration)?;
    members.read_into(&mut limits.subscriptions, "subscriptions", |node| {
        node.whole(1..=1_000_000)
    })?;
    members.read_into(&mut limits.per_principal, "perPrincipal", per_principal)?;
    Ok(limits)
}

fn per_principal(node: &Node) -> Result<PerPrincipal, Fault> {
    let mut limits = PerPrincipal::default();
    let members = node.members(&keys::PER_PRINCIPAL)?;
    let count = |node: &Node| node.whole(1..=1_000_000);
    members.read_into(&mut limits.in_flight, "inFlight", count)?;
    members.read_into(&mut limits.sessions, "sessions", count)?;
    members.read_into(&mut limits.streams, "streams", count)?;
    members.read_into(&mut limits.connections, "connections", count)?;
    members.read_into(&mut limits.subscriptions, "subscriptions", count)?;
    members.read_into(&mut limits.rate, "rate", rate)?;
    Ok(limits)
}

fn rate(node: &Node) -> Result<Option<Rate>, Fault> {
    match node.text()? {
        "off" => Ok(None),
        text => text
            .parse()
            .map(Some)
            .map_err(|error| node.fault(format_args!("is not valid: {error}, or \"off\""))),
    }
}

fn page_size(node: &Node) -> Result<Option<usize>, Fault> {
    if node.text().is_ok_and(|text| text == "off") {
        return Ok(None);
    }
    let size = node.whole(1..=1_000_000).map(Some);
    size.map_err(|fault| fault.hint("\"off\" puts every list on one page"))
}

fn log(node: &Node, folder: &dyn Fn(&Path) -> Folder) -> Result<LogOptions, Fault> {
    let mut log = LogOptions::default();
    let members = node.members(&keys::LOG)?;
    members.read_into(&mut log.level, "level", |node| node.choice(&keys::LOG_LEVEL))?;
    members.read_into(&mut log.format, "format", |node| {
        node.choice(&keys::LOG_FORMAT).map(Some)
    })?;
    members.read_into(&mut log.file, "file", |node| log_file(node, folder))?;
    members.read_into(&mut log.keep, "keep", |node| node.whole(1..=10_000))?;
    Ok(log)
}

fn log_file(node: &Node, folder: &dyn Fn(&Path) -> Folder) -> Result<LogFile, Fault> {
    match node.filled()?.as_str() {
        "auto" => Ok(LogFile::Auto),
        "off" => Ok(LogFile::Off),
        path => Ok(LogFile::At(folder(&node.place.file).path(path))),
    }
}

fn plans(options: &mut GatewayOptions, members: &Members<'_>) -> Result<(), Fault> {
    members.read_into(&mut options.expose, "expose", |node| node.choice(&keys::EXPOSE))?;
    members.read_into(&mut options.builtins, "builtins", Node::boolean)?;
    members.read_into(&mut options.projects, "projects", |node| named(node, project))?;
    members.read_into(&mut options.toolsets, "toolsets", |node| named(node, toolset))?;
    members.read_into(&mut options.history, "history", history)
}

//! Reads the object `mcpr` of a server.

use mcpr_protocol::Version;
use mcpr_registry::{Overrides, ServerName, ServerNaming, ToolOverride};
use mcpr_upstream::{Backoff, ProtocolChoice, Queue, UpstreamSpec};

use super::reader::RESERVED;
use super::{Backends, ToolFilter};
use crate::fault::Fault;
use crate::gateway::timeouts;
use crate::keys;
use crate::read::Members;
use crate::tree::{Key, Node};

/// More calls at once are a slip of the pen.
const MOST_CALLS: usize = 1_000_000;

/// More processes of one server are, too.
const MOST_REPLICAS: usize = 1000;

/// Reads how the server is treated into `spec`.
pub(super) fn treatment(spec: &mut UpstreamSpec, own: Members<'_>) -> Result<(), Fault> {
    own.read_into(&mut spec.protocol, "protocol", protocol)?;
    let base = spec.timeouts;
    own.read_into(&mut spec.timeouts, "timeouts", |node| timeouts(node, base))?;
    own.read_into(&mut spec.max_concurrency, "maxConcurrency", |node| {
        node.whole(1..=MOST_CALLS)
    })?;
    own.read("queue", |node| queue(&mut spec.queue, node))?;
    own.read_into(&mut spec.lazy, "lazy", Node::boolean)?;
    own.read_into(&mut spec.stop_after_idle, "stopAfterIdle", Node::limit)?;
    own.read_into(&mut spec.isolation, "isolation", |node| {
        node.choice(&keys::ISOLATION)
    })?;
    own.read("restart", |node| restart(&mut spec.restart, node))?;
    Ok(())
}

fn protocol(node: &Node) -> Result<ProtocolChoice, Fault> {
    match node.text()? {
        "auto" => Ok(ProtocolChoice::Auto),
        "session" => Ok(ProtocolChoice::Session),
        "stateless" => Ok(ProtocolChoice::Stateless),
        text => text.parse().map(ProtocolChoice::Exactly).map_err(|_| {
            let versions = Version::ALL.map(|version| format!("`{version}`")).join(", ");
            node.fault(format_args!(
                "must be `auto`, `session`, `stateless` or one of {versions}, not `{text}`"
            ))
        }),
    }
}

fn queue(queue: &mut Queue, node: &Node) -> Result<(), Fault> {
    let members = node.members(&keys::QUEUE)?;
    members.read_into(&mut queue.max, "max", |node| node.whole(0..=MOST_CALLS))?;
    members.read_into(&mut queue.wait, "wait", Node::duration)
}

fn restart(restart: &mut Backoff, node: &Node) -> Result<(), Fault> {
    let members = node.members(&keys::RESTART)?;
    members.read_into(&mut restart.min, "backoffMin", Node::duration)?;
    members.read_into(&mut restart.max, "backoffMax", Node::duration)?;
    if restart.min > restart.max {
        return Err(node.fault("has a `backoffMin` beyond its `backoffMax`"));
    }
    Ok(())
}

pub(super) fn naming(own: Members<'_>) -> Result<ServerNaming, Fault> {
    let style = |node: &Node| {
        let members = node.members(&keys::SERVER_NAMING)?;
        members.read("style", |node| node.choice(&keys::NAMING_STYLE))
    };
    let uris = |node: &Node| {
        let members = node.members(&keys::SERVER_RESOURCES)?;
        members.read("uris", |node| node.choice(&keys::URIS))
    };
    Ok(ServerNaming {
        prefix: own.read("prefix", |node| node.text().map(str::to_owned))?,
        raw: own.read("naming", style)?.flatten().unwrap_or(false),
        uris: own.read("resources", uris)?.flatten(),
    })
}

pub(super) fn tools(own: Members<'_>) -> Result<ToolFilter, Fault> {
    let filter = |node: &Node| {
        let members = node.members(&keys::TOOL_FILTER)?;
        let mut filter = ToolFilter::default();
        members.read_into(&mut filter.allow, "allow", Node::texts)?;
        members.read_into(&mut filter.deny, "deny", Node::texts)?;
        members.read_into(&mut filter.overrides, "override", overrides)?;
        Ok(filter)
    };
    Ok(own.read("tools", filter)?.unwrap_or_default())
}

fn overrides(node: &Node) -> Result<Overrides, Fault> {
    let read = |(tool, node): &(Key, Node)| {
        let members = node.members(&keys::TOOL_OVERRIDE)?;
        let name = members.read("name", Node::filled)?;
        let description = members.read("description", Node::filled)?;
        Ok((tool.text.clone(), ToolOverride { name, description }))
    };
    node.entries()?.iter().map(read).collect()
}

/// How calls are spread; the addresses are read elsewhere.
pub(super) fn backends(own: Members<'_>) -> Result<Backends, Fault> {
    let mut backends = Backends::default();
    own.read_into(&mut backends.replicas, "replicas", |node| {
        node.whole(1..=MOST_REPLICAS)
    })?;
    own.read_into(&mut backends.spread, "balance", |node| {
        node.choice(&keys::BALANCE)
    })?;
    own.read_into(&mut backends.group, "group", |node| group(node).map(Some))?;
    own.read_into(&mut backends.tags, "tags", Node::texts)?;
    own.read_into(&mut backends.repeat, "retry", |node| node.choice(&keys::RETRY))?;
    Ok(backends)
}

fn group(node: &Node) -> Result<ServerName, Fault> {
    let text = node.filled()?;
    if RESERVED.contains(&text.as_str()) {
        return Err(node
            .fault(format!("is `{text}`, which is reserved"))
            .hint("name the group otherwise"));
    }
    text.parse::<ServerName>().map_err(|_| {
        node.fault("cannot name a server")
            .hint("use 1 to 64 printable characters without `/`")
    })
}

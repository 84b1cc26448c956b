//! How a client reaches the gateway.

use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mcpr_admin::Status;
use mcpr_config::clients::{Link, Token, endpoint, endpoint_of};
use mcpr_config::{Config, Environment, GatewayOptions, Locations, Overrides, Process};

use crate::cli::{Global, Print, Stdio};
use crate::clients::on_path;
use crate::connect::Gateway;
use crate::problem::Problem;

/// A running gateway says at once where it listens.
const PATIENCE: Duration = Duration::from_secs(1);

/// The program that clients start.
const PROGRAM: &str = "mcpr-gateway";

/// The way that is wanted.
pub(super) async fn link(global: &Global, wanted: &Print) -> Result<Link, Problem> {
    let by_program = || (!wanted.client.takes_urls()).then_some(Stdio::Connect);
    match wanted.stdio.or_else(by_program) {
        None => Ok(Link::Http {
            url: url(global, wanted).await,
            token: wanted.token_env.clone().map_or(Token::Usual, Token::Variable),
            headers: headers(wanted),
        }),
        Some(Stdio::Connect) => Ok(connect(global, wanted)),
        Some(Stdio::Own) if wanted.url.is_some() => Err(Problem::usage(
            "--url names a running gateway, and --stdio=own wants another one",
        )
        .hint("leave one of them out")),
        Some(Stdio::Own) => own(global, wanted),
    }
}

/// The URLs of the gateway: that of the running one and that of the configuration.
pub(crate) async fn endpoints(global: &Global) -> Vec<String> {
    let mut urls: Vec<String> = [running(global).await, Some(configured(global))]
        .into_iter()
        .flatten()
        .collect();
    urls.dedup();
    urls
}

async fn url(global: &Global, wanted: &Print) -> String {
    if let Some(url) = wanted.url.as_ref().or(global.gateway.as_ref()) {
        return endpoint(url);
    }
    match running(global).await {
        Some(url) => url,
        None => configured(global),
    }
}

/// Where the running gateway listens.
async fn running(global: &Global) -> Option<String> {
    let asked = Gateway::locate(global)
        .ok()?
        .ask_within(PATIENCE, &Status {})
        .await;
    let listen = asked.ok()?.listen.into_iter().next()?;
    Some(endpoint(&listen))
}

/// Where one with this configuration would listen; whatever is wrong with that is told elsewhere.
fn configured(global: &Global) -> String {
    let options = options(global).unwrap_or_default();
    endpoint_of(options.listen)
}

fn options(global: &Global) -> Option<GatewayOptions> {
    let locations = Locations::from_env(&global.config, &Process).ok()?;
    let mut options = Config::load(&locations, &Process).ok()?.gateway;
    Overrides::from_env(&Process).ok()?.apply(&mut options);
    Some(options)
}

fn headers(wanted: &Print) -> Vec<(String, String)> {
    let named = [
        ("X-MCPR-Project", &wanted.project),
        ("X-MCPR-Toolset", &wanted.toolset),
    ];
    let set = named
        .into_iter()
        .filter_map(|(name, value)| Some((name, value.clone()?)));
    set.map(|(name, value)| (name.to_owned(), value)).collect()
}

/// A way to the running gateway. Its socket needs no token; a URL does.
fn connect(global: &Global, wanted: &Print) -> Link {
    let url = wanted.url.as_ref().or(global.gateway.as_ref());
    let at = url.map(|url| ["--url".to_owned(), endpoint(url)]);
    let args = std::iter::once("connect".to_owned()).chain(at.into_iter().flatten());
    Link::Stdio {
        command: program(),
        args: args.chain(limits(wanted)).collect(),
        env: if url.is_none() {
            places(&["XDG_RUNTIME_DIR", "XDG_STATE_HOME"])
        } else {
            Vec::new()
        },
        token: url.map(|_| Token::Usual),
    }
}

/// A gateway that only this client uses.
fn own(global: &Global, wanted: &Print) -> Result<Link, Problem> {
    let files = global.config.iter().map(|file| absolute(file));
    let files: Vec<PathBuf> = files.collect::<Result<_, _>>()?;
    let files = files
        .iter()
        .flat_map(|file| ["--config".to_owned(), file.display().to_string()]);
    let args = std::iter::once("stdio".to_owned()).chain(files);
    Ok(Link::Stdio {
        command: program(),
        args: args.chain(limits(wanted)).collect(),
        env: places(&[
            "XDG_CONFIG_HOME",
            "XDG_DATA_HOME",
            "XDG_STATE_HOME",
            "XDG_RUNTIME_DIR",
        ]),
        token: None,
    })
}

fn limits(wanted: &Print) -> impl Iterator<Item = String> {
    let named = [("--project", &wanted.project), ("--toolset", &wanted.toolset)];
    let set = named
        .into_iter()
        .filter_map(|(flag, value)| Some((flag, value.clone()?)));
    set.flat_map(|(flag, value)| [flag.to_owned(), value])
}

fn absolute(file: &Path) -> Result<PathBuf, Problem> {
    let full = Process.absolute(file);
    if full.exists() {
        Ok(full)
    } else {
        Err(Problem::not_found(format!(
            "there is no file `{}`",
            file.display()
        )))
    }
}

/// The program by its full path: clients with a window have another `PATH` than a shell.
fn program() -> String {
    let beside = || {
        let beside = env::current_exe().ok()?.with_file_name(PROGRAM);
        beside.is_file().then_some(beside)
    };
    on_path(PROGRAM, &Process)
        .or_else(beside)
        .map_or_else(|| PROGRAM.to_owned(), |path| path.display().to_string())
}

/// The variables that say where mcpr's files are. Most clients hand none on, and the program would look elsewhere.
fn places(names: &[&str]) -> Vec<(String, String)> {
    let set = |name: &str| {
        let value = Process.variable(name).filter(|value| !value.is_empty())?;
        Some((
            name.to_owned(),
            Process.absolute(value.as_ref()).display().to_string(),
        ))
    };
    match set("MCPR_HOME") {
        Some(home) => vec![home],
        None => names.iter().filter_map(|name| set(name)).collect(),
    }
}

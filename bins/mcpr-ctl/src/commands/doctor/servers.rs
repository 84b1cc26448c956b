//! Whether each server can be used, and how it is doing.

use std::time::Duration;

use mcpr_admin::{ServerReport, ServerState};
use mcpr_config::clients::{Known, shell_word};
use mcpr_config::{Config, ServerEntry, ServerState as Configured};
use mcpr_transport::child::NotFound;
use mcpr_upstream::{Reach, StdioSpec, UpstreamSpec};

use super::configuration::of_fault;
use super::report::Check;
use super::scene::Scene;
use super::shell::{Elsewhere, Place};
use crate::commands::servers::pins;
use crate::out::phrase;

const CHECK: &str = "server";

pub(super) async fn checks(scene: &Scene) -> Vec<Check> {
    let Ok(config) = &scene.config else {
        return of_gateway(scene);
    };
    let missing = missing(scene, config);
    let elsewhere = Elsewhere::look(&missing).await;
    let judged = config
        .servers
        .iter()
        .filter_map(|entry| judge(scene, entry, &elsewhere));
    let strangers = strangers(scene, config).filter_map(doing);
    let found: Vec<_> = judged.chain(strangers).collect();
    match (found.is_empty(), config.servers.is_empty()) {
        (true, false) => vec![Check::ok(CHECK, fine(scene, config))],
        _ => found,
    }
}

/// How the servers of the gateway are doing, whatever the files here say.
pub(super) fn of_gateway(scene: &Scene) -> Vec<Check> {
    let servers = scene.gateway.iter().flat_map(|running| &running.status.servers);
    servers.filter_map(doing).collect()
}

fn fine(scene: &Scene, config: &Config) -> String {
    let usable = config
        .servers
        .iter()
        .filter(|entry| spec(entry).is_some())
        .count();
    match &scene.gateway {
        Ok(_) => "all servers are well".to_owned(),
        Err(_) if usable == 1 => {
            "1 server can be used: its variables, program and folder are there".to_owned()
        }
        Err(_) => format!("{usable} servers can be used: their variables, programs and folders are there"),
    }
}

/// The commands that are not found where a gateway started from here would look.
fn missing(scene: &Scene, config: &Config) -> Vec<String> {
    let here = config.servers.iter().filter(|entry| counts_here(scene, entry));
    let programs = here.filter_map(process);
    let missing = programs.filter(|process| process.program().is_err());
    missing.map(|process| process.command.clone()).collect()
}

/// Whether what is found here says anything: a gateway that has a server up has found all it needs.
fn counts_here(scene: &Scene, entry: &ServerEntry) -> bool {
    match scene.server(entry.server().as_str()) {
        Some(server) => !is_up(server),
        None => true,
    }
}

fn is_up(server: &ServerReport) -> bool {
    matches!(
        server.state,
        ServerState::Ok
            | ServerState::Degraded
            | ServerState::Idle
            | ServerState::Stale
            | ServerState::Starting
            | ServerState::Disabled
    )
}

/// What is wrong with a server: by its entry, else as the gateway says.
fn judge(scene: &Scene, entry: &ServerEntry, elsewhere: &Elsewhere) -> Option<Check> {
    let name = entry.name.as_str();
    let running = scene.server(name);
    let by_entry = counts_here(scene, entry)
        .then(|| by_entry(entry, elsewhere))
        .flatten();
    let check = itself(scene, entry)
        .or(by_entry)
        .or_else(|| running.and_then(doing))
        .or_else(|| unread(scene, entry))?;
    Some(check.of(name))
}

/// A server that the gateway has not read yet.
fn unread(scene: &Scene, entry: &ServerEntry) -> Option<Check> {
    let read = scene.gateway.is_err() || scene.server(entry.server().as_str()).is_some();
    let what = format!("{}: the gateway does not have it yet", entry.place);
    (!read).then(|| Check::warning(CHECK, what).fix("mcpr-ctl reload"))
}

/// A gateway that is its own server would ask itself without end (B110).
fn itself(scene: &Scene, entry: &ServerEntry) -> Option<Check> {
    let name = entry.name.as_str();
    let mut known = scene.known.iter().flat_map(Known::servers);
    let (_, server) = known.find(|(known, _)| *known == name)?;
    let endpoints = scene.endpoints();
    if server.is_disabled() || !server.is_mcpr(&endpoints) {
        return None;
    }
    let what = format!(
        "{}: it leads to mcpr itself, which would ask itself without end",
        entry.place
    );
    Some(Check::problem(CHECK, what).fix(format!("mcpr-ctl servers rm {}", shell_word(name))))
}

fn by_entry(entry: &ServerEntry, elsewhere: &Elsewhere) -> Option<Check> {
    if let Configured::Misconfigured(fault) = &entry.state {
        return Some(of_fault(CHECK, fault, Check::problem));
    }
    let process = process(entry)?;
    folder(entry, process).or_else(|| program(entry, process, elsewhere))
}

fn folder(entry: &ServerEntry, process: &StdioSpec) -> Option<Check> {
    let folder = process.cwd.as_ref().filter(|folder| !folder.is_dir())?;
    let what = format!("{}: its folder {} does not exist", entry.place, folder.display());
    let name = shell_word(entry.name.as_str());
    let made = shell_word(&folder.display().to_string());
    Some(Check::problem(CHECK, what).fix(format!(
        "`mkdir -p {made}`, or name another: `mcpr-ctl servers set {name} cwd=DIR`"
    )))
}

fn program(entry: &ServerEntry, process: &StdioSpec, elsewhere: &Elsewhere) -> Option<Check> {
    let error = process.program().err()?;
    let found = elsewhere.find(&process.command);
    let what = match &found {
        Some(place) => format!(
            "`{}` is not in PATH here, but {} has it at {}",
            process.command,
            place.whose,
            place.program.display()
        ),
        None => absent(&error),
    };
    let cure = match found {
        Some(Place { program, .. }) => set_command(entry, &program.display().to_string()),
        None => cure(entry, process, &error),
    };
    Some(Check::problem(CHECK, format!("{}: {what}", entry.place)).fix(cure))
}

fn absent(error: &NotFound) -> String {
    match error {
        NotFound::InPath { command, searched } => {
            format!("there is no program `{command}` in PATH ({searched})")
        }
        NotFound::At(path) => format!("there is no program at {}", path.display()),
        NotFound::NotExecutable(path) => format!("{} may not be executed", path.display()),
    }
}

fn cure(entry: &ServerEntry, process: &StdioSpec, error: &NotFound) -> String {
    match error {
        NotFound::NotExecutable(path) => format!("chmod +x {}", shell_word(&path.display().to_string())),
        _ if process.command.contains(' ') => {
            "the program alone belongs in `command`, the rest in `args`".to_owned()
        }
        _ => format!("install it, or name another: `{}`", set_command(entry, "PROGRAM")),
    }
}

fn set_command(entry: &ServerEntry, program: &str) -> String {
    let name = shell_word(entry.name.as_str());
    format!(
        "mcpr-ctl servers set {name} {}",
        shell_word(&format!("command={program}"))
    )
}

/// What the gateway says of a server that is not well.
fn doing(server: &ServerReport) -> Option<Check> {
    let reason = server.reason.as_deref().unwrap_or("no reason is known");
    let retry = server.retry_in_ms.map(Duration::from_millis);
    let retry = retry.map_or_else(String::new, |retry| {
        format!("; next try in {}", phrase::duration(retry))
    });
    let name = shell_word(&server.name);
    let check = match server.state {
        ServerState::Ok | ServerState::Idle | ServerState::Disabled => return changed_tools(server),
        ServerState::Degraded => Check::warning(CHECK, format!("it works, but not all of it: {reason}{retry}"))
            .fix(format!("`mcpr-ctl servers show {name}` shows its backends")),
        ServerState::Starting => Check::warning(CHECK, "it is still starting")
            .fix(format!("`mcpr-ctl status` shows when it is up, `mcpr-ctl servers test {name}` what it says")),
        ServerState::Stale => Check::warning(CHECK, "its lists are those of an earlier run; it is starting"),
        ServerState::Down => Check::problem(CHECK, format!("it is down: {reason}{retry}"))
            .fix(format!("`mcpr-ctl servers test {name}` starts it by itself and shows what it says")),
        ServerState::AuthRequired => Check::problem(CHECK, format!("it wants credentials: {reason}"))
            .fix(format!("`mcpr-ctl servers edit {name}`: put a token that it accepts into its headers")),
        ServerState::Misconfigured => Check::problem(CHECK, format!("the gateway cannot use it: {reason}"))
            .fix(format!("`mcpr-ctl servers edit {name}` and `mcpr-ctl reload`; variables have to be set where the gateway starts")),
    };
    Some(check.of(server.name.as_str()))
}

/// Tools that are not what was approved.
fn changed_tools(server: &ServerReport) -> Option<Check> {
    let name = shell_word(&server.name);
    let check = Check::warning(CHECK, pins(server)?);
    Some(
        check
            .fix(format!("mcpr-ctl pins approve {name}"))
            .of(server.name.as_str()),
    )
}

/// Servers of the gateway that the files do not have any more.
fn strangers<'s>(scene: &'s Scene, config: &'s Config) -> impl Iterator<Item = &'s ServerReport> {
    let running = scene.gateway.iter().flat_map(|running| &running.status.servers);
    running.filter(|server| {
        !config
            .servers
            .iter()
            .any(|entry| entry.server().as_str() == server.name)
    })
}

fn spec(entry: &ServerEntry) -> Option<&UpstreamSpec> {
    match &entry.state {
        Configured::Enabled(spec) => Some(spec),
        _ => None,
    }
}

fn process(entry: &ServerEntry) -> Option<&StdioSpec> {
    match &spec(entry)?.reach {
        Reach::Stdio(process) => Some(process),
        Reach::Http(_) | Reach::Native => None,
    }
}

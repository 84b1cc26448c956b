//! The clients on this machine: whether they use mcpr, and what they start beside it.

use mcpr_config::clients::{ClientApp, Server, shell_word};

use super::report::Check;
use super::scene::Scene;
use crate::clients::{Pointer, Seen};

const CHECK: &str = "clients";

pub(super) fn checks(scene: &Scene) -> Vec<Check> {
    let endpoints = scene.endpoints();
    let installed: Vec<_> = scene.clients.iter().filter(|seen| seen.is_installed()).collect();
    let using = installed.iter().filter(|seen| seen.pointer(&endpoints).is_some());
    let names: Vec<_> = using.map(|seen| seen.app.title()).collect();
    let summary = (!installed.is_empty()).then(|| summary(&names, installed.len()));
    let found = installed
        .iter()
        .flat_map(|seen| of_client(scene, seen, &endpoints));
    summary.into_iter().chain(found).collect()
}

fn summary(using: &[&str], installed: usize) -> Check {
    match using {
        [] => Check::ok(
            CHECK,
            format!("none of {installed} on this machine uses mcpr yet"),
        )
        .fix("`mcpr-ctl clients print NAME` prints the entry"),
        using => Check::ok(
            CHECK,
            format!("{} of {installed} use mcpr: {}", using.len(), using.join(", ")),
        ),
    }
}

fn of_client(scene: &Scene, seen: &Seen, endpoints: &[String]) -> Vec<Check> {
    let fault = seen.fault().map(|fault| {
        let what = format!("the file of {} cannot be read: {fault}", seen.app);
        Check::warning(CHECK, what)
    });
    let pointer = seen.pointer(endpoints);
    let astray = pointer.and_then(|pointer| astray(seen.app, pointer, endpoints));
    let twice = pointer.into_iter().flat_map(|_| twice(scene, seen, endpoints));
    fault.into_iter().chain(astray).chain(twice).collect()
}

/// An entry called `mcpr` that leads to another port of this machine.
fn astray(app: ClientApp, pointer: Pointer<'_>, endpoints: &[String]) -> Option<Check> {
    let local = ["http://127.0.0.1", "http://localhost", "http://[::1]"];
    let shown = pointer.server.shown();
    let elsewhere = local.iter().any(|start| shown.starts_with(start)) && !pointer.server.is_mcpr(endpoints);
    let right = endpoints.first().filter(|_| elsewhere)?;
    let what = format!(
        "the entry `{}` of {app} leads to {shown}, and mcpr is at {right}",
        pointer.name
    );
    Some(Check::warning(CHECK, what).fix(format!("mcpr-ctl clients print {}", app.id())))
}

/// Servers that a client has from mcpr and starts itself as well.
fn twice<'s>(
    scene: &'s Scene,
    seen: &'s Seen,
    endpoints: &'s [String],
) -> impl Iterator<Item = Check> + use<'s> {
    seen.others(endpoints).filter_map(move |other| {
        let (name, _) = behind(scene).find(|(_, server)| server.offers_same(other.server))?;
        let what = format!(
            "{} starts `{}` itself, beside mcpr: it has its tools twice",
            seen.app, other.name
        );
        Some(
            Check::warning(CHECK, what)
                .of(name)
                .fix(removal(seen, other.name)),
        )
    })
}

/// The servers behind mcpr that are on.
fn behind(scene: &Scene) -> impl Iterator<Item = (&str, &Server)> {
    let servers = scene.known.iter().flat_map(|known| known.servers());
    servers.filter(|(_, server)| !server.is_disabled())
}

/// What takes an entry out of a client's file.
fn removal(seen: &Seen, name: &str) -> String {
    let word = shell_word(name);
    let file = seen.file.as_ref().map(|file| file.display().to_string());
    match seen.app {
        ClientApp::ClaudeCode => format!("claude mcp remove {word}"),
        ClientApp::Codex => format!("codex mcp remove {word}"),
        ClientApp::Gemini => format!("gemini mcp remove -s user {word}"),
        _ => format!("remove `{name}` from {}", file.unwrap_or_default()),
    }
}

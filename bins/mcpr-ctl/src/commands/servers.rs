//! The servers behind the gateway, and in the configuration files.

mod add;
mod change;
mod show;
mod switch;
mod test;

use std::time::Duration;

use mcpr_admin::{ExitCode, ListServers, PinCounts, ServerList, ServerReport, ServerState};
use mcpr_config::clients::shell_word;

use super::logs;
use crate::books::Books;
use crate::cli::{Global, Repeat, Servers};
use crate::connect::Gateway;
use crate::out::Out;
use crate::out::look::{Look, Paint};
use crate::out::phrase;
use crate::out::table::{Cell, Table};
use crate::out::watch;
use crate::problem::Problem;

/// Does what was typed about servers.
pub(super) async fn run(global: &Global, out: &Out, which: &Servers) -> Result<ExitCode, Problem> {
    let books = || Books::of(global, out);
    match which {
        Servers::Ls(repeat) => list(&Gateway::locate(global)?, out, *repeat).await,
        Servers::Show { name } => show::show(&Gateway::locate(global)?, out, name).await,
        Servers::Enable(servers) => switch::enable(&books()?, out, &servers.names).await,
        Servers::Disable(servers) => switch::disable(&books()?, out, &servers.names).await,
        Servers::Restart(servers) => switch::restart(&books()?, out, &servers.names).await,
        Servers::Logs(asked) => logs::of_server(global, out, asked).await,
        Servers::Add(new) => add::add(global, out, new).await,
        Servers::Rm { names, yes } => change::remove(global, out, names, *yes).await,
        Servers::Set { name, changes } => change::set(global, out, name, changes).await,
        Servers::Edit { name } => change::edit(global, out, name).await,
        Servers::Test { name } => test::test(global, out, name).await,
    }
}

/// `servers ls`
async fn list(gateway: &Gateway, out: &Out, repeat: Repeat) -> Result<ExitCode, Problem> {
    let ask = async || Ok(gateway.ask(&ListServers {}).await?);
    let page = |list: &ServerList, look: &Look| page(&list.servers, look);
    Ok(watch::report(out, repeat, ask, page).await?.code())
}

/// The servers as a table with everything that is known of each.
fn page(servers: &[ServerReport], look: &Look) -> String {
    let mut table = Table::new(&[
        "SERVER",
        "STATE",
        "VIA",
        "PROTOCOL",
        "TOOLS",
        "PROMPTS",
        "RESOURCES",
        "BUSY",
        "STARTS",
        "PID",
        "PROBLEM",
    ]);
    for server in servers {
        let [
            name,
            state,
            via,
            protocol,
            tools,
            prompts,
            resources,
            busy,
            problem,
        ] = cells(server);
        let (starts, pid) = (server.starts.into(), server.pid.map(u64::from).into());
        table.row([
            name, state, via, protocol, tools, prompts, resources, busy, starts, pid, problem,
        ]);
    }
    table.draw(look)
}

/// The servers as a table of what matters every day.
pub(super) fn short(servers: &[ServerReport], look: &Look) -> String {
    let mut table = Table::new(&[
        "SERVER",
        "STATE",
        "VIA",
        "PROTOCOL",
        "TOOLS",
        "PROMPTS",
        "RESOURCES",
        "BUSY",
        "PROBLEM",
    ]);
    for server in servers {
        table.row(cells(server));
    }
    table.draw(look)
}

fn cells(server: &ServerReport) -> [Cell; 9] {
    [
        server.name.as_str().into(),
        state(server.state),
        server.via.map(|via| via.as_str()).into(),
        server.protocol.as_deref().into(),
        server.tools.into(),
        server.prompts.into(),
        server.resources.into(),
        server.in_flight.into(),
        problem(server).into(),
    ]
}

/// The state as a word, coloured by what it means.
pub(super) fn state(state: ServerState) -> Cell {
    let paint = match state {
        ServerState::Ok => Paint::Good,
        ServerState::Idle | ServerState::Disabled => Paint::Dim,
        ServerState::Degraded | ServerState::Starting | ServerState::Stale => Paint::Uncertain,
        ServerState::Down | ServerState::AuthRequired | ServerState::Misconfigured => Paint::Bad,
    };
    Cell::from(state.as_str()).paint(paint)
}

/// Why it is not well, when it is tried again, and what of its tools is not as it was approved.
fn problem(server: &ServerReport) -> Option<String> {
    joined([
        retried(server.reason.as_deref(), server.retry_in_ms),
        pins(server),
    ])
}

fn retried(reason: Option<&str>, retry_in_ms: Option<u64>) -> Option<String> {
    let retry = retry_in_ms.map(|ms| match ms {
        0 => "next try now".to_owned(),
        _ => format!("next try in {}", phrase::duration(Duration::from_millis(ms))),
    });
    joined([reason.map(str::to_owned), retry])
}

fn joined(known: [Option<String>; 2]) -> Option<String> {
    let known: Vec<_> = known.into_iter().flatten().collect();
    (!known.is_empty()).then(|| known.join("; "))
}

/// What of its tools is not as it was approved.
pub(super) fn pins(server: &ServerReport) -> Option<String> {
    let PinCounts { changed, new, held } = server.pins?;
    let counts = [(changed, "changed"), (new, "new")];
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let counts: Vec<_> = counts.map(|(count, word)| format!("{count} {word}")).collect();
    let held = match held {
        0 => String::new(),
        held => format!(", {held} held back"),
    };
    let name = shell_word(&server.name);
    Some(format!(
        "tools {} since approved{held}: mcpr-ctl pins diff {name}",
        counts.join(" and ")
    ))
}

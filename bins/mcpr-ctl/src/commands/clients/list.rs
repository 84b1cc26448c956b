//! The clients on this machine.

use mcpr_admin::ExitCode;
use mcpr_config::Process;
use serde::Serialize;

use super::endpoints;
use crate::cli::Global;
use crate::clients::{Seen, look};
use crate::out::Out;
use crate::out::look::{Look, Paint};
use crate::out::table::{Cell, Table};
use crate::problem::Problem;

/// All clients that are known.
#[derive(Serialize)]
struct List {
    clients: Vec<Row>,
}

/// A client on this machine.
#[derive(Serialize)]
struct Row {
    client: &'static str,
    title: &'static str,
    installed: bool,
    /// Whether one of its entries leads to mcpr.
    mcpr: bool,
    /// What that entry is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<String>,
    /// How it leads there.
    #[serde(skip_serializing_if = "Option::is_none")]
    via: Option<String>,
    /// How many other servers it has.
    servers: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

/// `clients ls`
pub(super) async fn list(global: &Global, out: &Out) -> Result<ExitCode, Problem> {
    let endpoints = endpoints(global).await;
    let clients = look(&Process)
        .iter()
        .map(|seen| Row::of(seen, &endpoints))
        .collect();
    let list = List { clients };
    out.report(&list, page)?;
    if list.clients.iter().any(|row| row.installed && !row.mcpr) {
        out.note("`mcpr-ctl clients print NAME` prints the entry that points a client at mcpr");
    }
    Ok(ExitCode::Ok)
}

impl Row {
    fn of(seen: &Seen, endpoints: &[String]) -> Self {
        let pointer = seen.pointer(endpoints);
        let shown = |path: &std::path::PathBuf| path.display().to_string();
        Self {
            client: seen.app.id(),
            title: seen.app.title(),
            installed: seen.is_installed(),
            mcpr: pointer.is_some(),
            entry: pointer.map(|pointer| pointer.name.to_owned()),
            via: pointer.map(|pointer| pointer.server.via().to_owned()),
            servers: seen.others(endpoints).count() as u64,
            program: seen.program.as_ref().map(shown),
            file: seen.files.first().map(|file| shown(&file.path)),
            problem: seen.fault().map(ToString::to_string),
        }
    }
}

fn page(list: &List, look: &Look) -> String {
    let mut table = Table::new(&["CLIENT", "INSTALLED", "MCPR", "OTHERS", "FILE", "PROBLEM"]);
    for row in &list.clients {
        table.row([
            row.client.into(),
            answer(row.installed),
            uses(row),
            row.installed.then_some(row.servers).into(),
            row.file.as_deref().into(),
            row.problem.as_deref().into(),
        ]);
    }
    table.draw(look)
}

fn answer(yes: bool) -> Cell {
    match yes {
        true => Cell::from("yes"),
        false => Cell::from("no").paint(Paint::Dim),
    }
}

/// Whether and how it uses mcpr.
fn uses(row: &Row) -> Cell {
    match &row.via {
        Some(via) => Cell::from(via.as_str()).paint(Paint::Good),
        None => Cell::from(None::<&str>),
    }
}

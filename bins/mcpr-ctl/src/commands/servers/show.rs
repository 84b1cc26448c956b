//! One server in full.

use std::time::Duration;

use mcpr_admin::{BackendReport, ExitCode, ServerDetail, ServerTool, ShowServer};

use super::{problem, retried, state};
use crate::connect::Gateway;
use crate::out::Out;
use crate::out::facts::{facts, joined};
use crate::out::look::{Look, Paint};
use crate::out::phrase::{cost, duration, tokens};
use crate::out::table::{Cell, Table};
use crate::out::text::{one_line, printable};
use crate::problem::Problem;
use crate::suggest;

/// `servers show`
pub(super) async fn show(gateway: &Gateway, out: &Out, name: &str) -> Result<ExitCode, Problem> {
    let operation = ShowServer {
        name: name.to_owned(),
    };
    match gateway.ask(&operation).await {
        Ok(detail) => out.report(&detail, page).map(|()| ExitCode::Ok),
        Err(error) => Err(suggest::server(gateway, Some(name), error.into()).await),
    }
}

fn page(detail: &ServerDetail, look: &Look) -> String {
    let name = look.paint(Paint::Head, &one_line(&detail.server.name));
    let said = detail
        .instructions
        .as_ref()
        .map(|text| format!("\n{}\n", printable(text.trim_end())));
    let tools = match &detail.tools[..] {
        [] => String::new(),
        tools => format!("\n{}", table(tools, look)),
    };
    let backends = match &detail.server.backends[..] {
        [] => String::new(),
        backends => format!("\n{}", several(backends, look)),
    };
    format!(
        "{name}\n{}{}{backends}{tools}",
        known(detail),
        said.unwrap_or_default()
    )
}

/// The backends of a server that has several.
fn several(backends: &[BackendReport], look: &Look) -> String {
    let mut table = Table::new(&["BACKEND", "STATE", "BUSY", "STARTS", "PID", "TAGS", "PROBLEM"]);
    for backend in backends {
        table.row([
            backend.backend.as_str().into(),
            state(backend.state),
            backend.in_flight.into(),
            backend.starts.into(),
            backend.pid.map(u64::from).into(),
            joined(&backend.tags).into(),
            trouble(backend).into(),
        ]);
    }
    table.draw(look)
}

/// Why a backend is not well, and when it is tried again.
fn trouble(backend: &BackendReport) -> Option<String> {
    let shunned = backend.shunned_for_ms.map(|ms| {
        let time = duration(Duration::from_millis(ms));
        format!("its last calls failed: no more for {time}")
    });
    retried(backend.reason.as_deref(), backend.retry_in_ms).or(shunned)
}

fn known(detail: &ServerDetail) -> String {
    let server = &detail.server;
    let offered: Vec<_> = detail.tools.iter().filter(|tool| tool.hidden.is_none()).collect();
    let sum = offered.iter().map(|tool| tool.estimated_tokens).sum();
    facts([
        ("state", Some(server.state.to_string())),
        ("problem", problem(server)),
        ("via", server.via.map(|via| via.to_string())),
        ("protocol", server.protocol.clone()),
        ("pid", server.pid.map(|pid| pid.to_string())),
        ("starts", Some(server.starts.to_string())),
        ("busy", Some(server.in_flight.to_string())),
        ("title", detail.title.clone()),
        ("tools", server.tools.map(|_| cost(offered.len() as u64, sum))),
        ("prompts", server.prompts.map(|count| count.to_string())),
        ("resources", server.resources.map(|count| count.to_string())),
        ("switched", detail.switched.clone()),
        ("tags", joined(&detail.tags)),
        ("projects", joined(&detail.projects)),
        ("entry", detail.place.clone()),
    ])
}

fn table(tools: &[ServerTool], look: &Look) -> String {
    let mut table = Table::new(&["TOOL", "NAME", "≈TOKENS", "HIDDEN"]);
    for tool in tools {
        let hidden = Cell::from(tool.hidden.as_deref());
        table.row([
            tool.name.as_str().into(),
            tool.exposed_name.as_deref().into(),
            tokens(tool.estimated_tokens).into(),
            match tool.hidden {
                Some(_) => hidden.paint(Paint::Uncertain),
                None => hidden,
            },
        ]);
    }
    table.draw(look)
}

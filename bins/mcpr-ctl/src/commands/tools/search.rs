//! Tools by words in their names and descriptions.

use mcpr_admin::{DiscoverTools, Discovered, ExitCode};

use crate::connect::Gateway;
use crate::out::Out;
use crate::out::look::{Look, Paint};
use crate::out::phrase::{cost, tokens};
use crate::out::table::{Cell, Table};
use crate::problem::Problem;
use crate::suggest;

/// `tools search`
pub(super) async fn search(
    gateway: &Gateway,
    out: &Out,
    query: &str,
    server: Option<&str>,
    limit: Option<u64>,
) -> Result<ExitCode, Problem> {
    let operation = DiscoverTools {
        server: server.map(str::to_owned),
        query: Some(query.to_owned()),
        limit,
        ..DiscoverTools::default()
    };
    let found = match gateway.ask(&operation).await {
        Ok(found) => found,
        Err(error) => return Err(suggest::server(gateway, server, error.into()).await),
    };
    out.report(&found, table)?;
    remarks(&found).iter().for_each(|remark| out.note(remark));
    Ok(ExitCode::Ok)
}

fn table(found: &Discovered, look: &Look) -> String {
    let mut table = Table::new(&["TOOL", "NAME", "≈TOKENS", "SEEN", "TOOLSETS", "DESCRIPTION"]);
    for tool in &found.tools {
        let toolsets = (!tool.toolsets.is_empty()).then(|| tool.toolsets.join(","));
        table.row([
            tool.exposed_name.as_str().into(),
            tool.namespaced_name.as_str().into(),
            tokens(tool.estimated_tokens).into(),
            seen(tool.registered),
            toolsets.into(),
            tool.description.as_deref().into(),
        ]);
    }
    table.draw(look)
}

fn seen(registered: bool) -> Cell {
    match registered {
        true => Cell::from("yes").paint(Paint::Good),
        false => Cell::from("no").paint(Paint::Dim),
    }
}

/// How many they are, and where more may be.
fn remarks(found: &Discovered) -> Vec<String> {
    let shown = found.tools.len() as u64;
    let sum = match (found.total, shown) {
        (0, _) => "no tool has all these words".to_owned(),
        (total, shown) if shown < total => {
            let all = cost(total, found.estimated_tokens);
            format!("{shown} of {all}; more with --limit {total}")
        }
        (total, _) => cost(total, found.estimated_tokens),
    };
    let away = found
        .unavailable
        .iter()
        .map(|(server, reason)| format!("tools of `{server}` may be missing: {reason}"));
    std::iter::once(sum).chain(away).collect()
}

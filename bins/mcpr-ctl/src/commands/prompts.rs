//! The prompts of all servers.

use mcpr_admin::{ExitCode, GetPrompt, ListPrompts, PromptArgument, PromptList, PromptReport};
use mcpr_protocol::RawJson;

use crate::cli::Filter;
use crate::connect::Gateway;
use crate::out::Out;
use crate::out::content::PromptResult;
use crate::out::indent::indent;
use crate::out::look::Look;
use crate::out::table::Table;
use crate::out::text::printable;
use crate::out::watch;
use crate::problem::Problem;
use crate::suggest;

/// `prompts ls`
pub(super) async fn list(gateway: &Gateway, out: &Out, filter: &Filter) -> Result<ExitCode, Problem> {
    let server = filter.server.as_deref();
    let operation = ListPrompts {
        server: filter.server.clone(),
    };
    let ask = async || match gateway.ask(&operation).await {
        Ok(list) => Ok(list),
        Err(error) => Err(suggest::server(gateway, server, error.into()).await),
    };
    let shown = watch::report(out, filter.repeat, ask, table).await?;
    if shown.once().is_some_and(|list| list.prompts.is_empty()) {
        out.note("there are no prompts; `mcpr-ctl status` shows how the servers are doing");
    }
    Ok(shown.code())
}

fn table(list: &PromptList, look: &Look) -> String {
    let mut table = Table::new(&["PROMPT", "SERVER", "ARGUMENTS", "DESCRIPTION"]);
    for prompt in &list.prompts {
        let description = prompt.description.as_deref().or(prompt.title.as_deref());
        table.row([
            prompt.name.as_str().into(),
            prompt.server.as_str().into(),
            arguments(prompt).into(),
            description.into(),
        ]);
    }
    table.draw(look)
}

/// The names of the arguments; those that are not needed stand in brackets.
fn arguments(prompt: &PromptReport) -> Option<String> {
    let shown = |PromptArgument { name, required, .. }: &PromptArgument| match required {
        true => name.clone(),
        false => format!("[{name}]"),
    };
    let all: Vec<_> = prompt.arguments.iter().map(shown).collect();
    (!all.is_empty()).then(|| all.join(" "))
}

/// `prompts get`
pub(super) async fn get(
    gateway: &Gateway,
    out: &Out,
    name: &str,
    args: &[(String, String)],
) -> Result<ExitCode, Problem> {
    let operation = GetPrompt {
        name: name.to_owned(),
        arguments: args.iter().cloned().collect(),
    };
    match gateway.relay(&operation).await {
        Ok(raw) => out.report(&raw, shown).map(|()| ExitCode::Ok),
        Err(error) => Err(suggest::prompt(gateway, name, error.into()).await),
    }
}

/// The messages; the result as it is, if it has another shape than it should have.
fn shown(raw: &RawJson, look: &Look) -> String {
    let result = raw.read::<PromptResult>();
    let page = result.map_or_else(|_| indent(raw) + "\n", |result| result.page());
    if look.width.is_some() {
        printable(&page)
    } else {
        page
    }
}

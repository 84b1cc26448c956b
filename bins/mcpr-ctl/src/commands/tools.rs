//! The tools of all servers.

mod call;
mod search;
mod switch;
mod talk;

use mcpr_admin::{CallTool, ExitCode, ListTools, ShowTool, ToolDetail, ToolList, ToolReport};
use mcpr_protocol::{Object, RawJson};

use crate::books::Books;
use crate::cli::tools::{ToolFilter, Tools};
use crate::cli::{Global, Repeat, parse};
use crate::connect::Gateway;
use crate::out::Out;
use crate::out::facts::facts;
use crate::out::indent::indent;
use crate::out::look::{Look, Paint};
use crate::out::phrase::{cost, tokens};
use crate::out::table::{Cell, Table};
use crate::out::text::{one_line, printable};
use crate::out::watch;
use crate::problem::Problem;
use crate::suggest;

pub(super) use self::call::call;

/// `tools …`
pub(super) async fn run(global: &Global, out: &Out, which: &Tools) -> Result<ExitCode, Problem> {
    let books = Books::of(global, out)?;
    let gateway = books.gateway();
    match which {
        Tools::Ls { filter, repeat } => list(&books, out, filter, *repeat).await,
        Tools::Search { words, server, limit } => {
            search::search(gateway, out, &words.join(" "), server.as_deref(), *limit).await
        }
        Tools::Show { name, schema } => show(gateway, out, name, *schema).await,
        Tools::Call {
            name,
            args,
            json_args,
            raw,
        } => {
            let call = CallTool {
                name: name.clone(),
                arguments: Some(arguments(args, json_args.clone())?),
            };
            call::call(gateway, out, &call, *raw).await
        }
        Tools::Enable(tools) => switch::enable(&books, out, &tools.names).await,
        Tools::Disable(tools) => switch::disable(&books, out, &tools.names).await,
        Tools::Rename { name, new } => switch::rename(&books, out, name, new).await,
        Tools::Override(wanted) => switch::change(&books, out, wanted).await,
    }
}

async fn list(
    books: &Books<'_>,
    out: &Out,
    filter: &ToolFilter,
    repeat: Repeat,
) -> Result<ExitCode, Problem> {
    let operation = ListTools {
        server: filter.server.clone(),
        project: filter.project.clone(),
        toolset: filter.toolset.clone(),
        all: filter.all,
    };
    let ask = async || match books.gateway().ask(&operation).await {
        Ok(list) => Ok(list),
        Err(error) => Err(meant(books, filter, error.into()).await),
    };
    let page = |list: &ToolList, look: &Look| table(list, filter, look);
    let shown = watch::report(out, repeat, ask, page).await?;
    if let Some(list) = shown.once() {
        out.note(&sum(list));
    }
    Ok(shown.code())
}

/// Adds the name that was probably meant to what the message says is not there.
async fn meant(books: &Books<'_>, filter: &ToolFilter, problem: Problem) -> Problem {
    let says = |kind: &str| problem.message.contains(&format!("no {kind} `"));
    match (&filter.project, &filter.toolset) {
        (Some(project), _) if says("project") => suggest::project(books, project, problem).await,
        (_, Some(toolset)) if says("toolset") => suggest::toolset(books, toolset, problem).await,
        _ => suggest::server(books.gateway(), filter.server.as_deref(), problem).await,
    }
}

/// How many they are, and what they cost together.
fn sum(list: &ToolList) -> String {
    if list.tools.is_empty() {
        return "there are no tools; `mcpr-ctl status` shows how the servers are doing".to_owned();
    }
    let (offered, hidden): (Vec<_>, Vec<_>) = list.tools.iter().partition(|tool| tool.hidden.is_none());
    let cost = cost(
        offered.len() as u64,
        offered.iter().map(|tool| tool.estimated_tokens).sum(),
    );
    match hidden.len() {
        0 => cost,
        more => format!(
            "{cost}, and {more} that {} not offered",
            if more == 1 { "is" } else { "are" }
        ),
    }
}

fn table(list: &ToolList, filter: &ToolFilter, look: &Look) -> String {
    let heads = [
        (true, "TOOL"),
        (true, "SERVER"),
        (filter.tokens, "≈TOKENS"),
        (true, "HINTS"),
        (filter.all, "HIDDEN"),
        (true, "DESCRIPTION"),
    ];
    let shown = heads.map(|(shown, _)| shown);
    let mut table = Table::with(
        heads
            .into_iter()
            .filter(|(shown, _)| *shown)
            .map(|(_, head)| head),
    );
    for tool in &list.tools {
        let cells = cells(tool).into_iter().zip(shown);
        table.add(cells.filter(|(_, shown)| *shown).map(|(cell, _)| cell));
    }
    table.draw(look)
}

fn cells(tool: &ToolReport) -> [Cell; 6] {
    let description = tool.description.as_deref().or(tool.title.as_deref());
    let hidden = Cell::from(tool.hidden.as_deref());
    [
        tool.name.as_str().into(),
        tool.server.as_str().into(),
        tokens(tool.estimated_tokens).into(),
        hints(tool).into(),
        match tool.hidden {
            Some(_) => hidden.paint(Paint::Uncertain),
            None => hidden,
        },
        description.into(),
    ]
}

/// What the server says about the effects of a tool, if it says anything.
fn hints(tool: &ToolReport) -> Option<String> {
    let effect = match (tool.read_only, tool.destructive) {
        (Some(true), _) => Some("read"),
        (_, Some(true)) => Some("destructive"),
        (Some(false), _) | (_, Some(false)) => Some("write"),
        (None, None) => None,
    };
    let idempotent = (tool.idempotent == Some(true)).then_some("idempotent");
    let known: Vec<_> = [effect, idempotent].into_iter().flatten().collect();
    (!known.is_empty()).then(|| known.join(","))
}

async fn show(gateway: &Gateway, out: &Out, name: &str, schema: bool) -> Result<ExitCode, Problem> {
    let operation = ShowTool {
        name: name.to_owned(),
    };
    let detail = match gateway.ask(&operation).await {
        Ok(detail) => detail,
        Err(error) => return Err(suggest::tool(gateway, name, error.into()).await),
    };
    if schema {
        let schema = schema_of(&detail)?;
        out.report(&schema, |schema, _| printable(&(indent(schema) + "\n")))?;
    } else {
        out.report(&detail, page)?;
    }
    Ok(ExitCode::Ok)
}

/// The JSON Schema of its arguments.
fn schema_of(detail: &ToolDetail) -> Result<RawJson, Problem> {
    let definition = Object::read(&detail.definition).ok();
    let schema = definition.and_then(|definition| definition.get("inputSchema"));
    schema.ok_or_else(|| {
        Problem::failed(format!(
            "the definition of `{}` has no `inputSchema`",
            detail.tool.name
        ))
    })
}

fn page(detail: &ToolDetail, look: &Look) -> String {
    let tool = &detail.tool;
    let cost = (tool.estimated_tokens > 0).then(|| format!("≈ {} tokens", tokens(tool.estimated_tokens)));
    let facts = facts([
        ("server", Some(tool.server.clone())),
        ("origin", Some(tool.origin.clone())),
        ("title", tool.title.clone()),
        ("hints", hints(tool)),
        ("costs", cost),
        ("hidden", tool.hidden.clone()),
    ]);
    let description = tool
        .description
        .as_ref()
        .map(|text| format!("\n{}\n", text.trim_end()));
    let body = format!(
        "{}\n{}\n",
        description.unwrap_or_default(),
        indent(&detail.definition)
    );
    let name = look.paint(Paint::Head, &one_line(&tool.name));
    format!("{name}\n{facts}{}", printable(&body))
}

/// The arguments as one JSON object.
fn arguments(pairs: &[(String, String)], object: Option<RawJson>) -> Result<RawJson, Problem> {
    if let Some(object) = object {
        return Ok(object);
    }
    let member = |(key, value): &(String, String)| {
        format!(
            "{}:{}",
            RawJson::string(key).as_str(),
            parse::json_or_text(value).as_str()
        )
    };
    let members: Vec<_> = pairs.iter().map(member).collect();
    let object = RawJson::trusted(format!("{{{}}}", members.join(",")));
    match Object::read(&object) {
        Ok(_) => Ok(object),
        Err(error) => Err(Problem::usage(format!("--arg: {error}"))
            .hint("give each argument once; a list is --arg k='[1,2]'")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(pairs: &[(&str, &str)]) -> Result<RawJson, Problem> {
        let pairs: Vec<_> = pairs
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect();
        arguments(&pairs, None)
    }

    #[test]
    fn arguments_keep_their_order_and_their_numbers() {
        let object = joined(&[
            ("path", "."),
            ("n", "123456789012345678901234567890"),
            ("a\"b", "[1]"),
        ])
        .unwrap();
        assert_eq!(
            object.as_str(),
            r#"{"path":".","n":123456789012345678901234567890,"a\"b":[1]}"#
        );
    }

    #[test]
    fn no_arguments_are_an_empty_object() {
        assert_eq!(joined(&[]).unwrap().as_str(), "{}");
    }

    #[test]
    fn ctl_04_an_argument_given_twice_is_named() {
        let problem = joined(&[("a", "1"), ("a", "2")]).unwrap_err();
        assert_eq!(problem.message, "--arg: member `a` is there twice");
    }
}

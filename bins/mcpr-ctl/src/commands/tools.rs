//! The tools of all servers.

use mcpr_admin::{CallTool, ExitCode, ListTools, ShowTool, ToolDetail, ToolList, ToolReport};
use mcpr_protocol::{Object, RawJson};

use crate::cli::{Filter, parse};
use crate::connect::Gateway;
use crate::out::Out;
use crate::out::content::ToolResult;
use crate::out::indent::indent;
use crate::out::look::{Look, Paint};
use crate::out::table::Table;
use crate::out::text::{one_line, printable};
use crate::problem::Problem;
use crate::suggest;

/// `tools ls`
pub(super) async fn list(gateway: &Gateway, out: &Out, filter: &Filter) -> Result<ExitCode, Problem> {
    let list = match gateway
        .ask(&ListTools {
            server: filter.server.clone(),
        })
        .await
    {
        Ok(list) => list,
        Err(error) => return Err(suggest::server(gateway, filter.server.as_deref(), error.into()).await),
    };
    if list.tools.is_empty() {
        out.note("there are no tools; `mcpr-ctl status` shows how the servers are doing");
    }
    out.report(&list, table)?;
    Ok(ExitCode::Ok)
}

fn table(list: &ToolList, look: &Look) -> String {
    let mut table = Table::new(&["TOOL", "SERVER", "HINTS", "DESCRIPTION"]);
    for tool in &list.tools {
        let description = tool.description.as_deref().or(tool.title.as_deref());
        table.row([
            tool.name.as_str().into(),
            tool.server.as_str().into(),
            hints(tool).into(),
            description.into(),
        ]);
    }
    table.draw(look)
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

/// `tools show`
pub(super) async fn show(gateway: &Gateway, out: &Out, name: &str) -> Result<ExitCode, Problem> {
    match gateway
        .ask(&ShowTool {
            name: name.to_owned(),
        })
        .await
    {
        Ok(detail) => out.report(&detail, page).map(|()| ExitCode::Ok),
        Err(error) => Err(suggest::tool(gateway, name, error.into()).await),
    }
}

fn page(detail: &ToolDetail, look: &Look) -> String {
    let tool = &detail.tool;
    let facts = [
        ("server", Some(one_line(&tool.server))),
        ("origin", Some(one_line(&tool.origin))),
        ("title", tool.title.as_deref().map(one_line)),
        ("hints", hints(tool)),
    ];
    let facts = facts
        .into_iter()
        .filter_map(|(what, fact)| Some(format!("  {what:<8}{}\n", fact?)));
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
    format!("{name}\n{}{}", facts.collect::<String>(), printable(&body))
}

/// `tools call`
pub(super) async fn call(
    gateway: &Gateway,
    out: &Out,
    name: &str,
    arguments: RawJson,
) -> Result<ExitCode, Problem> {
    let call = CallTool {
        name: name.to_owned(),
        arguments: Some(arguments),
    };
    let raw = match gateway.relay(&call).await {
        Ok(raw) => raw,
        Err(error) => return Err(suggest::tool(gateway, name, error.into()).await),
    };
    let result: Option<ToolResult> = raw.read().ok();
    let is_error = result.as_ref().is_some_and(|result| result.is_error);
    out.report(&raw, |raw, look| shown(raw, result.as_ref(), look))?;
    if is_error {
        out.note(&format!("`{name}` says that it failed"));
    }
    Ok(if is_error { ExitCode::Failed } else { ExitCode::Ok })
}

/// The texts of the result; as it is, if it has another shape than a result should have.
fn shown(raw: &RawJson, result: Option<&ToolResult>, look: &Look) -> String {
    let page = result.map_or_else(|| indent(raw) + "\n", ToolResult::page);
    if look.width.is_some() {
        printable(&page)
    } else {
        page
    }
}

/// The arguments as one JSON object.
pub(super) fn arguments(pairs: &[(String, String)], object: Option<RawJson>) -> Result<RawJson, Problem> {
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

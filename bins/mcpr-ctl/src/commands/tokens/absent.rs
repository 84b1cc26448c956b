//! What a new token is limited to and is not there. That is no failure: it can be made later.

use mcpr_admin::{ListProjects, ListServers, ListTools, ListToolsets, TokenReport, ToolReport};
use mcpr_registry::Pattern;
use mcpr_store::OPERATOR;

use crate::books::Books;
use crate::suggest::near;

/// One line for each limit that leads nowhere, as far as that can be told.
pub(super) async fn absent(books: &Books<'_>, token: &TokenReport) -> Vec<String> {
    let limits = limits(books, token).await;
    let servers = servers(books, token).await;
    let tools = tools(books, token).await;
    [limits, servers, tools].concat()
}

async fn limits(books: &Books<'_>, token: &TokenReport) -> Vec<String> {
    let mut absent = Vec::new();
    if let Some(name) = &token.project
        && let Ok(list) = books.ask(ListProjects {}).await
        && !list.projects.iter().any(|project| project.name == *name)
    {
        absent.push(format!("there is no project `{name}`"));
    }
    if let Some(name) = &token.toolset
        && let Ok(list) = books.ask(ListToolsets {}).await
        && !list
            .toolsets
            .iter()
            .any(|toolset| toolset.name == *name && toolset.owner == OPERATOR)
    {
        absent.push(format!("there is no toolset `{name}` of the operator's"));
    }
    let told = absent.into_iter();
    told.map(|limit| format!("{limit}: until it is made, the token shows nothing"))
        .collect()
}

/// The servers, as far as a running gateway can tell.
async fn servers(books: &Books<'_>, token: &TokenReport) -> Vec<String> {
    let Some(listed) = token.servers.as_ref().filter(|_| !books.are_offline()) else {
        return Vec::new();
    };
    let Ok(list) = books.gateway().ask(&ListServers {}).await else {
        return Vec::new();
    };
    let is_absent = |name: &&String| !list.servers.iter().any(|server| server.name == **name);
    let absent = listed.iter().filter(is_absent);
    absent
        .map(|server| {
            format!("there is no server `{server}`: until it is configured, the token shows nothing of it")
        })
        .collect()
}

/// The tools, as far as a running gateway can tell.
async fn tools(books: &Books<'_>, token: &TokenReport) -> Vec<String> {
    let Some(listed) = token.tools.as_ref().filter(|_| !books.are_offline()) else {
        return Vec::new();
    };
    let all = ListTools {
        all: true,
        ..ListTools::default()
    };
    let Ok(list) = books.gateway().ask(&all).await else {
        return Vec::new();
    };
    let told = listed.iter().filter_map(|name| nowhere(name, &list.tools));
    told.collect()
}

/// That no tool has this name or fits this pattern, if so, and which was probably meant.
fn nowhere(name: &str, tools: &[ToolReport]) -> Option<String> {
    let names: Vec<_> = tools.iter().map(origin).collect();
    if names.iter().any(|known| Pattern::fits(name, known)) {
        return None;
    }
    let advice = match meant(name, tools, &names) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "tools are named as SERVER.TOOL here".to_owned(),
    };
    Some(format!(
        "no tool fits `{name}`: until one does, the token shows nothing for it; {advice}"
    ))
}

fn origin(tool: &ToolReport) -> String {
    format!("{}.{}", tool.server, tool.origin)
}

/// A tool may have been called as clients see it, and a pattern begins with its server.
fn meant(name: &str, tools: &[ToolReport], names: &[String]) -> Option<String> {
    if let Some((server, _)) = name.split_once('*') {
        let server = near(server, tools.iter().map(|tool| &*tool.server))?;
        return Some(format!("{server}.*"));
    }
    let exposed = tools.iter().find(|tool| tool.name == name).map(origin);
    exposed.or_else(|| near(name, names.iter().map(String::as_str)).map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `ref.greet`, which clients see as `hello`, and `git.status`.
    fn told(name: &str) -> Option<String> {
        let tools = [
            r#"{"name":"hello","server":"ref","origin":"greet"}"#,
            r#"{"name":"git_status","server":"git","origin":"status"}"#,
        ];
        let tools = tools.map(|tool| serde_json::from_str::<ToolReport>(tool).unwrap());
        nowhere(name, &tools)
    }

    #[test]
    fn sec_02_a_limit_that_fits_a_tool_is_not_told_of() {
        for name in ["ref.greet", "ref.*", "*", "*.status", "git.st*"] {
            assert_eq!(told(name), None, "{name}");
        }
    }

    #[test]
    fn sec_02_a_limit_that_fits_no_tool_says_which_was_meant() {
        for (name, meant) in [
            ("hello", "did you mean `ref.greet`?"),
            ("ref_greet", "did you mean `ref.greet`?"),
            ("greet", "did you mean `ref.greet`?"),
            ("git_*", "did you mean `git.*`?"),
            ("ghost.*", "tools are named as SERVER.TOOL here"),
        ] {
            let told = told(name).unwrap();
            assert!(told.starts_with(&format!("no tool fits `{name}`")), "{told}");
            assert!(told.ends_with(meant), "{told}");
        }
    }
}

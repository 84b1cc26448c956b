//! Did you mean …?

use mcpr_admin::{ListProjects, ListPrompts, ListResources, ListServers, ListTools, ListToolsets};

use crate::books::Books;
use crate::connect::Gateway;
use crate::problem::Problem;

/// Adds the name that was probably meant, if a tool was not found.
pub(crate) async fn tool(gateway: &Gateway, typed: &str, problem: Problem) -> Problem {
    if !problem.is_not_found() {
        return problem;
    }
    let all = ListTools {
        all: true,
        ..ListTools::default()
    };
    let list = gateway.ask(&all).await;
    let names = list.into_iter().flat_map(|list| list.tools);
    meant(
        problem,
        "tools",
        typed,
        names.map(|tool| (tool.name, tool.server, tool.origin)),
    )
}

/// Adds the name that was probably meant, if a prompt was not found.
pub(crate) async fn prompt(gateway: &Gateway, typed: &str, problem: Problem) -> Problem {
    if !problem.is_not_found() {
        return problem;
    }
    let list = gateway.ask(&ListPrompts::default()).await;
    let names = list.into_iter().flat_map(|list| list.prompts);
    meant(
        problem,
        "prompts",
        typed,
        names.map(|prompt| (prompt.name, prompt.server, prompt.origin)),
    )
}

/// Adds the URI that was probably meant, if a resource was not found.
pub(crate) async fn resource(gateway: &Gateway, typed: &str, problem: Problem) -> Problem {
    if !problem.is_not_found() {
        return problem;
    }
    let list = gateway.ask(&ListResources::default()).await;
    let uris: Vec<_> = list
        .into_iter()
        .flat_map(|list| list.resources)
        .map(|resource| resource.uri)
        .collect();
    nearest(problem, "resources", typed, &uris)
}

/// Adds the name that was probably meant, if a server was not found.
pub(crate) async fn server(gateway: &Gateway, typed: Option<&str>, problem: Problem) -> Problem {
    let Some(typed) = typed.filter(|_| problem.is_not_found()) else {
        return problem;
    };
    let list = gateway.ask(&ListServers {}).await;
    let names: Vec<_> = list
        .into_iter()
        .flat_map(|list| list.servers)
        .map(|server| server.name)
        .collect();
    nearest(problem, "servers", typed, &names)
}

/// Adds the name that was probably meant, if a toolset was not found.
pub(crate) async fn toolset(books: &Books<'_>, typed: &str, problem: Problem) -> Problem {
    if !problem.is_not_found() {
        return problem;
    }
    let list = books.ask(ListToolsets {}).await;
    let names = list.into_iter().flat_map(|list| list.toolsets);
    let names: Vec<_> = names.map(|toolset| toolset.name).collect();
    nearest(problem, "toolsets", typed, &names)
}

/// Adds the name that was probably meant, if a project was not found.
pub(crate) async fn project(books: &Books<'_>, typed: &str, problem: Problem) -> Problem {
    if !problem.is_not_found() {
        return problem;
    }
    let list = books.ask(ListProjects {}).await;
    let names = list.into_iter().flat_map(|list| list.projects);
    let names: Vec<_> = names.map(|project| project.name).collect();
    nearest(problem, "projects", typed, &names)
}

/// The name that was probably meant, if one is like it.
pub(crate) fn near<'k>(typed: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    mcpr_config::nearest(typed, known)
}

/// Something can be named as clients see it, or by its server and the name there.
fn meant(
    problem: Problem,
    kind: &str,
    typed: &str,
    known: impl Iterator<Item = (String, String, String)>,
) -> Problem {
    let both = known.flat_map(|(name, server, origin)| [name, format!("{server}.{origin}")]);
    nearest(problem, kind, typed, &both.collect::<Vec<_>>())
}

fn nearest(problem: Problem, kind: &str, typed: &str, known: &[String]) -> Problem {
    match near(typed, known.iter().map(String::as_str)) {
        Some(name) => problem.hint(format!("did you mean `{name}`?")),
        None => problem.or_hint(|| format!("`mcpr-ctl {kind} ls` shows what there is")),
    }
}

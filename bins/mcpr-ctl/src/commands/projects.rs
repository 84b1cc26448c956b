//! Named sets of servers.

mod edit;

use mcpr_admin::{
    DeleteProject, ExitCode, ListProjects, ProjectList, ProjectReport, SaveProject, ShowProject,
};

use crate::books::Books;
use crate::cli::projects::{NewProject, Projects};
use crate::cli::{Global, Repeat};
use crate::out::Out;
use crate::out::facts::{facts, joined};
use crate::out::look::{Look, Paint};
use crate::out::phrase::{cost, tokens};
use crate::out::table::{Cell, Table};
use crate::out::text::one_line;
use crate::out::watch;
use crate::problem::Problem;
use crate::suggest;

/// `projects …`
pub(super) async fn run(global: &Global, out: &Out, which: &Projects) -> Result<ExitCode, Problem> {
    let books = Books::of(global, out)?;
    match which {
        Projects::Ls(repeat) => list(&books, out, *repeat).await,
        Projects::Show { name } => {
            let project = shown(&books, name).await?;
            out.report(&project, page).map(|()| ExitCode::Ok)
        }
        Projects::Create(new) => save(&books, out, wanted(new), "created").await,
        Projects::Edit(changes) => {
            let changed = edit::changed(shown(&books, &changes.name).await?, changes)?;
            save(&books, out, changed, "changed").await
        }
        Projects::Rm { name } => remove(&books, out, name).await,
    }
}

async fn list(books: &Books<'_>, out: &Out, repeat: Repeat) -> Result<ExitCode, Problem> {
    let ask = async || books.ask(ListProjects {}).await;
    let shown = watch::report(out, repeat, ask, table).await?;
    if shown.once().is_some_and(|list| list.projects.is_empty()) {
        out.note("there are no projects; make one with `mcpr-ctl projects create NAME --servers SERVER,…`");
    }
    Ok(shown.code())
}

fn table(list: &ProjectList, look: &Look) -> String {
    let mut table = Table::new(&[
        "PROJECT",
        "FROM",
        "SERVERS",
        "TOOLSET",
        "TOOLS",
        "≈TOKENS",
        "MISSING",
        "DESCRIPTION",
    ]);
    for project in &list.projects {
        table.row([
            project.name.as_str().into(),
            origin(project).into(),
            joined(&project.members).into(),
            project.toolset.as_deref().into(),
            project.tools.into(),
            project.estimated_tokens.map(tokens).into(),
            missing(project),
            project.description.as_deref().into(),
        ]);
    }
    table.draw(look)
}

fn missing(project: &ProjectReport) -> Cell {
    let cell = Cell::from(joined(&project.missing));
    match project.missing.is_empty() {
        true => cell,
        false => cell.paint(Paint::Bad),
    }
}

fn origin(project: &ProjectReport) -> &'static str {
    match project.from_file {
        true => "config",
        false => "database",
    }
}

async fn shown(books: &Books<'_>, name: &str) -> Result<ProjectReport, Problem> {
    let operation = ShowProject {
        name: name.to_owned(),
    };
    match books.ask(operation).await {
        Ok(project) => Ok(project),
        Err(problem) => Err(suggest::project(books, name, problem).await),
    }
}

fn page(project: &ProjectReport, look: &Look) -> String {
    let name = look.paint(Paint::Head, &one_line(&project.name));
    let tools = project
        .tools
        .map(|tools| cost(tools, project.estimated_tokens.unwrap_or(0)));
    let facts = facts([
        ("from", Some(origin(project).to_owned())),
        ("description", project.description.clone()),
        ("servers", joined(&project.servers)),
        ("tags", joined(&project.tags)),
        ("toolset", project.toolset.clone()),
        ("members", joined(&project.members)),
        ("missing", joined(&project.missing)),
        ("tools", tools),
    ]);
    format!("{name}\n{facts}")
}

fn wanted(new: &NewProject) -> SaveProject {
    SaveProject {
        name: new.name.clone(),
        description: new.description.clone(),
        servers: new.servers.clone(),
        tags: new.tags.clone(),
        toolset: new.toolset.clone(),
        replace: new.replace,
    }
}

async fn save(books: &Books<'_>, out: &Out, operation: SaveProject, did: &str) -> Result<ExitCode, Problem> {
    let project = books.ask(operation).await?;
    out.report(&project, |project, look| format!("{did} {}", page(project, look)))?;
    for absent in &project.missing {
        out.note(&format!("warning: there is no {absent}"));
    }
    Ok(ExitCode::Ok)
}

async fn remove(books: &Books<'_>, out: &Out, name: &str) -> Result<ExitCode, Problem> {
    let operation = DeleteProject {
        name: name.to_owned(),
    };
    match books.ask(operation).await {
        Ok(project) => {
            out.report(&project, |project, _| format!("deleted {}\n", project.name))?;
            Ok(ExitCode::Ok)
        }
        Err(problem) => Err(suggest::project(books, name, problem).await),
    }
}

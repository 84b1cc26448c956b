//! Named choices of tools.

mod diff;
mod edit;
mod equip;
mod exchange;
mod export;
mod import;
mod page;

use mcpr_admin::{
    AcceptToolset, Built, DeleteToolset, ExitCode, ListToolsets, SaveToolset, ShowToolset, ToolsetEntry,
};
use mcpr_store::OPERATOR;

use crate::books::Books;
use crate::cli::toolsets::{Named, NewToolset, Toolsets};
use crate::cli::{Global, Repeat};
use crate::out::Out;
use crate::out::watch;
use crate::problem::Problem;
use crate::suggest;

/// `toolsets …`
pub(super) async fn run(global: &Global, out: &Out, which: &Toolsets) -> Result<ExitCode, Problem> {
    let books = Books::of(global, out)?;
    match which {
        Toolsets::Ls(repeat) => list(&books, out, *repeat).await,
        Toolsets::Show(named) => show(&books, out, named).await,
        Toolsets::Create(new) => create(&books, out, new).await,
        Toolsets::Edit(changes) => edit::edit(&books, out, changes).await,
        Toolsets::Rm { named, force } => remove(&books, out, named, *force).await,
        Toolsets::Equip { name, whose } => equip::equip(&books, out, name, whose).await,
        Toolsets::Unequip(whose) => equip::unequip(&books, out, whose).await,
        Toolsets::Active(whose) => equip::active(&books, out, whose).await,
        Toolsets::Diff { a, b } => diff::diff(&books, out, a, b).await,
        Toolsets::Accept(named) => accept(&books, out, named).await,
        Toolsets::Export(wanted) => export::export(&books, out, wanted).await,
        Toolsets::Import(wanted) => import::import(&books, out, wanted).await,
    }
}

async fn list(books: &Books<'_>, out: &Out, repeat: Repeat) -> Result<ExitCode, Problem> {
    let ask = async || books.ask(ListToolsets {}).await;
    let shown = watch::report(out, repeat, ask, page::list).await?;
    if shown.once().is_some_and(|list| list.toolsets.is_empty()) {
        out.note("there are no toolsets; make one with `mcpr-ctl toolsets create NAME --tools SERVER.TOOL`");
    }
    Ok(shown.code())
}

async fn show(books: &Books<'_>, out: &Out, named: &Named) -> Result<ExitCode, Problem> {
    let operation = ShowToolset {
        name: named.name.clone(),
        owner: named.owner.clone(),
    };
    match books.ask(operation).await {
        Ok(detail) => out.report(&detail, page::detail).map(|()| ExitCode::Ok),
        Err(problem) => Err(suggest::toolset(books, &named.name, problem).await),
    }
}

async fn create(books: &Books<'_>, out: &Out, new: &NewToolset) -> Result<ExitCode, Problem> {
    let (description, tools) = match &new.file {
        Some(file) => {
            let body = exchange::one(&exchange::content(file)?)?;
            (body.description, body.tools)
        }
        None => (None, entries(&new.tools)),
    };
    let operation = SaveToolset {
        name: new.name.clone(),
        description: new.description.clone().or(description),
        tools,
        replace: new.replace,
        force: new.force,
    };
    let built = books.ask(operation).await?;
    let did = if built.replaced { "replaced" } else { "created" };
    tell(out, &built, did)
}

/// Tells what came of making or changing a toolset.
fn tell(out: &Out, built: &Built, did: &str) -> Result<ExitCode, Problem> {
    out.report(built, |built, _| {
        format!("{did} {}\n", page::in_short(&built.toolset))
    })?;
    warn(out, &built.warnings);
    Ok(ExitCode::Ok)
}

fn warn(out: &Out, warnings: &[String]) {
    for warning in warnings {
        out.note(&format!("warning: {warning}"));
    }
}

fn entries(names: &[String]) -> Vec<ToolsetEntry> {
    let entry = |name: &String| ToolsetEntry {
        namespaced_name: name.trim().to_owned(),
        definition_hash: None,
    };
    names.iter().map(entry).collect()
}

async fn remove(books: &Books<'_>, out: &Out, named: &Named, force: bool) -> Result<ExitCode, Problem> {
    let operation = DeleteToolset {
        name: named.name.clone(),
        owner: named.owner.clone(),
        force,
    };
    match books.ask(operation).await {
        Ok(toolset) => {
            out.report(&toolset, |toolset, _| format!("deleted {}\n", toolset.name))?;
            Ok(ExitCode::Ok)
        }
        Err(problem) => Err(suggest::toolset(books, &named.name, problem).await),
    }
}

/// Only a running gateway knows the definitions of today.
async fn accept(books: &Books<'_>, out: &Out, named: &Named) -> Result<ExitCode, Problem> {
    let operation = AcceptToolset {
        name: named.name.clone(),
        owner: named.owner.clone(),
    };
    match books.gateway().ask(&operation).await {
        Ok(detail) => out.report(&detail, page::detail).map(|()| ExitCode::Ok),
        Err(error) => Err(suggest::toolset(books, &named.name, error.into()).await),
    }
}

/// The operator's toolset of that name.
async fn of_operator(books: &Books<'_>, name: &str) -> Result<mcpr_admin::ToolsetDetail, Problem> {
    let operation = ShowToolset {
        name: name.to_owned(),
        owner: Some(OPERATOR.to_owned()),
    };
    match books.ask(operation).await {
        Ok(detail) => Ok(detail),
        Err(problem) => Err(suggest::toolset(books, name, problem).await),
    }
}

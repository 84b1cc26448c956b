//! Toolsets, made from JSON.

use std::collections::HashSet;

use mcpr_admin::{ExitCode, ListTools, SaveToolset, ShowToolset, ToolsetDetail};
use mcpr_store::OPERATOR;
use serde::Serialize;

use super::exchange::{self, Body, Item};
use crate::books::Books;
use crate::cli::toolsets::Import;
use crate::out::Out;
use crate::out::look::{Look, Paint};
use crate::out::table::{Cell, Table};
use crate::problem::Problem;
use crate::suggest::near;

/// What came of an import.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Imported {
    dry_run: bool,
    toolsets: Vec<One>,
}

/// What came of one toolset.
#[derive(Debug, Serialize)]
struct One {
    name: String,
    outcome: Outcome,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Problem>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    Created,
    Replaced,
    /// It was there like this before.
    Unchanged,
    Failed,
}

/// `toolsets import`
pub(super) async fn import(books: &Books<'_>, out: &Out, wanted: &Import) -> Result<ExitCode, Problem> {
    let items = exchange::all(&exchange::content(&wanted.file)?)?;
    let known = match wanted.dry_run {
        true => known_tools(books).await,
        false => None,
    };
    let mut seen = HashSet::new();
    let mut toolsets = Vec::new();
    for item in items {
        let twice = !seen.insert(item.name.clone());
        toolsets.push(take(books, wanted, item, twice, known.as_deref()).await?);
    }
    let imported = Imported {
        dry_run: wanted.dry_run,
        toolsets,
    };
    out.report(&imported, page)?;
    if wanted.dry_run {
        out.note("nothing was changed");
    }
    Ok(ending(&imported))
}

/// Takes one toolset. Only what would fail for all others too is a failure of the whole.
async fn take(
    books: &Books<'_>,
    wanted: &Import,
    item: Item,
    twice: bool,
    known: Option<&[String]>,
) -> Result<One, Problem> {
    let name = item.name;
    let outcome = match item.body {
        Err(problem) => Err(problem),
        Ok(_) if twice => Err(Problem::usage("it is in the file twice")),
        Ok(body) if body.name.is_none() => Err(Problem::usage("it has no name")),
        Ok(body) => match before(books, &name).await? {
            Some(before) if is_same(&before, &body) => Ok((Outcome::Unchanged, Vec::new())),
            before if wanted.dry_run => tried(wanted, before.as_ref(), &body, known),
            _ => save(books, wanted, &name, body).await,
        },
    };
    Ok(match outcome {
        Ok((outcome, warnings)) => One {
            name,
            outcome,
            warnings,
            error: None,
        },
        Err(problem) => One {
            name,
            outcome: Outcome::Failed,
            warnings: Vec::new(),
            error: Some(problem),
        },
    })
}

/// The operator's toolset that has the name now.
async fn before(books: &Books<'_>, name: &str) -> Result<Option<ToolsetDetail>, Problem> {
    let operation = ShowToolset {
        name: name.to_owned(),
        owner: Some(OPERATOR.to_owned()),
    };
    match books.ask(operation).await {
        Ok(detail) => Ok(Some(detail)),
        Err(problem) if problem.is_not_found() => Ok(None),
        Err(problem) => Err(problem),
    }
}

/// Whether it says the same; a hash that the file does not have makes no difference.
fn is_same(before: &ToolsetDetail, body: &Body) -> bool {
    let same = |(a, b): (&mcpr_admin::ToolsetEntry, &mcpr_admin::ToolsetEntry)| {
        a.namespaced_name == b.namespaced_name
            && (b.definition_hash.is_none() || a.definition_hash == b.definition_hash)
    };
    before.toolset.description == body.description
        && before.entries.len() == body.tools.len()
        && before.entries.iter().zip(&body.tools).all(same)
}

async fn save(
    books: &Books<'_>,
    wanted: &Import,
    name: &str,
    body: Body,
) -> Result<(Outcome, Vec<String>), Problem> {
    let operation = SaveToolset {
        name: name.to_owned(),
        description: body.description,
        tools: body.tools,
        replace: wanted.replace,
        force: wanted.force,
    };
    let built = books.ask(operation).await?;
    Ok((made(built.replaced), built.warnings))
}

fn made(replaced: bool) -> Outcome {
    match replaced {
        true => Outcome::Replaced,
        false => Outcome::Created,
    }
}

/// What would come of it.
fn tried(
    wanted: &Import,
    before: Option<&ToolsetDetail>,
    body: &Body,
    known: Option<&[String]>,
) -> Result<(Outcome, Vec<String>), Problem> {
    match before {
        Some(before) if before.toolset.from_file => {
            Err(Problem::usage("a configuration file has a toolset of this name").hint("change it there"))
        }
        Some(_) if !wanted.replace => {
            Err(Problem::usage("there is a toolset of this name").hint("replace it with --replace"))
        }
        before => Ok((made(before.is_some()), strange(body, known.unwrap_or_default()))),
    }
}

/// The names of all tools, if a gateway runs that knows them.
async fn known_tools(books: &Books<'_>) -> Option<Vec<String>> {
    let all = ListTools {
        all: true,
        ..ListTools::default()
    };
    let list = books.gateway().ask(&all).await.ok()?;
    let name = |tool: mcpr_admin::ToolReport| format!("{}.{}", tool.server, tool.origin);
    Some(list.tools.into_iter().map(name).collect())
}

/// Names that no tool has now.
fn strange(body: &Body, known: &[String]) -> Vec<String> {
    let is_strange = |name: &&String| !known.is_empty() && !name.contains('*') && !known.contains(name);
    let names = body.tools.iter().map(|entry| &entry.namespaced_name);
    let told = |name: &String| match near(name, known.iter().map(String::as_str)) {
        Some(near) => format!("no tool is `{name}` now; did you mean `{near}`?"),
        None => format!("no tool is `{name}` now"),
    };
    names.filter(is_strange).map(told).collect()
}

fn ending(imported: &Imported) -> ExitCode {
    let failed = imported
        .toolsets
        .iter()
        .filter(|one| one.outcome == Outcome::Failed);
    match failed.count() {
        0 => ExitCode::Ok,
        all if all == imported.toolsets.len() => ExitCode::Failed,
        _ => ExitCode::Partly,
    }
}

fn page(imported: &Imported, look: &Look) -> String {
    let mut table = Table::new(&["TOOLSET", "OUTCOME", "REMARK"]);
    for one in &imported.toolsets {
        let remark = one.error.as_ref().map(told).or_else(|| {
            let warnings = one.warnings.join("; ");
            (!warnings.is_empty()).then_some(warnings)
        });
        table.row([one.name.as_str().into(), outcome(one.outcome), remark.into()]);
    }
    table.draw(look)
}

fn told(problem: &Problem) -> String {
    match &problem.hint {
        Some(hint) => format!("{}; {hint}", problem.message),
        None => problem.message.clone(),
    }
}

fn outcome(outcome: Outcome) -> Cell {
    let (word, paint) = match outcome {
        Outcome::Created => ("created", Paint::Good),
        Outcome::Replaced => ("replaced", Paint::Good),
        Outcome::Unchanged => ("unchanged", Paint::Dim),
        Outcome::Failed => ("failed", Paint::Bad),
    };
    Cell::from(word).paint(paint)
}

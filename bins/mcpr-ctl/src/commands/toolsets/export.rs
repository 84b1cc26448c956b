//! Toolsets, written as JSON.

use std::fs;

use mcpr_admin::{ExitCode, ListToolsets, ShowToolset, ToolsetDetail, ToolsetEntry};
use mcpr_protocol::RawJson;
use mcpr_store::OPERATOR;
use serde::Serialize;

use super::exchange::Body;
use crate::books::Books;
use crate::cli::toolsets::Export;
use crate::connect::{locations, refuse_own};
use crate::out::Out;
use crate::out::indent::indent;
use crate::problem::Problem;
use crate::suggest;

/// What was written to a file.
#[derive(Serialize)]
struct Written {
    file: String,
    toolsets: Vec<String>,
}

/// `toolsets export`
pub(super) async fn export(books: &Books<'_>, out: &Out, wanted: &Export) -> Result<ExitCode, Problem> {
    if let Some(file) = &wanted.output {
        refuse_own(&locations(books.global())?, &[file])?;
    }
    let owner = wanted.owner.as_deref().unwrap_or(OPERATOR);
    let names = match wanted.all {
        true => all_of(books, owner).await?,
        false => wanted.names.clone(),
    };
    let mut bodies = Vec::new();
    for name in &names {
        let detail = shown(books, name, owner).await?;
        bodies.push(body(detail, wanted.with_hashes));
    }
    let text = match &bodies[..] {
        [body] if !wanted.all => RawJson::render(body),
        bodies => RawJson::render(&bodies),
    };
    match &wanted.output {
        None => out.report(&text, |text, _| indent(text) + "\n")?,
        Some(file) => {
            fs::write(file, indent(&text) + "\n").map_err(|error| {
                Problem::failed(format!("`{}` cannot be written: {error}", file.display()))
            })?;
            let written = Written {
                file: file.display().to_string(),
                toolsets: names,
            };
            out.report(&written, |written, _| {
                format!("wrote {} to {}\n", written.toolsets.join(", "), written.file)
            })?;
        }
    }
    Ok(ExitCode::Ok)
}

async fn all_of(books: &Books<'_>, owner: &str) -> Result<Vec<String>, Problem> {
    let list = books.ask(ListToolsets {}).await?;
    let own = list.toolsets.into_iter().filter(|toolset| toolset.owner == owner);
    Ok(own.map(|toolset| toolset.name).collect())
}

async fn shown(books: &Books<'_>, name: &str, owner: &str) -> Result<ToolsetDetail, Problem> {
    let operation = ShowToolset {
        name: name.to_owned(),
        owner: Some(owner.to_owned()),
    };
    match books.ask(operation).await {
        Ok(detail) => Ok(detail),
        Err(problem) => Err(suggest::toolset(books, name, problem).await),
    }
}

fn body(detail: ToolsetDetail, with_hashes: bool) -> Body {
    let entry = |entry: ToolsetEntry| ToolsetEntry {
        definition_hash: entry.definition_hash.filter(|_| with_hashes),
        ..entry
    };
    Body {
        name: Some(detail.toolset.name),
        description: detail.toolset.description,
        tools: detail.entries.into_iter().map(entry).collect(),
    }
}

//! The difference between two toolsets.

use std::collections::BTreeSet;

use mcpr_admin::{ExitCode, ToolsetDetail};
use serde::Serialize;

use super::{of_operator, page};
use crate::books::Books;
use crate::out::Out;
use crate::out::look::{Look, Paint};
use crate::out::phrase::tokens;
use crate::out::text::one_line;
use crate::problem::Problem;

/// The difference between two toolsets, by the tools that they are now; without a gateway by their entries.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Difference {
    a: String,
    b: String,
    only_in_a: Vec<String>,
    only_in_b: Vec<String>,
    in_both: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    estimated_tokens_a: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    estimated_tokens_b: Option<u64>,
}

/// `toolsets diff`
pub(super) async fn diff(books: &Books<'_>, out: &Out, a: &str, b: &str) -> Result<ExitCode, Problem> {
    let (a, b) = (of_operator(books, a).await?, of_operator(books, b).await?);
    if books.are_offline() {
        out.note("compared by their entries: what patterns fit is not known without a gateway");
    }
    out.report(&between(&a, &b), drawn)?;
    Ok(ExitCode::Ok)
}

fn between(a: &ToolsetDetail, b: &ToolsetDetail) -> Difference {
    let (in_a, in_b) = (names(a), names(b));
    let owned = |names: Vec<&&str>| names.into_iter().map(|name| (*name).to_owned()).collect();
    Difference {
        a: a.toolset.name.clone(),
        b: b.toolset.name.clone(),
        only_in_a: owned(in_a.difference(&in_b).collect()),
        only_in_b: owned(in_b.difference(&in_a).collect()),
        in_both: owned(in_a.intersection(&in_b).collect()),
        estimated_tokens_a: a.toolset.estimated_tokens,
        estimated_tokens_b: b.toolset.estimated_tokens,
    }
}

/// The tools, or the entries where those are not known.
fn names(detail: &ToolsetDetail) -> BTreeSet<&str> {
    match detail.toolset.tools {
        Some(_) => detail
            .tools
            .iter()
            .map(|tool| tool.namespaced_name.as_str())
            .collect(),
        None => detail
            .entries
            .iter()
            .map(|entry| entry.namespaced_name.as_str())
            .collect(),
    }
}

fn drawn(difference: &Difference, look: &Look) -> String {
    let lines = |sign: char, paint: Paint, names: &[String]| {
        let line = |name: &String| look.paint(paint, &format!("{sign} {}", one_line(name))) + "\n";
        names.iter().map(line).collect::<String>()
    };
    format!(
        "{}{}{}",
        lines('-', Paint::Bad, &difference.only_in_a),
        lines('+', Paint::Good, &difference.only_in_b),
        summary(difference)
    )
}

fn summary(difference: &Difference) -> String {
    let counts = [&difference.only_in_a, &difference.only_in_b, &difference.in_both].map(Vec::len);
    let [a, b, both] = counts.map(page::count);
    let (name_a, name_b) = (one_line(&difference.a), one_line(&difference.b));
    let change = match (difference.estimated_tokens_a, difference.estimated_tokens_b) {
        (Some(a), Some(b)) => format!("; ≈ {} → {} tokens", tokens(a), tokens(b)),
        _ => String::new(),
    };
    format!("{a} only in {name_a}, {b} only in {name_b}, {both} in both{change}\n")
}

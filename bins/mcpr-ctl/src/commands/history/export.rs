//! Past calls for other programs.

mod csv;
mod target;

use std::path::Path;

use mcpr_admin::{CallReport, ExitCode, ListHistory};
use mcpr_auth::Timestamp;
use mcpr_protocol::RawJson;
use serde::Serialize;

use self::target::Target;
use super::operation;
use crate::books::Books;
use crate::cli::history::{Export, Format};
use crate::connect::{locations, refuse_own};
use crate::interrupt::unless_interrupted;
use crate::out::phrase::counted;
use crate::out::{Out, path};
use crate::problem::Problem;

/// How many calls are asked for at once; their arguments can be large.
const AT_ONCE: u64 = 200;

/// What was written to a file.
#[derive(Debug, Serialize)]
struct Exported<'a> {
    calls: u64,
    #[serde(serialize_with = "path::shown")]
    file: &'a Path,
}

/// `history export`
pub(super) async fn export(books: &Books<'_>, out: &Out, asked: &Export) -> Result<ExitCode, Problem> {
    let file = asked.output.as_deref().filter(|path| *path != Path::new("-"));
    if let Some(file) = file {
        refuse_own(&locations(books.global())?, &[file])?;
    }
    let mut calls = 0;
    // What is dropped half-way takes its file with it.
    let done = unless_interrupted(write_all(books, out, (asked, file), &mut calls)).await;
    out.clear();
    let Some(done) = done else {
        return Ok(given_up(out, file, calls));
    };
    done?;
    tell(out, file, calls)?;
    Ok(ExitCode::Ok)
}

/// Writes one page after the other, until there is no more or nobody reads.
async fn write_all(
    books: &Books<'_>,
    out: &Out,
    (asked, file): (&Export, Option<&Path>),
    calls: &mut u64,
) -> Result<(), Problem> {
    let wanted = ListHistory {
        arguments: true,
        limit: Some(AT_ONCE),
        ..operation(&asked.wanted, Timestamp::now())
    };
    // Whoever cannot be asked leaves a file that is there as it was.
    let mut page = books.ask(wanted.clone()).await?;
    let mut target = Target::of(out, file)?;
    let mut reads = target.write(&head(asked.format))?;
    while reads {
        for call in &page.calls {
            reads = reads && target.write(&written(asked.format, call))?;
        }
        *calls += page.calls.len() as u64;
        let Some(next) = page.next else { break };
        if file.is_some() || !out.is_terminal() {
            out.redraw(&format!("{} so far", counted(*calls, "call")));
        }
        let operation = ListHistory {
            before: Some(next),
            ..wanted.clone()
        };
        page = books.ask(operation).await?;
    }
    target.finish()
}

/// Ctrl-C: standard output has whole lines, and a file is as it was.
fn given_up(out: &Out, file: Option<&Path>, calls: u64) -> ExitCode {
    let counted = counted(calls, "call");
    out.note(&match file {
        Some(path) => format!("given up after {counted}; `{}` is as it was", path.display()),
        None => format!("given up after {counted}"),
    });
    ExitCode::Interrupted
}

/// Tells what was written.
fn tell(out: &Out, file: Option<&Path>, calls: u64) -> Result<(), Problem> {
    let Some(file) = file else {
        out.note(&counted(calls, "call"));
        return Ok(());
    };
    out.report(&Exported { calls, file }, |exported, _| {
        let counted = counted(exported.calls, "call");
        format!("{counted} written to {}\n", exported.file.display())
    })
}

fn head(format: Format) -> Vec<u8> {
    match format {
        Format::Jsonl => Vec::new(),
        Format::Csv => csv::head(),
    }
}

fn written(format: Format, call: &CallReport) -> Vec<u8> {
    match format {
        Format::Jsonl => {
            let mut line = RawJson::render(call).into_bytes().to_vec();
            // A line break between the tokens of arguments is as good as a blank.
            line.iter_mut()
                .filter(|byte| matches!(byte, b'\n' | b'\r'))
                .for_each(|byte| *byte = b' ');
            line.push(b'\n');
            line
        }
        Format::Csv => csv::row(call),
    }
}

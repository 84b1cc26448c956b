//! Past calls for other programs.

mod csv;

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::Path;

use mcpr_admin::{CallReport, ExitCode, ListHistory};
use mcpr_auth::Timestamp;
use mcpr_protocol::RawJson;
use serde::Serialize;

use super::operation;
use crate::books::Books;
use crate::cli::history::{Export, Format};
use crate::out::Out;
use crate::out::phrase::counted;
use crate::out::text::printable;
use crate::problem::Problem;

/// How many calls are asked for at once; their arguments can be large.
const AT_ONCE: u64 = 200;

/// What was written to a file.
#[derive(Debug, Serialize)]
struct Exported<'a> {
    calls: u64,
    file: &'a Path,
}

/// Where the calls go.
enum Target<'a> {
    Standard(&'a Out),
    File(&'a Path, BufWriter<File>),
}

/// `history export`
pub(super) async fn export(books: &Books<'_>, out: &Out, asked: &Export) -> Result<ExitCode, Problem> {
    let wanted = ListHistory {
        arguments: true,
        limit: Some(AT_ONCE),
        ..operation(&asked.wanted, Timestamp::now())
    };
    // Whoever cannot be asked leaves a file that is there as it was.
    let first = books.ask(wanted.clone()).await?;
    let mut target = Target::of(out, asked.output.as_deref())?;
    let mut calls = 0;
    let mut reads = target.write(&head(asked.format))?;
    let mut page = first;
    while reads {
        for call in &page.calls {
            reads = reads && target.write(&written(asked.format, call))?;
        }
        calls += page.calls.len() as u64;
        let Some(next) = page.next else { break };
        let operation = ListHistory {
            before: Some(next),
            ..wanted.clone()
        };
        page = books.ask(operation).await?;
    }
    target.finish(out, calls)?;
    Ok(ExitCode::Ok)
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

impl<'a> Target<'a> {
    fn of(out: &'a Out, path: Option<&'a Path>) -> Result<Self, Problem> {
        let Some(path) = path.filter(|path| *path != Path::new("-")) else {
            return Ok(Self::Standard(out));
        };
        let file = for_owner_only().open(path);
        let file = file.map_err(|error| unwritable(path, &error))?;
        Ok(Self::File(path, BufWriter::new(file)))
    }

    /// Writes data, and tells whether anybody still reads.
    fn write(&mut self, bytes: &[u8]) -> Result<bool, Problem> {
        match self {
            Self::Standard(out) if out.is_terminal() => {
                out.feed(printable(&String::from_utf8_lossy(bytes)).as_bytes())
            }
            Self::Standard(out) => out.feed(bytes),
            Self::File(path, file) => {
                let written = file.write_all(bytes);
                written.map(|()| true).map_err(|error| unwritable(path, &error))
            }
        }
    }

    /// Tells what was written.
    fn finish(self, out: &Out, calls: u64) -> Result<(), Problem> {
        let (file, mut writer) = match self {
            Self::Standard(_) => {
                out.note(&counted(calls, "call"));
                return Ok(());
            }
            Self::File(path, writer) => (path, writer),
        };
        writer.flush().map_err(|error| unwritable(file, &error))?;
        out.report(&Exported { calls, file }, |exported, _| {
            let counted = counted(exported.calls, "call");
            format!("{counted} written to {}\n", exported.file.display())
        })
    }
}

/// Arguments are nobody else's business.
fn for_owner_only() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn unwritable(path: &Path, error: &std::io::Error) -> Problem {
    let problem = Problem::failed(format!("`{}` cannot be written: {error}", path.display()));
    problem.hint("name another file with --output")
}

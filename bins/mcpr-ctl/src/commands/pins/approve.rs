//! Approving definitions.

use mcpr_admin::{Approval, ApprovePins, ExitCode, PinChange};

use super::{diff, page};
use crate::books::Books;
use crate::out::Out;
use crate::out::phrase::counted;
use crate::problem::Problem;

/// `pins approve`
pub(super) async fn approve(
    books: &Books<'_>,
    out: &Out,
    names: &[String],
    yes: bool,
) -> Result<ExitCode, Problem> {
    let mut changes: Vec<PinChange> = Vec::new();
    for name in names {
        let found = diff::ask(books, Some(name)).await?.changes;
        let known = |change: &PinChange| changes.iter().any(|known| known.pin == change.pin);
        let fresh: Vec<PinChange> = found.into_iter().filter(|change| !known(change)).collect();
        changes.extend(fresh);
    }
    if changes.is_empty() {
        out.note("there is nothing to approve: all tools are as they were approved");
    } else if !yes && !agreed(out, &changes)? {
        out.note("nothing was approved");
        return Ok(ExitCode::Failed);
    }
    let approvals = changes.into_iter().map(|change| Approval {
        server: change.pin.server,
        tool: change.pin.tool,
        hash: change.hash,
    });
    let operation = ApprovePins {
        approvals: approvals.collect(),
    };
    let approved = books.ask(operation).await?;
    out.report(&approved, |approved, look| match approved.pins.is_empty() {
        true => String::new(),
        false => page(approved, look),
    })?;
    Ok(ExitCode::Ok)
}

/// Asks a person, who sees what it is about; a script has to say it in its words.
fn agreed(out: &Out, changes: &[PinChange]) -> Result<bool, Problem> {
    if !out.has_person() {
        let problem = Problem::usage("nobody is there to be asked whether that may be approved");
        return Err(problem.hint("look at `mcpr-ctl pins diff`, and say it with --yes"));
    }
    out.note(diff::drawn(changes, &out.look()).trim_end());
    let question = format!("approve {}? [y/N]", counted(changes.len() as u64, "definition"));
    Ok(matches!(out.ask(&question)?.as_deref(), Some("y" | "yes")))
}

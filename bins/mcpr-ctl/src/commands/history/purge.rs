//! Past calls, forgotten.

use mcpr_admin::{ExitCode, PurgeHistory};
use mcpr_auth::Timestamp;

use crate::books::Books;
use crate::cli::history::Purge;
use crate::out::Out;
use crate::out::phrase::counted;
use crate::problem::Problem;

/// `history purge`
pub(super) async fn purge(books: &Books<'_>, out: &Out, asked: &Purge) -> Result<ExitCode, Problem> {
    let now = Timestamp::now();
    let operation = PurgeHistory {
        before: asked.older_than.map(|since| since.from(now).to_string()),
        server: asked.server.clone(),
        tool: asked.tool.clone(),
        status: asked.status,
        principal: None,
    };
    if !asked.yes && !agreed(out, &operation)? {
        out.note("nothing was forgotten");
        return Ok(ExitCode::Failed);
    }
    let purged = books.ask(operation).await?;
    out.report(&purged, |purged, _| {
        format!("{} forgotten\n", counted(purged.deleted, "call"))
    })?;
    Ok(ExitCode::Ok)
}

/// Asks a person; a script has to say it in its words.
fn agreed(out: &Out, operation: &PurgeHistory) -> Result<bool, Problem> {
    if !out.has_person() {
        let problem = Problem::usage("nobody is there to be asked whether calls may be forgotten");
        return Err(problem.hint("say it with --yes"));
    }
    let question = format!("forget {}? [y/N]", meant(operation));
    Ok(matches!(out.ask(&question)?.as_deref(), Some("y" | "yes")))
}

/// Which calls are meant.
fn meant(operation: &PurgeHistory) -> String {
    let status = operation.status.map(|status| status.as_str().to_owned());
    let wishes = [
        ("of the server", operation.server.clone()),
        ("of the tool", operation.tool.clone()),
        ("with the status", status),
        ("from before", operation.before.clone()),
    ];
    let wishes: Vec<_> = wishes
        .into_iter()
        .filter_map(|(what, wish)| Some(format!(" {what} {}", wish?)))
        .collect();
    format!("all past calls{}", wishes.concat())
}

#[cfg(test)]
mod tests {
    use mcpr_admin::CallStatus;

    use super::*;

    #[test]
    fn ctl_01_a_person_is_asked_about_exactly_what_is_meant() {
        let some = PurgeHistory {
            before: Some("2027-01-15T08:00:00Z".into()),
            server: Some("git".into()),
            status: Some(CallStatus::Error),
            ..PurgeHistory::default()
        };

        assert_eq!(meant(&PurgeHistory::default()), "all past calls");
        assert_eq!(
            meant(&some),
            "all past calls of the server git with the status error from before 2027-01-15T08:00:00Z"
        );
    }
}

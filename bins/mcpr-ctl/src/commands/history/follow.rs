//! Calls as they end.

use std::time::Duration;

use mcpr_admin::{CallReport, ExitCode, ListHistory};
use tokio::time::sleep;

use super::page;
use crate::books::Books;
use crate::interrupt::unless_interrupted;
use crate::out::Out;
use crate::problem::Problem;

/// How long to wait between two looks.
const PAUSE: Duration = Duration::from_secs(1);
/// How many calls are shown that came before, where nothing is said.
const BEFORE: u64 = 10;
/// How many calls are asked for at once.
const AT_ONCE: u64 = 1000;

/// Shows the latest calls, and goes on with those that end from now on.
pub(super) async fn follow(
    books: &Books<'_>,
    out: &Out,
    wanted: ListHistory,
    limit: Option<u64>,
) -> Result<ExitCode, Problem> {
    let followed = unless_interrupted(tell_all(books, out, wanted, limit)).await;
    followed.unwrap_or(Ok(ExitCode::Interrupted))
}

/// Tells of calls until nobody reads it any more.
async fn tell_all(
    books: &Books<'_>,
    out: &Out,
    wanted: ListHistory,
    limit: Option<u64>,
) -> Result<ExitCode, Problem> {
    let first = ListHistory {
        limit: Some(limit.unwrap_or(BEFORE)),
        ..wanted.clone()
    };
    let mut calls = books.ask(first).await?.calls;
    let mut last = None;
    loop {
        last = calls.first().map(|call| call.id.clone()).or(last);
        for call in calls.iter().rev() {
            if !out.line(call, page::line)? {
                return Ok(ExitCode::Ok);
            }
        }
        sleep(PAUSE).await;
        calls = since(books, &wanted, last.clone()).await?;
    }
}

/// The calls that ended after one, the latest first.
async fn since(
    books: &Books<'_>,
    wanted: &ListHistory,
    after: Option<String>,
) -> Result<Vec<CallReport>, Problem> {
    let mut all = Vec::new();
    let mut before = None;
    loop {
        let operation = ListHistory {
            after: after.clone(),
            before,
            limit: Some(AT_ONCE),
            ..wanted.clone()
        };
        let page = books.ask(operation).await?;
        all.extend(page.calls);
        match page.next {
            Some(next) => before = Some(next),
            None => return Ok(all),
        }
    }
}

//! Past calls: asked of the running gateway, or read straight from the database without one.

mod export;
mod follow;
mod page;
mod purge;
mod replay;

use mcpr_admin::{CallReport, ExitCode, HistoryList, ListHistory, ShowCall};
use mcpr_auth::Timestamp;

use crate::books::Books;
use crate::cli::Global;
use crate::cli::history::{History, Listing, Past, Wanted};
use crate::out::Out;
use crate::problem::Problem;

/// How many calls are listed where nothing is said.
const LISTED: u64 = 20;

/// `history …`
pub(super) async fn run(global: &Global, out: &Out, asked: &History) -> Result<ExitCode, Problem> {
    if asked.command.is_some() && asked.listing != Listing::default() {
        let problem = Problem::usage("options that stand before a command of `history` say nothing");
        return Err(problem.hint("write them behind it, as in `mcpr-ctl history ls --server git`"));
    }
    let books = Books::of(global, out)?;
    match &asked.command {
        None => list(&books, out, &asked.listing).await,
        Some(Past::Ls(listing)) => list(&books, out, listing).await,
        Some(Past::Show { id }) => show(&books, out, id).await,
        Some(Past::Replay { id, raw }) => replay::replay(books.gateway(), out, id, *raw).await,
        Some(Past::Export(wanted)) => export::export(&books, out, wanted).await,
        Some(Past::Purge(wanted)) => purge::purge(&books, out, wanted).await,
    }
}

async fn list(books: &Books<'_>, out: &Out, listing: &Listing) -> Result<ExitCode, Problem> {
    let wanted = operation(&listing.wanted, Timestamp::now());
    if listing.follow {
        return follow::follow(books, out, wanted, listing.limit).await;
    }
    let operation = ListHistory {
        limit: Some(listing.limit.unwrap_or(LISTED)),
        ..wanted.clone()
    };
    let list = books.ask(operation).await?;
    out.report(&list, |list, look| page::table(list, Timestamp::now(), look))?;
    out.note(&remark(&list, &wanted));
    Ok(ExitCode::Ok)
}

/// What was asked for, as the gateway is asked for it.
fn operation(wanted: &Wanted, now: Timestamp) -> ListHistory {
    ListHistory {
        server: wanted.server.clone(),
        tool: wanted.tool.clone(),
        status: wanted.status,
        principal: wanted.principal.clone(),
        since: wanted.since.map(|since| since.from(now).to_string()),
        slower_than_ms: wanted
            .slow
            .map(|slow| u64::try_from(slow.as_millis()).unwrap_or(u64::MAX)),
        text: wanted.text.clone(),
        ..ListHistory::default()
    }
}

/// Where more may be.
fn remark(list: &HistoryList, wanted: &ListHistory) -> String {
    let count = list.calls.len();
    let text = match (count, &list.next) {
        (0, _) if *wanted == ListHistory::default() => "no calls are kept yet",
        (0, _) if wanted.tool.is_some() => {
            "no call that is kept fits; --tool takes the name that the server gives a tool, such as status"
        }
        (0, _) => "no call that is kept fits",
        (_, Some(_)) => return format!("the latest {count}; more with --limit, all with `history export`"),
        (1, None) => "1 call",
        (_, None) => return format!("{count} calls"),
    };
    text.to_owned()
}

async fn show(books: &Books<'_>, out: &Out, id: &str) -> Result<ExitCode, Problem> {
    let call: CallReport = books.ask(ShowCall { id: id.to_owned() }).await?;
    out.report(&call, page::page)?;
    if call.arguments.is_none() {
        out.note("its arguments were not kept; history.arguments says which are");
    }
    Ok(ExitCode::Ok)
}

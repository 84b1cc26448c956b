//! Past calls, without a gateway.

use std::time::{Duration, SystemTime};

use mcpr_admin::{CallReport, CallStatus, HistoryList, ListHistory, PurgeHistory, Purged, ShowCall};
use mcpr_auth::unix_millis;
use mcpr_store::{CallQuery, CallRow};
use mcpr_telemetry::rfc3339;

use super::{Absent, Database, Offline};
use crate::problem::Problem;

impl Offline<ListHistory> for Database {
    const ABSENT: Absent = Absent::CountAsEmpty;

    async fn carry_out(&self, wanted: ListHistory) -> Result<HistoryList, Problem> {
        let size = wanted.page_size();
        let query = query(wanted)?;
        let rows = self.store.calls(query.clone()).await?;
        let more = query.is_filled_by(&rows);
        let reports = rows.into_iter().map(report).collect();
        Ok(HistoryList::page(reports, size, more))
    }
}

impl Offline<ShowCall> for Database {
    const ABSENT: Absent = Absent::CountAsEmpty;

    async fn carry_out(&self, wanted: ShowCall) -> Result<CallReport, Problem> {
        let row = self.store.call(&wanted.id).await?;
        let row = row.ok_or_else(|| unknown(&wanted.id))?;
        Ok(report(row))
    }
}

impl Offline<PurgeHistory> for Database {
    const ABSENT: Absent = Absent::CountAsEmpty;

    async fn carry_out(&self, wanted: PurgeHistory) -> Result<Purged, Problem> {
        let query = CallQuery {
            server: wanted.server,
            tool: wanted.tool,
            status: wanted.status.map(word),
            principal: wanted.principal,
            until_ms: millis(wanted.before.as_deref())?,
            ..CallQuery::default()
        };
        let deleted = self.store.delete_calls(query).await?;
        Ok(Purged { deleted })
    }
}

/// One more than fits on a page, which tells whether there are more.
fn query(wanted: ListHistory) -> Result<CallQuery, Problem> {
    Ok(CallQuery {
        limit: wanted.page_size() + 1,
        bytes: ListHistory::PAGE_BYTES,
        brief: !wanted.arguments,
        since_ms: millis(wanted.since.as_deref())?,
        until_ms: millis(wanted.until.as_deref())?,
        slower_than_us: wanted.slower_than_ms.map(|limit| limit.saturating_mul(1000)),
        server: wanted.server,
        tool: wanted.tool,
        status: wanted.status.map(word),
        principal: wanted.principal,
        method: None,
        text: wanted.text,
        before: wanted.before,
        after: wanted.after,
    })
}

fn word(status: CallStatus) -> String {
    status.as_str().to_owned()
}

fn millis(time: Option<&str>) -> Result<Option<i64>, Problem> {
    let read = time.map(unix_millis).transpose();
    read.map_err(|error| Problem::usage(error.to_string()))
}

fn report(row: CallRow) -> CallReport {
    let began = Duration::from_millis(u64::try_from(row.at_ms).unwrap_or_default());
    CallReport {
        id: row.id,
        at: rfc3339(SystemTime::UNIX_EPOCH + began),
        duration_us: row.duration_us,
        method: row.method,
        server: row.server,
        tool: row.tool,
        status: row.status,
        code: row.code,
        error: row.error,
        principal: row.principal,
        client: row.client,
        project: row.project,
        request_id: row.request_id,
        correlation_id: row.correlation_id,
        arguments: row.arguments.as_deref().map(CallReport::shown_arguments),
    }
}

fn unknown(id: &str) -> Problem {
    let text = format!("no call has the id `{id}`, or more than one id begins so");
    Problem::not_found(text).hint("see `mcpr-ctl history` for the ids there are")
}

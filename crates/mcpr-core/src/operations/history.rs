//! Past calls.

use std::time::{Duration, SystemTime};

use mcpr_admin::{
    CallReport, CallStatus, ErrorCode, Execute, Failure, HistoryList, ListHistory, PurgeHistory, Purged,
    ShowCall,
};
use mcpr_auth::{Principal, unix_millis};
use mcpr_store::{CallQuery, CallRow, StoreError};
use mcpr_telemetry::rfc3339;

use super::Operator;
use crate::history::id_before;

impl Execute<ListHistory, Principal> for Operator {
    async fn execute(&self, _: &Principal, asked: ListHistory) -> Result<HistoryList, Failure> {
        let size = asked.page_size();
        let query = query(asked)?;
        self.gateway.history.catch_up().await;
        let rows = self.gateway.store.calls(query.clone()).await.map_err(unread)?;
        let more = query.is_filled_by(&rows);
        let reports = rows.into_iter().map(report).collect();
        Ok(HistoryList::page(reports, size, more))
    }
}

impl Execute<ShowCall, Principal> for Operator {
    async fn execute(&self, _: &Principal, asked: ShowCall) -> Result<CallReport, Failure> {
        self.gateway.history.catch_up().await;
        let found = self.gateway.store.call(&asked.id).await.map_err(unread)?;
        let row = found.ok_or_else(|| unknown(&asked.id))?;
        Ok(report(row))
    }
}

impl Execute<PurgeHistory, Principal> for Operator {
    async fn execute(&self, _: &Principal, asked: PurgeHistory) -> Result<Purged, Failure> {
        let query = CallQuery {
            server: asked.server,
            tool: asked.tool,
            status: asked.status.map(word),
            principal: asked.principal,
            until_ms: millis(asked.before.as_deref())?,
            ..CallQuery::default()
        };
        self.gateway.history.catch_up().await;
        let deleted = self.gateway.store.delete_calls(query).await.map_err(unread)?;
        tracing::info!(deleted, "an operator purged the history");
        Ok(Purged { deleted })
    }
}

/// One more than fits on a page, which tells whether there are more.
fn query(asked: ListHistory) -> Result<CallQuery, Failure> {
    let since_ms = millis(asked.since.as_deref())?;
    Ok(CallQuery {
        limit: asked.page_size() + 1,
        bytes: ListHistory::PAGE_BYTES,
        brief: !asked.arguments,
        since_ms,
        until_ms: millis(asked.until.as_deref())?,
        slower_than_us: asked.slower_than_ms.map(|limit| limit.saturating_mul(1000)),
        server: asked.server,
        tool: asked.tool,
        status: asked.status.map(word),
        principal: asked.principal,
        method: None,
        text: asked.text,
        before: asked.before,
        // Ids go by time, and rows by ids: what is too early is not even read.
        after: asked.after.max(since_ms.map(id_before)),
    })
}

fn word(status: CallStatus) -> String {
    status.as_str().to_owned()
}

fn millis(time: Option<&str>) -> Result<Option<i64>, Failure> {
    let read = time.map(unix_millis).transpose();
    read.map_err(|error| Failure::new(ErrorCode::Invalid, error.to_string()))
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

fn unknown(id: &str) -> Failure {
    let text = format!("no call has the id `{id}`, or more than one id begins so");
    Failure::new(ErrorCode::NotFound, text).hint("see `mcpr-ctl history` for the ids there are")
}

fn unread(error: StoreError) -> Failure {
    Failure::new(
        ErrorCode::Failed,
        format!("the history cannot be read or changed: {error}"),
    )
}

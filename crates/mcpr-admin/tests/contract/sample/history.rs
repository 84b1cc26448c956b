//! Samples of past calls.

use mcpr_admin::*;
use mcpr_protocol::RawJson;

use super::text;

/// A call that went well, with its arguments.
pub(super) fn call() -> CallReport {
    CallReport {
        id: "h_0dkn5pm80r1x2".into(),
        at: "2027-01-15T08:00:00.123Z".into(),
        duration_us: 41_000,
        method: "tools/call".into(),
        server: text("git"),
        tool: text("status"),
        status: "ok".into(),
        code: None,
        error: None,
        principal: "tk_7h2k9qmd".into(),
        client: text("cursor"),
        project: text("web"),
        request_id: "17".into(),
        correlation_id: "c0ffee00".into(),
        arguments: Some(RawJson::from_static(
            r#"{ "path":".","n":123456789012345678901234567890 }"#,
        )),
    }
}

/// One that failed, without.
pub(super) fn failed() -> CallReport {
    CallReport {
        id: "h_0dkn5pm7zz000".into(),
        method: "resources/read".into(),
        server: text("docs"),
        tool: None,
        status: "error".into(),
        code: Some(-32002),
        error: text("Resource not found"),
        client: None,
        project: None,
        arguments: None,
        ..call()
    }
}

pub(super) fn list() -> HistoryList {
    let calm = CallReport {
        arguments: None,
        ..call()
    };
    HistoryList::page(vec![calm, failed(), call()], 2, true)
}

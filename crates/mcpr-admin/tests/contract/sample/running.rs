//! Samples of what happens to the gateway as a whole.

use mcpr_admin::*;

use super::text;

pub(super) fn reloaded() -> Reloaded {
    Reloaded {
        files: vec!["/home/ann/.config/mcpr/mcpr.json".into()],
        added: vec!["docs".into()],
        removed: vec!["jira".into()],
        changed: vec!["git".into()],
        unchanged: 4,
        needs_restart: vec!["listen".into()],
        warnings: vec!["unknown key `mcpServer` is ignored".into()],
    }
}

pub(super) fn drained() -> Drained {
    Drained {
        pid: 8123,
        finished: 3,
        abandoned: 1,
    }
}

/// One of each kind; before the last, two were lost.
pub(crate) fn events() -> [Event; 3] {
    let event = |kind| Event {
        kind,
        at: "2027-01-15T08:00:00.123Z".into(),
        server: None,
        state: None,
        reason: None,
        call: None,
        missed: 0,
    };
    let call = CallEvent {
        method: "tools/call".into(),
        tool: text("status"),
        status: "ok".into(),
        duration_us: 41_000,
        principal: "tk_7h2k9qmd".into(),
        client: text("cursor"),
    };
    let down = Event {
        server: text("docs"),
        state: Some(ServerState::Down),
        reason: text("connection refused"),
        ..event(EventKind::Server)
    };
    let called = Event {
        server: text("git"),
        call: Some(call),
        missed: 2,
        ..event(EventKind::Call)
    };
    [down, event(EventKind::Catalog), called]
}

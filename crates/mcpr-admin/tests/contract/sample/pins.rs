//! Samples of pinned definitions.

use mcpr_admin::*;
use mcpr_protocol::RawJson;

use super::text;

fn pin(tool: &str, state: PinState) -> PinReport {
    PinReport {
        server: "git".into(),
        tool: tool.into(),
        state,
        held: matches!(state, PinState::Changed | PinState::New),
        approved_at: text("2027-01-15T08:00:00Z").filter(|_| state != PinState::New),
    }
}

pub(super) fn list() -> PinList {
    PinList {
        pins: vec![
            pin("clone", PinState::New),
            pin("pull", PinState::Removed),
            pin("push", PinState::Changed),
            pin("status", PinState::Approved),
        ],
    }
}

pub(super) fn diff() -> PinDiff {
    let push = PinChange {
        pin: pin("push", PinState::Changed),
        before: Some(RawJson::from_static(
            r#"{"name":"push","description":"Push commits"}"#,
        )),
        after: Some(RawJson::from_static(
            r#"{"name":"push","description":"Push them"}"#,
        )),
        hash: text("9f86d081"),
        notes: vec!["`description` changed".into()],
    };
    PinDiff { changes: vec![push] }
}

pub(super) fn approved() -> PinList {
    PinList {
        pins: vec![pin("push", PinState::Approved)],
    }
}

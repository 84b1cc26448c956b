//! Samples of secrets.

use mcpr_admin::*;

use super::text;

pub(super) fn set() -> SecretReport {
    SecretReport {
        name: "jira-token".into(),
        state: SecretState::Set,
        changed: text("2027-01-15T08:00:00Z"),
        used_by: vec!["jira".into(), "confluence".into()],
    }
}

pub(super) fn unset() -> SecretReport {
    SecretReport {
        name: "github".into(),
        state: SecretState::Unset,
        changed: None,
        used_by: vec!["github".into()],
    }
}

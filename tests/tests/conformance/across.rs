//! Clients of one era at servers that only speak the other, with all that cannot exist between the two.

use mcpr_tests::Eras;

use crate::run::{Impossible, passes_through, passes_through_to_a_pipe};
use crate::suite::Suite;

/// What a client of the session era cannot get from a stateless server.
pub(crate) const FROM_STATELESS: &[Impossible] = &[Impossible {
    scenario: "server-sse-polling",
    checks: &["server-sse-disconnect-resume"],
    reason: "a stateless server never hangs up in the middle of a call",
}];

const KEYS: &str = "a question of the session era has no key, and the suite waits for the server's own";
const AHEAD: &str = "the answers come before the question, and only the server could know what they answer";
const WORDS: &str = "a session server tells in words that a capability is missing, not by a code";
const NO_TASKS: &str = "a session server makes no tasks of this extension";

/// What a stateless client cannot get from a session server.
const FROM_SESSION: &[Impossible] = &[
    Impossible {
        scenario: "input-required-result-basic-elicitation",
        checks: &["sep-2322-elicitation-incomplete", "sep-2322-elicitation-complete"],
        reason: KEYS,
    },
    Impossible {
        scenario: "input-required-result-ignore-extra-params",
        checks: &["sep-2322-ignore-unexpected-params"],
        reason: AHEAD,
    },
    Impossible {
        scenario: "server-stateless",
        checks: &[
            "sep-2575-server-rejects-undeclared-capability",
            "sep-2575-missing-capability-http-400",
        ],
        reason: WORDS,
    },
    Impossible {
        scenario: "tasks-capability-negotiation",
        checks: &["tasks-extension-advertised", "tasks-per-request-meta-opt-in"],
        reason: NO_TASKS,
    },
    Impossible {
        scenario: "tasks-dispatch-and-envelope",
        checks: &[
            "sep-2663-durable-create-strong-consistency",
            "tasks-server-directed-creation-no-hint",
        ],
        reason: NO_TASKS,
    },
    Impossible {
        scenario: "tasks-lifecycle",
        checks: &[
            "sep-2663-cancel-ack-empty-result",
            "sep-2663-result-type-task-on-create",
            "sep-2663-tasks-get-status-completed",
            "sep-2663-tasks-get-status-failed",
            "sep-2663-tasks-get-status-working",
            "sep-2663-tool-error-uses-completed-status",
            "tasks-cancel-terminal-idempotent-ack",
        ],
        reason: NO_TASKS,
    },
    Impossible {
        scenario: "tasks-mrtr-composition",
        checks: &["sep-2663-mrtr-synchronous-before-task-creation"],
        reason: NO_TASKS,
    },
    Impossible {
        scenario: "tasks-mrtr-input",
        checks: &[
            "sep-2663-tasks-get-status-input-required",
            "tasks-mrtr-partial-fulfillment",
            "tasks-mrtr-tasks-update-resumes",
        ],
        reason: NO_TASKS,
    },
    Impossible {
        scenario: "tasks-request-headers",
        checks: &[
            "sep-2663-routing-headers-accepted-on-tasks-get",
            "sep-2663-server-rejects-mismatched-mcp-name-on-tasks-get",
        ],
        reason: NO_TASKS,
    },
    Impossible {
        scenario: "tasks-request-state-removal",
        checks: &[
            "tasks-create-result-no-request-state",
            "tasks-get-detailed-no-request-state",
            "tasks-request-state-removal-setup",
        ],
        reason: NO_TASKS,
    },
    Impossible {
        scenario: "tasks-required-task-error",
        checks: &[
            "sep-2663-server-returns-missing-capability-data-shape",
            "sep-2663-server-returns-missing-capability-when-required",
        ],
        reason: NO_TASKS,
    },
    Impossible {
        scenario: "tasks-wire-fields",
        checks: &[
            "tasks-no-early-ttl-expiry",
            "tasks-no-related-task-meta-on-inlined-result",
            "tasks-wire-field-renames",
        ],
        reason: NO_TASKS,
    },
];

#[tokio::test(flavor = "multi_thread")]
async fn conformance_0_1_16_all_passes_across_to_a_stateless_server() {
    passes_through(Suite::All0_1_16, Eras::Stateless, FROM_STATELESS).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn conformance_0_2_0_for_2025_11_25_passes_across_to_a_stateless_server() {
    passes_through(Suite::Session0_2_0, Eras::Stateless, FROM_STATELESS).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn conformance_0_2_0_for_2026_07_28_passes_across_to_a_session_server() {
    passes_through(Suite::Stateless0_2_0, Eras::Session, FROM_SESSION).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn conformance_0_2_0_for_2026_07_28_passes_across_to_a_session_server_on_a_pipe() {
    passes_through_to_a_pipe(Suite::Stateless0_2_0, Eras::Session, FROM_SESSION).await;
}

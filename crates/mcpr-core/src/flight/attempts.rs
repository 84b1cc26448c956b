//! What a request has been through on its way to a server: which backends it tried in vain, and
//! whether it may try another (LB-03, LB-04).

use std::time::Duration;

use mcpr_router::{Lease, RouteError, RouteErrorKind, Tried};
use mcpr_transport::{Failed, FailedKind, Sent};
use tokio::time::timeout;

use crate::call::Call;
use crate::fault::Fault;

/// How long a request that is proven unsent waits for a lost server to come back.
const COMEBACK: Duration = Duration::from_secs(2);

/// How often a request is repeated that was lost at a server, where that is harmless.
const REPEATS: u32 = 2;

/// What a request has been through; nothing, for most.
#[derive(Default)]
pub(super) struct Attempts(Option<Box<Past>>);

/// What happened to a request before.
#[derive(Default)]
struct Past {
    tried: Tried,
    /// Whether it has waited for a server to come back.
    waited: bool,
    repeats: u32,
    /// The loss of a request that a server may have worked on: what the client is told if no other
    /// attempt succeeds.
    unknown: Option<RouteError>,
}

/// What a failure means for a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    /// The server cannot have seen it: another backend gets it (LB-03).
    Elsewhere,
    /// The server may have worked on it, and once more does no harm (LB-04).
    Repeat,
    /// It ends like this.
    Over,
}

impl Attempts {
    /// Whether there were any.
    pub(super) fn are_some(&self) -> bool {
        self.0.is_some()
    }

    /// The backends that have failed it.
    pub(super) fn tried(&self) -> &Tried {
        static NONE: Tried = Tried::none();
        self.0.as_ref().map_or(&NONE, |past| &past.tried)
    }

    /// Takes the failure of an attempt; `Ok` if there may be another one.
    pub(super) fn after_failure(
        &mut self,
        call: &Call,
        lease: Lease,
        failed: &Failed,
        harmless: bool,
    ) -> Result<(), Fault> {
        if is_of_backend(failed.kind) {
            lease.strike(failed);
        }
        if let Some(trace) = &call.trace {
            trace.fail_hop(&failed.detail);
        }
        let error = || RouteError::of(call.target.server.clone(), failed);
        let past = self.0.get_or_insert_default();
        match verdict(failed, harmless && past.repeats < REPEATS) {
            Verdict::Over => return Err(error().into()),
            Verdict::Elsewhere => {}
            Verdict::Repeat => {
                past.repeats += 1;
                past.unknown.get_or_insert_with(error);
                tracing::info!(
                    request_id = call.number,
                    server = %call.target.server,
                    backend = &*lease.backend().label,
                    reason = %failed,
                    "a request was lost at its server, and is repeated because that is harmless"
                );
            }
        }
        call.gateway.metrics.retried(call.target.server.as_str());
        past.tried.add(lease, failed);
        Ok(())
    }

    /// Takes it that no backend can be had; `Ok` if one came back. Most losses are restarts, so the
    /// server gets a moment, once.
    pub(super) async fn after_refusal(&mut self, call: &Call, error: RouteError) -> Result<(), Fault> {
        let passes = matches!(
            error.kind,
            RouteErrorKind::Starting | RouteErrorKind::Down | RouteErrorKind::NoBackend
        );
        let server = call.gateway.pool.get(&call.target.server);
        let past = self.0.get_or_insert_default();
        if let Some(server) = server.filter(|_| passes && !past.waited) {
            past.waited = true;
            if timeout(COMEBACK, past.tried.comeback(&server, COMEBACK)).await == Ok(true) {
                past.tried.clear();
                return Ok(());
            }
        }
        Err(past.unknown.take().unwrap_or(error).into())
    }
}

fn verdict(failed: &Failed, may_repeat: bool) -> Verdict {
    match failed.sent {
        Sent::No => Verdict::Elsewhere,
        Sent::Maybe if may_repeat && is_loss(failed.kind) => Verdict::Repeat,
        Sent::Maybe => Verdict::Over,
    }
}

/// Whether the server, or the way to it, was lost.
pub(super) fn is_loss(kind: FailedKind) -> bool {
    matches!(
        kind,
        FailedKind::Closed | FailedKind::Unreachable | FailedKind::Status(502..=504)
    )
}

/// Whether a backend has not even looked at a request, whatever it is about: there is nothing at its
/// address now (404 outside of a session, 421), or it takes no more for a while (429).
pub(super) fn is_turned_away(kind: FailedKind) -> bool {
    matches!(kind, FailedKind::Status(404 | 421 | 429))
}

/// Whether a failure says something about the backend, and not about this request.
pub(super) fn is_of_backend(kind: FailedKind) -> bool {
    is_loss(kind)
        || is_turned_away(kind)
        || matches!(
            kind,
            FailedKind::Status(500..) | FailedKind::Malformed | FailedKind::TimedOut
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lb_04_what_a_failure_means_is_decided_by_what_the_server_can_have_seen() {
        use Verdict::{Elsewhere, Over, Repeat};

        let table = [
            // What failed, how, whether once more does no harm, and what follows.
            (Sent::No, FailedKind::Unreachable, false, Elsewhere), // refused, spawn failed
            (Sent::No, FailedKind::Closed, false, Elsewhere),      // dead before the write
            (Sent::No, FailedKind::SessionExpired, false, Elsewhere), // 404 session
            (Sent::No, FailedKind::Status(429), false, Elsewhere), // it takes no more for a while
            (Sent::No, FailedKind::Closed, true, Elsewhere),
            (Sent::Maybe, FailedKind::Closed, false, Over), // died while it worked on it
            (Sent::Maybe, FailedKind::Closed, true, Repeat),
            (Sent::Maybe, FailedKind::Unreachable, true, Repeat),
            (Sent::Maybe, FailedKind::Status(503), true, Repeat),
            (Sent::Maybe, FailedKind::Status(503), false, Over),
            (Sent::Maybe, FailedKind::Status(500), true, Over), // an answer, if a bad one
            (Sent::Maybe, FailedKind::Malformed, true, Over),
            (Sent::Maybe, FailedKind::TimedOut, true, Over),
            (Sent::Maybe, FailedKind::TooLarge, true, Over),
        ];

        for (sent, kind, harmless, expected) in table {
            let failed = Failed {
                sent,
                ..Failed::maybe_sent(kind, "x")
            };
            assert_eq!(
                verdict(&failed, harmless),
                expected,
                "{sent:?} {kind:?} {harmless}"
            );
        }
    }
}

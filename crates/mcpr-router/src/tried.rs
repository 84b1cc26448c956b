//! What a call has been through on its way to a server.

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt};
use mcpr_transport::Failed;
use mcpr_upstream::{Replica, Server, Status, Upstream};

use crate::error::{BackendFault, no_backend};
use crate::{Lease, RouteError, RouteErrorKind};

/// The backends that a call has tried in vain.
#[derive(Clone, Default)]
pub struct Tried(Vec<Attempt>);

#[derive(Clone)]
struct Attempt {
    /// The backend, by the connection that all share.
    backend: Arc<Upstream>,
    /// What was lost: that connection, or a further one.
    upstream: Arc<Upstream>,
    replica: Arc<Replica>,
    error: RouteError,
}

impl Tried {
    /// None yet.
    pub const fn none() -> Self {
        Self(Vec::new())
    }

    /// Notes that the call failed on this lease, which ends.
    pub fn add(&mut self, lease: Lease, failed: &Failed) {
        let mut error = RouteError::of(lease.upstream.name.clone(), failed);
        if error.kind == RouteErrorKind::OutcomeUnknown {
            error.kind = RouteErrorKind::Down; // What became of the call is the caller's to say.
        }
        self.0.push(Attempt {
            backend: lease.backend().clone(),
            upstream: lease.upstream.clone(),
            replica: lease.replica.clone(),
            error,
        });
    }

    /// Forgets everything: all may be tried once more.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Whether this backend failed the call. Where only a further connection was lost, the next one
    /// may do better, once.
    pub(crate) fn has(&self, backend: &Arc<Upstream>) -> bool {
        let here = self
            .0
            .iter()
            .filter(|attempt| Arc::ptr_eq(&attempt.backend, backend));
        let (main, further): (Vec<_>, Vec<_>) =
            here.partition(|attempt| Arc::ptr_eq(&attempt.upstream, backend));
        !main.is_empty() || further.len() > 1
    }

    /// What is wrong with a server that nobody is left to try of; `None` if nothing was tried.
    pub(crate) fn error(&self, server: &Server, status: &Status) -> Option<RouteError> {
        let last = self.0.last()?;
        if server.only_backend().is_some() {
            return Some(last.error.clone());
        }
        Some(no_backend(server, status, |backend| {
            let attempt = self
                .0
                .iter()
                .rfind(|attempt| Arc::ptr_eq(&attempt.backend, backend))?;
            Some(BackendFault {
                backend: backend.label.clone(),
                reason: attempt
                    .error
                    .reason
                    .clone()
                    .unwrap_or_else(|| attempt.error.kind.to_string()),
            })
        }))
    }

    /// Waits until one of a server's backends can be tried again: it turns out to be well, it is
    /// replaced, or it has started, now or at its next attempt within `patience`. False if none
    /// will. The caller bounds the wait.
    pub async fn comeback(&self, server: &Server, patience: Duration) -> bool {
        let wait = |backend: &Arc<Upstream>| {
            let backend = backend.clone();
            let lost = self
                .0
                .iter()
                .rfind(|attempt| Arc::ptr_eq(&attempt.backend, &backend))
                .cloned();
            async move {
                match lost {
                    Some(lost) => lost.upstream.recovered(&lost.replica).await,
                    None => backend.back_within(patience).await,
                }
            }
        };
        let mut waits: FuturesUnordered<_> = server.backends.iter().map(wait).collect();
        while let Some(back) = waits.next().await {
            if back {
                return true;
            }
        }
        false
    }
}

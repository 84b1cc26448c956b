//! All sessions of one gateway, and who gives way where there are too many.

use std::sync::Arc;
use std::time::Duration;

use foldhash::HashMap;
use mcpr_auth::Principal;
use mcpr_telemetry::Metrics;
use parking_lot::RwLock;
use tokio::time::Instant;

use super::Session;
use crate::quota::Full;
use crate::streams::Budget;

/// The memory for what clients that have lost a stream may still ask for: 64 MiB.
const REPLAY_BYTES: usize = 64 * 1024 * 1024;

/// All sessions of one gateway.
pub(crate) struct Sessions {
    all: RwLock<HashMap<Box<str>, Arc<Session>>>,
    limits: SessionLimits,
    metrics: Metrics,
    /// What their streams keep is kept in this.
    pub(crate) replay: Arc<Budget>,
}

/// How many sessions there may be, and for how long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SessionLimits {
    /// At the most; one more ends the one that has been idle longest.
    pub(crate) max: usize,
    /// Without a request and without an open stream.
    pub(crate) idle: Duration,
}

impl Sessions {
    pub(crate) fn new(limits: SessionLimits, metrics: Metrics) -> Self {
        Self {
            all: RwLock::default(),
            limits,
            metrics,
            replay: Budget::new(REPLAY_BYTES),
        }
    }

    /// Adds a session, of which a principal may have so many. Where there is no room for it, the one
    /// that has been idle longest gives way; first of all to its own principal's.
    ///
    /// # Errors
    ///
    /// When there is no room and none is idle.
    pub(crate) fn add(&self, session: Arc<Session>, per_principal: usize) -> Result<(), Full> {
        let evicted = {
            let mut all = self.all.write();
            let own = |other: &Session| other.principal == session.principal;
            let owned = all.values().filter(|other| own(other)).count();
            let evicted = if owned >= per_principal {
                Some(take_idlest(&mut all, own).ok_or(Full::Sessions(per_principal))?)
            } else if all.len() >= self.limits.max {
                Some(take_idlest(&mut all, |_| true).ok_or(Full::AllSessions(self.limits.max))?)
            } else {
                None
            };
            all.insert(session.id.clone(), session);
            evicted
        };
        if let Some(session) = evicted {
            tracing::warn!(
                principal = session.principal.key(),
                "too many sessions; the one idle longest was ended"
            );
            self.end(&session);
        }
        Ok(())
    }

    /// The session of that name, if it is this principal's.
    pub(crate) fn find(&self, id: &str, principal: &Principal) -> Option<Arc<Session>> {
        let found = self
            .all
            .read()
            .get(id)
            .filter(|session| session.principal == *principal)
            .cloned();
        found.inspect(|session| session.touch(Instant::now()))
    }

    /// Ends a session.
    pub(crate) fn remove(&self, session: &Session) {
        if let Some(session) = self.all.write().remove(&session.id) {
            self.end(&session);
        }
    }

    fn end(&self, session: &Session) {
        self.metrics
            .session_ended(session.client.version.as_str(), session.lasted());
        session.end();
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.all.read().len()
    }

    /// Ends what has been idle too long, and what `keep` no longer wants.
    pub(crate) fn sweep(&self, keep: impl Fn(&Principal) -> bool) {
        let over = |session: &Session| session.idle_for() >= self.limits.idle || !keep(&session.principal);
        let ended: Vec<_> = {
            let mut all = self.all.write();
            all.extract_if(|_, session| over(session))
                .map(|(_, session)| session)
                .collect()
        };
        ended.iter().for_each(|session| self.end(session));
        self.all
            .read()
            .values()
            .for_each(|session| session.streams.forget_old());
    }

    /// Ends all.
    pub(crate) fn end_all(&self) {
        let all: Vec<_> = self.all.write().drain().map(|(_, session)| session).collect();
        all.iter().for_each(|session| self.end(session));
    }
}

/// Takes out the one that has been idle longest of some; none that is in use.
fn take_idlest(
    all: &mut HashMap<Box<str>, Arc<Session>>,
    of: impl Fn(&Session) -> bool,
) -> Option<Arc<Session>> {
    let idle = all.values().filter(|session| of(session) && !session.is_busy());
    let idlest = idle.max_by_key(|session| session.idle_for())?.id.clone();
    all.remove(&idlest)
}

#[cfg(test)]
mod tests {
    use tokio_util::sync::CancellationToken;

    use super::super::tests::session;
    use super::*;

    fn sessions(max: usize) -> Sessions {
        let idle = Duration::from_secs(60);
        Sessions::new(SessionLimits { max, idle }, Metrics::new())
    }

    #[tokio::test(start_paused = true)]
    async fn b34_a_session_without_delete_ends_by_itself() {
        let sessions = sessions(10);
        let idle = session(Principal::local());
        sessions.add(idle.clone(), 10).unwrap();

        tokio::time::advance(Duration::from_secs(61)).await;
        sessions.sweep(|_| true);

        assert_eq!(sessions.len(), 0);
        assert!(idle.ended.is_cancelled());
    }

    #[tokio::test(start_paused = true)]
    async fn b34_an_open_stream_keeps_a_session() {
        let sessions = sessions(10);
        let streaming = session(Principal::local());
        let stream = streaming.open_stream();
        sessions.add(streaming, 10).unwrap();

        tokio::time::advance(Duration::from_secs(61)).await;
        sessions.sweep(|_| true);
        assert_eq!(sessions.len(), 1);

        stream.cancel();
        sessions.sweep(|_| true);
        assert_eq!(sessions.len(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn b34_one_too_many_ends_the_idlest() {
        let sessions = sessions(1);
        let first = session(Principal::local());
        sessions.add(first.clone(), 10).unwrap();
        tokio::time::advance(Duration::from_secs(1)).await;
        sessions.add(session(Principal::local()), 10).unwrap();

        assert_eq!(sessions.len(), 1);
        assert!(first.ended.is_cancelled());
    }

    #[tokio::test(start_paused = true)]
    async fn sec_05_one_too_many_of_a_principal_ends_its_own_and_nobody_elses() {
        let sessions = sessions(10);
        let others = session(Principal::anonymous());
        sessions.add(others.clone(), 1).unwrap();
        tokio::time::advance(Duration::from_secs(1)).await;
        let own = session(Principal::local());
        sessions.add(own.clone(), 1).unwrap();

        sessions.add(session(Principal::local()), 1).unwrap();

        assert!(own.ended.is_cancelled() && !others.ended.is_cancelled());
    }

    #[tokio::test(start_paused = true)]
    async fn sec_05_where_all_are_in_use_one_more_is_refused() {
        let sessions = sessions(2);
        let [one, two] = [Principal::local(), Principal::anonymous()].map(session);
        let streams = [one.open_stream(), two.open_stream()];
        sessions.add(one, 1).unwrap();
        sessions.add(two, 1).unwrap();

        let of_one = sessions.add(session(Principal::local()), 1);
        let of_all = sessions.add(session(Principal::stdio("third")), 1);

        assert_eq!(
            (of_one, of_all),
            (Err(Full::Sessions(1)), Err(Full::AllSessions(2)))
        );
        assert!(!streams.iter().any(CancellationToken::is_cancelled));
    }

    #[tokio::test]
    async fn sec_03_a_session_of_somebody_else_is_unknown() {
        let sessions = sessions(10);
        let session = session(Principal::local());
        sessions.add(session.clone(), 10).unwrap();

        assert!(sessions.find(&session.id, &Principal::anonymous()).is_none());
        assert!(sessions.find(&session.id, &Principal::local()).is_some());
    }
}

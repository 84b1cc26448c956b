//! The end of a gateway (B47).
//!
//! | step | what | by |
//! | --- | --- | --- |
//! | leaving | the doors to the network close, streams that belong to no call end, what waits for its client is given up; what came before is still taken | [`Gateway::leave`] |
//! | closing | no new calls are taken | [`Gateway::finish`] |
//! | stop | calls that are still under way get an error, and their servers hear of it | [`Gateway::stop`] |
//! | ended | the servers have ended, and all is written down | [`Gateway::shutdown`] |

use std::time::Duration;

use tokio::time::timeout;

use crate::gateway::Gateway;

/// How long servers have to end when the gateway does: a child is given 2 s to leave by itself and
/// 2 s after SIGTERM, then it is killed.
const SERVERS_GRACE: Duration = Duration::from_millis(4500);

/// How long servers may take to hear, before that, which requests nobody waits for any more.
const FAREWELL: Duration = Duration::from_millis(250);

/// How long what has been begun in the background may take to its end.
const TASKS: Duration = Duration::from_secs(2);

/// What came of the calls that were under way when the gateway was told to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Finished {
    /// How many ended while they were waited for.
    pub finished: usize,
    /// How many were given up.
    pub abandoned: usize,
}

impl Gateway {
    /// Begins to end: fronts on the network give their addresses back, and streams that belong to no
    /// call end. Whoever runs the gateway sees it [stopping](Gateway::stopping), and goes on with
    /// [`Gateway::finish`].
    pub fn leave(&self) {
        self.leaving.cancel();
        self.suspensions.end_all();
    }

    /// Takes no new calls, lets those under way go on for so long, and then
    /// [stops](Gateway::stop). Returns at once when something else stops it.
    ///
    /// A gateway that [leaves](Gateway::leave) also takes what is on its way through the doors that
    /// have just closed: each of their connections ends with the answer to what it has brought.
    pub async fn finish(&self, within: Duration) -> Finished {
        let before = self.under_way.len();
        let all = async {
            if self.leaving.is_cancelled() {
                self.doors.close();
                self.doors.wait().await;
            }
            self.close();
            self.under_way.close();
            self.under_way.wait().await;
        };
        tokio::select! {
            _ = timeout(within, all) => {}
            () = self.stop.cancelled() => {}
        }
        self.close();
        let abandoned = self.under_way.len();
        if abandoned > 0 {
            tracing::warn!(count = abandoned, "calls under way are given up");
        }
        self.stop();
        Finished {
            finished: before.saturating_sub(abandoned),
            abandoned,
        }
    }

    /// How long calls under way may take to finish, as the configuration says it.
    pub fn grace(&self) -> Duration {
        self.plan().options.drain.grace
    }

    /// Serves no longer: calls that are still under way get an error at once.
    /// [`Gateway::shutdown`] does the rest.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// Resolves when somebody has asked the gateway to end.
    pub async fn stopping(&self) {
        self.leaving.cancelled().await;
    }

    /// Ends it: calls that are still under way get an error and are cancelled at their servers,
    /// sessions and streams end, and the servers are stopped. Returns when nothing of them is left.
    pub async fn shutdown(&self) {
        self.stop();
        self.close();
        self.under_way.close();
        self.farewells.close();
        // Calls that are given up here say so only when their tasks get to it.
        let told = async {
            self.under_way.wait().await;
            self.farewells.wait().await;
        };
        let _ = timeout(FAREWELL, told).await;
        self.sessions.end_all();
        self.tasks.close();
        self.pool.shutdown(SERVERS_GRACE).await;
        let _ = timeout(TASKS, self.tasks.wait()).await;
        let _ = timeout(FAREWELL, self.under_way.wait()).await;
        self.history.finish().await;
        self.doorkeeper.save_uses(&*self.store).await;
        self.store.close().await;
        self.ended.cancel();
    }

    /// Whether its calls have had their time.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Whether new calls are refused.
    pub(crate) fn is_closing(&self) -> bool {
        self.closing.is_cancelled()
    }

    /// Whether it ends, or is about to: nobody can come back.
    pub(crate) fn is_ending(&self) -> bool {
        self.leaving.is_cancelled() || self.is_closing()
    }

    fn close(&self) {
        self.closing.cancel();
        self.suspensions.end_all();
    }
}

//! The task that keeps one server.

mod live;
mod start;
mod waits;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use mcpr_registry::ServerName;
use mcpr_transport::{Failed, FailedKind};
use parking_lot::Mutex;
use tokio::sync::{Semaphore, mpsc, oneshot, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::audience::Herald;
use crate::status::{Heard, Phase, Status};
use crate::turn::Turn;
use crate::wishes::Asked;
use crate::{Audience, Dial, Memory, PerFeed, Signs, UpstreamSpec};

/// How long a server must have been up for its next failure to count as the first again.
const STEADY: Duration = Duration::from_secs(30);

/// The least time between two attempts that were asked for from outside.
const IMPATIENCE: Duration = Duration::from_secs(5);

/// What others may ask of a keeper.
#[derive(Debug)]
pub(crate) enum Command {
    /// Somebody wants to use the server.
    Wanted,
    /// Somebody doubts the connection; told if it turns out to be well.
    Suspect(Option<oneshot::Sender<()>>),
    /// Somebody heard that lists changed.
    Heard(Heard),
    /// Somebody wants to see lists whose time is over.
    Expired(Heard),
    /// The session of this generation has expired.
    Renew(u64),
}

/// What a keeper needs of the world; shared by all.
pub(crate) struct Surroundings {
    pub(crate) dial: Arc<dyn Dial>,
    pub(crate) memory: Arc<dyn Memory>,
    pub(crate) audience: Arc<dyn Audience>,
    /// How many servers may be starting at once.
    pub(crate) starts: Arc<Semaphore>,
    /// How many pages of one list are read.
    pub(crate) list_pages: usize,
    /// What this gateway is called where it is a server itself.
    pub(crate) instance: String,
    /// Counts every change of any status.
    pub(crate) changes: watch::Sender<u64>,
}

/// Which of the connections to a server a keeper keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// The one that lists, always wanted.
    Main,
    /// A further one: it lists nothing, and ends when it is lost or unused for that long.
    Side {
        /// How long.
        idle: Duration,
    },
}

/// What a server is started for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Need {
    /// It is used, or kept ready for that.
    Use,
    /// A lazy server without a listing is listed once, and sleeps again (AGG-12).
    Listing,
}

pub(crate) struct Keeper {
    pub(crate) name: ServerName,
    /// The label of the backend, where the server has several.
    pub(crate) backend: Option<Arc<str>>,
    pub(crate) spec: UpstreamSpec,
    pub(crate) role: Role,
    /// Whether the server has ever asked for roots, on any of its connections.
    pub(crate) asks_roots: Arc<AtomicBool>,
    /// Who keeps the connection that lists, if this is not it.
    pub(crate) main: Option<mpsc::Sender<Command>>,
    pub(crate) wishes: PerFeed<Arc<Asked>>,
    pub(crate) around: Arc<Surroundings>,
    pub(crate) status: watch::Sender<Status>,
    pub(crate) commands: mpsc::Receiver<Command>,
    pub(crate) stop: CancellationToken,
    /// The place in the line of those that start, for the first start.
    pub(crate) turn: Option<Turn>,
    /// What is seen of the child that is being started.
    pub(crate) signs: Mutex<Option<Arc<dyn Signs>>>,
    /// The server ended at the probe and without it: the next attempt does without, so that one
    /// attempt is one process (B66).
    pub(crate) unprobed: bool,
}

/// Why a life of the server ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// The gateway wants it so.
    Stopped,
    /// Nobody used it.
    Idle,
    /// It was lost.
    Lost(Failed),
}

impl Keeper {
    /// Keeps the server until it is stopped for good; it sleeps until it is needed.
    pub(crate) async fn run(mut self, mut needed: Option<Need>) {
        let mut failures = 0;
        while !self.stop.is_cancelled() {
            let Some(need) = (match needed {
                Some(need) => Some(need),
                None => self.sleep_until_wanted().await,
            }) else {
                break;
            };
            let began = Instant::now();
            let ended = self.live_once(need).await;
            if self.role != Role::Main {
                self.leave(ended);
                return;
            }
            needed = (!matches!(ended, Ended::Idle)).then_some(need);
            if let Ended::Lost(failed) = ended {
                failures = if began.elapsed() >= STEADY {
                    0
                } else {
                    failures + 1
                };
                self.after_loss(failed, failures, began).await;
            }
        }
        self.publish(|status| {
            status.phase = Phase::Stopped;
            status.replica = None;
        });
    }

    /// The end of a further connection. The next that is needed is a new one.
    fn leave(&self, ended: Ended) {
        let loss = match ended {
            Ended::Lost(failed) => {
                tracing::warn!(server = %self.name, reason = %failed, "a further connection was lost");
                Some(failed.detail.into())
            }
            Ended::Stopped | Ended::Idle => None,
        };
        self.publish(|status| {
            status.phase = Phase::Stopped;
            status.replica = None;
            status.loss = loss;
        });
    }

    /// Waits for a use; `None` if it is stopped instead.
    async fn sleep_until_wanted(&mut self) -> Option<Need> {
        self.publish(|status| status.phase = Phase::Idle);
        loop {
            tokio::select! {
                () = self.stop.cancelled() => return None,
                command = self.commands.recv() => {
                    if matches!(command?, Command::Wanted) {
                        return Some(Need::Use);
                    }
                }
            }
        }
    }

    /// One life: start, serve, end.
    async fn live_once(&mut self, need: Need) -> Ended {
        let stop = self.stop.clone();
        self.publish(|status| {
            // A server that is down stays so until an attempt succeeds: its items would come into
            // the lists and leave them again with each attempt.
            if !status.phase.is_down() {
                status.phase = Phase::Starting;
            }
            status.starts += 1;
        });
        let started = tokio::select! {
            started = self.start() => started,
            () = stop.cancelled() => return Ended::Stopped,
        };
        match started {
            Ok(started) => self.live(started, need).await,
            // It was asked nothing yet but who it is and what it has: what it said to that is what helps.
            Err(failed) => Ended::Lost(failed.in_full()),
        }
    }

    /// Says what happened, and waits before the next attempt.
    ///
    /// A server that was up gets one attempt before it counts as down: most losses are restarts.
    async fn after_loss(&mut self, failed: Failed, failures: u32, began: Instant) {
        let was_up = self.status.borrow().replica.is_some();
        let patience = if matches!(failed.kind, FailedKind::Unauthorized(_)) {
            u32::MAX
        } else {
            failures.saturating_sub(1)
        };
        let delay = jittered(self.spec.restart.delay(patience), self.spec.restart.max);
        let retry_at = Instant::now() + delay;
        tracing::warn!(server = %self.name, backend = self.backend.as_deref(), reason = %failed, retry_in = ?delay, attempt = failures, "server lost");
        let reason: Arc<str> = failed.detail.as_str().into();
        self.publish(|status| {
            status.replica = None;
            status.loss = Some(reason.clone());
            status.phase = match failed.kind {
                FailedKind::Unauthorized(_) => Phase::AuthRequired { reason, retry_at },
                _ if was_up => Phase::Starting,
                _ => Phase::Down { reason, retry_at },
            };
        });
        self.wait_until(retry_at, began + IMPATIENCE).await;
    }

    /// Waits for the time of the next attempt, or for somebody who wants it earlier.
    async fn wait_until(&mut self, retry_at: Instant, not_before: Instant) {
        loop {
            tokio::select! {
                () = tokio::time::sleep_until(retry_at) => return,
                () = self.stop.cancelled() => return,
                command = self.commands.recv() => match command {
                    Some(Command::Wanted) if Instant::now() >= not_before => return,
                    Some(_) => {}
                    None => return,
                },
            }
        }
    }

    /// The way to those who hear of changed resources.
    pub(crate) fn herald(&self) -> Herald {
        Herald::new(self.name.clone(), self.around.audience.clone())
    }

    /// Changes the status and tells everybody.
    pub(crate) fn publish(&self, change: impl FnOnce(&mut Status)) {
        self.status.send_modify(|status| {
            change(status);
            status.since = std::time::SystemTime::now();
            // Counted before anybody can see it, so that whoever sees it finds it counted.
            if self.role == Role::Main {
                self.around.changes.send_modify(|count| *count += 1);
            }
        });
    }
}

/// A delay made up to a fifth longer, or at the cap shorter, so that servers lost together do not
/// come back together.
pub(crate) fn jittered(delay: Duration, cap: Duration) -> Duration {
    let mut byte = [0_u8; 1];
    let _ = getrandom::fill(&mut byte);
    let fifth = 0.2 * f64::from(byte[0]) / 255.0;
    let longer = delay.mul_f64(1.0 + fifth);
    if longer <= cap {
        longer
    } else {
        cap.mul_f64(1.0 - fifth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    /// How long a thousand servers wait that were lost together.
    fn crowd(delay: Duration) -> Vec<Duration> {
        (0..1000).map(|_| jittered(delay, MINUTE)).collect()
    }

    #[test]
    fn srv_04_a_delay_is_up_to_a_fifth_longer_and_at_the_cap_up_to_a_fifth_shorter() {
        // The delay, and the least and the most that comes of it, in seconds.
        let table = [(0, 0, 0), (5, 5, 6), (40, 40, 48), (55, 48, 60), (60, 48, 60)];
        for (delay, least, most) in table {
            let bounds = Duration::from_secs(least)..=Duration::from_secs(most);
            let told = crowd(Duration::from_secs(delay));
            assert!(told.iter().all(|one| bounds.contains(one)), "{delay} s: {told:?}");
        }
    }

    #[test]
    fn srv_04_servers_that_were_lost_together_do_not_come_back_together() {
        for (delay, least) in [(10, 10.0), (60, 48.0)] {
            let told = crowd(Duration::from_secs(delay));
            let tenth = |one: &Duration| ((one.as_secs_f64() - least) / (delay as f64 * 0.02)) as usize;
            for part in 0..10 {
                // About a hundred; one beside the last belongs to it.
                let count = told.iter().filter(|one| tenth(one).min(9) == part).count();
                assert!((25..300).contains(&count), "{count} in part {part} of {delay} s");
            }
        }
    }
}

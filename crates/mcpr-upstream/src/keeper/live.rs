//! A server that is ready, until it no longer is.

use std::sync::Arc;
use std::time::Duration;

use mcpr_protocol::Era;
use mcpr_registry::Offers;
use mcpr_transport::{Failed, FailedKind};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep_until};

use super::start::Started;
use super::{Command, Ended, Keeper};
use crate::Replica;
use crate::ask::Line;
use crate::introduce::{Introduced, initialize, ping};
use crate::list::Lister;
use crate::listen::listen;
use crate::spec::Reach;
use crate::status::{Heard, Phase};

/// How long notices are gathered before the lists are read again (AGG-10 allows 250 ms).
const GATHER: Duration = Duration::from_millis(100);

/// How often a server behind a URL is asked whether it still answers.
const HEALTH: Duration = Duration::from_secs(30);

/// For an answer to that, for a renewal, and for a page of a list.
const PATIENCE: Duration = Duration::from_secs(30);

/// Failed health checks in a row that make a loss.
const STRIKES: u32 = 2;

/// One life of a server.
struct Life {
    replica: Arc<Replica>,
    introduced: Introduced,
    /// Notices that wait for the lists to be read.
    pending: Heard,
    /// When to read them.
    due: Option<Instant>,
    /// The reading under way, with the notices it covers.
    reading: JoinSet<(Heard, Result<Offers, Failed>)>,
    /// The stream of a stateless server's notices.
    listening: JoinSet<()>,
    strikes: u32,
}

impl Keeper {
    /// Serves until the connection ends, nobody needs it, or the gateway stops it.
    pub(super) async fn live(&mut self, started: Started) -> Ended {
        let Started {
            mut line,
            introduced,
            offers,
            pid,
        } = started;
        let replica = Replica::new(self.name.clone(), introduced.version, line.transport.clone(), pid);
        tracing::info!(server = %self.name, version = %replica.version, tools = offers.tools.len(), "server ready");
        self.publish(|status| {
            status.phase = Phase::Ready;
            status.replica = Some(replica.clone());
            status.offers = Some(offers);
        });
        let mut life = Life::new(replica.clone(), introduced);
        let notices = life.listen_if_stateless();
        let ended = self.serve(&mut line, &mut life, notices).await;
        replica.end();
        // The replica stays published until the loss is told, so that a loss after readiness is
        // known from one before it; everybody who tries it gets a failure that is proven unsent.
        line.transport.close().await;
        if !matches!(ended, Ended::Lost(_)) {
            self.publish(|status| status.replica = None);
        }
        ended
    }

    async fn serve(&mut self, line: &mut Line, life: &mut Life, mut notices: mpsc::Receiver<Heard>) -> Ended {
        let stop = self.stop.clone();
        let mut health = interval_at(Instant::now() + HEALTH, HEALTH);
        health.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            if let Some(failed) = line.ended.take()
                && let Err(failed) = self.after_end(failed, line, life).await
            {
                return Ended::Lost(failed);
            }
            life.hear(std::mem::take(&mut line.heard));
            let due = life.due;
            tokio::select! {
                biased;
                () = stop.cancelled() => return Ended::Stopped,
                event = line.events.recv() => line.take(event).await,
                Some(heard) = notices.recv() => life.hear(heard),
                Some(command) = self.commands.recv() => {
                    if let Err(failed) = self.obey(command, line, life).await {
                        return Ended::Lost(failed);
                    }
                }
                Some(read) = life.reading.join_next() => {
                    if let Err(failed) = self.listed(life, read) {
                        return Ended::Lost(failed);
                    }
                }
                () = wait_until(due), if life.reading.is_empty() => life.read_again(self),
                _ = health.tick() => {
                    if self.is_idle(&life.replica) {
                        return Ended::Idle;
                    }
                    if let Err(failed) = self.check(line, life, STRIKES).await {
                        return Ended::Lost(failed);
                    }
                }
            }
        }
    }

    /// The stream of a session tells of its expiry as of an end; that one can be mended.
    async fn after_end(&self, failed: Failed, line: &mut Line, life: &mut Life) -> Result<(), Failed> {
        match failed.kind {
            FailedKind::SessionExpired => self.renew(line, life).await,
            _ => Err(failed),
        }
    }

    async fn obey(&self, command: Command, line: &mut Line, life: &mut Life) -> Result<(), Failed> {
        match command {
            Command::Wanted => Ok(()),
            Command::Suspect(told) => {
                let well = self.check(line, life, 1).await;
                // A child process is watched by its exit, so nothing was learnt of it here.
                if well.is_ok() && !matches!(self.spec.reach, Reach::Stdio(_)) {
                    told.map(|told| told.send(()));
                }
                well
            }
            Command::Heard(heard) => {
                life.hear(heard);
                Ok(())
            }
            Command::Renew(seen) if life.replica.session() > seen => Ok(()),
            Command::Renew(_) => self.renew(line, life).await,
        }
    }

    /// Opens a new session on the same connection; calls that wait for it go on then.
    async fn renew(&self, line: &mut Line, life: &mut Life) -> Result<(), Failed> {
        if life.introduced.version.era() == Era::Stateless {
            return Ok(());
        }
        tracing::info!(server = %self.name, "the session expired; opening a new one");
        let transport = line.transport.clone();
        let offer = self.spec.protocol.session_version();
        life.introduced = line.during(initialize(&*transport, offer, PATIENCE)).await?;
        life.replica.renewed();
        life.hear(Heard::ALL); // What happened between the sessions was announced to nobody.
        Ok(())
    }

    /// Asks a server behind a URL whether it is there; a child process is watched by its exit.
    async fn check(&self, line: &mut Line, life: &mut Life, strikes: u32) -> Result<(), Failed> {
        if matches!(self.spec.reach, Reach::Stdio(_)) {
            return Ok(());
        }
        let transport = line.transport.clone();
        match line
            .during(ping(&*transport, life.replica.version, PATIENCE))
            .await
        {
            Ok(()) => life.strikes = 0,
            Err(failed) if failed.kind == FailedKind::SessionExpired => return self.renew(line, life).await,
            Err(failed) if matches!(failed.kind, FailedKind::Status(_) | FailedKind::Malformed) => {
                life.strikes = 0
            }
            Err(failed) => {
                life.strikes += 1;
                if life.strikes >= strikes {
                    return Err(failed);
                }
            }
        }
        Ok(())
    }

    fn is_idle(&self, replica: &Replica) -> bool {
        let limit = self.spec.stop_after_idle.filter(|_| self.spec.lazy);
        limit.is_some_and(|limit| replica.idle_for() >= limit)
    }

    /// Takes lists that were read again. A notice is counted even if nothing changed (AGG-10).
    fn listed(
        &self,
        life: &mut Life,
        read: Result<(Heard, Result<Offers, Failed>), tokio::task::JoinError>,
    ) -> Result<(), Failed> {
        let Ok((covers, read)) = read else { return Ok(()) };
        match read {
            Ok(offers) => self.publish(|status| {
                status.offers = Some(Arc::new(offers));
                status.notices.count(covers);
            }),
            Err(failed) if failed.kind == FailedKind::SessionExpired => {
                life.hear(covers);
            }
            Err(failed) if matches!(failed.kind, FailedKind::TimedOut | FailedKind::Status(_)) => {
                tracing::warn!(server = %self.name, reason = %failed, "the changed lists could not be read");
            }
            Err(failed) => return Err(failed),
        }
        Ok(())
    }
}

impl Life {
    fn new(replica: Arc<Replica>, introduced: Introduced) -> Self {
        Self {
            replica,
            introduced,
            pending: Heard::default(),
            due: None,
            reading: JoinSet::new(),
            listening: JoinSet::new(),
            strikes: 0,
        }
    }

    /// A stateless server announces changes on a stream that must be asked for.
    fn listen_if_stateless(&mut self) -> mpsc::Receiver<Heard> {
        let (sender, receiver) = mpsc::channel(16);
        if self.introduced.version.era() == Era::Stateless && self.introduced.announces {
            self.listening.spawn(listen(self.replica.clone(), sender));
        }
        receiver
    }

    fn hear(&mut self, heard: Heard) {
        if heard.any() {
            self.pending = self.pending.and(heard);
            self.due.get_or_insert_with(|| Instant::now() + GATHER);
        }
    }

    /// Reads the lists that changed; what is heard meanwhile leads to another reading.
    fn read_again(&mut self, keeper: &Keeper) {
        let covers = std::mem::take(&mut self.pending);
        self.due = None;
        let transport = self.replica.transport().clone();
        let (introduced, server) = (self.introduced.clone(), keeper.name.clone());
        let before = keeper.status.borrow().offers.clone();
        self.reading.spawn(async move {
            let lister = Lister {
                server: server.as_str(),
                transport: &*transport,
                introduced: &introduced,
                limit: PATIENCE,
            };
            (covers, lister.read(covers, before.as_deref()).await)
        });
    }
}

async fn wait_until(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => std::future::pending().await,
    }
}

//! A server that is ready, until it no longer is.

use std::sync::Arc;
use std::time::Duration;

use mcpr_protocol::Era;
use mcpr_transport::{Failed, FailedKind};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::start::Started;
use super::waits::{unused, wait_until};
use super::{Command, Ended, Keeper, Need, Role};
use crate::Replica;
use crate::ask::Line;
use crate::hearing::{Hearing, News};
use crate::introduce::{Introduced, initialize, ping};
use crate::list::{Listed, Lister};
use crate::spec::Reach;
use crate::status::{Heard, Phase};

/// How long notices are gathered before the lists are read again (AGG-10 allows 250 ms).
const GATHER: Duration = Duration::from_millis(100);

/// How often a server behind a URL is asked whether it still answers.
const HEALTH: Duration = Duration::from_secs(30);

/// How often lists are read again because their time is over, at the most.
const REREAD: Duration = Duration::from_secs(5);

/// For an answer to that, for a renewal, and for a page of a list.
const PATIENCE: Duration = Duration::from_secs(30);

/// Failed health checks in a row that make a loss.
const STRIKES: u32 = 2;

/// One life of a server.
struct Life {
    replica: Arc<Replica>,
    introduced: Introduced,
    /// What it was started for.
    need: Need,
    /// The lists that wait to be read.
    pending: Stale,
    /// When to read them.
    due: Option<Instant>,
    /// The reading under way, with what it covers.
    reading: JoinSet<(Stale, Result<Listed, Failed>)>,
    /// When lists were read last.
    read_at: Instant,
    /// What hears the server out.
    hearing: Hearing,
    strikes: u32,
}

/// Lists that may have changed.
#[derive(Clone, Copy, Default)]
struct Stale {
    /// All of them.
    lists: Heard,
    /// Those of which the server said so itself.
    announced: Heard,
}

impl Keeper {
    /// Serves until the connection ends, nobody needs it, or the gateway stops it.
    pub(super) async fn live(&mut self, started: Started, need: Need) -> Ended {
        let Started {
            mut line,
            introduced,
            listed,
            replica,
            hearing,
            news,
        } = started;
        tracing::info!(server = %self.name, backend = self.backend.as_deref(), version = %replica.version, tools = listed.offers.tools.len(), "server ready");
        self.publish(|status| {
            status.phase = Phase::Ready;
            status.loss = None;
            status.doubt = None;
            status.replica = Some(replica.clone());
            status.offers = Some(listed.offers);
            status.fresh = listed.fresh;
        });
        let since = Instant::now();
        let mut life = Life::new(replica.clone(), introduced, need, hearing);
        let stop = self.stop.clone();
        // Whatever it waits for, such as the answer of a server that hangs, ends with that too.
        let ended = tokio::select! {
            biased;
            () = stop.cancelled() => Ended::Stopped,
            ended = self.serve(&mut line, &mut life, news) => ended,
        };
        drop(life);
        self.part(&replica, &ended).await;
        let lasted = since.elapsed();
        self.around.audience.parted(&self.name, replica.version, lasted);
        line.transport.close().await;
        ended
    }

    /// Lets nobody in any more.
    ///
    /// At a loss the replica stays published until that is told, so that a loss after readiness
    /// is known from one before it; everybody who tries it gets a failure that is proven unsent.
    /// Who came in while a server fell asleep is still served.
    async fn part(&self, replica: &Replica, ended: &Ended) {
        if !matches!(ended, Ended::Lost(_)) {
            self.publish(|status| {
                status.replica = None;
                status.phase = Phase::Idle;
            });
        }
        replica.end();
        if matches!(ended, Ended::Idle) {
            tokio::select! {
                () = replica.drained() => {}
                () = self.stop.cancelled() => {}
            }
        }
    }

    async fn serve(&mut self, line: &mut Line, life: &mut Life, mut news: mpsc::Receiver<News>) -> Ended {
        let mut health = interval_at(Instant::now() + HEALTH, HEALTH);
        health.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            if let Some(failed) = line.ended.take()
                && let Err(failed) = self.after_end(failed, line, life).await
            {
                return Ended::Lost(failed);
            }
            self.hear(life, std::mem::take(&mut line.heard));
            if std::mem::take(&mut line.doubted)
                && let Err(failed) = self.check(line, life, 1).await
            {
                return Ended::Lost(failed);
            }
            let (due, idle) = (life.due, self.idle_limit(life.need));
            tokio::select! {
                biased;
                event = line.events.recv() => line.take(event),
                Some(news) = news.recv() => {
                    if let Err(failed) = self.learn(news, line, life).await {
                        return Ended::Lost(failed);
                    }
                }
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
                () = wait_until(due), if life.reading.is_empty() && self.role == Role::Main => life.read_again(self),
                () = unused(&life.replica, &self.wishes, idle) => return Ended::Idle,
                _ = health.tick() => {
                    if let Err(failed) = self.check(line, life, STRIKES).await {
                        return Ended::Lost(failed);
                    }
                }
            }
        }
    }

    /// Takes a notice of the server. What a further connection hears is for the one that lists.
    fn hear(&self, life: &mut Life, heard: Heard) {
        match &self.main {
            Some(main) if heard.any() => drop(main.try_send(Command::Heard(heard))),
            Some(_) => {}
            None => life.hear(heard),
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
            Command::Wanted => {
                life.need = Need::Use;
                Ok(())
            }
            Command::Suspect(told) => {
                let well = self.check(line, life, 1).await;
                // A child process is watched by its exit, so nothing was learnt of it here.
                if well.is_ok() && !matches!(self.spec.reach, Reach::Stdio(_)) {
                    told.map(|told| told.send(()));
                }
                well
            }
            Command::Expired(lists) => {
                if life.read_at.elapsed() >= REREAD {
                    life.miss(lists);
                }
                Ok(())
            }
            Command::Heard(heard) => {
                self.hear(life, heard);
                Ok(())
            }
            Command::Renew(seen) if life.replica.session() > seen => Ok(()),
            Command::Renew(_) => self.renew(line, life).await,
        }
    }

    /// Takes what was heard of the server, or that it is heard no longer.
    async fn learn(&self, news: News, line: &mut Line, life: &mut Life) -> Result<(), Failed> {
        match news {
            News::Changed(heard) => life.hear(heard),
            News::Missed => {
                life.miss(Heard::ALL);
                line.doubted = true; // It may have started anew, and be another now.
            }
            News::Lost => line.doubted = true,
            News::Expired(seen) => return self.obey(Command::Renew(seen), line, life).await,
        }
        Ok(())
    }

    /// Opens a new session on the same connection; calls that wait for it go on then.
    async fn renew(&self, line: &mut Line, life: &mut Life) -> Result<(), Failed> {
        if life.introduced.version.era() == Era::Stateless {
            return Ok(());
        }
        tracing::info!(server = %self.name, "the session expired; opening a new one");
        let transport = line.transport.clone();
        let offer = self.spec.protocol.session_version();
        life.replica.renew();
        life.introduced = line.during(initialize(&*transport, offer, PATIENCE)).await?;
        // The end of the old session may be told on its stream too; it is no end of the new one.
        line.ended
            .take_if(|ended| ended.kind == FailedKind::SessionExpired);
        life.replica.renewed();
        life.hearing.renew(&life.introduced);
        life.miss(Heard::ALL); // What happened between the sessions was announced to nobody.
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
            Ok(introduced) => {
                self.doubt(None);
                life.found_well(introduced);
            }
            Err(failed) if failed.kind == FailedKind::SessionExpired => return self.renew(line, life).await,
            Err(failed) if matches!(failed.kind, FailedKind::Status(_) | FailedKind::Malformed) => {
                self.doubt(None);
                life.strikes = 0;
            }
            // One that can do only one thing at a time is silent while it works (B105).
            Err(failed) if failed.kind == FailedKind::TimedOut && life.replica.in_flight() > 0 => {}
            Err(failed) => {
                life.strikes += 1;
                if life.strikes >= strikes {
                    return Err(failed);
                }
                self.doubt(Some(&failed));
            }
        }
        Ok(())
    }

    /// Says whether the last health check went well.
    fn doubt(&self, failed: Option<&Failed>) {
        let was = self.status.borrow().doubt.is_some();
        if was != failed.is_some() {
            self.publish(|status| status.doubt = failed.map(|failed| failed.detail.as_str().into()));
        }
    }

    /// How long the server may be unused.
    fn idle_limit(&self, need: Need) -> Option<Duration> {
        match (self.role, need) {
            (Role::Side { idle }, _) => Some(idle),
            (Role::Main, Need::Listing) => Some(Duration::ZERO),
            (Role::Main, Need::Use) => self.spec.stop_after_idle.filter(|_| self.spec.lazy),
        }
    }

    /// What was listed last.
    fn listed_before(&self) -> Listed {
        let status = self.status.borrow();
        Listed {
            offers: status.offers.clone().unwrap_or_default(),
            fresh: status.fresh,
        }
    }

    /// Takes lists that were read again. A notice is counted even if nothing changed (AGG-10), but for one of a
    /// gateway: in a circle of gateways each would tell the next for ever (B110).
    fn listed(
        &self,
        life: &mut Life,
        read: Result<(Stale, Result<Listed, Failed>), tokio::task::JoinError>,
    ) -> Result<(), Failed> {
        let Ok((covers, read)) = read else { return Ok(()) };
        match read {
            Ok(listed) => self.publish(|status| {
                let told = match life.introduced.gateway {
                    Some(_) => listed.differ(status.offers.as_deref()),
                    None => Heard::ALL,
                };
                status.notices.count(covers.announced.within(told));
                status.offers = Some(listed.offers);
                status.fresh = listed.fresh;
            }),
            Err(failed) if failed.kind == FailedKind::SessionExpired => {
                life.miss(covers.lists);
                life.hear(covers.announced);
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
    fn new(replica: Arc<Replica>, introduced: Introduced, need: Need, hearing: Hearing) -> Self {
        Self {
            replica,
            introduced,
            need,
            pending: Stale::default(),
            due: None,
            reading: JoinSet::new(),
            hearing,
            read_at: Instant::now(),
            strikes: 0,
        }
    }

    /// Takes a notice of the server.
    fn hear(&mut self, heard: Heard) {
        self.pending.announced = self.pending.announced.and(heard);
        self.miss(heard);
    }

    /// The server answers. If it is not what it was, all of it is read again.
    fn found_well(&mut self, introduced: Option<Introduced>) {
        self.strikes = 0;
        if let Some(now) = introduced.filter(|now| *now != self.introduced) {
            self.introduced = now;
            self.miss(Heard::ALL);
        }
    }

    /// Has lists read again of which a change may have been missed.
    fn miss(&mut self, lists: Heard) {
        if lists.any() {
            self.pending.lists = self.pending.lists.and(lists);
            self.due.get_or_insert_with(|| Instant::now() + GATHER);
        }
    }

    /// Reads the lists that changed; what is heard meanwhile leads to another reading.
    fn read_again(&mut self, keeper: &Keeper) {
        let covers = std::mem::take(&mut self.pending);
        self.due = None;
        self.read_at = Instant::now();
        let transport = self.replica.transport().clone();
        let (introduced, server) = (self.introduced.clone(), keeper.name.clone());
        let before = keeper.listed_before();
        let around = keeper.around.clone();
        self.reading.spawn(async move {
            let lister = Lister {
                server: server.as_str(),
                transport: &*transport,
                introduced: &introduced,
                instance: &around.instance,
                limit: PATIENCE,
                pages: around.list_pages,
            };
            (covers, lister.read(covers.lists, &before).await)
        });
    }
}

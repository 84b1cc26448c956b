//! What the rest of the gateway sees of a server.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

use mcpr_protocol::notification;
use mcpr_registry::{Kind, Offers, ServerName};
use mcpr_transport::Failed;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use crate::fresh::Fresh;
use crate::keeper::Command;
use crate::wishes::Asked;
use crate::{Feed, PerFeed, Refusal, Replica, UpstreamSpec};

/// One backend of a server, seen from outside of its keeper.
pub struct Upstream {
    /// The server's name.
    pub name: ServerName,
    /// What tells it from the server's other backends.
    pub label: Arc<str>,
    /// How it is reached and treated.
    pub spec: UpstreamSpec,
    pub(crate) wishes: PerFeed<Arc<Asked>>,
    pub(crate) status: watch::Receiver<Status>,
    pub(crate) commands: mpsc::Sender<Command>,
    pub(crate) asks_roots: Arc<AtomicBool>,
    pub(crate) stop: tokio_util::sync::CancellationToken,
}

/// The state of a server, or of one of its backends, at one moment.
#[derive(Clone, Debug)]
pub struct Status {
    /// Where it is in its life.
    pub phase: Phase,
    /// Since when.
    pub since: SystemTime,
    /// Where requests go; only while it is ready.
    pub replica: Option<Arc<Replica>>,
    /// What it listed last, in this run or an earlier one.
    pub offers: Option<Arc<Offers>>,
    /// How long that holds.
    pub fresh: Fresh,
    /// How often it said itself that a list changed.
    pub notices: Notices,
    /// How often it was started.
    pub starts: u64,
    /// Why it was lost, or could not be started, since it was ready last.
    pub(crate) loss: Option<Arc<str>>,
    /// Why it may not be well although it is ready: it did not answer the last health check.
    pub doubt: Option<Arc<str>>,
}

/// Where a server is in its life.
#[derive(Clone, Debug)]
pub enum Phase {
    /// Waits for its first use.
    Idle,
    /// Is being started, introduced and listed; also the moment after a loss, before the first
    /// attempt to get it back has failed.
    Starting,
    /// Takes requests.
    Ready,
    /// Is not to be had; tried again by itself, and down until that succeeds.
    Down {
        /// Why, for people.
        reason: Arc<str>,
        /// When it is tried again.
        retry_at: Instant,
    },
    /// Wants credentials that the configuration does not give it; tried again, slowly.
    AuthRequired {
        /// What the server said.
        reason: Arc<str>,
        /// When it is tried again.
        retry_at: Instant,
    },
    /// Was stopped for good.
    Stopped,
}

/// Counts of a server's own `list_changed` notices; they only ever grow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Notices {
    /// About tools.
    pub tools: u64,
    /// About prompts.
    pub prompts: u64,
    /// About resources and templates.
    pub resources: u64,
}

/// Lists that a server said have changed, and that were not read again yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Heard {
    pub(crate) tools: bool,
    pub(crate) prompts: bool,
    pub(crate) resources: bool,
}

impl Phase {
    /// Whether it sleeps or is being started.
    fn is_on_its_way(&self) -> bool {
        matches!(self, Self::Idle | Self::Starting)
    }

    /// Whether the last attempt to get the server failed.
    pub fn is_down(&self) -> bool {
        matches!(self, Self::Down { .. } | Self::AuthRequired { .. })
    }
}

impl Upstream {
    /// The state now.
    pub fn status(&self) -> Status {
        self.status.borrow().clone()
    }

    /// Reads of the state what is needed of it.
    pub fn look<R>(&self, read: impl FnOnce(&Status) -> R) -> R {
        read(&self.status.borrow())
    }

    /// Where requests go now, if the server is ready.
    pub fn replica(&self) -> Option<Arc<Replica>> {
        self.look(|status| status.replica.clone())
    }

    /// What it listed last.
    pub(crate) fn offers(&self) -> Option<Arc<Offers>> {
        self.look(|status| status.offers.clone())
    }

    /// Asks for an attempt now instead of later: somebody wants to use the server.
    pub fn nudge(&self) {
        let _ = self.commands.try_send(Command::Wanted);
    }

    /// Says that a request to the replica failed in a way that casts doubt on the connection.
    pub fn suspect(&self) {
        let _ = self.commands.try_send(Command::Suspect(None));
    }

    /// Says that a list changed, as heard in the answer to a request of somebody.
    pub fn heard(&self, method: &str) {
        let mut heard = Heard::default();
        heard.note(method);
        let _ = self.commands.try_send(Command::Heard(heard));
    }

    /// Says that a list is asked for whose time is over. It is read again in the background.
    pub fn expired(&self, kind: Kind) {
        let _ = self.commands.try_send(Command::Expired(Heard::of(kind)));
    }

    /// Has the tools listed again and waits for that. The caller bounds the wait.
    pub async fn relist_tools(&self) {
        let mut status = self.status.clone();
        let before = status.borrow_and_update().notices.tools;
        self.heard(notification::TOOLS_CHANGED);
        let _ = status
            .wait_for(|status| status.notices.tools > before || status.replica.is_none())
            .await;
    }

    /// Whether requests can go to the server again after one to `replica` failed: it turns out to
    /// be well, or it is replaced. The caller bounds the wait.
    pub async fn recovered(&self, replica: &Arc<Replica>) -> bool {
        let (reply, well) = oneshot::channel();
        if self.commands.send(Command::Suspect(Some(reply))).await.is_err() {
            return false;
        }
        if well.await.is_ok() {
            return true;
        }
        let mut status = self.status.clone();
        let decided = |status: &Status| match &status.replica {
            Some(current) => !Arc::ptr_eq(current, replica),
            None => !matches!(status.phase, Phase::Starting),
        };
        status
            .wait_for(decided)
            .await
            .is_ok_and(|status| status.replica.is_some())
    }

    /// Waits until the server is ready, or is known not to be.
    pub async fn settled(&self) -> Status {
        let mut status = self.status.clone();
        let settled = status
            .wait_for(|status| !matches!(status.phase, Phase::Starting))
            .await;
        settled.map_or_else(|_| self.status(), |status| status.clone())
    }

    /// Waits as [`settled`](Self::settled) does; for one that is down, for the outcome of its next
    /// start, if that is to come within `patience`.
    pub async fn back_within(&self, patience: Duration) -> bool {
        let next = |status: &Status| match status.phase {
            Phase::Down { retry_at, .. } => Some(retry_at),
            _ => None,
        };
        let mut status = self.status.clone();
        let end = Instant::now() + patience;
        let awaited = next(&status.borrow()).filter(|retry_at| *retry_at <= end);
        let decided = |status: &Status| match status.phase {
            Phase::Starting => false,
            Phase::Down { retry_at, .. } => awaited != Some(retry_at),
            _ => true,
        };
        let decided = status.wait_for(decided).await;
        decided.is_ok_and(|status| status.replica.is_some())
    }

    /// Starts the server if it sleeps, and waits until it is ready or is known not to be.
    pub async fn wake(&self) -> Status {
        let mut status = self.status.clone();
        loop {
            let (starts, slept) = {
                let now = self.status.borrow();
                (now.starts, matches!(now.phase, Phase::Idle))
            };
            self.nudge();
            // One that may be unused for a moment only can fall asleep again before this is heard.
            let asleep_again =
                |status: &Status| matches!(status.phase, Phase::Idle) && (!slept || status.starts > starts);
            let settled = status
                .wait_for(|status| !status.phase.is_on_its_way() || asleep_again(status))
                .await;
            match settled {
                Ok(status) if status.phase.is_on_its_way() => {}
                Ok(status) => return status.clone(),
                Err(_) => return self.status(),
            }
        }
    }

    /// Waits until the server has said whether it tells of what is among the wishes under this
    /// name; one that sleeps is woken. The caller bounds the wait.
    ///
    /// # Errors
    ///
    /// When it does not, or is not there.
    pub async fn tells_of(&self, feed: Feed, name: &str) -> Result<(), Refusal> {
        let mut status = self.status.clone();
        let now = status.borrow_and_update().clone();
        let asleep = matches!(now.phase, Phase::Idle);
        if asleep
            && now
                .offers
                .is_some_and(|offers| !feed.is_offered(&offers.capabilities))
        {
            return Err(Refusal::NotOffered);
        }
        self.nudge();
        let gone = |status: &Status| status.phase.is_down() || matches!(status.phase, Phase::Stopped);
        tokio::select! {
            biased;
            settled = self.wishes.of(feed).settled(name) => settled,
            _ = status.wait_for(gone) => Err(Refusal::Unavailable(Box::new(self.status()))),
        }
    }

    /// Renews the session that a request to `replica` found expired (SRV-07).
    ///
    /// One renewal is in flight per session: all who saw the same generation expire wait for it.
    ///
    /// # Errors
    ///
    /// When the server is lost instead.
    pub async fn renew(&self, replica: &Replica, seen: u64) -> Result<(), Failed> {
        let lost = || {
            Failed::unsent(
                mcpr_transport::FailedKind::Closed,
                "the session could not be renewed",
            )
        };
        self.commands
            .send(Command::Renew(seen))
            .await
            .map_err(|_| lost())?;
        replica.newer_session(seen).await.ok_or_else(lost)
    }
}

impl Status {
    pub(crate) fn new(phase: Phase, offers: Option<Arc<Offers>>) -> Self {
        let since = SystemTime::now();
        Self {
            phase,
            since,
            replica: None,
            offers,
            fresh: Fresh::STALE,
            notices: Notices::default(),
            starts: 0,
            loss: None,
            doubt: None,
        }
    }

    /// Whether what it lists counts where the best of a server's backends is in that phase: one that
    /// is down has nothing to add to what others have.
    pub(crate) fn counts_beside(&self, best: &Phase) -> bool {
        let out = |phase: &Phase| phase.is_down() || matches!(phase, Phase::Stopped);
        !out(&self.phase) || out(best)
    }

    /// Whether its connection has ended, and nobody has noted it yet.
    pub fn is_gone(&self) -> bool {
        self.replica.as_ref().is_some_and(|replica| replica.is_gone())
    }

    /// Why it cannot be used, if that is so. While it is tried again that is what was wrong before.
    pub fn reason(&self) -> Option<&str> {
        match &self.phase {
            Phase::Down { reason, .. } | Phase::AuthRequired { reason, .. } => Some(reason),
            Phase::Starting | Phase::Stopped => self.loss.as_deref(),
            Phase::Ready => self.doubt.as_deref(),
            Phase::Idle => None,
        }
    }

    /// How long until it is tried again.
    pub fn retry_in(&self) -> Option<Duration> {
        match self.phase {
            Phase::Down { retry_at, .. } | Phase::AuthRequired { retry_at, .. } => {
                Some(retry_at.saturating_duration_since(Instant::now()))
            }
            _ => None,
        }
    }
}

impl Heard {
    pub(crate) const ALL: Self = Self {
        tools: true,
        prompts: true,
        resources: true,
    };

    pub(crate) fn note(&mut self, method: &str) {
        match method {
            notification::TOOLS_CHANGED => self.tools = true,
            notification::PROMPTS_CHANGED => self.prompts = true,
            notification::RESOURCES_CHANGED => self.resources = true,
            _ => {}
        }
    }

    /// Lists of one kind; resources stand for templates too.
    pub(crate) fn of(kind: Kind) -> Self {
        Self {
            tools: kind == Kind::Tools,
            prompts: kind == Kind::Prompts,
            resources: matches!(kind, Kind::Resources | Kind::Templates),
        }
    }

    /// Whether it is about lists of this kind.
    pub(crate) fn has(self, kind: Kind) -> bool {
        match kind {
            Kind::Tools => self.tools,
            Kind::Prompts => self.prompts,
            Kind::Resources | Kind::Templates => self.resources,
        }
    }

    /// Those of them that are among `others`.
    pub(crate) fn within(self, others: Self) -> Self {
        Self {
            tools: self.tools && others.tools,
            prompts: self.prompts && others.prompts,
            resources: self.resources && others.resources,
        }
    }

    pub(crate) fn any(self) -> bool {
        self != Self::default()
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            tools: self.tools || other.tools,
            prompts: self.prompts || other.prompts,
            resources: self.resources || other.resources,
        }
    }
}

impl Notices {
    pub(crate) fn add(&mut self, other: Self) {
        self.tools += other.tools;
        self.prompts += other.prompts;
        self.resources += other.resources;
    }

    pub(crate) fn count(&mut self, heard: Heard) {
        self.tools += u64::from(heard.tools);
        self.prompts += u64::from(heard.prompts);
        self.resources += u64::from(heard.resources);
    }
}

//! From nothing to a server that is introduced and listed.

use std::sync::Arc;
use std::time::Duration;

use mcpr_protocol::Version;
use mcpr_transport::{Failed, FailedKind};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout_at};

use super::{Keeper, Role};
use crate::Replica;
use crate::ask::Line;
use crate::dial::{Dialled, Signs, Wire};
use crate::era::{self, Verdict};
use crate::hearing::{Hearing, News};
use crate::introduce::{Discovery, Introduced, discover, initialize};
use crate::list::{Listed, Lister};
use crate::roots::Roots;
use crate::spec::{Reach, SseChoice};
use crate::status::Heard;
use crate::turn::Turn;

/// How long a server may say nothing to the probe, counted from its first sign of life, or from
/// when it stopped using the processor.
const SILENCE: Duration = Duration::from_secs(5);

/// How often the signs of life are looked at while a probe waits.
const GLANCE: Duration = Duration::from_millis(250);

/// For one request of the opening exchange, within the limit of the whole start.
const STEP: Duration = Duration::from_secs(3600);

/// A server that has been introduced and listed.
pub(crate) struct Started {
    pub(crate) line: Line,
    pub(crate) introduced: Introduced,
    pub(crate) listed: Listed,
    pub(crate) replica: Arc<Replica>,
    pub(crate) hearing: Hearing,
    pub(crate) news: mpsc::Receiver<News>,
}

/// A connection on which the opening exchange is done.
struct Met {
    line: Line,
    introduced: Introduced,
    pid: Option<u32>,
}

/// What a probe on a fresh connection came to.
enum Probe {
    Stateless(Box<Introduced>),
    /// A session server that can be introduced on the same connection.
    Session,
    /// Nothing was answered; the connection is of no further use.
    Silent,
}

impl Keeper {
    /// Dials, introduces and lists, within the time limit of a start.
    pub(super) async fn start(&mut self) -> Result<Started, Failed> {
        let turn = self
            .turn
            .take()
            .unwrap_or_else(|| Turn::queue(&self.around.starts));
        let permit = turn.come().await;
        let started = self
            .start_in_time(Instant::now() + self.spec.timeouts.start)
            .await;
        self.signs.lock().take();
        drop(permit);
        started
    }

    async fn start_in_time(&mut self, deadline: Instant) -> Result<Started, Failed> {
        let met = timeout_at(deadline, self.meet()).await;
        let met = met.unwrap_or_else(|_| Err(self.too_slow("introduction")))?;
        if met.introduced.gateway.as_ref() == Some(&self.around.instance) {
            met.line.transport.close().await;
            return Err(itself());
        }
        let listed = timeout_at(deadline, self.first_lists(met)).await;
        listed.unwrap_or_else(|_| Err(self.too_slow("first listing")))
    }

    /// The failure of a start that took too long, with the last words of the child: what is
    /// downloaded or waited for is often said there.
    fn too_slow(&self, what: &str) -> Failed {
        let limit = self.spec.timeouts.start;
        let words = self
            .signs
            .lock()
            .as_ref()
            .map(|signs| signs.last_words())
            .unwrap_or_default();
        let hint = "if the server needs longer, raise `mcpr.timeouts.start`";
        let detail = match words.trim() {
            "" => format!("no {what} within {limit:?}; {hint}"),
            words => format!("no {what} within {limit:?}; {hint}; its last words: {words}"),
        };
        Failed::maybe_sent(FailedKind::TimedOut, detail)
    }

    /// Hears the server out and reads its lists, in this order: what changes between the two is
    /// announced.
    async fn first_lists(&self, mut met: Met) -> Result<Started, Failed> {
        let (version, transport) = (met.introduced.version, met.line.transport.clone());
        let replica = Replica::new(
            self.name.clone(),
            version,
            transport,
            met.pid,
            met.line.roots.clone(),
        );
        let herald = self.herald();
        let begun = Hearing::begin(&replica, &met.introduced, &self.wishes, &herald);
        let (hearing, news) = met.line.during(begun).await;
        let listed = match self.role {
            Role::Main => self.lists(&mut met).await?,
            Role::Side { .. } => Listed::default(),
        };
        Ok(Started {
            line: met.line,
            introduced: met.introduced,
            listed,
            replica,
            hearing,
            news,
        })
    }

    async fn lists(&self, met: &mut Met) -> Result<Listed, Failed> {
        let transport = met.line.transport.clone();
        let lister = Lister {
            server: self.name.as_str(),
            transport: &*transport,
            introduced: &met.introduced,
            instance: &self.around.instance,
            limit: STEP,
            pages: self.around.list_pages,
        };
        let read = met.line.during(lister.read(Heard::ALL, &Listed::default())).await;
        match read {
            Ok(listed) => Ok(listed),
            Err(failed) => Err(met.line.last_word(failed).await),
        }
    }

    /// Finds out how the server is spoken to, unless that is known, and does the opening exchange.
    async fn meet(&mut self) -> Result<Met, Failed> {
        if let Some(verdict) = self.spec.protocol.settled() {
            return self.meet_as(self.on_the_right_wire(verdict)).await;
        }
        if matches!(&self.spec.reach, Reach::Http(http) if http.sse == SseChoice::Always) {
            return self.meet_as(Verdict::OldSse).await;
        }
        let key = era::key(&self.spec);
        if let Some(verdict) = self.around.memory.verdict(&key) {
            match self.meet_as(verdict).await {
                Err(failed) if casts_doubt(&failed) => self.around.memory.forget(&key),
                met_or_outage => return met_or_outage,
            }
        }
        let (met, verdict) = match self.meet_unprobed().await? {
            Some(met) => (met, Verdict::Session),
            None => self.find_out().await?,
        };
        self.around.memory.remember(&key, verdict);
        Ok(met)
    }

    /// A server that ended at the probe is greeted without one; `None` where it is to be probed.
    async fn meet_unprobed(&mut self) -> Result<Option<Met>, Failed> {
        if !self.unprobed {
            return Ok(None);
        }
        match self.meet_as(Verdict::Session).await {
            Err(failed) if casts_doubt(&failed) => {
                self.unprobed = false;
                Ok(None)
            }
            met_or_outage => met_or_outage.map(Some),
        }
    }

    fn on_the_right_wire(&self, verdict: Verdict) -> Verdict {
        match &self.spec.reach {
            Reach::Http(http) if http.sse == SseChoice::Always && verdict == Verdict::Session => {
                Verdict::OldSse
            }
            _ => verdict,
        }
    }

    async fn meet_as(&self, verdict: Verdict) -> Result<Met, Failed> {
        match verdict {
            Verdict::Session => self.greet(self.dial(Wire::Usual).await?).await,
            Verdict::OldSse => self.greet(self.dial(Wire::OldSse).await?).await,
            Verdict::Stateless => {
                let (mut line, signs) = self.dial(Wire::Usual).await?;
                match self.probe(&mut line, None).await? {
                    Probe::Stateless(introduced) => Ok(met(line, signs, *introduced)),
                    _ => Err(Failed::maybe_sent(
                        FailedKind::Malformed,
                        "the server does not speak 2026-07-28",
                    )),
                }
            }
        }
    }

    /// The probe: `server/discover` first, and what it tells when it is not answered.
    async fn find_out(&mut self) -> Result<(Met, Verdict), Failed> {
        let (mut line, signs) = self.dial(Wire::Usual).await?;
        match self.probe(&mut line, signs.as_deref()).await? {
            Probe::Stateless(introduced) => Ok((met(line, signs, *introduced), Verdict::Stateless)),
            Probe::Session => self.greet_or_fall_back((line, signs)).await,
            Probe::Silent => {
                line.transport.close().await;
                let fresh = self.dial(Wire::Usual).await?;
                let met = self.greet(fresh).await;
                self.unprobed = met
                    .as_ref()
                    .is_err_and(|failed| failed.kind == FailedKind::Closed);
                Ok((met?, Verdict::Session))
            }
        }
    }

    /// `initialize`, and the old transport where the URL turns out to be one of those.
    async fn greet_or_fall_back(&self, fresh: Fresh) -> Result<(Met, Verdict), Failed> {
        let old = matches!(&self.spec.reach, Reach::Http(http) if http.sse == SseChoice::Auto);
        match self.greet(fresh).await {
            Ok(met) => Ok((met, Verdict::Session)),
            Err(failed) if old && matches!(failed.kind, FailedKind::Status(400 | 404 | 405)) => {
                let fresh = self.dial(Wire::OldSse).await?;
                // If that fails too, the first failure is the one to tell: it is about what the file says.
                self.greet(fresh)
                    .await
                    .map(|met| (met, Verdict::OldSse))
                    .map_err(|_| failed)
            }
            Err(failed) => Err(failed),
        }
    }

    async fn greet(&self, (mut line, signs): Fresh) -> Result<Met, Failed> {
        let transport = line.transport.clone();
        let introduction = initialize(&*transport, self.spec.protocol.session_version(), STEP);
        match line.during(introduction).await {
            Ok(introduced) => Ok(met(line, signs, introduced)),
            Err(failed) => {
                let failed = line.last_word(failed).await;
                line.transport.close().await;
                Err(failed)
            }
        }
    }

    async fn dial(&self, wire: Wire) -> Result<Fresh, Failed> {
        let Dialled {
            transport,
            events,
            signs,
        } = self.around.dial.dial(&self.name, &self.spec, wire).await?;
        self.signs.lock().clone_from(&signs);
        let roots = Roots::new(self.asks_roots.clone());
        Ok((Line::new(transport, events, self.herald(), roots), signs))
    }

    async fn probe(&self, line: &mut Line, signs: Option<&dyn Signs>) -> Result<Probe, Failed> {
        let transport = line.transport.clone();
        let work = async {
            tokio::select! {
                found = discover(&*transport, STEP) => Some(found),
                () = silence(signs) => None,
            }
        };
        match line.during(work).await {
            None => Ok(Probe::Silent),
            Some(Ok(Discovery::Stateless(introduced))) => Ok(Probe::Stateless(introduced)),
            Some(Ok(Discovery::Session)) => Ok(Probe::Session),
            Some(Ok(Discovery::Versions(versions))) => settle_versions(&versions),
            Some(Err(failed)) => on_failed_probe(failed, &self.spec.reach),
        }
    }
}

/// The way to the server leads back here, where no address tells: through a bridge or a proxy (B110).
fn itself() -> Failed {
    let detail = "it is this gateway itself; remove the entry, or name the server that is meant";
    Failed::maybe_sent(FailedKind::Malformed, detail)
}

type Fresh = (Line, Option<Arc<dyn Signs>>);

fn met(line: Line, signs: Option<Arc<dyn Signs>>, introduced: Introduced) -> Met {
    Met {
        line,
        introduced,
        pid: signs.and_then(|signs| signs.pid()),
    }
}

/// A stateless server that does not speak our revision; one that names only dates with a
/// handshake can still be greeted.
fn settle_versions(versions: &[String]) -> Result<Probe, Failed> {
    let session = |text: &String| {
        text.parse::<Version>()
            .is_ok_and(|version| version < Version::V2026_07_28)
    };
    if versions.iter().any(session) {
        return Ok(Probe::Session);
    }
    let spoken = versions.join(", ");
    Err(Failed::maybe_sent(
        FailedKind::Malformed,
        format!("the server speaks only these protocol versions: {spoken}"),
    ))
}

/// What a probe tells that was not answered with a message (`FailedKind` by the HTTP status).
fn on_failed_probe(failed: Failed, reach: &Reach) -> Result<Probe, Failed> {
    match (failed.kind, reach) {
        (FailedKind::Status(400..=499) | FailedKind::Malformed, Reach::Http(_)) => Ok(Probe::Session),
        (FailedKind::Closed, Reach::Stdio(_)) => Ok(Probe::Silent),
        _ => Err(failed),
    }
}

/// Whether a failure may mean that the server is spoken to in another way than remembered.
fn casts_doubt(failed: &Failed) -> bool {
    matches!(failed.kind, FailedKind::Malformed | FailedKind::Status(400..=499))
}

/// Ends when a child process has had its time to answer the probe.
///
/// A slow starter (a package that is being downloaded) has not spoken and uses the processor, so
/// it gets more time; the limit of the whole start holds in any case. Without signs to go by it
/// never ends.
async fn silence(signs: Option<&dyn Signs>) {
    let Some(signs) = signs else {
        return std::future::pending().await;
    };
    let mut quiet_since = Instant::now();
    let mut spoke = false;
    let mut used = signs.cpu_time();
    while quiet_since.elapsed() < SILENCE {
        sleep(GLANCE).await;
        let now = signs.cpu_time();
        let first_word = signs.has_spoken() && !spoke;
        spoke |= first_word;
        if first_word || (!spoke && now != used) {
            quiet_since = Instant::now();
        }
        used = now;
    }
}

//! What a server says of itself without being called: that its lists or its resources changed.
//!
//! A server of the session era announces its lists unasked, and tells of a resource it was asked
//! to tell of ([`asking`]). A stateless server announces on streams that it is asked for: one for
//! its lists ([`lists`]), one for all resources together ([`resources`]).

mod asking;
mod lists;
mod resources;
mod stream;

use std::sync::Arc;
use std::time::Duration;

use mcpr_protocol::Era;
use mcpr_transport::Failed;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::timeout;

use self::asking::Asking;
use self::resources::Resources;
use crate::Replica;
use crate::audience::Herald;
use crate::introduce::Introduced;
use crate::keeper::jittered;
use crate::status::Heard;
use crate::wishes::{Life, Refusal, Wishes};

/// How long the first listing waits for the server to take note of who hears of changes.
const FIRST_ACK: Duration = Duration::from_secs(1);

/// How many pieces of news wait for the keeper.
const NEWS: usize = 16;

/// News for the keeper of a server.
pub(crate) enum News {
    /// The server says that lists have changed.
    Changed(Heard),
    /// Changes of lists may have gone unheard.
    Missed,
    /// A way to the server broke; perhaps it is gone.
    Lost,
    /// The session of this generation has expired.
    Expired(u64),
}

/// The tasks that hear one connection out. They end with it.
pub(crate) struct Hearing {
    tasks: JoinSet<()>,
    hearer: Hearer,
    life: Life,
}

/// What each of the tasks has at hand.
#[derive(Clone)]
pub(crate) struct Hearer {
    pub(crate) replica: Arc<Replica>,
    pub(crate) wishes: Arc<Wishes>,
    pub(crate) herald: Herald,
    pub(crate) news: mpsc::Sender<News>,
}

impl Hearing {
    /// Begins to hear a server out, and waits a moment until it knows: what it lists afterwards
    /// is announced when it changes.
    pub(crate) async fn begin(
        replica: &Arc<Replica>,
        introduced: &Introduced,
        wishes: &Arc<Wishes>,
        herald: &Herald,
    ) -> (Self, mpsc::Receiver<News>) {
        let (news, receiver) = mpsc::channel(NEWS);
        let hearer = Hearer {
            replica: replica.clone(),
            wishes: wishes.clone(),
            herald: herald.clone(),
            news,
        };
        let mut hearing = Self {
            tasks: JoinSet::new(),
            life: wishes.begin(),
            hearer,
        };
        hearing.hear_resources(introduced);
        if introduced.announced.any() && introduced.version.era() == Era::Stateless {
            let (ready, acknowledged) = oneshot::channel();
            hearing.tasks.spawn(lists::hear(hearing.hearer.clone(), ready));
            let _ = timeout(FIRST_ACK, acknowledged).await;
        }
        (hearing, receiver)
    }

    /// Asks for all resources anew: the session has been renewed.
    pub(crate) fn renew(&mut self, introduced: &Introduced) {
        self.tasks.abort_all();
        self.life = self.hearer.wishes.interrupt(self.life);
        self.hear_resources(introduced);
    }

    fn hear_resources(&mut self, introduced: &Introduced) {
        let (hearer, life) = (self.hearer.clone(), self.life);
        match introduced.version.era() {
            _ if !introduced.capabilities.subscribe => self.tasks.spawn(hearer.refuse_all(life)),
            Era::Session => self.tasks.spawn(Asking::new(hearer, life).run()),
            Era::Stateless => self.tasks.spawn(Resources::new(hearer, life).run()),
        };
    }
}

impl Drop for Hearing {
    fn drop(&mut self) {
        self.hearer.wishes.interrupt(self.life);
    }
}

impl Hearer {
    /// Notes what came of asking for a resource; true if it was heard of in an earlier life.
    fn settle(&self, life: Life, uri: &str, outcome: Result<(), Refusal>) -> bool {
        if let Err(refusal) = &outcome {
            tracing::debug!(server = %self.replica.server, uri, ?refusal, "no updates of a resource");
        }
        let told = outcome.is_ok();
        let was_heard = self.wishes.settle(life, uri, outcome);
        if told && was_heard {
            self.herald.missed(uri);
        }
        was_heard
    }

    /// Tells the keeper; false if there is none any more.
    async fn tell(&self, news: News) -> bool {
        self.news.send(news).await.is_ok()
    }

    /// A server that tells of no resource is not asked.
    async fn refuse_all(self, life: Life) {
        let mut book = self.wishes.watch();
        loop {
            let asked: Vec<Arc<str>> = book.borrow_and_update().asked().cloned().collect();
            for uri in asked {
                self.settle(life, &uri, Err(Refusal::NotOffered));
            }
            if book.changed().await.is_err() {
                return;
            }
        }
    }
}

/// The pauses between attempts that fail.
struct Pauses(Duration);

impl Pauses {
    const SHORTEST: Duration = Duration::from_millis(500);
    const LONGEST: Duration = Duration::from_secs(60);
    /// What held at least this long was good: the next pause is a short one.
    const GOOD: Duration = Duration::from_secs(30);

    fn new() -> Self {
        Self(Self::SHORTEST)
    }

    /// The pause after an attempt that lasted so long.
    fn after(&mut self, lasted: Duration) -> Duration {
        let pause = if lasted >= Self::GOOD {
            Self::SHORTEST
        } else {
            self.0
        };
        self.0 = (pause * 2).min(Self::LONGEST);
        jittered(pause, Self::LONGEST)
    }
}

/// Whether a failure says that the way to the server is broken.
fn is_a_break(failed: &Failed) -> bool {
    use mcpr_transport::FailedKind::{Closed, Unreachable};
    matches!(failed.kind, Closed | Unreachable)
}

//! What a server says of itself without being called: that its lists or its resources changed.
//!
//! A server of the session era announces its lists unasked, and tells of a resource it was asked
//! to tell of ([`asking`]). A stateless server announces on streams that it is asked for: one for
//! its lists ([`lists`]), as few as it takes for resources, and for tasks ([`wanted`]).

mod asking;
mod lists;
mod look;
mod overlap;
mod part;
mod stream;
mod wanted;

use std::sync::Arc;
use std::time::Duration;

use mcpr_protocol::Era;
use mcpr_transport::Failed;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::timeout;

use self::asking::Asking;
use self::wanted::Wanted;
use crate::audience::Herald;
use crate::introduce::Introduced;
use crate::keeper::jittered;
use crate::status::Heard;
use crate::wishes::{Asked, Life, Refusal};
use crate::{Feed, PerFeed, Replica};

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
    hearers: PerFeed<Hearer>,
    lives: PerFeed<Life>,
}

/// What each of the tasks has at hand.
#[derive(Clone)]
pub(crate) struct Hearer {
    pub(crate) replica: Arc<Replica>,
    pub(crate) feed: Feed,
    pub(crate) wishes: Arc<Asked>,
    pub(crate) herald: Herald,
    pub(crate) news: mpsc::Sender<News>,
}

impl Hearing {
    /// Begins to hear a server out, and waits a moment until it knows: what it lists afterwards
    /// is announced when it changes.
    pub(crate) async fn begin(
        replica: &Arc<Replica>,
        introduced: &Introduced,
        wishes: &PerFeed<Arc<Asked>>,
        herald: &Herald,
    ) -> (Self, mpsc::Receiver<News>) {
        let (news, receiver) = mpsc::channel(NEWS);
        let hearer = |feed| Hearer {
            replica: replica.clone(),
            feed,
            wishes: wishes.of(feed).clone(),
            herald: herald.clone(),
            news: news.clone(),
        };
        let mut hearing = Self {
            tasks: JoinSet::new(),
            lives: PerFeed::new(|feed| wishes.of(feed).begin()),
            hearers: PerFeed::new(hearer),
        };
        hearing.hear_feeds(introduced);
        if introduced.announced.any() && introduced.version.era() == Era::Stateless {
            let (ready, acknowledged) = oneshot::channel();
            let hearer = hearing.hearers.of(Feed::Resources).clone();
            hearing.tasks.spawn(lists::hear(hearer, ready));
            let _ = timeout(FIRST_ACK, acknowledged).await;
        }
        (hearing, receiver)
    }

    /// Asks for everything anew: the session has been renewed.
    pub(crate) fn renew(&mut self, introduced: &Introduced) {
        // They end with their set. Told to end within it, each would stay there for as long as the connection lives.
        self.tasks = JoinSet::new();
        self.interrupt();
        self.hear_feeds(introduced);
    }

    fn hear_feeds(&mut self, introduced: &Introduced) {
        for feed in Feed::ALL {
            let (hearer, life) = (self.hearers.of(feed).clone(), *self.lives.of(feed));
            match introduced.version.era() {
                _ if !feed.is_offered_by(introduced) => self.tasks.spawn(hearer.refuse_all(life)),
                Era::Session => self.tasks.spawn(Asking::new(hearer, life).run()),
                Era::Stateless => self.tasks.spawn(Wanted::new(hearer, life).run()),
            };
        }
    }

    fn interrupt(&mut self) {
        for feed in Feed::ALL {
            let life = self.lives.of_mut(feed);
            *life = self.hearers.of(feed).wishes.interrupt(*life);
        }
    }
}

impl Drop for Hearing {
    fn drop(&mut self) {
        self.interrupt();
    }
}

impl Hearer {
    /// Notes what came of asking for something; true if it was heard of in an earlier life.
    fn settle(&self, life: Life, name: &str, outcome: Result<(), Refusal>) -> bool {
        if let Err(refusal) = &outcome {
            let (server, method) = (&self.replica.server, self.feed.method());
            // The id of a task may be all that it takes to get at it.
            let name = (self.feed == Feed::Resources).then_some(name);
            tracing::debug!(%server, method, name, reason = %refusal, "nothing will be told");
        }
        let told = outcome.is_ok();
        let was_heard = self.wishes.settle(life, name, outcome);
        if told && was_heard && self.feed == Feed::Resources {
            self.herald.missed(name);
        }
        was_heard
    }

    /// Tells the keeper; false if there is none any more.
    async fn tell(&self, news: News) -> bool {
        self.news.send(news).await.is_ok()
    }

    /// A server that tells of nothing is not asked.
    async fn refuse_all(self, life: Life) {
        let mut book = self.wishes.watch();
        loop {
            let asked: Vec<Arc<str>> = book.borrow_and_update().asked().cloned().collect();
            for name in asked {
                self.settle(life, &name, Err(Refusal::NotOffered));
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

#[cfg(test)]
mod tests;

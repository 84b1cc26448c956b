//! Past calls, kept for whoever asks later (LOG-06): written behind the calls, never in their way.

mod ids;
mod row;
mod veil;
mod writer;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mcpr_protocol::Method;
use mcpr_store::Store;
use mcpr_telemetry::{CallRecord, Secrets};
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::row::Draft;
use self::writer::{Items, Writer};
use crate::layers::Layer;
use crate::plan::Plan;

/// How many calls may wait to be written.
const QUEUE: usize = 8192;
/// So many are written before their time: more at once are no faster, and take more memory.
const PLENTY: usize = 512;
/// How many bytes they may take; arguments can be large.
const QUEUE_BYTES: u64 = 64 << 20;
/// How long the end of the gateway waits for what is left to be written.
const FAREWELL: Duration = Duration::from_secs(2);
/// How long who asks for calls waits for those that have just ended.
const PATIENCE: Duration = Duration::from_secs(1);

/// Takes calls that have ended, for a task of its own that writes them down.
///
/// Taking one never waits. What there is no room for is left out and counted.
pub(crate) struct History {
    queue: mpsc::Sender<Item>,
    /// Ends the pause in which calls are collected.
    hurry: Arc<Notify>,
    backlog: Arc<Backlog>,
    plans: watch::Receiver<Arc<Plan>>,
    end: CancellationToken,
    writing: TaskTracker,
}

/// What the writer is sent.
enum Item {
    /// A call that has ended.
    Call(Draft),
    /// Somebody wants to know when all that came before is written.
    Written(oneshot::Sender<()>),
}

/// What waits to be written, and what never will be.
#[derive(Default)]
struct Backlog {
    bytes: AtomicU64,
    shed: AtomicU64,
    /// The same since the start.
    shed_ever: AtomicU64,
}

impl History {
    /// Begins to write calls into this store, and to drop old ones as the plan says; `most` is how many
    /// bytes there is room for, whatever the plan says.
    pub(crate) fn start(
        store: Arc<dyn Store>,
        plans: watch::Receiver<Arc<Plan>>,
        secrets: Secrets,
        most: Option<usize>,
    ) -> Self {
        let (queue, items) = mpsc::channel(QUEUE);
        let (backlog, end, writing) = (Arc::default(), CancellationToken::new(), TaskTracker::new());
        let writer = Writer::new(store, plans.clone(), secrets, Arc::clone(&backlog), most);
        let hurry = Arc::<Notify>::default();
        let items = Items {
            queue: items,
            hurry: Arc::clone(&hurry),
        };
        writing.spawn(writer.run(items, end.clone()));
        Self {
            queue,
            hurry,
            backlog,
            plans,
            end,
            writing,
        }
    }

    /// Waits until the calls that have ended are written, unless that takes unusually long.
    pub(crate) async fn catch_up(&self) {
        let (done, written) = oneshot::channel();
        let written = async {
            if self.queue.send(Item::Written(done)).await.is_ok() {
                self.hurry.notify_one();
                // A writer that has ended has written all it will.
                let _ = written.await;
            }
        };
        let _ = timeout(PATIENCE, written).await;
    }

    /// Writes what is left. Calls that end later are not kept.
    pub(crate) async fn finish(&self) {
        self.end.cancel();
        self.writing.close();
        let _ = timeout(FAREWELL, self.writing.wait()).await;
        self.backlog.tell();
    }

    /// Brings a call to the writer, if there is room.
    fn offer(&self, draft: Draft) {
        let size = draft.size();
        let waiting = self.backlog.bytes.fetch_add(size, Ordering::Relaxed) + size;
        if waiting > QUEUE_BYTES || self.queue.try_send(Item::Call(draft)).is_err() {
            self.backlog.bytes.fetch_sub(size, Ordering::Relaxed);
            self.backlog.shed.fetch_add(1, Ordering::Relaxed);
            self.backlog.shed_ever.fetch_add(1, Ordering::Relaxed);
        }
        if QUEUE - self.queue.capacity() > PLENTY {
            self.hurry.notify_one();
        }
    }

    /// How many calls were left out since the start.
    pub(crate) fn shed(&self) -> u64 {
        self.backlog.shed_ever.load(Ordering::Relaxed)
    }
}

impl Backlog {
    /// Tells in the log how many calls were left out since it was told last.
    fn tell(&self) {
        let shed = self.shed.swap(0, Ordering::Relaxed);
        if shed > 0 {
            tracing::warn!(
                shed,
                "calls are missing in the history: the database is too slow for them"
            );
        }
    }
}

impl Layer for History {
    /// Takes a call that a server or a built-in tool had; other requests leave no trace.
    fn after(&self, record: &CallRecord<'_>) {
        if record.server.is_none() || !is_kept(record.method) {
            return;
        }
        let options = self.plans.borrow().options.history;
        if options.max_size > 0 {
            self.offer(Draft::of(record, options.arguments));
        }
    }

    fn only_watches(&self) -> bool {
        true
    }
}

/// The methods that use something of a server; lists and pings only look.
fn is_kept(method: &str) -> bool {
    matches!(
        Method::new(method),
        Method::ToolsCall | Method::PromptsGet | Method::ResourcesRead | Method::Complete
    )
}

//! Past calls, kept for whoever asks later (LOG-06): written behind the calls, never in their way.

mod ids;
mod row;
mod veil;
mod waiting;
mod writer;

use std::sync::Arc;
use std::time::Duration;

use mcpr_protocol::Method;
use mcpr_store::Store;
use mcpr_telemetry::{CallRecord, Secrets};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub(crate) use self::ids::id_before;
pub(crate) use self::row::{ERROR, NAME};
use self::waiting::Waiting;
use self::writer::Writer;
use crate::layers::Layer;
use crate::plan::Plan;

/// How long the end of the gateway waits for what is left to be written.
const FAREWELL: Duration = Duration::from_secs(2);
/// How long who asks for calls waits for those that have just ended.
const PATIENCE: Duration = Duration::from_secs(1);

/// Takes calls that have ended, for a task of its own that writes them down.
///
/// Taking one never waits. What there is no room for is left out and counted.
pub(crate) struct History {
    waiting: Arc<Waiting>,
    plans: watch::Receiver<Arc<Plan>>,
    end: CancellationToken,
    writing: TaskTracker,
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
        let (waiting, end, writing) = (Arc::default(), CancellationToken::new(), TaskTracker::new());
        let writer = Writer::new(store, plans.clone(), secrets, Arc::clone(&waiting), most);
        writing.spawn(writer.run(end.clone()));
        Self {
            waiting,
            plans,
            end,
            writing,
        }
    }

    /// Waits until the calls that have ended are written, unless that takes unusually long.
    pub(crate) async fn catch_up(&self) {
        // A writer that has ended has written all it will.
        let _ = timeout(PATIENCE, self.waiting.written()).await;
    }

    /// Writes what is left. Calls that end later are not kept.
    pub(crate) async fn finish(&self) {
        self.end.cancel();
        self.writing.close();
        let _ = timeout(FAREWELL, self.writing.wait()).await;
        self.waiting.tell();
    }

    /// How many calls were left out since the start.
    pub(crate) fn shed(&self) -> u64 {
        self.waiting.shed_ever()
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
            self.waiting.add(record, options.arguments);
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

//! What happens at the server, for those who listen.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use serde_json::{Value, json};

/// Something that happened.
#[derive(Clone, Debug)]
pub(crate) enum Notice {
    Tools,
    Prompts,
    /// A resource has changed, by its URI.
    Updated(String),
    /// A task has changed, as `tasks/get` shows it.
    Task(Value),
}

/// One who listens, and chooses what to hear.
pub(crate) trait Listen: Send + Sync {
    fn hear(&self, notice: &Notice);
}

/// All who listen, as long as they live.
#[derive(Default)]
pub(crate) struct Hub(Mutex<Vec<Weak<dyn Listen>>>);

impl Hub {
    pub(crate) fn join(&self, listener: &Arc<impl Listen + 'static>) {
        let listener: Weak<dyn Listen> = Arc::downgrade(listener) as _;
        self.0.lock().push(listener);
    }

    pub(crate) fn announce(&self, notice: &Notice) {
        let mut all = self.0.lock();
        all.retain(|listener| listener.strong_count() > 0);
        let living: Vec<_> = all.iter().filter_map(Weak::upgrade).collect();
        drop(all);
        living.iter().for_each(|listener| listener.hear(notice));
    }
}

impl Notice {
    /// The method of its notification.
    pub(crate) fn method(&self) -> &'static str {
        match self {
            Self::Tools => "notifications/tools/list_changed",
            Self::Prompts => "notifications/prompts/list_changed",
            Self::Updated(_) => "notifications/resources/updated",
            Self::Task(_) => "notifications/tasks",
        }
    }

    /// The params of its notification.
    pub(crate) fn params(&self) -> Value {
        match self {
            Self::Tools | Self::Prompts => json!({}),
            Self::Updated(uri) => json!({ "uri": uri }),
            Self::Task(task) => task.clone(),
        }
    }
}

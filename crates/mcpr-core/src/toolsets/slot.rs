//! What one principal has equipped.

use std::sync::Arc;

use tokio::sync::{Mutex, MutexGuard, watch};

use super::Toolset;

/// Keeps what one principal has equipped.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    /// Held by whoever changes it (SET-06).
    busy: Mutex<()>,
    worn: watch::Sender<Option<Arc<Worn>>>,
}

/// An equipped toolset.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Worn {
    pub(crate) owner: Box<str>,
    pub(crate) name: Box<str>,
    /// As it is now; `None` while there is none of that name, as after a change of the configuration.
    pub(crate) toolset: Option<Arc<Toolset>>,
}

impl Slot {
    /// The right to change it; `None` if somebody has it.
    pub(crate) fn try_begin(&self) -> Option<MutexGuard<'_, ()>> {
        self.busy.try_lock().ok()
    }

    /// The right to change it, after whoever has it.
    pub(crate) async fn begin(&self) -> MutexGuard<'_, ()> {
        self.busy.lock().await
    }

    /// What is equipped.
    pub(crate) fn worn(&self) -> Option<Arc<Worn>> {
        self.worn.borrow().clone()
    }

    /// Equips something else, or nothing; gives what was there before.
    pub(crate) fn wear(&self, worn: Option<Arc<Worn>>) -> Option<Arc<Worn>> {
        let mut before = None;
        self.worn.send_if_modified(|now| {
            before.clone_from(now);
            let differs = *now != worn;
            *now = worn;
            differs
        });
        before
    }

    /// Takes the toolset that is meant by what is equipped, as it is now.
    pub(crate) fn renew(&self, find: impl FnOnce(&str, &str) -> Option<Arc<Toolset>>) {
        self.worn.send_if_modified(|now| {
            let Some(worn) = now else { return false };
            let toolset = find(&worn.owner, &worn.name);
            let differs = worn.toolset != toolset;
            if differs {
                *worn = Arc::new(Worn {
                    toolset,
                    ..(**worn).clone()
                });
            }
            differs
        });
    }

    /// Wakes its holder when something else is equipped.
    pub(crate) fn changes(&self) -> watch::Receiver<Option<Arc<Worn>>> {
        self.worn.subscribe()
    }
}

impl Worn {
    /// A toolset as what is equipped.
    pub(crate) fn of(toolset: &Arc<Toolset>) -> Arc<Self> {
        Arc::new(Self {
            owner: toolset.owner.clone(),
            name: toolset.name.clone(),
            toolset: Some(toolset.clone()),
        })
    }
}

//! Holds up one operation of the store, or lets it fail.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mcpr_store::StoreError;
use mcpr_tests::hooked::Hook;
use tokio::sync::{Notify, watch};

/// Stands before an operation of the store.
#[derive(Clone)]
pub(crate) struct Gate(Arc<Shared>);

struct Shared {
    operation: &'static str,
    open: watch::Sender<bool>,
    waited_at: Notify,
    broken: AtomicBool,
}

impl Gate {
    /// An open one.
    pub(crate) fn before(operation: &'static str) -> Self {
        Self(Arc::new(Shared {
            operation,
            open: watch::Sender::new(true),
            waited_at: Notify::new(),
            broken: AtomicBool::new(false),
        }))
    }

    /// Lets nothing through from now on.
    pub(crate) fn close(&self) {
        self.0.open.send_replace(false);
    }

    /// Lets everything through.
    pub(crate) fn open(&self) {
        self.0.open.send_replace(true);
    }

    /// Waits until something waits at the gate.
    pub(crate) async fn waited_at(&self) {
        self.0.waited_at.notified().await;
    }

    /// Lets everything fail from now on.
    pub(crate) fn break_down(&self) {
        self.0.broken.store(true, Ordering::Relaxed);
    }

    /// The gate as a store sees it.
    pub(crate) fn hook(&self) -> Hook {
        let gate = self.clone();
        Arc::new(move |operation| {
            let gate = gate.clone();
            Box::pin(async move {
                match operation == gate.0.operation {
                    true => gate.pass().await,
                    false => Ok(()),
                }
            })
        })
    }

    async fn pass(&self) -> Result<(), StoreError> {
        if self.0.broken.load(Ordering::Relaxed) {
            return Err(StoreError::Closed);
        }
        let mut open = self.0.open.subscribe();
        if !*open.borrow() {
            self.0.waited_at.notify_one();
        }
        let _ = open.wait_for(|open| *open).await;
        Ok(())
    }
}

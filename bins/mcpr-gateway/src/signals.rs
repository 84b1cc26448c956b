//! What the process is told from outside.

use std::io;

use crate::manager::{Manager, Notice};
use mcpr_core::Gateway;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that mean something to a gateway.
#[derive(Debug)]
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

/// The signal that asks to read the configuration again.
#[derive(Debug)]
pub(crate) struct Reload(Signal);

impl Signals {
    /// Takes notice of them from now on.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Waits for the next one that asks for the end; gives its name.
    pub(crate) async fn end(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}

impl Reload {
    /// Takes notice of it from now on.
    pub(crate) fn listen() -> io::Result<Self> {
        signal(SignalKind::hangup()).map(Self)
    }

    /// Has the configuration be read again each time.
    pub(crate) async fn obey(mut self, gateway: &Gateway, manager: &Manager) {
        while self.0.recv().await.is_some() {
            tracing::info!(reason = "SIGHUP", "reading the configuration again");
            manager.tell(Notice::Reloading);
            gateway.reload_and_tell().await;
            manager.tell(Notice::Ready("the configuration was read again"));
        }
    }
}

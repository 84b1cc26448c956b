//! What the process is told from outside.

use std::future::pending;
use std::io;

use crate::manager::{Manager, Notice};
use mcpr_core::Gateway;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that mean something to a gateway.
#[derive(Debug)]
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    /// Where there is nothing to read again, the end of the terminal is one.
    hangup: Option<Signal>,
}

/// The signal that asks to read the configuration again.
#[derive(Debug)]
pub(crate) struct Reload(Signal);

impl Signals {
    /// Takes notice of them from now on.
    pub(crate) fn listen() -> io::Result<Self> {
        // A file that may grow no more (`ulimit -f`) is an error of its write, and not the end of everything.
        drop(signal(SignalKind::from_raw(
            rustix::process::Signal::XFSZ.as_raw(),
        ))?);
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: None,
        })
    }

    /// The same, with the end of the terminal as one that asks for the end.
    pub(crate) fn with_hangup() -> io::Result<Self> {
        Ok(Self {
            hangup: Some(signal(SignalKind::hangup())?),
            ..Self::listen()?
        })
    }

    /// Waits for the next one that asks for the end; gives its name.
    pub(crate) async fn end(&mut self) -> &'static str {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => hangup.recv().await,
                None => pending().await,
            }
        };
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
            _ = hangup => "SIGHUP",
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
            manager.tell(Notice::Ready(match gateway.reload_and_tell().await {
                true => "the configuration was read again",
                false => "the configuration stays as it was; the log says why",
            }));
        }
    }
}

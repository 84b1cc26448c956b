//! Opening a connection, before anything is said on it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcpr_registry::ServerName;
use mcpr_transport::{Event, Failed, Transport};
use tokio::sync::mpsc;

use crate::UpstreamSpec;

/// Opens connections to servers.
#[async_trait]
pub trait Dial: Send + Sync + 'static {
    /// Opens a connection; a child process is spawned, a URL need not be touched yet.
    ///
    /// # Errors
    ///
    /// When there is nothing to talk to: no such command, a URL that is none.
    async fn dial(&self, server: &ServerName, spec: &UpstreamSpec, wire: Wire) -> Result<Dialled, Failed>;
}

/// Which transport to speak, where a URL leaves the choice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wire {
    /// What the server is today: stdio, or streamable HTTP.
    Usual,
    /// HTTP+SSE of 2024-11-05.
    OldSse,
}

/// A fresh connection.
pub struct Dialled {
    /// Its client end.
    pub transport: Arc<dyn Transport>,
    /// What comes without having been asked for.
    pub events: mpsc::Receiver<Event>,
    /// Signs of life of a child process.
    pub signs: Option<Arc<dyn Signs>>,
}

/// What can be seen of a child process from outside.
pub trait Signs: Send + Sync {
    /// Whether it has written anything yet, to stdout or stderr.
    fn has_spoken(&self) -> bool;

    /// The CPU time that it and its group have used, where the system tells.
    fn cpu_time(&self) -> Option<Duration>;

    /// The id of the process.
    fn pid(&self) -> Option<u32>;

    /// The end of what it has written to stderr so far.
    fn last_words(&self) -> String;
}

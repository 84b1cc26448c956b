//! What a connection may take and how long.

use std::time::Duration;

/// Bounds of what one server can cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Bytes of a JSON answer.
    pub body: usize,
    /// Bytes of one event of a stream.
    pub event: usize,
    /// How long connecting may take, TLS included.
    pub connect: Duration,
    /// How long a connection may be unused. A little less than what common servers keep (Node and
    /// uvicorn: 5 s), so that it is hardly ever the server who closes just when a request goes out.
    pub idle: Duration,
    /// How many unused connections are kept.
    pub idle_connections: usize,
    /// How often in a row a broken stream is asked for again without anything coming.
    pub resumes: u32,
    /// The longest wait that a server may ask for before a reconnect.
    pub retry: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 64 << 20,
            event: 16 << 20,
            connect: Duration::from_secs(10),
            idle: Duration::from_secs(4),
            idle_connections: 64,
            resumes: 5,
            retry: Duration::from_secs(300),
        }
    }
}

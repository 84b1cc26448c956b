//! What can be set about a server.

use std::time::Duration;

/// How a server behaves.
#[derive(Clone, Debug)]
pub struct Options {
    /// The path of the MCP endpoint; served with and without a slash at its end.
    pub endpoint: String,
    /// Names beside the loopback ones that a `Host` header may have: `name`, or `name:port`.
    pub allowed_hosts: Vec<String>,
    /// Web pages beside the loopback ones that may call: `https://name` or `https://name:port`.
    pub allowed_origins: Vec<String>,
    /// Whether the operations below `/admin/v1/` are served.
    pub admin: bool,
    /// What bounds it.
    pub limits: Limits,
    /// The certificate of a network address that is to speak TLS and nothing else.
    #[cfg(feature = "tls")]
    pub tls: Option<super::Tls>,
}

/// What bounds a server.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The largest request body, in bytes.
    pub body: usize,
    /// The largest request head, in bytes.
    pub head: usize,
    /// How many connections are served at a time.
    pub connections: usize,
    /// How long a request head may take.
    pub head_time: Duration,
    /// How long a request body may take, beside a second for each 16 KiB of it.
    pub body_time: Duration,
    /// How long a connection may be without a request. Longer than the 90 s after which common
    /// clients give up idle connections, so that none is closed under a request.
    pub idle_time: Duration,
    /// How long a client may leave its answer unread.
    pub write_time: Duration,
    /// After how long a silence an event stream gets a comment.
    pub keep_alive: Duration,
    /// How long answers may take to go out after they were to finish.
    pub grace: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            endpoint: "/mcp".to_owned(),
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            admin: false,
            limits: Limits::default(),
            #[cfg(feature = "tls")]
            tls: None,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 4 * 1024 * 1024,
            head: 64 * 1024,
            connections: 1024,
            head_time: Duration::from_secs(30),
            body_time: Duration::from_secs(30),
            idle_time: Duration::from_secs(120),
            write_time: Duration::from_secs(120),
            keep_alive: Duration::from_secs(15),
            grace: Duration::from_secs(1),
        }
    }
}

impl Limits {
    /// How often a connection is looked at: a limit is kept to within twice this much.
    pub(super) fn watch(&self) -> Duration {
        let shortest = self.head_time.min(self.idle_time).min(self.write_time);
        (shortest / 2).max(Duration::from_millis(1))
    }
}

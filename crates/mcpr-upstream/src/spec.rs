//! How a server is reached and treated.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use mcpr_protocol::Version;

/// All that mcpr needs to keep one server: at least one backend, and how calls are spread over them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ServerSpec {
    /// Its backends, in the order of the configuration. The first says how the server is treated as
    /// a whole.
    pub backends: Vec<BackendSpec>,
    /// Which backend gets the next call.
    pub spread: Spread,
    /// Whether a call is repeated whose backend was lost while it worked on it.
    pub repeat: Repeat,
}

/// One of the equal backends of a server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BackendSpec {
    /// What tells it from the others; it stays what it is when others join or leave.
    pub label: Arc<str>,
    /// How it is reached and treated.
    pub spec: UpstreamSpec,
    /// What clients may ask for (LB-02).
    pub tags: Vec<String>,
}

/// Which backend gets the next call (LB-01).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Spread {
    /// Each in turn.
    #[default]
    RoundRobin,
    /// The one with the fewest calls under way.
    LeastBusy,
}

/// Whether a call is repeated whose backend was lost while it worked on it (LB-04).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Repeat {
    /// If the method, or what the tool says of itself, makes that harmless.
    #[default]
    Safe,
    /// Never.
    Never,
}

/// All that mcpr needs to keep one backend.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UpstreamSpec {
    /// Where it is.
    pub reach: Reach,
    /// Which revision to speak.
    pub protocol: ProtocolChoice,
    /// How long things may take.
    pub timeouts: Timeouts,
    /// How many calls may be open at once.
    pub max_concurrency: usize,
    /// Who waits when that many are.
    pub queue: Queue,
    /// Whether it starts only when it is first needed.
    pub lazy: bool,
    /// How long it may be unused before it is stopped; only where it is lazy.
    pub stop_after_idle: Option<Duration>,
    /// When to try again after a failure.
    pub restart: Backoff,
    /// Who shares a connection with whom.
    pub isolation: Isolation,
}

/// Who shares a connection to a server with whom.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Isolation {
    /// All, except where the server could ask one client what another's call caused.
    Auto,
    /// All; a question that could be about several calls is declined.
    Shared,
    /// Each session has its own; each principal, where clients have no sessions.
    Session,
    /// Nobody: one call at a time on each.
    Call,
}

/// Where a server is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reach {
    /// A child process.
    Stdio(StdioSpec),
    /// A URL.
    Http(HttpSpec),
}

/// A server that runs as a child process. Its `Debug` leaves the arguments out: they may hold secrets.
#[derive(Clone, PartialEq, Eq)]
pub struct StdioSpec {
    /// The program: a name that is looked for in `PATH`, or a path.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables of its own.
    pub env: Vec<(String, SecretText)>,
    /// Whether it also gets all variables of the gateway but mcpr's own (SRV-02).
    pub inherit_env: bool,
    /// Where it runs.
    pub cwd: Option<PathBuf>,
}

/// A server behind a URL.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HttpSpec {
    /// The URL, used verbatim.
    pub url: SecretText,
    /// Headers for every request.
    pub headers: Vec<(String, SecretText)>,
    /// Whether to speak the old transport.
    pub sse: SseChoice,
}

/// Whether a URL is one of the old HTTP+SSE transport (2024-11-05).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SseChoice {
    /// Find out: streamable HTTP first.
    Auto,
    /// It is.
    Always,
    /// It is not.
    Never,
}

/// Which revision to speak to a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProtocolChoice {
    /// Find out, and remember.
    Auto,
    /// The session era, its newest revision offered first.
    Session,
    /// The stateless era.
    Stateless,
    /// Exactly this one.
    Exactly(Version),
}

/// How long things may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timeouts {
    /// From the start of an attempt to the end of the introduction and the first listing.
    pub start: Duration,
    /// A call; `None` for no limit.
    pub call: Option<Duration>,
    /// A call without any message from the server; `None` for no limit.
    pub silence: Option<Duration>,
}

/// Who waits when a server is at its limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Queue {
    /// How many calls may wait.
    pub max: usize,
    /// How long one may wait.
    pub wait: Duration,
}

/// When to try again after a failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Backoff {
    /// After the first failure.
    pub min: Duration,
    /// At the most.
    pub max: Duration,
}

/// A value that may hold a secret: its text is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretText(String);

impl SecretText {
    /// Takes a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, for the one who must send it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretText(..)")
    }
}

impl fmt::Debug for StdioSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StdioSpec")
            .field("command", &self.command)
            .field("cwd", &self.cwd)
            .finish_non_exhaustive()
    }
}

impl ServerSpec {
    /// How the server is treated as a whole.
    pub fn treatment(&self) -> &UpstreamSpec {
        &self.backends[0].spec
    }
}

/// A server with one backend.
impl From<UpstreamSpec> for ServerSpec {
    fn from(spec: UpstreamSpec) -> Self {
        let backend = BackendSpec {
            label: "1".into(),
            spec,
            tags: Vec::new(),
        };
        Self {
            backends: vec![backend],
            spread: Spread::default(),
            repeat: Repeat::default(),
        }
    }
}

impl UpstreamSpec {
    /// A server with the default treatment.
    pub fn new(reach: Reach) -> Self {
        Self {
            reach,
            protocol: ProtocolChoice::Auto,
            timeouts: Timeouts::default(),
            max_concurrency: 256,
            queue: Queue {
                max: 256,
                wait: Duration::from_secs(30),
            },
            lazy: false,
            stop_after_idle: None,
            restart: Backoff::default(),
            isolation: Isolation::Auto,
        }
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(60),
            call: Some(Duration::from_secs(3600)),
            silence: None,
        }
    }
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            min: Duration::from_secs(1),
            max: Duration::from_secs(60),
        }
    }
}

impl Backoff {
    /// The wait before attempt `attempt` (the first is 0), without jitter.
    pub fn delay(&self, attempt: u32) -> Duration {
        self.min.saturating_mul(1 << attempt.min(16)).min(self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_doubles_then_holds() {
        let backoff = Backoff {
            min: Duration::from_millis(100),
            max: Duration::from_secs(1),
        };
        let millis: Vec<_> = (0..6).map(|attempt| backoff.delay(attempt).as_millis()).collect();
        assert_eq!(millis, [100, 200, 400, 800, 1000, 1000]);
    }
}

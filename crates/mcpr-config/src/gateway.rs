//! What the gateway itself is told: the object `mcpr` at the top of the file.

mod listen;
mod own;
mod plans;
mod restart;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use mcpr_auth::Rate;
use mcpr_registry::{Naming, PinPolicy};
use mcpr_telemetry::{Format, Level};
use mcpr_upstream::Timeouts;

pub use listen::{InvalidListen, Listen};
pub(crate) use own::{read, timeouts};
pub use plans::{Arguments, Expose, History, Project, Toolset};

/// The port that is used when nothing else is said.
pub const DEFAULT_PORT: u16 = 3282;

/// All that can be told to the gateway itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GatewayOptions {
    /// Where it listens.
    pub listen: SocketAddr,
    /// Values of `Host` that are allowed besides the loopback ones (SEC-01).
    pub allowed_hosts: Vec<String>,
    /// Values of `Origin` that are allowed besides the loopback ones (SEC-01).
    pub allowed_origins: Vec<String>,
    /// The certificate of the address; without one it speaks plain HTTP.
    pub tls: Option<TlsFiles>,
    /// How exposed names and URIs are made.
    pub naming: Naming,
    /// How servers are started.
    pub startup: Startup,
    /// The time limits of servers that have none of their own.
    pub timeouts: Timeouts,
    /// What becomes of changed definitions of tools, of servers that say nothing of it.
    pub pins: PinPolicy,
    /// How it ends.
    pub drain: Drain,
    /// Whom the operator's socket lets in.
    pub control: Control,
    /// How much of anything is accepted.
    pub limits: Limits,
    /// What is logged.
    pub log: LogOptions,
    /// What a caller without an equipped toolset sees.
    pub expose: Expose,
    /// Whether the built-in tools are listed.
    pub builtins: bool,
    /// Named sets of servers, in the order of the file.
    pub projects: Vec<Project>,
    /// The operator's toolsets, in the order of the file.
    pub toolsets: Vec<Toolset>,
    /// How much of past calls is kept.
    pub history: History,
}

/// A certificate and its key, each in a file of PEM.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TlsFiles {
    /// The certificate, and those between it and its root.
    pub cert: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

/// How servers are started (SRV-03).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Startup {
    /// What happens when a server cannot be used.
    pub mode: StartMode,
    /// Whether they wait for each other.
    pub order: StartOrder,
    /// How many may be starting at once, where they do not.
    pub parallel: usize,
    /// What starts them.
    pub when: StartWhen,
    /// How long a stdio client's first list waits for servers that are starting (AGG-12).
    pub list_wait: Duration,
}

/// What happens when a server cannot be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StartMode {
    /// The others are served, and it is tried again.
    Lenient,
    /// The start fails with the reason.
    Strict,
}

/// Whether servers wait for each other at the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StartOrder {
    /// Several at once.
    Parallel,
    /// One after the other, in the order of the file.
    Sequential,
}

/// What starts the servers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StartWhen {
    /// The start of the gateway.
    Launch,
    /// The first request, which waits for them.
    FirstRequest,
}

/// Whom the operator's socket lets in. Its file is for the user that runs the gateway alone, and so is
/// every server that the gateway starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Control {
    /// Whether a token is asked for there too.
    pub token: bool,
}

/// How the gateway ends (B47).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Drain {
    /// How long calls under way may take to finish when the gateway is told to end.
    pub grace: Duration,
}

/// How much of anything is accepted (SEC-05).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The body of a client's request, in bytes.
    pub request_body: usize,
    /// The connections that clients may have open at once.
    pub connections: usize,
    /// A line or an event of a server, in bytes.
    pub server_message: usize,
    /// The pages of one list of a server.
    pub list_pages: usize,
    /// The items on a page of mcpr's own lists; `None` puts them all on one.
    pub page_size: Option<usize>,
    /// The sessions that clients may have open at once.
    pub sessions: usize,
    /// How long a session may be unused before it ends.
    pub session_idle: Duration,
    /// The resources that one session or one listen may be subscribed to.
    pub subscriptions: usize,
    /// How much of it one principal may have.
    pub per_principal: PerPrincipal,
}

/// How much one principal may have at once, so that one client leaves room for the others (SEC-05).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PerPrincipal {
    /// The requests that may be at servers; what mcpr answers by itself is counted apart.
    pub in_flight: usize,
    /// The sessions.
    pub sessions: usize,
    /// The streams that no request ends: those of GET, listens, and operators' events.
    pub streams: usize,
    /// The connections over the network.
    pub connections: usize,
    /// The resources that it is subscribed to, in all its sessions and listens.
    pub subscriptions: usize,
    /// How many requests it may send over the network; `None` for as many as it likes.
    pub rate: Option<Rate>,
}

/// What is logged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogOptions {
    /// The least grave level that is logged.
    pub level: Level,
    /// The shape of the lines; by default it follows the reader.
    pub format: Option<Format>,
    /// The file that is written besides stderr.
    pub file: LogFile,
    /// How many files of past runs stay.
    pub keep: usize,
}

/// Where the log file of a run lies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LogFile {
    /// A new file in the folder of the logs.
    Auto,
    /// No file.
    Off,
    /// Exactly this file.
    At(PathBuf),
}

impl Default for GatewayOptions {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, DEFAULT_PORT)),
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            tls: None,
            naming: Naming::default(),
            startup: Startup::default(),
            timeouts: Timeouts::default(),
            pins: PinPolicy::Off,
            drain: Drain::default(),
            control: Control::default(),
            limits: Limits::default(),
            log: LogOptions::default(),
            expose: Expose::All,
            builtins: true,
            projects: Vec::new(),
            toolsets: Vec::new(),
            history: History::default(),
        }
    }
}

impl Default for Startup {
    fn default() -> Self {
        Self {
            mode: StartMode::Lenient,
            order: StartOrder::Parallel,
            parallel: 16,
            when: StartWhen::Launch,
            list_wait: Duration::from_secs(2),
        }
    }
}

impl Default for Drain {
    /// With what servers may take to end, the whole end is over before `docker stop` loses patience.
    fn default() -> Self {
        Self {
            grace: Duration::from_secs(3),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            request_body: 4 << 20,
            connections: 1024,
            server_message: 16 << 20,
            list_pages: 1000,
            page_size: Some(1000),
            sessions: 1000,
            session_idle: Duration::from_secs(30 * 60),
            subscriptions: 1000,
            per_principal: PerPrincipal::default(),
        }
    }
}

impl Default for PerPrincipal {
    fn default() -> Self {
        Self {
            in_flight: 256,
            sessions: 256,
            streams: 256,
            connections: 512,
            subscriptions: 4000,
            rate: None,
        }
    }
}

impl Default for LogOptions {
    fn default() -> Self {
        Self {
            level: Level::default(),
            format: None,
            file: LogFile::Auto,
            keep: 10,
        }
    }
}

//! Which era a server belongs to, and remembering it.

use std::sync::Arc;

use mcpr_protocol::Version;
use mcpr_registry::{Offers, ServerName};
use sha2::{Digest, Sha256};

use crate::{ProtocolChoice, Reach, UpstreamSpec};

/// How a server turned out to be spoken to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// By `initialize`.
    Session,
    /// Statelessly.
    Stateless,
    /// By `initialize` over HTTP+SSE.
    OldSse,
}

/// What is known from earlier runs. All methods are quick; writing happens elsewhere.
pub trait Memory: Send + Sync + 'static {
    /// The last verdict under this key.
    fn verdict(&self, key: &str) -> Option<Verdict>;

    /// Remembers a verdict.
    fn remember(&self, key: &str, verdict: Verdict);

    /// Forgets a verdict that turned out wrong.
    fn forget(&self, key: &str);

    /// What the server listed when it was last seen.
    fn offers(&self, server: &ServerName) -> Option<Arc<Offers>>;
}

/// Remembers nothing.
#[derive(Clone, Copy, Debug)]
pub struct NoMemory;

impl Memory for NoMemory {
    fn verdict(&self, _: &str) -> Option<Verdict> {
        None
    }

    fn remember(&self, _: &str, _: Verdict) {}

    fn forget(&self, _: &str) {}

    fn offers(&self, _: &ServerName) -> Option<Arc<Offers>> {
        None
    }
}

impl Verdict {
    /// A short name, for the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Stateless => "stateless",
            Self::OldSse => "sse",
        }
    }

    /// The verdict of that name.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Session, Self::Stateless, Self::OldSse]
            .into_iter()
            .find(|verdict| verdict.as_str() == text)
    }
}

impl ProtocolChoice {
    /// The verdict that the configuration settles, if it does.
    pub(crate) fn settled(self) -> Option<Verdict> {
        match self {
            Self::Auto => None,
            Self::Session => Some(Verdict::Session),
            Self::Stateless => Some(Verdict::Stateless),
            Self::Exactly(version) if version >= Version::V2026_07_28 => Some(Verdict::Stateless),
            Self::Exactly(_) => Some(Verdict::Session),
        }
    }

    /// The revision to offer in `initialize`.
    pub(crate) fn session_version(self) -> Version {
        match self {
            Self::Exactly(version) if version < Version::V2026_07_28 => version,
            _ => Version::NEWEST_SESSION,
        }
    }
}

/// The key under which the verdict on a server is kept: a digest, since what goes into it is not
/// for other eyes. Values of variables and headers do not go in: they change without the server changing.
pub(crate) fn key(spec: &UpstreamSpec) -> String {
    let mut digest = Sha256::new();
    let mut add = |part: &str| {
        digest.update(part.as_bytes());
        digest.update([0]);
    };
    match &spec.reach {
        Reach::Stdio(stdio) => {
            add("stdio");
            add(&stdio.command);
            stdio.args.iter().for_each(|arg| add(arg));
            add(&stdio
                .cwd
                .as_ref()
                .map_or_else(String::new, |cwd| cwd.to_string_lossy().into_owned()));
            stdio.env.iter().for_each(|(name, _)| add(name));
        }
        Reach::Http(http) => {
            add("http");
            add(http.url.reveal());
        }
        Reach::Native => add("native"),
    }
    digest
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

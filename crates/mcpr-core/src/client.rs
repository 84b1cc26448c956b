//! Who calls, and in which words.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mcpr_auth::Principal;
use mcpr_protocol::{Abilities, Envelope, Era, LogLevel, Object, RawJson, Version};
use mcpr_transport::Party;

use crate::scope::Asked;
use crate::session::{Flights, Session};

/// What a client said of itself. None of it is verified: nothing is decided by it but shapes.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    /// The revision it speaks.
    pub(crate) version: Version,
    /// Its `clientInfo`, as it wrote it.
    pub(crate) info: Option<RawJson>,
    /// Its name, for the log.
    pub(crate) name: Option<Box<str>>,
    /// What it can be asked.
    pub(crate) abilities: Abilities,
    /// What a stateless server is told of that.
    pub(crate) capabilities: RawJson,
}

/// Everything about the caller of one request.
#[derive(Clone)]
pub(crate) struct Context {
    /// For whom the request acts.
    pub(crate) principal: Principal,
    /// Who sends it.
    pub(crate) client: Arc<Client>,
    /// Its session; only in the session era.
    pub(crate) session: Option<Arc<Session>>,
    /// What it can be asked within this request.
    pub(crate) abilities: Abilities,
    /// The requests of its under way, where they can be cancelled by their ids.
    pub(crate) flights: Option<Arc<Flights>>,
    /// From which level on it wants log messages.
    pub(crate) log_level: Option<LogLevel>,
    /// The endpoint it came to, if it came over HTTP.
    pub(crate) path: Option<&'static str>,
    /// What the request says about its scope.
    pub(crate) asked: Asked,
}

/// A number that no other party of this process has; 0 is mcpr itself.
pub(crate) fn fresh_party() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

/// A number for a principal, which is no session's.
fn number_of(principal: &Principal) -> u64 {
    let mut hasher = DefaultHasher::new();
    principal.key().hash(&mut hasher);
    hasher.finish() | 1 << 63
}

impl Client {
    /// The client of a session, from the parameters of `initialize`.
    pub(crate) fn of_session(version: Version, params: &Object) -> Self {
        // A copy: a slice would keep the whole body for as long as the session lives.
        let info = params.get("clientInfo");
        let capabilities = params.get("capabilities");
        let abilities = capabilities.map_or(Abilities::NONE, |declared| Abilities::read(version, &declared));
        Self {
            abilities,
            capabilities: abilities.declared(Version::NEWEST_STATELESS),
            ..Self::new(
                version,
                info.map(|info| RawJson::trusted(info.as_bytes().to_vec())),
            )
        }
    }

    /// The client of a stateless request.
    pub(crate) fn of_envelope(version: Version, envelope: &Envelope) -> Self {
        Self {
            abilities: Abilities::read(version, &envelope.capabilities),
            capabilities: envelope.capabilities.clone(),
            ..Self::new(version, envelope.client_info.clone())
        }
    }

    fn new(version: Version, info: Option<RawJson>) -> Self {
        let object = info.as_ref().and_then(|info| Object::read(info).ok());
        let name = object.and_then(|info| info.text("name"));
        let name = name.map(|name| {
            mcpr_telemetry::redact::cut(&name, 64)
                .into_owned()
                .into_boxed_str()
        });
        Self {
            version,
            info,
            name,
            abilities: Abilities::NONE,
            capabilities: RawJson::from_static("{}"),
        }
    }
}

impl Context {
    /// The context of a request before anything was said of the client.
    pub(crate) fn of_stranger(principal: Principal) -> Self {
        Self {
            principal,
            client: Arc::new(Client::new(Version::NEWEST_SESSION, None)),
            session: None,
            abilities: Abilities::NONE,
            flights: None,
            log_level: None,
            path: None,
            asked: Asked::default(),
        }
    }

    /// For whom a request of this client is made, as far as a connection must know: a session is
    /// one party, a stateless request is one by itself.
    pub(crate) fn party(&self) -> Party {
        let (who, client) = match &self.session {
            Some(session) => (session.party, session.party),
            None => (fresh_party(), number_of(&self.principal)),
        };
        Party {
            who,
            client,
            can_be_asked: !self.abilities.questions().is_empty(),
        }
    }

    /// The same for a request whose answer cannot be a stream: in a session, questions of servers
    /// need one.
    pub(crate) fn without_stream(self) -> Self {
        let abilities = match self.session {
            Some(_) => Abilities::NONE,
            None => self.abilities,
        };
        Self { abilities, ..self }
    }

    /// What a stateless server is told that the client can be asked.
    pub(crate) fn capabilities(&self) -> RawJson {
        if self.abilities == self.client.abilities {
            self.client.capabilities.clone()
        } else {
            RawJson::from_static("{}")
        }
    }

    /// From which level on it hears log messages: a client of the session era that sets none leaves
    /// that to the server (2025-11-25, logging), so mcpr decides.
    pub(crate) fn heard_level(&self) -> Option<LogLevel> {
        let usual = self.session.as_ref().map(|_| LogLevel::Info);
        self.log_level.or(usual)
    }

    /// The era of the request.
    pub(crate) fn era(&self) -> Era {
        self.client.version.era()
    }

    /// Whether a lost connection leaves the request running: in the session era it is no cancel
    /// (2025-11-25, transports: sending messages).
    pub(crate) fn outlives_connection(&self) -> bool {
        self.session.is_some() && self.path.is_some()
    }
}

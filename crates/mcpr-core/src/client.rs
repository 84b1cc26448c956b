//! Who calls, and in which words.

use std::sync::Arc;

use mcpr_auth::Principal;
use mcpr_protocol::{Envelope, Era, LogLevel, Object, RawJson, Version};

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
    /// The requests of its under way, where they can be cancelled by their ids.
    pub(crate) flights: Option<Arc<Flights>>,
    /// From which level on it wants log messages.
    pub(crate) log_level: Option<LogLevel>,
    /// The endpoint it came to, if it came over HTTP.
    pub(crate) path: Option<&'static str>,
}

impl Client {
    /// The client of a session, from the parameters of `initialize`.
    pub(crate) fn of_session(version: Version, params: &Object) -> Self {
        // A copy: a slice would keep the whole body for as long as the session lives.
        let info = params.get("clientInfo");
        Self::new(
            version,
            info.map(|info| RawJson::trusted(info.as_bytes().to_vec())),
        )
    }

    /// The client of a stateless request.
    pub(crate) fn of_envelope(version: Version, envelope: &Envelope) -> Self {
        Self::new(version, envelope.client_info.clone())
    }

    fn new(version: Version, info: Option<RawJson>) -> Self {
        let object = info.as_ref().and_then(|info| Object::read(info).ok());
        let name = object.and_then(|info| info.text("name"));
        let name = name.map(|name| {
            mcpr_telemetry::redact::cut(&name, 64)
                .into_owned()
                .into_boxed_str()
        });
        Self { version, info, name }
    }
}

impl Context {
    /// The context of a request before anything was said of the client.
    pub(crate) fn of_stranger(principal: Principal) -> Self {
        Self {
            principal,
            client: Arc::new(Client::new(Version::NEWEST_SESSION, None)),
            session: None,
            flights: None,
            log_level: None,
            path: None,
        }
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

//! In whose name and in which words a message is sent.

use std::sync::Arc;

use ::http::request::Parts;
use ::http::{HeaderMap, HeaderName};
use mcpr_auth::Principal;
use mcpr_protocol::{Era, Method, Request, Version};

use super::HttpFront;
use crate::client::Context;
use crate::fault::Fault;
use crate::scope::Asked;
use crate::session::Session;
use crate::stateless;

/// The header that names a session.
pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// The endpoint, as records call it.
pub(super) const PATH: &str = "/mcp";

impl HttpFront {
    /// In whose name and in which words a request is made; `None` for one that opens a session.
    pub(super) fn context(
        &self,
        caller: &Principal,
        head: &Parts,
        request: &Request,
    ) -> Result<Option<Context>, (Fault, Era)> {
        let (headers, asked) = (&head.headers, Asked::by(head));
        let stateless = |fault| (fault, Era::Stateless);
        let session = |fault| (fault, Era::Session);
        if let Some((params, envelope)) = stateless::claim(request.params.as_ref()).map_err(stateless)? {
            let sight = self.gateway.sight_of(caller, &asked);
            stateless::check(headers, request, (&params, &envelope), &sight).map_err(stateless)?;
            let context = stateless::context(caller.clone(), &envelope).map_err(stateless)?;
            return Ok(Some(Context {
                path: Some(PATH),
                asked,
                ..context
            }));
        }
        if names_stateless_version(headers) {
            return Err(stateless(without_envelope(&request.method)));
        }
        if request.method == Method::Initialize {
            return Ok(None);
        }
        let found = self
            .session(caller, headers, Some(&request.method))
            .map_err(session)?;
        Ok(Some(
            Context::of_session(&found, caller, Some(PATH)).asking(asked),
        ))
    }

    /// The session that a request belongs to, if its version header is sound.
    pub(super) fn session(
        &self,
        caller: &Principal,
        headers: &HeaderMap,
        method: Option<&Method>,
    ) -> Result<Arc<Session>, Fault> {
        match headers.get(SESSION) {
            Some(id) => {
                let id = id.to_str().unwrap_or_default();
                let found = self.gateway.sessions.find(id, caller);
                let session = found.ok_or(Fault::UnknownSession)?;
                check_version(headers, &session)?;
                Ok(session)
            }
            // B108: a client that tries the stateless era without its envelope must fall back at once.
            None => match method {
                Some(method @ (Method::Discover | Method::Listen | Method::Other(_))) => {
                    Err(Fault::MethodNotFound(method.to_string()))
                }
                _ => Err(Fault::NoSession),
            },
        }
    }
}

/// Whether the headers name a version of the stateless era.
pub(super) fn names_stateless_version(headers: &HeaderMap) -> bool {
    let version = headers
        .get(&stateless::VERSION)
        .and_then(|value| value.to_str().ok());
    version
        .and_then(|text| text.parse::<Version>().ok())
        .is_some_and(|version| version.era() == Era::Stateless)
}

/// A stateless version in the header, and no envelope in the body.
fn without_envelope(method: &Method) -> Fault {
    if *method == Method::Initialize {
        return Fault::HeaderMismatch(
            "`initialize` does not exist in the version that the header names".into(),
        );
    }
    let key = mcpr_protocol::key::PROTOCOL_VERSION;
    Fault::InvalidParams(format!(
        "`params._meta[\"{key}\"]` is missing, which a stateless request must have"
    ))
}

/// A session keeps the version it was opened with, but a header must name one that exists.
fn check_version(headers: &HeaderMap, session: &Session) -> Result<(), Fault> {
    let Some(value) = headers.get(&stateless::VERSION) else {
        return Ok(());
    };
    let text = value.to_str().unwrap_or_default();
    match text.parse::<Version>() {
        Ok(version) if version != session.client.version => {
            tracing::debug!(
                session = &session.id[..8],
                header = text,
                "the version header differs from the session's"
            );
            Ok(())
        }
        Ok(_) => Ok(()),
        Err(error) => Err(Fault::InvalidRequest(format!(
            "the header `MCP-Protocol-Version`: {error}"
        ))),
    }
}

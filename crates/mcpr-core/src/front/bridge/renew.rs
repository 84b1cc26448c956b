//! A new session in place of one that the gateway no longer knows.
//!
//! A gateway that was restarted knows no session, and a client on a pipe cannot see that it should
//! open another. The bridge opens it, as the client opened its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode};
use mcpr_protocol::{ErrorObject, Id, Message, Notification, RawJson, Request, Rope, notification};
use mcpr_transport::http::client::Answer;
use mcpr_transport::http::names;
use parking_lot::Mutex;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::session::Session;
use super::{Bridge, relay};

/// How long the gateway may take to open a session anew.
const PATIENCE: Duration = Duration::from_secs(10);

/// The id of an `initialize` that the client has not sent.
const OWN_ID: &str = "mcpr-connect";

/// What may have changed while nobody listened.
const MISSED: [&str; 3] = [
    notification::TOOLS_CHANGED,
    notification::PROMPTS_CHANGED,
    notification::RESOURCES_CHANGED,
];

/// What it takes to open the session anew.
#[derive(Default)]
pub(super) struct Renewal {
    opening: Mutex<Option<Opening>>,
    /// Held by the one that opens a session; the others wait for what comes of it.
    pub(super) turn: tokio::sync::Mutex<()>,
    /// How many attempts were in vain.
    vain: AtomicU64,
}

/// How the client opened its session.
#[derive(Clone)]
struct Opening {
    request: Request,
    /// The version that was agreed on. The client goes on speaking it.
    version: Option<HeaderValue>,
}

impl Renewal {
    /// Keeps how a session was opened.
    pub(super) fn keep(&self, request: &Request, session: &HeaderMap) {
        *self.opening.lock() = Some(Opening {
            request: request.clone(),
            version: session.get(names::PROTOCOL_VERSION).cloned(),
        });
    }

    /// Forgets how a session was opened: the client opens another.
    pub(super) fn forget(&self) {
        *self.opening.lock() = None;
    }
}

impl Bridge {
    /// Sends a request of the session era, and passes on what comes for it.
    ///
    /// # Errors
    ///
    /// What stands in for an answer that does not come.
    pub(super) async fn call_in_session(
        &self,
        request: &Request,
        text: Bytes,
        given_up: &CancellationToken,
    ) -> Result<(), ErrorObject> {
        match self.ask_in_session(&text, given_up).await? {
            Some(answer) => self.pass_on(request, answer).await,
            None => Ok(()),
        }
    }

    /// Posts a text of the session era. If the gateway does not know its session, it was not
    /// carried out: it is posted once more in a new one, unless it was given up meanwhile.
    ///
    /// # Errors
    ///
    /// What stands in for an answer that does not come.
    pub(super) async fn ask_in_session(
        &self,
        text: &Bytes,
        given_up: &CancellationToken,
    ) -> Result<Option<Answer>, ErrorObject> {
        let mut refused = None;
        if let Some(headers) = self.session_headers() {
            let answer = self.ask(&headers, text).await?;
            if !is_unknown(&headers, &answer) {
                return Ok(Some(answer));
            }
            refused = Some(answer);
        }
        let renewed = self.renew().await;
        if given_up.is_cancelled() {
            return Ok(None);
        }
        Ok(Some(match (renewed, refused) {
            (Some(headers), _) => self.ask(&headers, text).await?,
            (None, Some(refused)) => refused,
            // The gateway says what is missing.
            (None, None) => self.ask(self.link.template(), text).await?,
        }))
    }

    /// Posts a request of the session with these headers, and forgets that if it is unknown.
    async fn ask(&self, headers: &Arc<HeaderMap>, text: &Bytes) -> Result<Answer, ErrorObject> {
        let posted = self.link.post(headers.clone(), text.clone().into()).await;
        let answer = posted.map_err(|failed| relay::lost(&failed))?;
        if is_unknown(headers, &answer) {
            self.forget_session(headers);
        }
        Ok(answer)
    }

    /// The headers of a session in place of one that was forgotten; `None` if there is none to be
    /// had. Those that come together wait for one attempt.
    pub(super) async fn renew(&self) -> Option<Arc<HeaderMap>> {
        let vain = self.renewal.vain.load(Ordering::Relaxed);
        let _turn = self.renewal.turn.lock().await;
        if let Some(headers) = self.session_headers() {
            return Some(headers);
        }
        if vain != self.renewal.vain.load(Ordering::Relaxed) {
            return None;
        }
        let opening = self.renewal.opening.lock().clone()?;
        let renewed = timeout(PATIENCE, self.open_again(opening)).await;
        let headers = renewed.ok().flatten();
        if headers.is_none() {
            tracing::warn!("the session could not be opened anew");
            self.renewal.vain.fetch_add(1, Ordering::Relaxed);
        }
        headers
    }

    /// Opens a session as the client did, and tells the client what it may have missed.
    async fn open_again(&self, opening: Opening) -> Option<Arc<HeaderMap>> {
        let session = self.opened_again(&opening.request).await?;
        let headers = session.headers();
        if headers.get(names::PROTOCOL_VERSION) != opening.version.as_ref() {
            self.say_goodbye(&headers).await;
            return None;
        }
        // Only then may requests follow.
        let initialized = Notification::text(notification::INITIALIZED, Rope::new());
        self.deliver_to(headers.clone(), initialized).await;
        self.enter_session(session);
        self.subscribed.lose();
        self.streams.notify_one();
        tracing::info!("the gateway did not know the session any more; it was opened anew");
        for missed in MISSED {
            self.say(Notification::text(missed, Rope::new())).await;
        }
        Some(headers)
    }

    async fn opened_again(&self, request: &Request) -> Option<Session> {
        let id = Id::new(RawJson::string(OWN_ID))?;
        let text = Request::text(&id, request.method.as_str(), request.params_rope());
        let template = self.link.template();
        let mut answer = self.link.post(template.clone(), text).await.ok()?;
        let session = answer.headers().get(names::SESSION_ID).cloned();
        while let Some(Ok(text)) = answer.next().await {
            if let Ok(Message::Response(response)) = Message::parse(&text) {
                return Some(Session::new(template, session, &response.outcome.ok()?));
            }
        }
        None
    }
}

/// Whether the gateway does not know the session that these headers name.
fn is_unknown(headers: &HeaderMap, answer: &Answer) -> bool {
    answer.status == StatusCode::NOT_FOUND && headers.contains_key(names::SESSION_ID)
}

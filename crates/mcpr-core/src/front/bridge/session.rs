//! The session of a client of the session era.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode};
use mcpr_protocol::{ErrorObject, Object, RawJson, Request};
use mcpr_transport::http::client::Answer;
use mcpr_transport::http::names;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::{Bridge, relay};

/// What `initialize` was answered with.
pub(super) struct Session {
    /// The headers of what belongs to it.
    headers: Arc<HeaderMap>,
    /// Cancelled when its stream is to end.
    open: CancellationToken,
}

/// The waits before a stream that ended is asked for again.
const PAUSE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

/// How long the end of a session may take.
const FAREWELL: Duration = Duration::from_millis(500);

impl Session {
    pub(super) fn new(template: &HeaderMap, id: Option<HeaderValue>, result: &RawJson) -> Self {
        let mut headers = template.clone();
        let version = Object::read(result)
            .ok()
            .and_then(|result| result.text("protocolVersion"));
        let version = version.and_then(|version| HeaderValue::from_str(&version).ok());
        headers.extend(id.map(|id| (names::SESSION_ID, id)));
        headers.extend(version.map(|version| (names::PROTOCOL_VERSION, version)));
        Self {
            headers: Arc::new(headers),
            open: CancellationToken::new(),
        }
    }

    /// The headers of what belongs to it.
    pub(super) fn headers(&self) -> Arc<HeaderMap> {
        self.headers.clone()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.open.cancel();
    }
}

impl Bridge {
    /// Opens a session, in place of an older one.
    pub(super) async fn initialize(&self, request: &Request, text: Bytes) {
        // A session that is opened anew meanwhile would come in its place.
        let _turn = self.renewal.turn.lock().await;
        self.renewal.forget();
        self.subscribed.forget();
        self.end_session().await;
        let posted = self.link.post(self.link.template().clone(), text.into()).await;
        let opened = match posted {
            Ok(answer) => self.open(request, answer).await,
            Err(failed) => Err(relay::lost(&failed)),
        };
        if let Err(error) = opened {
            self.refuse(Some(&request.id), &error).await;
        }
    }

    async fn open(&self, request: &Request, answer: Answer) -> Result<(), ErrorObject> {
        let session = answer.headers().get(names::SESSION_ID).cloned();
        if let Ok(result) = self.relay(&request.id, answer).await?.outcome {
            let session = Session::new(self.link.template(), session, &result);
            self.renewal.keep(request, &session.headers);
            self.enter_session(session);
        }
        Ok(())
    }

    /// Makes this the session of what follows.
    pub(super) fn enter_session(&self, session: Session) {
        *self.session.lock() = Some(session);
    }

    /// The headers of a message of the session, if there is one.
    pub(super) fn session_headers(&self) -> Option<Arc<HeaderMap>> {
        self.session
            .lock()
            .as_ref()
            .map(|session| session.headers.clone())
    }

    /// What opens the session's stream, and what ends it.
    fn stream(&self) -> Option<(Arc<HeaderMap>, CancellationToken)> {
        let session = self.session.lock();
        let session = session
            .as_ref()
            .filter(|session| session.headers.contains_key(names::SESSION_ID))?;
        Some((session.headers.clone(), session.open.clone()))
    }

    /// Ends the session's stream, if there is one.
    pub(super) fn close_stream(&self) {
        if let Some(session) = &*self.session.lock() {
            session.open.cancel();
        }
    }

    /// Forgets the session if these headers are its own: the gateway does not know it any more.
    pub(super) fn forget_session(&self, headers: &Arc<HeaderMap>) {
        let mut session = self.session.lock();
        if session
            .as_ref()
            .is_some_and(|session| Arc::ptr_eq(&session.headers, headers))
        {
            *session = None;
        }
    }

    /// Tells the gateway that the session is over.
    pub(super) async fn end_session(&self) {
        let session = self.session.lock().take();
        let Some(session) = session.filter(|session| session.headers.contains_key(names::SESSION_ID)) else {
            return;
        };
        self.say_goodbye(&session.headers).await;
    }

    /// Tells the gateway that the session with these headers is over.
    pub(super) async fn say_goodbye(&self, headers: &Arc<HeaderMap>) {
        let told = timeout(FAREWELL, self.link.delete(headers)).await;
        if !matches!(told, Ok(Ok(_))) {
            tracing::debug!("the gateway was not told of the end of the session");
        }
    }

    /// Listens to the stream of each session that wants it, for ever.
    pub(super) async fn listen_always(&self) -> Infallible {
        loop {
            self.streams.notified().await;
            if let Some((headers, open)) = self.stream() {
                let both = async { tokio::join!(self.listen(&headers), self.subscribe_again(&headers)) };
                open.run_until_cancelled(both).await;
                self.recover().await;
            }
        }
    }

    /// A session that its stream found lost is opened anew with the next request, or at once where
    /// the client waits for updates of resources.
    async fn recover(&self) {
        if self.session_headers().is_none() && !self.subscribed.is_empty() {
            self.renew().await;
        }
    }

    /// Passes on what comes on the session's stream, and asks for it again when it ends.
    async fn listen(&self, headers: &Arc<HeaderMap>) {
        let mut pause = PAUSE.0;
        loop {
            match self.link.get_stream(headers).await {
                Ok(answer) if answer.is_stream() => {
                    pause = PAUSE.0;
                    self.hear(answer).await;
                }
                Ok(answer) if answer.status == StatusCode::NOT_FOUND => return self.forget_session(headers),
                Ok(answer) if answer.status.is_client_error() => return, // None is offered.
                _ => {}
            }
            sleep(pause).await;
            pause = (pause * 2).min(PAUSE.1);
        }
    }

    async fn hear(&self, mut answer: Answer) {
        while let Some(Ok(text)) = answer.next().await {
            self.say(text.into()).await;
        }
    }
}

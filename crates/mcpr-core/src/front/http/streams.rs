//! The streams of a session that are not the answer to a POST: what belongs to no request, and what
//! a lost connection left unread.

use std::sync::Arc;

use ::http::request::Parts;
use ::http::{HeaderMap, HeaderName, StatusCode};
use bytes::Bytes;
use futures_util::{FutureExt, Stream, StreamExt, stream};
use mcpr_auth::Principal;
use mcpr_protocol::{Era, Rope};
use mcpr_transport::http::server::Reply;

use super::HttpFront;
use super::context::{SESSION, names_stateless_version};
use super::events::{priming, read};
use super::refusal::{no_stream, nothing_follows};
use crate::notices::{Caller, SessionNotices};
use crate::quota::{Share, Spot};
use crate::scope::Asked;
use crate::session::Session;
use crate::streams::{self, Reader, Resumed};

const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// How large a notice may be for which there must be room before it is taken.
const NOTICE: usize = 64 * 1024;

/// The stream for what belongs to no request, as one connection reads it.
struct General {
    stream: Arc<streams::Stream>,
    reader: Reader,
    notices: SessionNotices,
    _spot: Arc<Spot>,
}

impl HttpFront {
    pub(super) fn get(&self, caller: &Principal, head: &Parts) -> Reply {
        let headers = &head.headers;
        if names_stateless_version(headers) || !headers.contains_key(SESSION) {
            return no_stream();
        }
        let session = self.pace(caller, 1);
        let session = match session.and_then(|()| self.session(caller, headers, None)) {
            Ok(session) => session,
            Err(fault) => return self.refuse(caller, None, &fault, Era::Session),
        };
        let last = headers.get(LAST_EVENT).and_then(|id| id.to_str().ok());
        match last.map_or(Resumed::General(None), |id| session.streams.resume(id)) {
            Resumed::Request(reader) => Reply::events(read(reader)),
            Resumed::General(event) => {
                let (principal, asked) = (caller.clone(), Asked::by(head));
                self.general(session, Caller { principal, asked }, event)
            }
            Resumed::Nothing => nothing_follows(),
        }
    }

    pub(super) fn delete(&self, caller: &Principal, headers: &HeaderMap) -> Reply {
        if names_stateless_version(headers) {
            return no_stream();
        }
        match self.session(caller, headers, None) {
            Ok(session) => {
                self.gateway.sessions.remove(&session);
                Reply::empty(StatusCode::NO_CONTENT)
            }
            Err(fault) => self.refuse(caller, None, &fault, Era::Session),
        }
    }

    /// The stream for what belongs to no request, from behind an event on.
    fn general(&self, session: Arc<Session>, caller: Caller, event: Option<u64>) -> Reply {
        let take = || self.gateway.take_spot(&session.principal, Share::Stream);
        let spot = match session.stream_spot(take) {
            Ok(spot) => spot,
            Err(full) => return self.too_many(&session.principal, &full.into()),
        };
        let stream = session.streams.general(&self.gateway.sessions.replay);
        let reader = stream.read_after(event);
        let priming = priming(&session, &reader);
        let general = General {
            stream,
            reader,
            notices: SessionNotices::open(&self.gateway, session, caller),
            _spot: spot,
        };
        Reply::events(stream::iter(priming).chain(general.events()))
    }
}

impl General {
    fn events(self) -> impl Stream<Item = Rope> + Send {
        stream::unfold(self, |mut general| async move {
            let event = general.next().await?;
            Some((event.into(), general))
        })
    }

    /// The next event; `None` at the end.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            tokio::select! {
                biased;
                event = self.reader.next() => return event,
                notice = self.notices.next() => self.keep(notice?),
            }
        }
    }

    /// Keeps a notice, and those that are ready with it: they would be lost with this connection.
    fn keep(&mut self, notice: Rope) {
        self.stream.say(notice);
        while self.stream.has_room_for(NOTICE)
            && let Some(Some(notice)) = self.notices.next().now_or_never()
        {
            self.stream.say(notice);
        }
    }
}

//! What the client has subscribed to, for a session that is opened anew.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::StreamExt;
use futures_util::stream;
use http::HeaderMap;
use mcpr_protocol::{Id, Message, Method, Notification, Object, RawJson, Request, Response, notification};
use parking_lot::Mutex;
use serde_json::json;

use super::Bridge;

/// How many subscriptions are made anew at once.
const AT_ONCE: usize = 8;

/// The id of a request that the client has not sent.
const OWN_ID: &str = "mcpr-connect";

/// The URIs that the gateway has accepted, as the client wrote them.
#[derive(Default)]
pub(super) struct Subscribed {
    uris: Mutex<BTreeSet<String>>,
    /// Whether the gateway does not know of them any more.
    lost: AtomicBool,
}

impl Subscribed {
    /// Takes note of a request that the gateway has answered.
    pub(super) fn learn(&self, request: &Request, response: &Response) {
        let uri = || Object::read(request.params.as_ref()?).ok()?.text("uri");
        match (&request.method, &response.outcome) {
            (Method::ResourcesSubscribe, Ok(_)) => self.uris.lock().extend(uri()),
            (Method::ResourcesUnsubscribe, Ok(_)) => {
                if let Some(uri) = uri() {
                    self.uris.lock().remove(&uri);
                }
            }
            _ => {}
        }
    }

    /// Forgets all: the client opens another session.
    pub(super) fn forget(&self) {
        self.uris.lock().clear();
    }

    /// The gateway does not know of them any more.
    pub(super) fn lose(&self) {
        self.lost.store(true, Ordering::Relaxed);
    }

    /// Whether there is nothing to lose.
    pub(super) fn is_empty(&self) -> bool {
        self.uris.lock().is_empty()
    }
}

impl Bridge {
    /// Subscribes again to what was lost with a session, and counts it as changed: nobody listened
    /// meanwhile.
    pub(super) async fn subscribe_again(&self, headers: &Arc<HeaderMap>) {
        if !self.subscribed.lost.swap(false, Ordering::Relaxed) {
            return;
        }
        let uris = self.subscribed.uris.lock().clone();
        let all = stream::iter(uris).for_each_concurrent(AT_ONCE, |uri| async move {
            if !self.subscribes(headers, &uri).await {
                tracing::warn!(uri, "a subscription could not be made anew");
            }
            let params = RawJson::render(&json!({ "uri": uri }));
            self.say(Notification::text(notification::RESOURCE_UPDATED, params.into()))
                .await;
        });
        all.await;
    }

    async fn subscribes(&self, headers: &Arc<HeaderMap>, uri: &str) -> bool {
        let id = Id::new(RawJson::string(&format!("{OWN_ID} {uri}"))).expect("a text is an id");
        let params = RawJson::render(&json!({ "uri": uri }));
        let text = Request::text(&id, Method::ResourcesSubscribe.as_str(), params.into());
        let Ok(mut answer) = self.link.post(headers.clone(), text).await else {
            return false;
        };
        while let Some(Ok(text)) = answer.next().await {
            if let Ok(Message::Response(response)) = Message::parse(&text) {
                return response.outcome.is_ok();
            }
        }
        false
    }
}

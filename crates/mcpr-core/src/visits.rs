//! URLs that users are asked to visit (2025-11-25, elicitation: URL mode). That a visit is done is
//! told out of band, when the call that asked for it may be over.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Weak};
use std::time::Duration;

use mcpr_protocol::{Notification, Object, RawJson, notification};
use mcpr_registry::ServerName;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::session::Session;

/// How many visits are remembered; the oldest are forgotten.
const REMEMBERED: usize = 1024;

/// How long a call that a visit makes possible waits for the news that it is done. Servers need
/// not tell it.
const PATIENCE: Duration = Duration::from_secs(30);

/// The visits that were asked for, or done.
#[derive(Default)]
pub(crate) struct Visits {
    known: Mutex<Known>,
    news: Notify,
}

#[derive(Default)]
struct Known {
    visits: HashMap<Visit, State>,
    order: VecDeque<Visit>,
}

type Visit = (ServerName, Box<str>);

enum State {
    /// Its session is told when it is done.
    Asked(Weak<Session>),
    Done,
}

/// A URL that a server wants to have visited before it takes a call (error -32042).
#[derive(Deserialize)]
pub(crate) struct Wanted {
    #[serde(rename = "elicitationId")]
    pub(crate) id: Box<str>,
    pub(crate) url: String,
    #[serde(default)]
    pub(crate) message: String,
}

impl Wanted {
    /// What an error object of a server wants to have visited.
    pub(crate) fn read(error: &RawJson) -> Option<Vec<Self>> {
        let error = Object::read(error).ok()?;
        if error.get("code")?.as_str() != "-32042" {
            return None;
        }
        let wanted: Vec<Self> = error.object("data")?.get("elicitations")?.read().ok()?;
        (!wanted.is_empty()).then_some(wanted)
    }

    /// The question for a stateless client, which has no names for visits.
    pub(crate) fn params(&self) -> RawJson {
        RawJson::render(&json!({ "mode": "url", "message": self.message, "url": self.url }))
    }
}

impl Visits {
    /// A session was asked for a visit, and is told when it is done.
    pub(crate) fn asked(&self, server: &ServerName, id: &str, session: &Arc<Session>) {
        let state = State::Asked(Arc::downgrade(session));
        self.known.lock().set((server.clone(), id.into()), state);
    }

    /// Takes the news that a visit is done.
    pub(crate) fn note(&self, server: &ServerName, note: &Notification) {
        let params = note.params.as_ref().and_then(|params| Object::read(params).ok());
        let Some(id) = params.and_then(|params| params.text("elicitationId")) else {
            return;
        };
        let before = self.known.lock().set((server.clone(), id.into()), State::Done);
        self.news.notify_waiters();
        if let Some(State::Asked(session)) = before
            && let Some(session) = session.upgrade()
        {
            let params = note.params.clone().map(Into::into).unwrap_or_default();
            session
                .post
                .put(Notification::text(notification::ELICITATION_COMPLETE, params));
        }
    }

    /// Waits until all are done, or for as long as it makes sense.
    pub(crate) async fn done(&self, server: &ServerName, ids: &[Box<str>]) {
        let all = async {
            loop {
                let news = self.news.notified();
                if ids.iter().all(|id| self.is_done(server, id)) {
                    return;
                }
                news.await;
            }
        };
        let _ = timeout(PATIENCE, all).await;
    }

    fn is_done(&self, server: &ServerName, id: &str) -> bool {
        let visit = (server.clone(), id.into());
        matches!(self.known.lock().visits.get(&visit), Some(State::Done))
    }
}

impl Known {
    fn set(&mut self, visit: Visit, state: State) -> Option<State> {
        let before = self.visits.insert(visit.clone(), state);
        if before.is_none() {
            self.order.push_back(visit);
        }
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.visits.remove(&oldest);
        }
        before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(id: &str) -> Notification {
        let params = RawJson::render(&json!({ "elicitationId": id }));
        Notification::new(notification::ELICITATION_COMPLETE, Some(params))
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_waits_for_its_visits_but_not_for_ever() {
        let visits = Visits::default();
        let server: ServerName = "s".parse().unwrap();
        visits.note(&server, &done("a"));
        visits.done(&server, &["a".into()]).await;

        let began = tokio::time::Instant::now();
        visits.done(&server, &["a".into(), "b".into()]).await;
        assert_eq!(began.elapsed(), PATIENCE);
    }

    #[test]
    fn sec_05_old_visits_are_forgotten() {
        let visits = Visits::default();
        let server: ServerName = "s".parse().unwrap();
        (0..2 * REMEMBERED).for_each(|visit| visits.note(&server, &done(&visit.to_string())));
        assert_eq!(visits.known.lock().visits.len(), REMEMBERED);
    }

    #[test]
    fn what_an_error_wants_to_have_visited_is_read() {
        let error = RawJson::from_static(
            r#"{"code":-32042,"message":"m","data":{"elicitations":[{"mode":"url","elicitationId":"e","url":"https://x","message":"go"}]}}"#,
        );
        let wanted = Wanted::read(&error).unwrap();
        assert_eq!(&*wanted[0].id, "e");
        assert!(wanted[0].params().as_str().contains("https://x"));
        assert!(Wanted::read(&RawJson::from_static(r#"{"code":1,"message":"m"}"#)).is_none());
    }
}

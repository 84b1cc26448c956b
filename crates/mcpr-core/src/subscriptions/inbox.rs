//! What a client is still to be told: of each thing once, however often it changed.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use mcpr_protocol::{Edit, Object, RawJson, key};
use mcpr_registry::ServerName;
use mcpr_upstream::Feed;
use parking_lot::Mutex;
use tokio::sync::Notify;

/// How many parts of resources wait to be told; beyond that the whole is told instead.
const PARTS: usize = 256;

/// How much a server may say of a changed resource beside the URI; what is longer is left out.
const REMARKS: usize = 1024;

/// How much may wait, unless it is one thing alone: tasks come with all that they have brought.
const BYTES: usize = 16 * 1024 * 1024;

/// Changes that wait for a client to hear of them.
#[derive(Default)]
pub(crate) struct Inbox {
    waiting: Mutex<Waiting>,
    bell: Notify,
}

#[derive(Default)]
struct Waiting {
    order: VecDeque<Arc<str>>,
    told: HashMap<Arc<str>, Told>,
    bytes: usize,
    /// More came than may wait.
    overflowed: bool,
}

/// What a server told, as the client gets it.
pub(crate) struct Told {
    pub(crate) server: ServerName,
    /// The parameters of the notification.
    pub(crate) params: RawJson,
}

/// A change as the server told of it, without what was about its own hop.
pub(super) struct Update {
    feed: Feed,
    server: ServerName,
    params: Object,
}

impl Inbox {
    /// Adds a change: of what the client calls `spelled`, or of what `part` adds to that.
    pub(super) fn put(&self, spelled: &Arc<str>, part: &str, update: &Update) {
        let mut waiting = self.waiting.lock();
        let full = waiting.order.len() >= PARTS;
        let uri = if part.is_empty() {
            spelled.clone()
        } else {
            let uri = Arc::from(format!("{spelled}{part}"));
            let fits = !full || waiting.told.contains_key(&uri);
            if fits { uri } else { spelled.clone() }
        };
        waiting.put(uri.clone(), update.about(&uri));
        drop(waiting);
        self.bell.notify_one();
    }

    /// The next that waits; `None` once more came than may wait, so that something is lost. Cancel-safe.
    pub(crate) async fn next(&self) -> Option<Told> {
        loop {
            let rung = self.bell.notified();
            if let Some(told) = self.take() {
                return Some(told);
            }
            if self.waiting.lock().overflowed {
                return None;
            }
            rung.await;
        }
    }

    /// The next that waits.
    pub(crate) fn take(&self) -> Option<Told> {
        self.waiting.lock().take()
    }

    /// Drops what the client need not hear of any more.
    pub(super) fn retain(&self, wanted: impl Fn(&str) -> bool) {
        self.waiting.lock().retain(wanted);
    }
}

impl Waiting {
    fn put(&mut self, name: Arc<str>, told: Told) {
        self.bytes += told.params.as_bytes().len();
        match self.told.insert(name.clone(), told) {
            Some(before) => self.bytes -= before.params.as_bytes().len(),
            None => self.order.push_back(name),
        }
        if self.bytes > BYTES && self.order.len() > 1 {
            self.overflowed = true;
            self.retain(|_| false);
        }
    }

    fn take(&mut self) -> Option<Told> {
        let name = self.order.pop_front()?;
        let told = self.told.remove(&name)?;
        self.bytes -= told.params.as_bytes().len();
        Some(told)
    }

    fn retain(&mut self, wanted: impl Fn(&str) -> bool) {
        self.order.retain(|name| wanted(name));
        self.told.retain(|name, _| wanted(name));
        let bytes = self.told.values().map(|told| told.params.as_bytes().len());
        self.bytes = bytes.sum();
    }
}

impl Update {
    pub(super) fn new(feed: Feed, server: &ServerName, name: &str, params: &Object) -> Self {
        let of = |params| Self {
            feed,
            server: server.clone(),
            params,
        };
        let bare = || Object::read(&RawJson::trusted("{}")).expect("an empty object is one");
        if feed == Feed::Resources && params.raw().as_bytes().len() > name.len() + REMARKS {
            return of(bare());
        }
        let mut edit = Edit::new(params);
        if let Some(meta) = params.object("_meta")
            && meta.get(key::SUBSCRIPTION_ID).is_some()
        {
            match meta.members().count() {
                1 => edit.remove("_meta"),
                _ => edit.set("_meta", Edit::new(&meta).remove(key::SUBSCRIPTION_ID).finish()),
            };
        }
        // A copy: a slice would keep the whole of what was read from the connection.
        let text = edit.finish().into_bytes().to_vec();
        of(Object::read(&RawJson::trusted(text)).expect("an edited object is one"))
    }

    fn about(&self, name: &str) -> Told {
        let mut edit = Edit::new(&self.params);
        let text = edit.set(self.feed.member(), RawJson::string(name)).finish();
        Told {
            server: self.server.clone(),
            params: RawJson::trusted(text.into_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(text: &str) -> Update {
        let object = Object::read(&RawJson::trusted(text.to_owned())).unwrap();
        let server = "s".parse().unwrap();
        Update::new(Feed::Resources, &server, &object.text("uri").unwrap(), &object)
    }

    fn task(text: &str) -> Update {
        let object = Object::read(&RawJson::trusted(text.to_owned())).unwrap();
        Update::new(Feed::Tasks, &"s".parse().unwrap(), "t", &object)
    }

    fn told(inbox: &Inbox) -> Vec<String> {
        std::iter::from_fn(|| inbox.take().map(|told| told.params.as_str().to_owned())).collect()
    }

    #[test]
    fn agg_11_what_changed_often_is_told_once_in_the_form_of_the_subscription() {
        let inbox = Inbox::default();
        let (a, b) = (Arc::from("resource://s/x:a"), Arc::from("x:b"));
        inbox.put(&a, "", &update(r#"{"uri":"x:a","n":1}"#));
        inbox.put(&b, "/c", &update(r#"{"uri":"x:b/c"}"#));
        inbox.put(&a, "", &update(r#"{ "uri":"x:a", "n":1E2 }"#));

        assert_eq!(
            told(&inbox),
            [r#"{ "uri":"resource://s/x:a", "n":1E2 }"#, r#"{"uri":"x:b/c"}"#]
        );
    }

    #[test]
    fn the_servers_own_hop_leaves_no_trace() {
        let inbox = Inbox::default();
        let tag = key::SUBSCRIPTION_ID;
        inbox.put(
            &Arc::from("a"),
            "",
            &update(&format!(r#"{{"uri":"a","_meta":{{"{tag}":7}}}}"#)),
        );
        inbox.put(
            &Arc::from("b"),
            "",
            &update(&format!(r#"{{"uri":"b","_meta":{{"{tag}":7,"x":1}}}}"#)),
        );

        assert_eq!(told(&inbox), [r#"{"uri":"a"}"#, r#"{"uri":"b","_meta":{"x":1}}"#]);
    }

    #[test]
    fn sec_05_too_many_parts_are_told_as_the_whole() {
        let inbox = Inbox::default();
        let whole = Arc::from("x:");
        for part in 0..2 * PARTS {
            inbox.put(&whole, &format!("/{part}"), &update(r#"{"uri":"x"}"#));
        }
        assert_eq!(inbox.waiting.lock().order.len(), PARTS + 1);
        assert_eq!(told(&inbox).last().unwrap(), r#"{"uri":"x:"}"#);
    }

    #[test]
    fn sec_05_what_a_server_says_at_length_is_left_out() {
        let inbox = Inbox::default();
        let long = format!(r#"{{"uri":"a","x":"{}"}}"#, "y".repeat(REMARKS));
        inbox.put(&Arc::from("a"), "", &update(&long));

        assert_eq!(told(&inbox), [r#"{"uri":"a"}"#]);
    }

    #[tokio::test]
    async fn a_task_is_told_with_all_it_has_brought_and_as_it_stands_last() {
        let inbox = Inbox::default();
        let long = format!(r#"{{"taskId":"t","result":"{}"}}"#, "y".repeat(4 * REMARKS));
        inbox.put(
            &Arc::from("ours"),
            "",
            &task(r#"{"taskId":"t","status":"working"}"#),
        );
        inbox.put(&Arc::from("ours"), "", &task(&long));

        let told = inbox.next().await.unwrap();

        assert_eq!(told.params.as_str(), long.replace(r#""t""#, r#""ours""#));
        assert!(inbox.take().is_none() && inbox.waiting.lock().bytes == 0);
    }

    #[tokio::test]
    async fn sec_05_more_than_may_wait_is_lost_and_that_is_said() {
        let inbox = Inbox::default();
        let long = task(&format!(r#"{{"taskId":"t","result":"{}"}}"#, "y".repeat(BYTES)));
        inbox.put(&Arc::from("a"), "", &long);
        assert!(inbox.next().await.is_some(), "one alone may be as long as it is");

        inbox.put(&Arc::from("a"), "", &long);
        inbox.put(&Arc::from("b"), "", &long);

        assert!(inbox.next().await.is_none());
        assert_eq!(inbox.waiting.lock().bytes, 0);
    }
}

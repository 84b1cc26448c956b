//! What a client is still to be told of resources: each resource once, however often it changed.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use mcpr_protocol::{Edit, Object, RawJson, key};
use parking_lot::Mutex;
use tokio::sync::Notify;

/// How many parts of resources wait to be told; beyond that the whole is told instead.
const PARTS: usize = 256;

/// How much a server may say of a change beside the URI; what is longer is left out.
const REMARKS: usize = 1024;

/// Changes that wait for a client to hear of them.
#[derive(Default)]
pub(crate) struct Inbox {
    waiting: Mutex<Waiting>,
    bell: Notify,
}

#[derive(Default)]
struct Waiting {
    order: VecDeque<Arc<str>>,
    /// The parameters of each notification.
    params: HashMap<Arc<str>, RawJson>,
}

/// A change as the server told of it, without what was about its own hop.
pub(super) struct Update(Object);

impl Inbox {
    /// Adds a change: of the resource that the client calls `spelled`, or of what `part` adds to that.
    pub(super) fn put(&self, spelled: &Arc<str>, part: &str, update: &Update) {
        let mut waiting = self.waiting.lock();
        let full = waiting.order.len() >= PARTS;
        let uri = if part.is_empty() {
            spelled.clone()
        } else {
            let uri = Arc::from(format!("{spelled}{part}"));
            let fits = !full || waiting.params.contains_key(&uri);
            if fits { uri } else { spelled.clone() }
        };
        let params = update.about(&uri);
        if waiting.params.insert(uri.clone(), params).is_none() {
            waiting.order.push_back(uri);
        }
        drop(waiting);
        self.bell.notify_one();
    }

    /// The parameters of the next notification. Cancel-safe.
    pub(crate) async fn next(&self) -> RawJson {
        loop {
            let rung = self.bell.notified();
            if let Some(params) = self.take() {
                return params;
            }
            rung.await;
        }
    }

    /// The next that waits.
    pub(crate) fn take(&self) -> Option<RawJson> {
        let mut waiting = self.waiting.lock();
        let uri = waiting.order.pop_front()?;
        waiting.params.remove(&uri)
    }

    /// Drops what the client need not hear of any more.
    pub(super) fn retain(&self, wanted: impl Fn(&str) -> bool) {
        let Waiting { order, params } = &mut *self.waiting.lock();
        order.retain(|uri| wanted(uri));
        params.retain(|uri, _| wanted(uri));
    }
}

impl Update {
    pub(super) fn new(uri: &str, params: &Object) -> Self {
        let bare = || Object::read(&RawJson::trusted("{}")).expect("an empty object is one");
        if params.raw().as_bytes().len() > uri.len() + REMARKS {
            return Self(bare());
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
        Self(Object::read(&RawJson::trusted(text)).expect("an edited object is one"))
    }

    fn about(&self, uri: &str) -> RawJson {
        let text = Edit::new(&self.0).set("uri", RawJson::string(uri)).finish();
        RawJson::trusted(text.into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(text: &str) -> Update {
        let object = Object::read(&RawJson::trusted(text.to_owned())).unwrap();
        Update::new(&object.text("uri").unwrap(), &object)
    }

    fn told(inbox: &Inbox) -> Vec<String> {
        std::iter::from_fn(|| inbox.take().map(|params| params.as_str().to_owned())).collect()
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
}

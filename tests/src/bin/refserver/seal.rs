//! State that goes to the client and comes back unaltered.

use std::hash::{BuildHasher as _, RandomState};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};

/// Two keys for the keyed hash of the standard library, made when the process starts.
#[derive(Default)]
pub(crate) struct Seal {
    keys: [RandomState; 2],
}

impl Seal {
    /// Seals `content` for one purpose.
    pub(crate) fn close(&self, purpose: &str, content: &Map<String, Value>) -> String {
        let body = URL_SAFE_NO_PAD.encode(Value::Object(content.clone()).to_string());
        let mark = self.mark(purpose, &body);
        format!("{body}.{mark}")
    }

    /// What was sealed for this purpose; nothing if anybody has changed it.
    pub(crate) fn open(&self, purpose: &str, sealed: &str) -> Option<Map<String, Value>> {
        let (body, mark) = sealed.split_once('.')?;
        if mark != self.mark(purpose, body) {
            return None;
        }
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(body).ok()?).ok()
    }

    fn mark(&self, purpose: &str, body: &str) -> String {
        let [one, two] = &self.keys;
        format!(
            "{:016x}{:016x}",
            one.hash_one((purpose, body)),
            two.hash_one((purpose, body))
        )
    }
}

/// An id that nobody can guess.
pub(crate) fn random_id() -> String {
    let [one, two] = [(); 2].map(|()| RandomState::new().hash_one(()));
    format!("{one:016x}{two:016x}")
}

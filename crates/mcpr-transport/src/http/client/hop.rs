//! What the two sides have settled on, as headers.

use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue};
use mcpr_protocol::{Era, Version, encode_value};
use parking_lot::RwLock;

use super::parcel::Parcel;
use crate::Outgoing;
use crate::http::names;

/// The state of one connection of MCP over HTTP.
#[derive(Debug)]
pub(super) struct Hop {
    plain: Arc<HeaderMap>,
    now: RwLock<Stamp>,
}

/// The state as it was when a message went out.
#[derive(Clone, Debug)]
pub(super) struct Stamp {
    /// The headers of a post.
    pub(super) headers: Arc<HeaderMap>,
    pub(super) version: Option<Version>,
    pub(super) session: Option<HeaderValue>,
    /// Grows with each handshake.
    pub(super) generation: u64,
}

impl Hop {
    /// Nothing is settled; `template` is what every post carries.
    pub(super) fn new(template: &Arc<HeaderMap>) -> Self {
        let plain = Arc::clone(template);
        let now = Stamp {
            headers: Arc::clone(&plain),
            version: None,
            session: None,
            generation: 0,
        };
        Self {
            plain,
            now: RwLock::new(now),
        }
    }

    pub(super) fn stamp(&self) -> Stamp {
        self.now.read().clone()
    }

    /// Forgets what was settled, for `initialize`.
    pub(super) fn forget(&self) -> Stamp {
        let mut now = self.now.write();
        let generation = now.generation + 1;
        *now = Stamp {
            headers: Arc::clone(&self.plain),
            version: None,
            session: None,
            generation,
        };
        now.clone()
    }

    /// Keeps the session that `initialize` was answered with.
    pub(super) fn adopt(&self, generation: u64, session: HeaderValue) {
        let mut now = self.now.write();
        if now.generation == generation {
            now.session = Some(session);
            now.headers = Arc::new(self.headers(&now));
        }
    }

    /// Keeps the revision.
    pub(super) fn settle(&self, version: Version) {
        let mut now = self.now.write();
        now.version = Some(version);
        if version.era() == Era::Stateless {
            now.session = None;
        }
        now.headers = Arc::new(self.headers(&now));
    }

    fn headers(&self, now: &Stamp) -> HeaderMap {
        let mut headers = HeaderMap::clone(&self.plain);
        if let Some(session) = &now.session {
            headers.insert(names::SESSION_ID, session.clone());
        }
        if let Some(version) = now.version {
            headers.insert(
                names::PROTOCOL_VERSION,
                HeaderValue::from_static(version.as_str()),
            );
        }
        headers
    }
}

impl Stamp {
    /// The era that the message is written in.
    pub(super) fn era(&self) -> Era {
        self.version.map_or(Era::Session, Version::era)
    }

    /// Whether a handshake has begun and not ended.
    pub(super) fn is_unsettled(&self) -> bool {
        self.generation > 0 && self.version.is_none()
    }

    /// Repeats in headers what 2026-07-28 wants repeated, where that is spoken.
    pub(super) fn mark(&self, parcel: &mut Parcel, request: &Outgoing) {
        if self.era() == Era::Session {
            return;
        }
        self.mark_method(parcel, request.method.as_str());
        if let Some(name) = &request.name {
            parcel.add(names::NAME, value(name));
        }
        for (name, value) in request.headers.iter().filter(|(name, _)| is_param(name)) {
            parcel.add(name.clone(), value.clone());
        }
    }

    /// The same for a message that has only a method.
    pub(super) fn mark_method(&self, parcel: &mut Parcel, method: &str) {
        if self.era() == Era::Stateless {
            parcel.add(names::METHOD, value(method));
        }
    }
}

fn is_param(name: &HeaderName) -> bool {
    name.as_str().starts_with(names::PARAM_PREFIX)
}

fn value(text: &str) -> HeaderValue {
    HeaderValue::from_str(&encode_value(text)).expect("an encoded value is visible ASCII")
}

/// A session id as the specification allows it: visible ASCII.
pub(super) fn session_of(headers: &HeaderMap) -> Option<HeaderValue> {
    let session = headers.get(names::SESSION_ID)?;
    let visible = session.as_bytes().iter().all(u8::is_ascii_graphic) && !session.is_empty();
    let mut session = session.clone();
    session.set_sensitive(true);
    visible.then_some(session)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(hop: &Hop) -> Vec<String> {
        let stamp = hop.stamp();
        stamp
            .headers
            .iter()
            .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
            .collect()
    }

    #[test]
    fn b33_b88_session_and_version_come_with_the_handshake_and_go_with_the_next() {
        let hop = Hop::new(&Arc::default());
        let first = hop.forget();
        assert!(first.headers.is_empty());
        hop.adopt(first.generation, HeaderValue::from_static("s1"));
        hop.settle(Version::V2025_03_26);
        assert_eq!(
            sent(&hop),
            ["mcp-session-id: s1", "mcp-protocol-version: 2025-03-26"]
        );
        let second = hop.forget();
        assert!(second.headers.is_empty());
        hop.adopt(first.generation, HeaderValue::from_static("late"));
        assert!(
            sent(&hop).is_empty(),
            "an answer to an older handshake counts no more"
        );
    }

    #[test]
    fn b108_a_stateless_hop_has_no_session() {
        let hop = Hop::new(&Arc::default());
        hop.adopt(0, HeaderValue::from_static("s1"));
        hop.settle(Version::V2026_07_28);
        assert_eq!(sent(&hop), ["mcp-protocol-version: 2026-07-28"]);
        assert_eq!(hop.stamp().era(), Era::Stateless);
    }

    #[test]
    fn a_session_id_that_no_header_may_carry_is_none() {
        let of = |value: &'static [u8]| {
            let value = HeaderValue::from_bytes(value).unwrap();
            session_of(&[(names::SESSION_ID, value)].into_iter().collect())
        };
        assert!(of(b"a-b_c!~").is_some());
        assert!(of(b"").is_none() && of(b"a b").is_none() && of("é".as_bytes()).is_none());
    }
}

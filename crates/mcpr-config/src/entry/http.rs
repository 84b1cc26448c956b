//! Reads a server that is a URL.

use mcpr_upstream::{HttpSpec, SecretText, SseChoice};

use super::fields::Fields;
use super::reader::Reader;
use super::{Via, address};
use crate::fault::Fault;
use crate::tree::{Key, Node, Shape};

impl Reader<'_> {
    pub(super) fn address(
        &mut self,
        url: &Node,
        stated: Option<Via>,
        fields: &Fields<'_>,
    ) -> Result<HttpSpec, Fault> {
        let text = self.expand_filled(url)?;
        self.keep_parts(text.trim());
        if !self.lookups().leaves_open(url) {
            address::check(url, text.trim())?;
        }
        if stated.is_none() {
            self.note(
                url.fault("has no `type` beside it")
                    .hint("Claude Code skips such an entry; add `\"type\": \"http\"`"),
            );
        }
        Ok(HttpSpec {
            url: SecretText::new(text.trim()),
            headers: self.headers(fields.get("headers"))?,
            sse: sse(stated),
        })
    }

    fn headers(&mut self, node: Option<&Node>) -> Result<Vec<(String, SecretText)>, Fault> {
        let headers = node.map(Node::entries).transpose()?.unwrap_or_default();
        let set = headers.iter().filter(|(_, value)| value.shape != Shape::Null);
        set.map(|(key, value)| self.header(key, value)).collect()
    }

    fn header(&mut self, key: &Key, value: &Node) -> Result<(String, SecretText), Fault> {
        let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if key.text.is_empty() || !key.text.chars().all(token) {
            return Err(Fault {
                place: Some(key.place.clone()),
                ..value.fault("is not the name of a header")
            });
        }
        let text = self.expand_filled(value)?;
        if text.contains(|c: char| c.is_control() && c != '\t') {
            return Err(value.fault("has a line break or another control character in its value"));
        }
        if key.text.eq_ignore_ascii_case("cookie") {
            // RFC 6265, section 4.2.1.
            let pairs = text.split(';').filter_map(|pair| pair.split_once('='));
            pairs.for_each(|(_, told)| self.know(told.trim().trim_matches('"')));
        }
        Ok((key.text.clone(), self.keep_secret(text)))
    }
}

/// A stated type is taken at its word; without one the old transport is the fallback.
fn sse(stated: Option<Via>) -> SseChoice {
    match stated {
        Some(Via::Sse) => SseChoice::Always,
        Some(_) => SseChoice::Never,
        None => SseChoice::Auto,
    }
}

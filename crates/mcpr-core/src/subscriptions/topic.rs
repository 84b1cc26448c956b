//! What can be subscribed to, and what is a part of it.

use std::sync::Arc;

use mcpr_registry::ServerName;
use mcpr_upstream::{Feed, Refusal, Server};

use super::LONGEST;

/// Something that a server tells of, under the server's own name for it.
#[derive(Clone)]
pub(crate) struct Topic {
    pub(crate) feed: Feed,
    pub(crate) server: Arc<Server>,
    pub(crate) origin: Arc<str>,
}

impl Topic {
    /// Whose it is.
    pub(crate) fn owner(&self) -> &ServerName {
        &self.server.name
    }

    /// Waits until the server has said whether it tells of it.
    pub(super) async fn is_told(&self) -> Result<(), Refusal> {
        self.server.tells_of(self.feed, &self.origin).await
    }
}

/// The URIs whose subscribers hear of a change of `uri`: itself, and those that it is a part of. A
/// server may name the part that changed instead of the whole (2025-11-25 and 2026-07-28, resources).
pub(super) fn wholes(uri: &str) -> impl Iterator<Item = &str> {
    let looked_at = if uri.len() > LONGEST { "" } else { uri };
    let borders = looked_at.match_indices(['/', '#']);
    let parts = borders.flat_map(|(at, border)| {
        let without = (!uri[..at].ends_with('/')).then_some(at);
        let with = (border == "/").then_some(at + 1);
        [without, with].into_iter().flatten().map(|end| &uri[..end])
    });
    parts.filter(|whole| whole.len() < uri.len()).chain([uri])
}

/// Whether somebody who has subscribed to `whole` hears of a change of `uri`.
pub(super) fn covers(whole: &str, uri: &str) -> bool {
    let Some(rest) = uri.strip_prefix(whole) else {
        return false;
    };
    rest.is_empty() || (uri.len() <= LONGEST && (whole.ends_with('/') || rest.starts_with(['/', '#'])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agg_11_a_part_begins_at_a_border() {
        assert!(covers("file:///a", "file:///a") && covers("file:///a", "file:///a/b"));
        assert!(covers("file:///a/", "file:///a/b") && covers("file:///a", "file:///a#b"));
        assert!(!covers("file:///a", "file:///ab") && !covers("file:///a/b", "file:///a"));
        assert!(!covers("file:///a", "file:///a?b") && !covers("file:///a/", "file:///a"));
        let wholes: Vec<_> = wholes("x://a/b#c").collect();
        assert_eq!(
            wholes,
            ["x:", "x:/", "x://", "x://a", "x://a/", "x://a/b", "x://a/b#c"]
        );
    }

    /// All texts of up to four of these letters.
    fn texts() -> Vec<String> {
        let mut texts = vec![String::new()];
        for length in 0..4 {
            let longest: Vec<String> = texts
                .iter()
                .filter(|text| text.len() == length)
                .cloned()
                .collect();
            texts.extend(
                longest
                    .iter()
                    .flat_map(|text| ["a", "/", "#"].map(|letter| format!("{text}{letter}"))),
            );
        }
        texts
    }

    #[test]
    fn each_whole_is_found_once() {
        let texts = texts();
        for uri in texts.iter().filter(|uri| !uri.is_empty()) {
            for whole in texts.iter().filter(|whole| !whole.is_empty()) {
                let found = wholes(uri).filter(|found| found == whole).count();
                assert_eq!(found, usize::from(covers(whole, uri)), "{whole} of {uri}");
            }
        }
    }
}

//! The lists of one sight, page by page.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::OnceLock;

use bytes::{Bytes, BytesMut};
use mcpr_protocol::{Era, RawJson, key};
use mcpr_registry::{Kind, View};
use mcpr_upstream::Freshness;

use crate::sight::Sight;

/// The pages of all lists. Each is rendered once, by the first who asks, and shared.
pub(crate) struct Pages {
    /// The items on one page; `None` puts all of them on one.
    size: Option<usize>,
    /// How long the list of each kind holds.
    fresh: [Freshness; 4],
    /// What tells a list of each kind from one with other content.
    generations: [u64; 4],
    /// By kind and era.
    heads: [[OnceLock<Heads>; 2]; 4],
}

/// The texts of the pages of one list.
type Heads = Box<[OnceLock<Bytes>]>;

/// One page of a list.
pub(crate) struct Page {
    /// The result up to behind its `_meta`; what differs by caller and time follows, and the end.
    pub(crate) head: Bytes,
    /// Where the list goes on.
    pub(crate) next: Option<Place>,
}

/// A place in a list: what a cursor stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    generation: u64,
    offset: u64,
}

impl Pages {
    pub(crate) fn new(listed: &View, fresh: [Freshness; 4], size: Option<usize>) -> Self {
        let generation = |kind| {
            let mut hash = DefaultHasher::new();
            listed.list(kind, Era::Session).hash(&mut hash);
            hash.finish()
        };
        Self {
            size,
            fresh,
            generations: Kind::ALL.map(generation),
            heads: Default::default(),
        }
    }

    /// How long a list holds.
    pub(crate) fn fresh(&self, kind: Kind) -> Freshness {
        self.fresh[kind as usize]
    }

    /// What tells each list from one with other content.
    pub(crate) fn generations(&self) -> [u64; 4] {
        self.generations
    }

    fn generation(&self, kind: Kind) -> u64 {
        self.generations[kind as usize]
    }

    /// The offset of a place; `None` where the list has changed since, or no page begins there.
    fn offset(&self, kind: Kind, place: Place, items: usize) -> Option<usize> {
        let offset = usize::try_from(place.offset).ok()?;
        let begins = self.size.is_some_and(|size| offset % size == 0);
        let here = place.generation == self.generation(kind) && begins && offset < items;
        here.then_some(offset)
    }
}

impl Place {
    /// The bytes that a cursor seals.
    pub(crate) fn to_bytes(self) -> [u8; 16] {
        let both = u128::from(self.generation) << 64 | u128::from(self.offset);
        both.to_be_bytes()
    }

    /// Reads them back.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let both = u128::from_be_bytes(bytes.try_into().ok()?);
        Some(Self {
            generation: (both >> 64) as u64,
            offset: both as u64,
        })
    }
}

impl Sight {
    /// A page of a list: the first, or the one that begins at a place that an earlier page named.
    ///
    /// `None` where the list has changed since, or no page begins there.
    pub(crate) fn page(&self, kind: Kind, era: Era, from: Option<Place>) -> Option<Page> {
        let items = self.listed.len(kind);
        let offset = from.map_or(Some(0), |place| self.pages.offset(kind, place, items))?;
        let size = self.pages.size.unwrap_or(usize::MAX);
        let pages = self.pages.heads[kind as usize][usize::from(era == Era::Stateless)].get_or_init(|| {
            (0..items.div_ceil(size).max(1))
                .map(|_| OnceLock::new())
                .collect()
        });
        let head = pages[offset / size].get_or_init(|| {
            let array = if items <= size {
                self.listed.list(kind, era)
            } else {
                self.listed.page(kind, era, offset, size)
            };
            self.head(kind, era, &array, offset == 0)
        });
        let next = offset.saturating_add(size);
        Some(Page {
            head: head.clone(),
            next: (next < items).then(|| Place {
                generation: self.pages.generation(kind),
                offset: next as u64,
            }),
        })
    }

    /// What all who ask for the page get. The first page begins with the built-in tools.
    fn head(&self, kind: Kind, era: Era, items: &[u8], first: bool) -> Bytes {
        let builtins = if first { self.builtin_texts(kind) } else { b"" };
        let notes = self.notes();
        let mut text = BytesMut::with_capacity(items.len() + builtins.len() + notes.len() + 256);
        let mut add = |part: &[u8]| text.extend_from_slice(part);
        add(format!("{{\"{}\":[", kind.member()).as_bytes());
        add(builtins);
        if !builtins.is_empty() && items != b"[]" {
            add(b",");
        }
        add(&items[1..]);
        add(b",\"_meta\":{");
        add(notes);
        if era == Era::Stateless {
            add(format!(",\"{}\":", key::SERVER_INFO).as_bytes());
            add(self.server_info.as_bytes());
        }
        add(b"}");
        debug_assert!(RawJson::parse([&text[..], b"}"].concat().into()).is_ok());
        text.freeze()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_comes_back_from_its_bytes() {
        let place = Place {
            generation: u64::MAX - 5,
            offset: 1000,
        };
        assert_eq!(Place::from_bytes(&place.to_bytes()), Some(place));
        assert_eq!(Place::from_bytes(b"short"), None);
    }
}

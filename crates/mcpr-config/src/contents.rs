//! What the places of a configuration held when it was read.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use crate::environment::Environment;
use crate::source::Source;

/// What each place that counts held, by a hash: the files that were read, those that would have
/// come before them and were not there, and the secrets.
///
/// Who compares it with what the places hold [now](Contents::now) knows whether the configuration is
/// to be read again, however a file was changed, and whatever happened while it was read.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Contents(BTreeMap<PathBuf, Option<u64>>);

impl Contents {
    pub(crate) fn of(sources: &[Source]) -> Self {
        let held = |source: &Source| (source.path().to_owned(), Some(hash(source.text().as_bytes())));
        Self(sources.iter().map(held).collect())
    }

    /// Notes a place where nothing was.
    pub(crate) fn add_missing(&mut self, place: &Path) {
        self.0.insert(place.to_owned(), None);
    }

    /// Notes what places held.
    pub(crate) fn extend(&mut self, places: impl IntoIterator<Item = (PathBuf, Option<u64>)>) {
        self.0.extend(places);
    }

    /// What a place holds now.
    pub(crate) fn look(place: &Path, env: &dyn Environment) -> Option<u64> {
        env.read(place).ok().map(|bytes| hash(text(&bytes)))
    }

    /// What the same places hold now. It reads them all.
    pub fn now(&self, env: &dyn Environment) -> Self {
        let look = |place: &PathBuf| (place.clone(), Self::look(place, env));
        Self(self.0.keys().map(look).collect())
    }
}

/// The bytes of a file without a byte order mark, as [`Source`] has them.
fn text(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes)
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

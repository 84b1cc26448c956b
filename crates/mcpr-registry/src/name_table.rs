//! Finds items by name: by table, never by taking a name apart (AGG-06, B16).

use std::sync::Arc;

use foldhash::HashMap;

use crate::Item;

/// Items by each of the names that they are found by (AGG-06).
#[derive(Clone, Debug, Default)]
pub(crate) struct NameTable {
    exposed: HashMap<Arc<str>, usize>,
    /// By `server.name`. A table and not a search for the dot, because both halves may hold dots.
    origin: HashMap<String, Vec<usize>>,
    bare: HashMap<Arc<str>, Vec<usize>>,
}

impl NameTable {
    pub(crate) fn of<'i>(items: impl Iterator<Item = &'i Item>) -> Self {
        let mut table = Self::default();
        for (index, item) in items.enumerate() {
            table.exposed.insert(item.exposed.clone(), index);
            table
                .origin
                .entry(item.origin.to_string())
                .or_default()
                .push(index);
            table
                .bare
                .entry(item.origin.name.clone())
                .or_default()
                .push(index);
        }
        table
    }

    /// The items with this origin form; more than one only where two servers' names run together.
    pub(crate) fn with_origin(&self, name: &str) -> &[usize] {
        self.origin.get(name).map_or(&[], Vec::as_slice)
    }

    /// The visible item that `name` means: an exposed name, else an origin form, else the bare
    /// name of exactly one.
    pub(crate) fn find(&self, name: &str, visible: impl Fn(usize) -> bool) -> Option<usize> {
        let exposed = self.exposed.get(name).copied().filter(|index| visible(*index));
        let only = |table: Option<&Vec<usize>>| {
            let mut seen = table?.iter().copied().filter(|index| visible(*index));
            seen.next().filter(|_| seen.next().is_none())
        };
        exposed
            .or_else(|| only(self.origin.get(name)))
            .or_else(|| only(self.bare.get(name)))
    }
}

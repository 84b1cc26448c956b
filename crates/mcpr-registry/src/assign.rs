//! Which exposed name was given to which item, so that it keeps it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{Kind, ServerName};

/// The most names of one kind that are kept for a server: as many as it can list at once.
const MOST: usize = 20_000;

/// The exposed names that were given so far, of tools and prompts.
///
/// A row says nothing about the naming options it was made under. Whether it still holds is found
/// by deriving: a row counts if today's options could lead to it, else the item gets a new name and
/// the new row takes the place of the old one. So a change of options renames exactly what it has
/// to, a change there and back loses nothing, and there is no digest that a new option could make
/// stale for all names at once. For a server that is not among the listings nothing can be derived;
/// its names stay reserved, because a reservation too many costs one needless suffix, and one too
/// few would give a name to another server for ever.
///
/// With prefix `conflict` or `never`, names depend on who is there by definition: rows are then
/// neither used nor made.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Assignments {
    names: BTreeMap<(Kind, ServerName), BTreeMap<Arc<str>, Arc<str>>>,
}

/// One given name. Kind, server and origin are the key: a later row replaces an earlier one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub struct Row {
    /// The kind of the item.
    pub kind: Kind,
    /// Its server.
    pub server: ServerName,
    /// Its name there.
    pub origin: String,
    /// Its name here.
    pub exposed: String,
}

impl Assignments {
    /// Takes rows as they were stored.
    pub fn from_rows(rows: impl IntoIterator<Item = Row>) -> Self {
        let mut assignments = Self::default();
        rows.into_iter().for_each(|row| assignments.put(row));
        assignments
    }

    /// All rows, ordered by kind, server and origin.
    pub fn rows(&self) -> impl Iterator<Item = Row> {
        self.names.iter().flat_map(|((kind, server), names)| {
            names.iter().map(|(origin, exposed)| Row {
                kind: *kind,
                server: server.clone(),
                origin: origin.to_string(),
                exposed: exposed.to_string(),
            })
        })
    }

    /// Adds a row, or replaces the one with its key.
    pub fn put(&mut self, row: Row) {
        let names = self.names.entry((row.kind, row.server)).or_default();
        names.insert(row.origin.into(), row.exposed.into());
    }

    /// The exposed name that an item was given.
    pub fn name(&self, kind: Kind, server: &ServerName, origin: &str) -> Option<&Arc<str>> {
        self.names.get(&(kind, server.clone()))?.get(origin)
    }

    /// Whether more names of a server are kept. One that lists its items under new names each time must not fill the
    /// memory; from then on what it lists anew is named by who is there, as with prefix `conflict`.
    pub(crate) fn has_room(&self, kind: Kind, server: &ServerName) -> bool {
        let names = self.names.get(&(kind, server.clone()));
        names.is_none_or(|names| names.len() < MOST)
    }

    /// How many names were given.
    pub fn len(&self) -> usize {
        self.names.values().map(BTreeMap::len).sum()
    }

    /// Whether no name was given yet.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The given names of a kind: server, origin, exposed.
    pub(crate) fn of_kind(&self, kind: Kind) -> impl Iterator<Item = (&ServerName, &Arc<str>, &Arc<str>)> {
        let of_kind = self.names.iter().filter(move |((of, _), _)| *of == kind);
        of_kind.flat_map(|((_, server), names)| {
            names
                .iter()
                .map(move |(origin, exposed)| (server, origin, exposed))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_and_the_later_of_two_with_one_key_counts() {
        let row = |exposed: &str| Row {
            kind: Kind::Tools,
            server: "git".parse().unwrap(),
            origin: "status".into(),
            exposed: exposed.into(),
        };
        let assignments = Assignments::from_rows([row("a"), row("b")]);
        assert_eq!(assignments.rows().collect::<Vec<_>>(), [row("b")]);
        assert_eq!(Assignments::from_rows(assignments.rows()), assignments);
        assert_eq!(assignments.len(), 1);
    }

    #[test]
    fn sec_05_a_server_that_never_repeats_a_name_does_not_fill_the_memory() {
        let row = |number: usize| Row {
            kind: Kind::Tools,
            server: "git".parse().unwrap(),
            origin: number.to_string(),
            exposed: format!("git_{number}"),
        };
        let mut assignments = Assignments::from_rows((0..MOST - 1).map(row));
        let room = |assignments: &Assignments, kind| assignments.has_room(kind, &row(0).server);
        assert!(room(&assignments, Kind::Tools));
        assignments.put(row(MOST));
        assert!(!room(&assignments, Kind::Tools) && room(&assignments, Kind::Prompts));
    }

    #[test]
    fn a_row_is_plain_json() {
        let row = Row {
            kind: Kind::Prompts,
            server: "git".parse().unwrap(),
            origin: "a.b".into(),
            exposed: "git_a_b".into(),
        };
        let text = serde_json::to_string(&row).unwrap();
        assert_eq!(
            text,
            r#"{"kind":"prompts","server":"git","origin":"a.b","exposed":"git_a_b"}"#
        );
    }
}

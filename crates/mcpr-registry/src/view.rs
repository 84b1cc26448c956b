//! What one caller may see.

use std::sync::{Arc, OnceLock};

use bytes::{Bytes, BytesMut};
use mcpr_protocol::Era;

use crate::uri::{Search, Slot};
use crate::{Catalog, Item, ItemRef, Kind, Route, ServerName, Tool, UriError};

/// What one caller may see of a catalog.
///
/// What is not visible is as good as absent: it is neither listed nor found by any name.
#[derive(Debug)]
pub struct View {
    catalog: Arc<Catalog>,
    kinds: [Visible; 4],
    /// Of which servers unlisted resources may be read, by their places.
    servers: Vec<bool>,
}

/// The items of one kind that are visible, and the texts of their lists once somebody asked.
#[derive(Debug)]
struct Visible {
    kind: Kind,
    items: Vec<bool>,
    session: OnceLock<Bytes>,
    stateless: OnceLock<Bytes>,
}

impl View {
    /// What of `catalog` is allowed; each item is asked about once, now.
    pub fn of(catalog: Arc<Catalog>, allow: impl Fn(&ItemRef<'_>) -> bool) -> Self {
        let kinds = Kind::ALL.map(|kind| Visible::of(&catalog, kind, &allow));
        let unlisted = |server| {
            allow(&ItemRef {
                kind: Kind::Resources,
                server,
                item: None,
            })
        };
        let servers = catalog.servers().iter().map(unlisted).collect();
        Self {
            catalog,
            kinds,
            servers,
        }
    }

    /// All of `catalog`.
    pub fn everything(catalog: Arc<Catalog>) -> Self {
        Self::of(catalog, |_| true)
    }

    /// The catalog.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// The tool that `name` means: its exposed name, its origin form such as `git.status`, or the
    /// bare name that exactly one visible tool has (AGG-06).
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        let visible = self.visible(Kind::Tools);
        let index = self
            .catalog
            .tool_names()
            .find(name, |index| visible.items[index])?;
        Some(&self.catalog.tools()[index])
    }

    /// The prompt that `name` means, by the same forms as a tool.
    pub fn prompt(&self, name: &str) -> Option<&Item> {
        let visible = self.visible(Kind::Prompts);
        let index = self
            .catalog
            .prompt_names()
            .find(name, |index| visible.items[index])?;
        Some(&self.catalog.prompts()[index])
    }

    /// Where a resource is read, by its exposed or its original URI, listed or not (AGG-09). Also
    /// takes the text of a template, as in completion.
    ///
    /// # Errors
    ///
    /// When no server in sight has resources, or several could have this one.
    pub fn resource(&self, uri: &str) -> Result<Route, UriError> {
        let search = Search {
            wrapping: self.catalog.wrapping(),
            table: self.catalog.uris(),
            item: &|slot| self.visible(slot.kind).items[slot.index].then(|| self.catalog.item(slot)),
            in_sight: &|place| self.servers[place],
        };
        search.route(uri)
    }

    /// The exposed form of a URI, or of a template, that a server wrote; `None` where it stays as it is.
    ///
    /// What already looks like an exposed URI is wrapped once more, so that it comes back to the
    /// server as it was.
    pub fn expose_uri(&self, server: &ServerName, uri: &str) -> Option<String> {
        self.catalog.wrapping().expose(server, uri)
    }

    /// The visible items of a kind, in the order of the list.
    pub fn items(&self, kind: Kind) -> impl Iterator<Item = &Item> {
        self.visible(kind).slots().map(|slot| self.catalog.item(slot))
    }

    /// The visible tools, in the order of the list.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.visible(Kind::Tools)
            .slots()
            .map(|slot| &self.catalog.tools()[slot.index])
    }

    /// How many items of a kind are visible.
    pub fn len(&self, kind: Kind) -> usize {
        self.visible(kind).slots().count()
    }

    /// Whether nothing is visible.
    pub fn is_empty(&self) -> bool {
        Kind::ALL.into_iter().all(|kind| self.len(kind) == 0)
    }

    /// The text of the JSON array of all visible items of a kind, as clients of an era get it.
    ///
    /// It is put together at the first call; later ones share the buffer, and where no item
    /// differs by era the eras share it too.
    pub fn list(&self, kind: Kind, era: Era) -> Bytes {
        let visible = self.visible(kind);
        match era {
            Era::Session => visible.session.get_or_init(|| self.join(kind, era)).clone(),
            Era::Stateless => visible
                .stateless
                .get_or_init(|| self.stateless_list(kind))
                .clone(),
        }
    }

    /// The text of the JSON array of so many visible items from a place in the list on.
    pub fn page(&self, kind: Kind, era: Era, from: usize, count: usize) -> Bytes {
        let items: Vec<&Item> = self.items(kind).skip(from).take(count).collect();
        join(&items, era)
    }

    fn stateless_list(&self, kind: Kind) -> Bytes {
        if self.items(kind).any(Item::differs_by_era) {
            self.join(kind, Era::Stateless)
        } else {
            self.list(kind, Era::Session)
        }
    }

    fn join(&self, kind: Kind, era: Era) -> Bytes {
        join(&self.items(kind).collect::<Vec<_>>(), era)
    }

    fn visible(&self, kind: Kind) -> &Visible {
        &self.kinds[kind as usize]
    }
}

/// The text of a JSON array of these items.
fn join(items: &[&Item], era: Era) -> Bytes {
    let texts = || items.iter().map(|item| item.rendered(era).as_bytes());
    let mut list = BytesMut::with_capacity(texts().map(|text| text.len() + 1).sum::<usize>() + 2);
    list.extend_from_slice(b"[");
    for (index, text) in texts().enumerate() {
        list.extend_from_slice(if index == 0 { b"" } else { b"," });
        list.extend_from_slice(text);
    }
    list.extend_from_slice(b"]");
    list.freeze()
}

impl Visible {
    fn of(catalog: &Catalog, kind: Kind, allow: &impl Fn(&ItemRef<'_>) -> bool) -> Self {
        let is_allowed = |index| {
            let item = catalog.item(Slot { kind, index });
            allow(&ItemRef {
                kind,
                server: &item.origin.server,
                item: Some(item),
            })
        };
        Self {
            kind,
            items: (0..catalog.len(kind)).map(is_allowed).collect(),
            session: OnceLock::new(),
            stateless: OnceLock::new(),
        }
    }

    fn slots(&self) -> impl Iterator<Item = Slot> {
        let visible = self.items.iter().enumerate().filter(|(_, visible)| **visible);
        visible.map(|(index, _)| Slot {
            kind: self.kind,
            index,
        })
    }
}

//! What one caller may see.

use std::sync::{Arc, OnceLock};

use bytes::{Bytes, BytesMut};
use mcpr_protocol::Era;

use crate::uri::{Search, Slot};
use crate::{Catalog, Item, ItemRef, Kind, Route, Selection, ServerName, Tool, UriError};

/// What one caller may see of a catalog.
///
/// What is not visible is as good as absent: it is neither listed nor found by any name. Clones, and
/// the kinds that a narrower view leaves as they are, share what was rendered.
#[derive(Clone, Debug)]
pub struct View {
    catalog: Arc<Catalog>,
    kinds: [Arc<Visible>; 4],
    /// Of which servers unlisted resources may be read, by their places.
    servers: Arc<[bool]>,
}

/// The items of one kind that are visible, and the texts of their lists once somebody asked.
#[derive(Debug)]
struct Visible {
    kind: Kind,
    /// Their places in the catalog, in order.
    places: Box<[u32]>,
    /// The same, one bit for each place.
    bits: Box<[u64]>,
    session: OnceLock<Bytes>,
    stateless: OnceLock<Bytes>,
}

impl View {
    /// What of `catalog` is allowed; each item is asked about once, now.
    pub fn of(catalog: Arc<Catalog>, allow: impl Fn(&ItemRef<'_>) -> bool) -> Self {
        let kinds = Kind::ALL.map(|kind| Arc::new(Visible::of(&catalog, kind, &allow)));
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

    /// The same with only those tools that are chosen. All else is shared. For names without `*` the
    /// cost grows with the choice, not with the catalog (SET-12).
    pub fn select(&self, selection: &Selection) -> Self {
        let (visible, names) = (self.visible(Kind::Tools), self.catalog.tool_names());
        let named = selection
            .exact()
            .flat_map(|name| names.with_origin(name))
            .copied();
        let mut places: Vec<usize> = named.filter(|index| visible.has(*index)).collect();
        if !selection.patterns().is_empty() {
            let fits = |place: &usize| selection.matches(&self.catalog.tools()[*place].origin);
            places.extend(visible.places().filter(fits));
        }
        places.sort_unstable();
        places.dedup();
        self.with_tools(places)
    }

    /// The same without any tools.
    pub fn without_tools(&self) -> Self {
        self.with_tools(Vec::new())
    }

    /// The same without the tools that are hidden.
    pub fn without(&self, hidden: impl Fn(&Tool) -> bool) -> Self {
        let visible = self.visible(Kind::Tools).places();
        let left = visible.filter(|place| !hidden(&self.catalog.tools()[*place]));
        self.with_tools(left.collect())
    }

    /// The same with only what these servers have, unlisted resources too.
    pub fn only_servers(&self, keep: impl Fn(&ServerName) -> bool) -> Self {
        let kinds = Kind::ALL.map(|kind| {
            let of_server = |place: &usize| {
                let index = *place;
                keep(&self.catalog.item(Slot { kind, index }).origin.server)
            };
            let places = self.visible(kind).places().filter(of_server);
            self.narrowed(kind, places.collect())
        });
        let names = self.catalog.servers().iter();
        let servers = names.zip(&*self.servers).map(|(name, seen)| *seen && keep(name));
        Self {
            catalog: self.catalog.clone(),
            kinds,
            servers: servers.collect(),
        }
    }

    /// The tool that `name` means: its exposed name, its origin form such as `git.status`, or the
    /// bare name that exactly one visible tool has (AGG-06).
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        let visible = self.visible(Kind::Tools);
        let index = self.catalog.tool_names().find(name, |index| visible.has(index))?;
        Some(&self.catalog.tools()[index])
    }

    /// The visible tool with this origin form, such as `git.status`, and by no other name. Where two
    /// origins read the same, because names of servers may hold dots, it is the first of them.
    pub fn tool_by_origin(&self, name: &str) -> Option<&Tool> {
        let visible = self.visible(Kind::Tools);
        let mut all = self.catalog.tool_names().with_origin(name).iter();
        let index = all.find(|index| visible.has(**index))?;
        Some(&self.catalog.tools()[*index])
    }

    /// The prompt that `name` means, by the same forms as a tool.
    pub fn prompt(&self, name: &str) -> Option<&Item> {
        let visible = self.visible(Kind::Prompts);
        let index = self
            .catalog
            .prompt_names()
            .find(name, |index| visible.has(index))?;
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
            item: &|slot| {
                self.visible(slot.kind)
                    .has(slot.index)
                    .then(|| self.catalog.item(slot))
            },
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
        self.visible(kind).places.len()
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

    fn with_tools(&self, places: Vec<usize>) -> Self {
        let mut view = self.clone();
        view.kinds[Kind::Tools as usize] = self.narrowed(Kind::Tools, places);
        view
    }

    /// Some of the visible items of a kind; what is rendered already stays if that is all of them.
    fn narrowed(&self, kind: Kind, places: Vec<usize>) -> Arc<Visible> {
        let visible = &self.kinds[kind as usize];
        if places.len() == visible.places.len() {
            return visible.clone();
        }
        Arc::new(Visible::at(&self.catalog, kind, places))
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
        let is_allowed = |index: &usize| {
            let item = catalog.item(Slot { kind, index: *index });
            allow(&ItemRef {
                kind,
                server: &item.origin.server,
                item: Some(item),
            })
        };
        Self::at(catalog, kind, (0..catalog.len(kind)).filter(is_allowed).collect())
    }

    /// The items at these places, which are in order.
    fn at(catalog: &Catalog, kind: Kind, places: Vec<usize>) -> Self {
        let mut bits = vec![0_u64; catalog.len(kind).div_ceil(64)];
        places
            .iter()
            .for_each(|place| bits[place / 64] |= 1 << (place % 64));
        let narrow = |place| u32::try_from(place).expect("a catalog has fewer than four billion items");
        Self {
            kind,
            places: places.into_iter().map(narrow).collect(),
            bits: bits.into(),
            session: OnceLock::new(),
            stateless: OnceLock::new(),
        }
    }

    fn has(&self, place: usize) -> bool {
        self.bits[place / 64] & 1 << (place % 64) != 0
    }

    fn places(&self) -> impl Iterator<Item = usize> {
        self.places.iter().map(|place| *place as usize)
    }

    fn slots(&self) -> impl Iterator<Item = Slot> {
        self.places().map(|index| Slot {
            kind: self.kind,
            index,
        })
    }
}

#[cfg(test)]
mod tests {
    use mcpr_protocol::RawJson;

    use super::*;
    use crate::{Assignments, Listing, Naming, Offers, ServerNaming};

    /// Two servers with the tools `x` and `y` and the prompt `p` each.
    fn view() -> View {
        let named = |name: &str| {
            RawJson::trusted(format!(
                r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#
            ))
        };
        let offers = Arc::new(Offers {
            tools: vec![named("x"), named("y")],
            prompts: vec![named("p")],
            ..Offers::default()
        });
        let listing = |server: &str| Listing {
            server: server.parse().unwrap(),
            naming: ServerNaming::default(),
            overrides: Arc::default(),
            stateless_http: false,
            offers: offers.clone(),
        };
        let listings = ["a", "b"].map(listing);
        let built = Catalog::build(&listings, &Naming::default(), &Assignments::default());
        View::everything(Arc::new(built.catalog))
    }

    fn shared(one: &View, other: &View) -> [bool; 4] {
        Kind::ALL.map(|kind| Arc::ptr_eq(&one.kinds[kind as usize], &other.kinds[kind as usize]))
    }

    #[test]
    fn set_12_a_choice_of_tools_shares_all_but_the_tools() {
        let view = view();
        let prompts = view.list(Kind::Prompts, Era::Session);
        let chosen = view.select(&Selection::new(["a.x"]));
        assert_eq!(shared(&view, &chosen), [false, true, true, true]);
        assert_eq!(shared(&view, &view.without_tools()), [false, true, true, true]);
        assert_eq!(
            chosen.list(Kind::Prompts, Era::Stateless).as_ptr(),
            prompts.as_ptr(),
            "what was rendered once is not rendered again"
        );
    }

    #[test]
    fn set_12_what_takes_nothing_away_shares_all() {
        let view = view();
        assert_eq!(shared(&view, &view.select(&Selection::new(["*"]))), [true; 4]);
        assert_eq!(shared(&view, &view.without(|_| false)), [true; 4]);
        assert_eq!(shared(&view, &view.only_servers(|_| true)), [true; 4]);
    }
}

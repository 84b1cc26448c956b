//! Exposed URIs, and whose a URI is (AGG-09).

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::sync::Arc;

use crate::template::{Fit, Pattern};
use crate::{Item, Kind, Listing, Naming, ServerName, UriPolicy};

const SCHEME: &str = "resource://";

/// What it may take to compare a URI with the templates of one server: those that are too much are listed, but nobody's
/// URI is known by them, so that no server makes everybody's reads slow.
const COST: usize = 2048;

/// Where a resource is read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Route {
    /// The server.
    pub server: ServerName,
    /// The URI as the server knows it.
    pub uri: String,
}

/// Why a URI has no route.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum UriError {
    /// No server in sight has resources.
    #[error("no server has this resource")]
    Unknown,
    /// More than one server could have it.
    #[error(
        "several servers could have this resource: {}; ask for `resource://SERVER/URI` with one of them",
        listed(.0)
    )]
    Ambiguous(Vec<ServerName>),
}

/// One item of a catalog.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) kind: Kind,
    pub(crate) index: usize,
}

/// How the URIs of each server are exposed.
#[derive(Clone, Debug)]
pub(crate) struct Wrapping {
    servers: Vec<Wrapped>,
    raw_schemes: Vec<String>,
    by_name: HashMap<ServerName, usize>,
    /// Servers by what stands for them in exposed URIs; also by their names as they are.
    by_segment: HashMap<String, usize>,
}

#[derive(Clone, Debug)]
struct Wrapped {
    server: ServerName,
    segment: String,
    wrap: bool,
    has_resources: bool,
}

/// Resources and templates by their URIs. URIs are opaque texts here: nothing is decoded, encoded
/// or brought into a normal form (B79).
#[derive(Clone, Debug, Default)]
pub(crate) struct UriTable {
    exposed: HashMap<Arc<str>, Vec<Slot>>,
    original: HashMap<Arc<str>, Vec<Slot>>,
    patterns: Vec<(Slot, Pattern)>,
    /// What it takes to compare a URI with those of each server.
    costs: HashMap<ServerName, usize>,
}

/// The question whose a URI is, for one caller.
pub(crate) struct Search<'a> {
    pub(crate) wrapping: &'a Wrapping,
    pub(crate) table: &'a UriTable,
    /// The item in a slot with the place of its server; `None` where the caller may not see it.
    pub(crate) item: &'a dyn Fn(Slot) -> Option<&'a Item>,
    /// Whether the caller may read unlisted resources of the server at a place.
    pub(crate) in_sight: &'a dyn Fn(usize) -> bool,
}

type Found = Option<Result<Route, UriError>>;

impl Wrapping {
    pub(crate) fn new(listings: &[Listing], naming: &Naming) -> Self {
        let servers: Vec<Wrapped> = listings
            .iter()
            .map(|listing| Wrapped::new(listing, naming))
            .collect();
        let mut wrapping = Self {
            servers,
            raw_schemes: naming.raw_schemes.clone(),
            by_name: HashMap::new(),
            by_segment: HashMap::new(),
        };
        wrapping.index();
        wrapping
    }

    /// The exposed form of a server's URI; `None` where it stays as it is.
    pub(crate) fn expose(&self, server: &ServerName, uri: &str) -> Option<String> {
        let wrapped = &self.servers[*self.by_name.get(server)?];
        let stays = !wrapped.wrap || self.is_raw(uri);
        (!stays).then(|| format!("{SCHEME}{}/{uri}", wrapped.segment))
    }

    /// The place of the server in an exposed URI, and the rest.
    fn cut<'u>(&self, uri: &'u str) -> Option<(usize, &'u str)> {
        let (segment, rest) = uri.strip_prefix(SCHEME)?.split_once('/')?;
        Some((*self.by_segment.get(segment)?, rest))
    }

    /// Whether the scheme of a URI is one of those that stay.
    fn is_raw(&self, uri: &str) -> bool {
        let scheme = uri.split_once(':').map(|(scheme, _)| scheme);
        let is_it = |raw: &String| scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case(raw));
        self.raw_schemes.iter().any(is_it)
    }

    fn index(&mut self) {
        for (place, wrapped) in self.servers.iter().enumerate() {
            self.by_name.entry(wrapped.server.clone()).or_insert(place);
            self.by_segment.entry(wrapped.segment.clone()).or_insert(place);
        }
        for (place, wrapped) in self.servers.iter().enumerate() {
            self.by_segment.entry(wrapped.server.to_string()).or_insert(place);
        }
    }
}

impl Wrapped {
    fn new(listing: &Listing, naming: &Naming) -> Self {
        Self {
            server: listing.server.clone(),
            segment: segment(&listing.server),
            wrap: listing.naming.uris.unwrap_or(naming.uris) == UriPolicy::Wrapped,
            has_resources: listing.offers.has_resources(),
        }
    }
}

/// What stands for a server in an exposed URI: its name, with what a host may not hold encoded
/// (RFC 3986 section 2.1). Some clients read each listed URI with a URL parser and refuse the whole
/// list for one space; and a brace would begin an expression in a template.
fn segment(server: &ServerName) -> String {
    let mut segment = String::new();
    for byte in server.as_str().bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            segment.push(char::from(byte));
        } else {
            write!(segment, "%{byte:02X}").expect("writing to a string works");
        }
    }
    segment
}

impl UriTable {
    /// Adds a resource or a template.
    pub(crate) fn add(&mut self, slot: Slot, item: &Item) {
        let Item { exposed, origin, .. } = item;
        self.exposed.entry(exposed.clone()).or_default().push(slot);
        self.original.entry(origin.name.clone()).or_default().push(slot);
        if slot.kind == Kind::Templates {
            let pattern = Pattern::new(&origin.name);
            let cost = self.costs.entry(origin.server.clone()).or_default();
            if *cost + pattern.cost() <= COST {
                *cost += pattern.cost();
                self.patterns.push((slot, pattern));
            }
        }
    }
}

impl<'a> Search<'a> {
    /// Whose `uri` is: the first of these ways that leads anywhere.
    ///
    /// An exposed form comes before anything that a server says of its own URIs, so that none can
    /// draw another's to itself. A server may be called like the host of its own URIs
    /// (`resource://docs/a` of `docs`): what is left of such a URI after the cut is no URI, which
    /// tells it from an exposed one.
    pub(crate) fn route(&self, uri: &str) -> Result<Route, UriError> {
        self.listed(&self.table.exposed, uri)
            .or_else(|| self.cut(uri).filter(|route| has_scheme(&route.uri)).map(Ok))
            .or_else(|| self.listed(&self.table.original, uri))
            .or_else(|| self.made_from_template(uri, Fit::Exact))
            .or_else(|| self.cut(uri).map(Ok))
            .or_else(|| self.made_from_template(uri, Fit::Loose))
            .unwrap_or_else(|| self.only_server(uri))
    }

    fn listed(&self, table: &HashMap<Arc<str>, Vec<Slot>>, uri: &str) -> Found {
        let items = table.get(uri)?.iter().filter_map(|slot| (self.item)(*slot));
        self.one_of(items.map(|item| (&item.origin.server, &*item.origin.name)))
    }

    fn made_from_template(&self, uri: &str, fit: Fit) -> Found {
        let matching = self
            .table
            .patterns
            .iter()
            .filter(|(_, pattern)| pattern.matches(uri, fit));
        let items = matching.filter_map(|(slot, _)| (self.item)(*slot));
        self.one_of(items.map(|item| (&item.origin.server, uri)))
    }

    fn cut(&self, uri: &str) -> Option<Route> {
        let (place, rest) = self
            .wrapping
            .cut(uri)
            .filter(|(place, _)| (self.in_sight)(*place))?;
        let server = self.wrapping.servers[place].server.clone();
        Some(Route {
            server,
            uri: rest.to_owned(),
        })
    }

    fn only_server(&self, uri: &str) -> Result<Route, UriError> {
        let servers = self.wrapping.servers.iter().enumerate();
        let able = servers.filter(|(place, wrapped)| wrapped.has_resources && (self.in_sight)(*place));
        self.one_of(able.map(|(_, wrapped)| (&wrapped.server, uri)))
            .unwrap_or(Err(UriError::Unknown))
    }

    /// The one candidate, if there is one; an error that names the servers, if there are several.
    fn one_of<'c>(&self, candidates: impl Iterator<Item = (&'c ServerName, &'c str)>) -> Found {
        let place = |server: &ServerName| self.wrapping.by_name.get(server).copied();
        let mut owners: BTreeMap<Option<usize>, (&ServerName, &str)> = candidates
            .map(|(server, uri)| (place(server), (server, uri)))
            .collect();
        let (_, (server, uri)) = owners.pop_first()?;
        if owners.is_empty() {
            return Some(Ok(Route {
                server: server.clone(),
                uri: uri.to_owned(),
            }));
        }
        let others = owners.into_values().map(|(server, _)| server.clone());
        Some(Err(UriError::Ambiguous(
            std::iter::once(server.clone()).chain(others).collect(),
        )))
    }
}

fn has_scheme(uri: &str) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    uri.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(legal)
    })
}

fn listed(servers: &[ServerName]) -> String {
    let quoted: Vec<String> = servers.iter().map(|server| format!("`{server}`")).collect();
    quoted.join(", ")
}

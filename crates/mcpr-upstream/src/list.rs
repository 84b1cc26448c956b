//! Reading what a server lists.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use mcpr_protocol::{Edit, Era, Object, RawJson, Version, code};
use mcpr_registry::{Kind, Offers};
use mcpr_transport::{Failed, Transport};
use tokio::time::Instant;

use crate::ask::{ask, params};
use crate::fresh::{Fresh, Freshness};
use crate::introduce::Introduced;
use crate::status::Heard;
use crate::way::Way;

/// The most items of one list: a server that never ends it must not fill the memory.
const MAX_ITEMS: usize = 20_000;

/// The most bytes of one list, for the same reason.
const MAX_BYTES: usize = 64 << 20;

/// The longest cursor: it is sent back, and kept to tell whether it comes again.
const MAX_CURSOR: usize = 64 << 10;

/// Reads lists of one server.
pub(crate) struct Lister<'a> {
    pub(crate) server: &'a str,
    pub(crate) transport: &'a dyn Transport,
    pub(crate) introduced: &'a Introduced,
    /// Which gateway reads them.
    pub(crate) instance: &'a str,
    /// For one page.
    pub(crate) limit: Duration,
    /// How many pages of one list are read.
    pub(crate) pages: usize,
}

/// What a server listed, and how long it holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listed {
    pub(crate) offers: Arc<Offers>,
    pub(crate) fresh: Fresh,
}

impl Listed {
    /// The lists that are not as they were before.
    pub(crate) fn differ(&self, before: Option<&Offers>) -> Heard {
        let differs = |kind| before.is_none_or(|before| before.items(kind) != self.offers.items(kind));
        Heard {
            tools: differs(Kind::Tools),
            prompts: differs(Kind::Prompts),
            resources: differs(Kind::Resources) || differs(Kind::Templates),
        }
    }
}

/// One list.
#[derive(Clone, Default)]
struct List {
    items: Vec<RawJson>,
    /// How long they are, all together.
    bytes: usize,
    freshness: Option<Freshness>,
}

impl Lister<'_> {
    /// Reads the lists that `which` names; the others stay as they were in `before`.
    ///
    /// A list that the server answers with an error is kept as it was, so that one bad list does
    /// not take the others with it; only a lost connection is a failure.
    pub(crate) async fn read(&self, which: Heard, before: &Listed) -> Result<Listed, Failed> {
        let offered = &self.introduced.capabilities;
        let (tools, prompts, resources, templates) = tokio::try_join!(
            self.kind(Kind::Tools, offered.tools, which.tools, before),
            self.kind(Kind::Prompts, offered.prompts, which.prompts, before),
            self.kind(Kind::Resources, offered.resources, which.resources, before),
            self.kind(Kind::Templates, offered.resources, which.resources, before),
        )?;
        let mut fresh = Fresh::default();
        fresh.set(Kind::Tools, tools.freshness);
        fresh.set(Kind::Prompts, prompts.freshness);
        fresh.set(Kind::Resources, resources.freshness);
        fresh.set(Kind::Templates, templates.freshness);
        let offers = Offers {
            tools: tools.items,
            prompts: prompts.items,
            resources: resources.items,
            templates: templates.items,
            instructions: self.introduced.instructions.clone(),
            capabilities: self.introduced.capabilities,
            server_info: self.introduced.server_info.clone(),
        };
        Ok(Listed {
            offers: Arc::new(offers),
            fresh,
        })
    }

    async fn kind(&self, kind: Kind, offered: bool, wanted: bool, before: &Listed) -> Result<List, Failed> {
        if !offered {
            return Ok(List::default()); // B44: what was not offered is not asked for.
        }
        let read = if wanted { self.pages(kind).await? } else { None };
        Ok(read.unwrap_or_else(|| List {
            items: before.offers.items(kind).to_vec(),
            freshness: before.fresh.of(kind),
            bytes: 0,
        }))
    }

    /// All pages of one list; `None` where the server answers with an error.
    async fn pages(&self, kind: Kind) -> Result<Option<List>, Failed> {
        let mut list = List::default();
        let mut cursors: Vec<String> = Vec::new();
        let mut why = "the list is too long; the rest is left out";
        for _ in 0..self.pages {
            let Some(page) = self.page(kind, cursors.last()).await? else {
                return Ok(None);
            };
            list.take(page.list);
            let Some(next) = page.next else {
                return Ok(Some(list));
            };
            if cursors.contains(&next) {
                self.complain(kind, "the server repeats a cursor; the list ends there");
                list.items = each_once(list.items);
                return Ok(Some(list));
            }
            if next.len() > MAX_CURSOR {
                why = "a cursor is too long to be sent back; the list ends there";
                break;
            }
            if list.items.len() >= MAX_ITEMS || list.bytes >= MAX_BYTES {
                break;
            }
            cursors.push(next);
        }
        self.complain(kind, why);
        list.shorten(MAX_ITEMS, MAX_BYTES);
        Ok(Some(list))
    }

    async fn page(&self, kind: Kind, cursor: Option<&String>) -> Result<Option<Page>, Failed> {
        let params = list_params(self.introduced.version, cursor);
        let asked_at = Instant::now();
        match ask(self.transport, kind.method(), params, self.limit).await? {
            Ok(result) => Ok(self.read_page(&result, kind, asked_at).or_else(|| {
                self.complain(kind, "the answer holds no list");
                None
            })),
            Err(error) if error.code == code::METHOD_NOT_FOUND => Ok(Some(Page::default())),
            Err(error) => {
                self.complain(
                    kind,
                    &format!("the server answers {}: {}", error.code, error.message),
                );
                Ok(None)
            }
        }
    }

    fn read_page(&self, result: &RawJson, kind: Kind, asked_at: Instant) -> Option<Page> {
        let object = Object::read(result).ok()?;
        let items = object.get(kind.member())?.elements()?;
        let items: Vec<RawJson> = items
            .into_iter()
            .filter_map(|item| self.way().take(item))
            .collect();
        let freshness = match self.introduced.version.era() {
            Era::Stateless => Freshness::read(&object, asked_at),
            Era::Session if self.introduced.announced.has(kind) => Freshness::ANNOUNCED,
            Era::Session => Freshness::STALE,
        };
        Some(Page {
            list: List {
                bytes: items.iter().map(|item| item.as_bytes().len()).sum(),
                items,
                freshness: Some(freshness),
            },
            next: object.text("nextCursor"),
        })
    }

    fn way(&self) -> Way<'_> {
        Way {
            to: self.instance,
            from: self.introduced.gateway.as_deref(),
        }
    }

    fn complain(&self, kind: Kind, reason: &str) {
        tracing::warn!(server = self.server, list = %kind, reason, "list");
    }
}

/// One page of a list.
#[derive(Default)]
struct Page {
    list: List,
    next: Option<String>,
}

impl List {
    /// Adds a page. Each has a time of its own; the list holds as long as all of them.
    fn take(&mut self, page: List) {
        self.items.extend(page.items);
        self.bytes += page.bytes;
        self.freshness = match (self.freshness, page.freshness) {
            (Some(one), Some(other)) => Some(one.and(other)),
            (one, other) => one.or(other),
        };
    }

    /// Leaves out what is too much.
    fn shorten(&mut self, items: usize, bytes: usize) {
        let mut room = bytes;
        let fits = |item: &&RawJson| {
            let length = item.as_bytes().len();
            let fits = length <= room;
            room = room.saturating_sub(length);
            fits
        };
        let kept = self.items.iter().take(items).take_while(fits).count();
        self.items.truncate(kept);
    }
}

/// Pages that come again bring items that came before.
fn each_once(mut items: Vec<RawJson>) -> Vec<RawJson> {
    let mut seen = HashSet::with_capacity(items.len());
    items.retain(|item| seen.insert(item.clone()));
    items
}

fn list_params(version: Version, cursor: Option<&String>) -> mcpr_protocol::Rope {
    let none = Object::default();
    let Some(cursor) = cursor else {
        return params(version, &none);
    };
    let with_cursor = Edit::new(&none).set("cursor", RawJson::string(cursor)).finish();
    let object = Object::read(&RawJson::trusted(with_cursor.into_bytes())).expect("an edited object is one");
    params(version, &object)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many items of these lengths are kept.
    fn kept(lengths: &[usize], items: usize, bytes: usize) -> usize {
        let item = |length: &usize| RawJson::trusted("1".repeat(*length));
        let mut list = List {
            items: lengths.iter().map(item).collect(),
            ..List::default()
        };
        list.shorten(items, bytes);
        list.items.len()
    }

    #[test]
    fn sec_05_of_a_list_that_is_too_long_the_beginning_is_kept() {
        assert_eq!(kept(&[90, 10, 1], 9, 100), 2);
        assert_eq!(kept(&[101, 1], 9, 100), 0);
        assert_eq!(kept(&[1; 12], 9, 100), 9);
    }
}

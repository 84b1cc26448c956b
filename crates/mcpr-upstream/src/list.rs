//! Reading what a server lists.

use std::collections::HashSet;
use std::time::Duration;

use mcpr_protocol::{Edit, Object, RawJson, Version, code};
use mcpr_registry::{Kind, Offers};
use mcpr_transport::{Failed, Transport};

use crate::ask::{ask, params};
use crate::introduce::Introduced;
use crate::status::Heard;

/// The most items of one list: a server that never ends it must not fill the memory.
const MAX_ITEMS: usize = 20_000;

/// Reads lists of one server.
pub(crate) struct Lister<'a> {
    pub(crate) server: &'a str,
    pub(crate) transport: &'a dyn Transport,
    pub(crate) introduced: &'a Introduced,
    /// For one page.
    pub(crate) limit: Duration,
    /// How many pages of one list are read.
    pub(crate) pages: usize,
}

impl Lister<'_> {
    /// Reads the lists that `which` names; the others stay as they were in `before`.
    ///
    /// A list that the server answers with an error is kept as it was, so that one bad list does
    /// not take the others with it; only a lost connection is a failure.
    pub(crate) async fn read(&self, which: Heard, before: Option<&Offers>) -> Result<Offers, Failed> {
        let none = Vec::new();
        let old = |pick: fn(&Offers) -> &Vec<RawJson>| before.map_or(&none, pick);
        let offered = &self.introduced.capabilities;
        let (tools, prompts, resources, templates) = tokio::try_join!(
            self.kind(
                Kind::Tools,
                offered.tools,
                which.tools,
                old(|offers| &offers.tools)
            ),
            self.kind(
                Kind::Prompts,
                offered.prompts,
                which.prompts,
                old(|offers| &offers.prompts)
            ),
            self.kind(
                Kind::Resources,
                offered.resources,
                which.resources,
                old(|offers| &offers.resources)
            ),
            self.kind(
                Kind::Templates,
                offered.resources,
                which.resources,
                old(|offers| &offers.templates)
            ),
        )?;
        Ok(Offers {
            tools,
            prompts,
            resources,
            templates,
            instructions: self.introduced.instructions.clone(),
            capabilities: self.introduced.capabilities,
            server_info: self.introduced.server_info.clone(),
        })
    }

    async fn kind(
        &self,
        kind: Kind,
        offered: bool,
        wanted: bool,
        old: &[RawJson],
    ) -> Result<Vec<RawJson>, Failed> {
        if !offered {
            return Ok(Vec::new()); // B44: what was not offered is not asked for.
        }
        if !wanted {
            return Ok(old.to_vec());
        }
        let items = self.pages(kind).await?;
        Ok(items.unwrap_or_else(|| old.to_vec()))
    }

    /// All pages of one list; `None` where the server answers with an error.
    async fn pages(&self, kind: Kind) -> Result<Option<Vec<RawJson>>, Failed> {
        let mut items = Vec::new();
        let mut cursors: Vec<String> = Vec::new();
        for _ in 0..self.pages {
            let Some(page) = self.page(kind, cursors.last()).await? else {
                return Ok(None);
            };
            items.extend(page.items);
            let Some(next) = page.next else {
                return Ok(Some(items));
            };
            if cursors.contains(&next) {
                self.complain(kind, "the server repeats a cursor; the list ends there");
                return Ok(Some(each_once(items)));
            }
            if items.len() >= MAX_ITEMS {
                break;
            }
            cursors.push(next);
        }
        self.complain(kind, "the list is too long; the rest is left out");
        items.truncate(MAX_ITEMS);
        Ok(Some(items))
    }

    async fn page(&self, kind: Kind, cursor: Option<&String>) -> Result<Option<Page>, Failed> {
        let params = list_params(self.introduced.version, cursor);
        match ask(self.transport, kind.method(), params, self.limit).await? {
            Ok(result) => Ok(Page::read(&result, kind).or_else(|| {
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

    fn complain(&self, kind: Kind, reason: &str) {
        tracing::warn!(server = self.server, list = %kind, reason, "list");
    }
}

/// One page of a list.
#[derive(Default)]
struct Page {
    items: Vec<RawJson>,
    next: Option<String>,
}

impl Page {
    fn read(result: &RawJson, kind: Kind) -> Option<Self> {
        let object = Object::read(result).ok()?;
        let items = object.get(kind.member())?.elements()?;
        Some(Self {
            items,
            next: object.text("nextCursor"),
        })
    }
}

/// Pages that come again bring items that came before.
fn each_once(mut items: Vec<RawJson>) -> Vec<RawJson> {
    let mut seen = HashSet::with_capacity(items.len());
    items.retain(|item| seen.insert(item.clone()));
    items
}

fn list_params(version: Version, cursor: Option<&String>) -> mcpr_protocol::Rope {
    let empty = RawJson::from_static("{}");
    let none = Object::read(&empty).expect("an empty object is one");
    let Some(cursor) = cursor else {
        return params(version, &none);
    };
    let with_cursor = Edit::new(&none).set("cursor", RawJson::string(cursor)).finish();
    let object = Object::read(&RawJson::trusted(with_cursor.into_bytes())).expect("an edited object is one");
    params(version, &object)
}

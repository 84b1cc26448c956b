//! Folds what all servers listed into one immutable whole.

use std::sync::Arc;

use crate::claims::{Claim, settle};
use crate::draft::{Draft, ToolFacts, read_all};
use crate::name_table::NameTable;
use crate::naming::Namer;
use crate::render::{Meta, render};
use crate::uri::{Slot, UriTable, Wrapping};
use crate::{
    Assignments, Item, Kind, Listing, Naming, Oddity, Origin, Overrides, PrefixPolicy, Row, ServerName, Tool,
    Warning,
};

/// One generation of everything that all servers offer, under the names that clients see.
///
/// It never changes: the next listing makes the next catalog. What one caller may see of it is a
/// [`View`](crate::View).
#[derive(Clone, Debug)]
pub struct Catalog {
    tools: Vec<Tool>,
    prompts: Vec<Item>,
    resources: Vec<Item>,
    templates: Vec<Item>,
    servers: Vec<ServerName>,
    tool_names: NameTable,
    prompt_names: NameTable,
    uris: UriTable,
    wrapping: Wrapping,
}

/// A catalog and what came of building it.
#[derive(Debug)]
pub struct Built {
    /// The catalog.
    pub catalog: Catalog,
    /// All names that were given so far, for the next catalog.
    pub assignments: Assignments,
    /// The names that are new or changed, to be stored.
    pub new_rows: Vec<Row>,
    /// What was odd, by kind and then in the order of the listings.
    pub warnings: Vec<Warning>,
}

impl Catalog {
    /// Folds `listings`, which are in the order of the configuration.
    ///
    /// The same input gives the same catalog. Nothing a server lists makes it fail: what cannot be
    /// used is left out alone, with a warning. The cost grows with the size of the listings.
    pub fn build(listings: &[Listing], naming: &Naming, known: &Assignments) -> Built {
        let own = |listing| namer(listing, naming);
        let namers: Vec<Namer<'_>> = listings.iter().map(own).collect();
        let wrapping = Wrapping::new(listings, naming);
        let mut fold = Fold {
            listings,
            namers: &namers,
            policy: naming.prefix,
            known,
            rows: Vec::new(),
            warnings: Vec::new(),
        };
        let tools: Vec<Tool> = fold
            .by_name(Kind::Tools)
            .into_iter()
            .map(|(item, facts)| tool(item, facts))
            .collect();
        let prompts: Vec<Item> = fold
            .by_name(Kind::Prompts)
            .into_iter()
            .map(|(item, _)| item)
            .collect();
        let resources = fold.by_uri(Kind::Resources, &wrapping);
        let templates = fold.by_uri(Kind::Templates, &wrapping);
        let Fold { rows, warnings, .. } = fold;
        let catalog = Self {
            tool_names: NameTable::of(tools.iter().map(|tool| &tool.item)),
            prompt_names: NameTable::of(prompts.iter()),
            uris: uri_table(&resources, &templates),
            servers: listings.iter().map(|listing| listing.server.clone()).collect(),
            tools,
            prompts,
            resources,
            templates,
            wrapping,
        };
        Built {
            catalog,
            assignments: with_rows(known, &rows),
            new_rows: rows,
            warnings,
        }
    }

    /// How many items of a kind there are.
    pub fn len(&self, kind: Kind) -> usize {
        match kind {
            Kind::Tools => self.tools.len(),
            Kind::Prompts => self.prompts.len(),
            Kind::Resources => self.resources.len(),
            Kind::Templates => self.templates.len(),
        }
    }

    /// Whether nothing is offered at all.
    pub fn is_empty(&self) -> bool {
        Kind::ALL.into_iter().all(|kind| self.len(kind) == 0)
    }

    /// The servers, in the order of the configuration.
    pub fn servers(&self) -> &[ServerName] {
        &self.servers
    }

    pub(crate) fn item(&self, slot: Slot) -> &Item {
        match slot.kind {
            Kind::Tools => &self.tools[slot.index].item,
            Kind::Prompts => &self.prompts[slot.index],
            Kind::Resources => &self.resources[slot.index],
            Kind::Templates => &self.templates[slot.index],
        }
    }

    pub(crate) fn tools(&self) -> &[Tool] {
        &self.tools
    }

    pub(crate) fn prompts(&self) -> &[Item] {
        &self.prompts
    }

    pub(crate) fn tool_names(&self) -> &NameTable {
        &self.tool_names
    }

    pub(crate) fn prompt_names(&self) -> &NameTable {
        &self.prompt_names
    }

    pub(crate) fn uris(&self) -> &UriTable {
        &self.uris
    }

    pub(crate) fn wrapping(&self) -> &Wrapping {
        &self.wrapping
    }
}

/// The work of building one catalog.
struct Fold<'a> {
    listings: &'a [Listing],
    namers: &'a [Namer<'a>],
    policy: PrefixPolicy,
    known: &'a Assignments,
    rows: Vec<Row>,
    warnings: Vec<Warning>,
}

impl Fold<'_> {
    /// Tools or prompts: whose names have to be unique over all servers.
    fn by_name(&mut self, kind: Kind) -> Vec<(Item, ToolFacts)> {
        let drafts = read_all(kind, self.listings, &mut self.warnings);
        let names = self.names(kind, &drafts);
        let mut items = Vec::with_capacity(drafts.len());
        for (draft, exposed) in drafts.into_iter().zip(names) {
            if let Some(exposed) = exposed {
                let item = self.item(kind, &draft, exposed);
                items.push((item, draft.facts));
            }
        }
        items
    }

    /// Resources or templates: whose exposed URIs name their server.
    fn by_uri(&mut self, kind: Kind, wrapping: &Wrapping) -> Vec<Item> {
        let drafts = read_all(kind, self.listings, &mut self.warnings);
        let finish = |draft: &Draft<'_>| {
            let exposed = wrapping.expose(&draft.listing.server, &draft.origin);
            let exposed = exposed.map_or_else(|| draft.origin.clone(), Arc::from);
            self.item(kind, draft, exposed)
        };
        drafts.iter().map(finish).collect()
    }

    fn names(&mut self, kind: Kind, drafts: &[Draft<'_>]) -> Vec<Option<Arc<str>>> {
        let none = Overrides::new();
        let own = self.namers.iter().map(|namer| for_kind(namer, kind, &none));
        let namers: Vec<Namer<'_>> = own.collect();
        let claim = |draft: &Draft<'_>| Claim {
            namer: &namers[draft.place],
            origin: draft.origin.clone(),
        };
        let claims: Vec<Claim<'_>> = drafts.iter().map(claim).collect();
        let settled = settle(kind, self.policy, &claims, &namers, self.known);
        for (index, oddity) in settled.oddities {
            self.warn(kind, &drafts[index], oddity);
        }
        if self.policy == PrefixPolicy::Always {
            let named = drafts.iter().zip(&settled.names);
            let rows =
                named.filter_map(|(draft, exposed)| new_row(self.known, kind, draft, exposed.as_ref()?));
            self.rows.extend(rows);
        }
        settled.names
    }

    fn item(&mut self, kind: Kind, draft: &Draft<'_>, exposed: Arc<str>) -> Item {
        let meta = Meta::of(draft);
        if meta.replaced {
            self.warn(kind, draft, Oddity::MetaReplaced);
        }
        Item {
            rendered: render(kind, draft, meta, &exposed),
            origin: Origin {
                server: draft.listing.server.clone(),
                name: draft.origin.clone(),
            },
            definition: draft.object.raw().clone(),
            exposed,
        }
    }

    fn warn(&mut self, kind: Kind, draft: &Draft<'_>, what: Oddity) {
        let (server, item) = (draft.listing.server.clone(), draft.origin.to_string());
        self.warnings.push(Warning {
            server,
            kind,
            item,
            what,
        });
    }
}

fn namer<'a>(listing: &'a Listing, rules: &'a Naming) -> Namer<'a> {
    Namer {
        server: &listing.server,
        own: &listing.naming,
        rules,
        overrides: &listing.overrides,
    }
}

/// Only tools are renamed by operators.
fn for_kind<'a>(namer: &Namer<'a>, kind: Kind, none: &'a Overrides) -> Namer<'a> {
    match kind {
        Kind::Tools => *namer,
        _ => Namer {
            overrides: none,
            ..*namer
        },
    }
}

fn tool(item: Item, facts: ToolFacts) -> Tool {
    let ToolFacts {
        param_headers,
        read_only,
        idempotent,
        task_required,
        ..
    } = facts;
    Tool {
        item,
        read_only,
        idempotent,
        task_required,
        param_headers,
    }
}

fn new_row(known: &Assignments, kind: Kind, draft: &Draft<'_>, exposed: &Arc<str>) -> Option<Row> {
    let server = &draft.listing.server;
    let is_known = known.name(kind, server, &draft.origin) == Some(exposed);
    (!is_known && known.has_room(kind, server)).then(|| Row {
        kind,
        server: server.clone(),
        origin: draft.origin.to_string(),
        exposed: exposed.to_string(),
    })
}

fn with_rows(known: &Assignments, rows: &[Row]) -> Assignments {
    let mut assignments = known.clone();
    rows.iter().cloned().for_each(|row| assignments.put(row));
    assignments
}

fn uri_table(resources: &[Item], templates: &[Item]) -> UriTable {
    let mut table = UriTable::default();
    for (kind, items) in [(Kind::Resources, resources), (Kind::Templates, templates)] {
        for (index, item) in items.iter().enumerate() {
            table.add(Slot { kind, index }, item);
        }
    }
    table
}

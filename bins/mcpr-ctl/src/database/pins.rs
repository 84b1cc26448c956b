//! Pinned definitions, without a gateway: what the last run of one has seen is compared.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcpr_admin::{
    Approval, ApprovePins, DiffPins, ErrorCode, Failure, ListPins, PinChange, PinDiff, PinList, PinReport,
    PinState,
};
use mcpr_auth::Timestamp;
use mcpr_config::ServerEntry;
use mcpr_registry::{Compared, Deviation, Difference, Offers, Pin, PinPolicy, Pins, server_and_tool};
use mcpr_store::{SavedListing, SavedPin, SavedPins};

use super::switches::no_server;
use super::{Absent, Database, Offline};
use crate::problem::Problem;

/// The servers of the configuration, with what is stored of them.
struct Stored {
    entries: Vec<ServerEntry>,
    listings: Vec<SavedListing>,
    pins: Vec<SavedPins>,
}

/// A server as the last run has seen it.
struct Seen {
    server: String,
    since: BTreeMap<Arc<str>, Timestamp>,
    compared: Compared,
}

/// What is approved of one server at once.
struct Batch {
    server: String,
    approved: Vec<SavedPin>,
    forgotten: Vec<String>,
}

impl Offline<ListPins> for Database {
    const ABSENT: Absent = Absent::CountAsEmpty;

    async fn carry_out(&self, asked: ListPins) -> Result<PinList, Problem> {
        let seen = self.stored().await?.seen(asked.server.as_deref())?;
        Ok(PinList {
            pins: seen.iter().flat_map(Seen::reports).collect(),
        })
    }
}

impl Offline<DiffPins> for Database {
    const ABSENT: Absent = Absent::CountAsEmpty;

    async fn carry_out(&self, asked: DiffPins) -> Result<PinDiff, Problem> {
        let stored = self.stored().await?;
        let (server, tool) = match &asked.name {
            Some(name) => stored.meant(name),
            None => (None, None),
        };
        let seen = stored.seen(server)?;
        if let (Some(tool), [seen]) = (tool, &*seen) {
            seen.check(tool)?;
        }
        let fits = |change: &PinChange| tool.is_none_or(|tool| change.pin.tool == tool);
        Ok(PinDiff {
            changes: seen.iter().flat_map(Seen::changes).filter(fits).collect(),
        })
    }
}

impl Offline<ApprovePins> for Database {
    const ABSENT: Absent = Absent::CountAsEmpty;

    async fn carry_out(&self, asked: ApprovePins) -> Result<PinList, Problem> {
        let (stored, now) = (self.stored().await?, Timestamp::now());
        let mut batches = Vec::new();
        for (server, approvals) in asked.by_server() {
            for seen in stored.seen(Some(server))? {
                batches.push(seen.batch(&approvals, now)?);
            }
        }
        for Batch {
            server,
            approved,
            forgotten,
        } in batches
        {
            self.store.approve_pins(&server, approved, forgotten).await?;
        }
        let seen = self.stored().await?.seen(None)?;
        let pins = seen.iter().flat_map(Seen::reports);
        Ok(PinList {
            pins: pins.filter(|pin| asked.is_of(pin)).collect(),
        })
    }
}

impl Database {
    async fn stored(&self) -> Result<Stored, Problem> {
        Ok(Stored {
            entries: mcpr_config::servers(self.config()?.servers),
            listings: self.store.listings().await?,
            pins: self.store.pins().await?,
        })
    }
}

impl Stored {
    /// The servers whose definitions are compared, or the one that is asked for.
    fn seen(&self, server: Option<&str>) -> Result<Vec<Seen>, Problem> {
        let Some(name) = server else {
            return Ok(self.entries.iter().filter_map(|entry| self.see(entry)).collect());
        };
        let entry = self.entries.iter().find(|entry| entry.name.as_str() == name);
        let entry = entry.ok_or_else(|| no_server(name, &self.entries))?;
        let seen = self.see(entry).ok_or_else(|| unpinned(name))?;
        Ok(vec![seen])
    }

    fn see(&self, entry: &ServerEntry) -> Option<Seen> {
        let name = entry.name.as_str();
        let listing = self.listings.iter().find(|listing| listing.server == name)?;
        let pins = self.pins.iter().find(|pins| pins.server == name)?;
        Seen::new(entry, listing, &pins.tools)
    }

    /// The server that a name means, and the tool of it.
    fn meant<'n>(&'n self, name: &'n str) -> (Option<&'n str>, Option<&'n str>) {
        let mut servers = self.entries.iter().map(|entry| &entry.name);
        if servers.clone().any(|server| server.as_str() == name) {
            return (Some(name), None);
        }
        match server_and_tool(name, servers.by_ref()) {
            Some((server, tool)) => (Some(server.as_str()), Some(tool)),
            None => (
                Some(name.split_once('.').map_or(name, |(server, _)| server)),
                None,
            ),
        }
    }
}

impl Seen {
    fn new(entry: &ServerEntry, listing: &SavedListing, saved: &[SavedPin]) -> Option<Self> {
        if entry.pins == PinPolicy::Off {
            return None;
        }
        let offers = Offers::from_blob(listing.body.clone().into()).ok()?;
        let (mut approved, mut since) = (Pins::default(), BTreeMap::new());
        for SavedPin { tool, definition, at } in saved {
            approved.put(tool.as_str().into(), Pin::stored(definition.clone()));
            since.insert(tool.as_str().into(), *at);
        }
        let is_kept_away = entry.tools.kept_away();
        Some(Self {
            server: entry.name.to_string(),
            since,
            compared: Compared::new(entry.pins, Arc::new(offers), Arc::new(approved), is_kept_away),
        })
    }

    fn reports(&self) -> impl Iterator<Item = PinReport> {
        let tools = self.compared.tools().into_iter();
        tools.map(|tool| self.report(tool))
    }

    fn report(&self, tool: &str) -> PinReport {
        PinReport {
            server: self.server.clone(),
            tool: tool.to_owned(),
            state: match self.compared.deviations.get(tool) {
                None => PinState::Approved,
                Some(Deviation::Changed) => PinState::Changed,
                Some(Deviation::New) => PinState::New,
                Some(Deviation::Removed) => PinState::Removed,
            },
            held: self.compared.held(tool).is_some(),
            approved_at: self.since.get(tool).map(ToString::to_string),
        }
    }

    fn changes(&self) -> impl Iterator<Item = PinChange> {
        self.compared.differences().map(|found| {
            let Difference {
                tool,
                before,
                after,
                notes,
            } = found;
            PinChange {
                pin: self.report(tool),
                notes,
                before: before.map(|pin| pin.definition.clone()),
                hash: after.map(|pin| pin.hash.clone()),
                after: after.map(|pin| pin.definition.clone()),
            }
        })
    }

    fn check(&self, tool: &str) -> Result<(), Problem> {
        if self.compared.knows(tool) {
            return Ok(());
        }
        let server = &self.server;
        let problem = Problem::not_found(format!("server `{server}` has no tool `{tool}`"));
        Err(problem.hint(format!("`mcpr-ctl pins ls {server}` shows those it has")))
    }

    /// What is approved, if it is what was seen last.
    fn batch(&self, approvals: &[&Approval], now: Timestamp) -> Result<Batch, Problem> {
        let mut batch = Batch {
            server: self.server.clone(),
            approved: Vec::new(),
            forgotten: Vec::new(),
        };
        for Approval { tool, hash, .. } in approvals {
            self.check(tool)?;
            if !self.compared.is_now(tool, hash.as_deref()) {
                return Err(changed_again(&self.server, tool));
            }
            match self.compared.now.get(tool) {
                Some(pin) => batch.approved.push(saved(tool, pin, now)),
                None => batch.forgotten.push(tool.clone()),
            }
        }
        Ok(batch)
    }
}

fn unpinned(server: &str) -> Problem {
    let what = format!("no gateway has pinned the definitions of server `{server}` yet");
    Failure::new(ErrorCode::Unavailable, what)
        .hint("say `mcpr.pins` in its entry, and start a gateway")
        .into()
}

fn changed_again(server: &str, tool: &str) -> Problem {
    let what = format!(
        "the definition of `{server}.{tool}` is not the one that was looked at, and nothing was approved"
    );
    Problem::failed(what).hint(format!("look again: mcpr-ctl pins diff {server}.{tool}"))
}

fn saved(tool: &str, pin: &Pin, at: Timestamp) -> SavedPin {
    SavedPin {
        tool: tool.to_owned(),
        definition: pin.definition.as_str().to_owned(),
        at,
    }
}

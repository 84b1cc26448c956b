//! Pinned definitions, without a gateway: what the last run of one has seen is compared.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcpr_admin::{
    Approval, ApprovePins, DiffPins, ErrorCode, Failure, ListPins, PinChange, PinDiff, PinList, PinReport,
    PinState,
};
use mcpr_auth::Timestamp;
use mcpr_config::ServerEntry;
use mcpr_protocol::RawJson;
use mcpr_registry::{Change, Deviation, Offers, Pin, PinPolicy, Pins, compare};
use mcpr_store::{SavedListing, SavedPin};

use super::{Absent, Database, Offline};
use crate::problem::Problem;

/// A server as the last run has seen it.
struct Seen {
    server: String,
    policy: PinPolicy,
    approved: Pins,
    since: BTreeMap<Arc<str>, Timestamp>,
    now: Pins,
    deviations: BTreeMap<Arc<str>, Deviation>,
}

impl Offline<ListPins> for Database {
    const ABSENT: Absent = Absent::CountAsEmpty;

    async fn carry_out(&self, asked: ListPins) -> Result<PinList, Problem> {
        let seen = self.seen(asked.server.as_deref()).await?;
        Ok(PinList {
            pins: seen.iter().flat_map(Seen::reports).collect(),
        })
    }
}

impl Offline<DiffPins> for Database {
    const ABSENT: Absent = Absent::CountAsEmpty;

    async fn carry_out(&self, asked: DiffPins) -> Result<PinDiff, Problem> {
        let (server, tool) = match &asked.name {
            Some(name) => self.meant(name)?,
            None => (None, None),
        };
        let seen = self.seen(server.as_deref()).await?;
        if let (Some(tool), [seen]) = (&tool, &*seen) {
            seen.check(tool)?;
        }
        let fits = |change: &PinChange| tool.as_ref().is_none_or(|tool| change.pin.tool == *tool);
        Ok(PinDiff {
            changes: seen.iter().flat_map(Seen::changes).filter(fits).collect(),
        })
    }
}

impl Offline<ApprovePins> for Database {
    const ABSENT: Absent = Absent::CountAsEmpty;

    async fn carry_out(&self, asked: ApprovePins) -> Result<PinList, Problem> {
        for approval in &asked.approvals {
            let seen = self.seen(Some(&approval.server)).await?;
            seen.iter().try_for_each(|seen| seen.check_hash(approval))?;
        }
        for approval in &asked.approvals {
            for seen in self.seen(Some(&approval.server)).await? {
                let pin = seen.now.get(&approval.tool).filter(|_| approval.hash.is_some());
                let approved = pin.map(|pin| saved(&approval.tool, pin)).into_iter().collect();
                let forgotten = if pin.is_none() {
                    vec![approval.tool.clone()]
                } else {
                    Vec::new()
                };
                self.store.approve_pins(&seen.server, approved, forgotten).await?;
            }
        }
        let all = self.seen(None).await?;
        let is_meant = |pin: &PinReport| {
            let same = |approval: &Approval| approval.server == pin.server && approval.tool == pin.tool;
            asked.approvals.iter().any(same)
        };
        Ok(PinList {
            pins: all.iter().flat_map(Seen::reports).filter(is_meant).collect(),
        })
    }
}

impl Database {
    /// The servers whose definitions are compared, or the one that is asked for.
    async fn seen(&self, server: Option<&str>) -> Result<Vec<Seen>, Problem> {
        let entries = mcpr_config::servers(self.config()?.servers);
        let listings = self.store.listings().await?;
        let stored = self.store.pins().await?;
        let see = |entry: &ServerEntry| {
            let listing = listings
                .iter()
                .find(|listing| listing.server == entry.name.as_str())?;
            let pins = stored.iter().find(|pins| pins.server == entry.name.as_str())?;
            Seen::new(entry, listing, &pins.tools)
        };
        let Some(name) = server else {
            return Ok(entries.iter().filter_map(see).collect());
        };
        let Some(entry) = entries.iter().find(|entry| entry.name.as_str() == name) else {
            return Err(Failure::new(ErrorCode::NotFound, format!("there is no server `{name}`")).into());
        };
        see(entry).map(|seen| vec![seen]).ok_or_else(|| {
            let what = format!("no gateway has pinned the definitions of server `{name}` yet");
            Failure::new(ErrorCode::Unavailable, what)
                .hint("say `mcpr.pins` in its entry, and start a gateway")
                .into()
        })
    }

    /// The server that a name means, and the tool of it; names of servers may have dots.
    fn meant(&self, name: &str) -> Result<(Option<String>, Option<String>), Problem> {
        let entries = mcpr_config::servers(self.config()?.servers);
        let parts = |entry: &ServerEntry| {
            let rest = name.strip_prefix(entry.name.as_str())?;
            let tool = rest.strip_prefix('.');
            (rest.is_empty() || tool.is_some()).then(|| (entry.name.to_string(), tool.map(str::to_owned)))
        };
        let fitting = entries.iter().filter_map(parts);
        let found = fitting.max_by_key(|(server, _)| server.len());
        found
            .map(|(server, tool)| (Some(server), tool))
            .ok_or_else(|| Failure::new(ErrorCode::NotFound, format!("there is no server `{name}`")).into())
    }
}

impl Seen {
    fn new(entry: &ServerEntry, listing: &SavedListing, saved: &[SavedPin]) -> Option<Self> {
        if entry.pins == PinPolicy::Off {
            return None;
        }
        let now = Pins::of(&Offers::from_blob(listing.body.clone().into()).ok()?);
        let (mut approved, mut since) = (Pins::default(), BTreeMap::new());
        for SavedPin { tool, definition, at } in saved {
            let definition = RawJson::parse(definition.clone().into());
            let definition = definition.unwrap_or_else(|_| RawJson::from_static("null"));
            approved.put(tool.as_str().into(), Pin::new(definition));
            since.insert(tool.as_str().into(), *at);
        }
        Some(Self {
            server: entry.name.to_string(),
            policy: entry.pins,
            deviations: approved.deviations(&now),
            approved,
            since,
            now,
        })
    }

    fn reports(&self) -> impl Iterator<Item = PinReport> {
        let new = self
            .deviations
            .iter()
            .filter(|(_, deviation)| **deviation == Deviation::New);
        let all = self
            .approved
            .iter()
            .map(|(tool, _)| tool)
            .chain(new.map(|(tool, _)| tool));
        let mut tools: Vec<&Arc<str>> = all.collect();
        tools.sort();
        tools.into_iter().map(|tool| self.report(tool))
    }

    fn report(&self, tool: &str) -> PinReport {
        let (state, differs) = match self.deviations.get(tool) {
            None => (PinState::Approved, false),
            Some(Deviation::Changed) => (PinState::Changed, true),
            Some(Deviation::New) => (PinState::New, true),
            Some(Deviation::Removed) => (PinState::Removed, false),
        };
        PinReport {
            server: self.server.clone(),
            tool: tool.to_owned(),
            state,
            held: differs && self.policy == PinPolicy::Block,
            approved_at: self.since.get(tool).map(ToString::to_string),
        }
    }

    fn changes(&self) -> impl Iterator<Item = PinChange> {
        self.deviations.keys().map(|tool| {
            let (before, after) = (self.approved.get(tool), self.now.get(tool));
            PinChange {
                pin: self.report(tool),
                notes: before.zip(after).map_or_else(Vec::new, notes),
                before: before.map(|pin| pin.definition.clone()),
                after: after.map(|pin| pin.definition.clone()),
                hash: after.map(|pin| pin.hash.clone()),
            }
        })
    }

    fn check(&self, tool: &str) -> Result<(), Problem> {
        let known = self.approved.get(tool).or_else(|| self.now.get(tool));
        let absent = || format!("server `{}` has no tool `{tool}`", self.server);
        known
            .map(drop)
            .ok_or_else(|| Failure::new(ErrorCode::NotFound, absent()).into())
    }

    /// Whether what is approved is what was seen last.
    fn check_hash(&self, approval: &Approval) -> Result<(), Problem> {
        self.check(&approval.tool)?;
        let now = self.now.get(&approval.tool).map(|pin| &pin.hash);
        if now == approval.hash.as_ref() {
            return Ok(());
        }
        let what = format!(
            "the definition of `{}.{}` is not the one that was looked at",
            self.server, approval.tool
        );
        Err(Failure::new(ErrorCode::Failed, what)
            .hint("look again: mcpr-ctl pins diff")
            .into())
    }
}

/// What a change means for calls.
fn notes((before, after): (&Pin, &Pin)) -> Vec<String> {
    match compare(&before.definition, &after.definition) {
        Change::Unchanged => Vec::new(),
        Change::Compatible(notes) | Change::Breaking(notes) => notes,
    }
}

fn saved(tool: &str, pin: &Pin) -> SavedPin {
    SavedPin {
        tool: tool.to_owned(),
        definition: pin.definition.as_str().to_owned(),
        at: Timestamp::now(),
    }
}

//! Pinned definitions, as operators see and approve them.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcpr_admin::{
    Approval, ApprovePins, DiffPins, ErrorCode, Execute, Failure, ListPins, PinChange, PinCounts, PinDiff,
    PinList, PinReport, PinState,
};
use mcpr_auth::{Principal, Timestamp};
use mcpr_config::ServerEntry;
use mcpr_registry::{Change, Deviation, Pin, ServerName, compare};

use super::Operator;
use super::projects::unsaved;
use crate::pins::{Approved, Judged, saved};
use crate::snapshot::Snapshot;

/// A server whose definitions are compared.
struct Compared {
    server: ServerName,
    judged: Arc<Judged>,
    approved: Arc<Approved>,
}

/// What is approved of one server at once.
#[derive(Default)]
struct Batch {
    approved: Vec<(Arc<str>, Pin)>,
    forgotten: Vec<Arc<str>>,
}

impl Execute<ListPins, Principal> for Operator {
    async fn execute(&self, _: &Principal, asked: ListPins) -> Result<PinList, Failure> {
        let servers = self.compared(asked.server.as_deref()).await?;
        Ok(PinList {
            pins: servers.iter().flat_map(Compared::reports).collect(),
        })
    }
}

impl Execute<DiffPins, Principal> for Operator {
    async fn execute(&self, _: &Principal, asked: DiffPins) -> Result<PinDiff, Failure> {
        let (server, tool) = match &asked.name {
            Some(name) => self.meant(name)?,
            None => (None, None),
        };
        let servers = self.compared(server.as_deref()).await?;
        if let (Some(tool), [server]) = (&tool, &*servers) {
            server.check(tool)?;
        }
        let fits = |change: &PinChange| tool.as_ref().is_none_or(|tool| change.pin.tool == *tool);
        let changes = servers.iter().flat_map(Compared::changes).filter(fits);
        Ok(PinDiff {
            changes: changes.collect(),
        })
    }
}

impl Execute<ApprovePins, Principal> for Operator {
    async fn execute(&self, _: &Principal, asked: ApprovePins) -> Result<PinList, Failure> {
        let one_at_a_time = self.gateway.planning.lock().await;
        let mut batches: BTreeMap<ServerName, Batch> = BTreeMap::new();
        for approval in &asked.approvals {
            let servers = self.compared(Some(&approval.server)).await?;
            for compared in servers {
                let batch = batches.entry(compared.server.clone()).or_default();
                compared.approve(approval, batch)?;
            }
        }
        for (server, batch) in &batches {
            self.keep(server, batch).await?;
        }
        self.gateway.republish();
        drop(one_at_a_time);
        let is_meant = |pin: &PinReport| {
            let same = |approval: &Approval| approval.server == pin.server && approval.tool == pin.tool;
            asked.approvals.iter().any(same)
        };
        let servers = self.compared(None).await?;
        let pins = servers.iter().flat_map(Compared::reports).filter(is_meant);
        Ok(PinList { pins: pins.collect() })
    }
}

impl Operator {
    /// The servers whose definitions are compared, once the lists say all that is known.
    async fn compared(&self, server: Option<&str>) -> Result<Vec<Compared>, Failure> {
        let asked = server.map(|name| self.entry(name)).transpose()?;
        self.gateway.caught_up().await;
        let snapshot = self.gateway.snapshot();
        if let Some(entry) = asked {
            let compared = self.compared_one(&snapshot, &entry);
            return compared
                .map(|compared| vec![compared])
                .ok_or_else(|| unpinned(&entry));
        }
        let entries = snapshot.plan.entries();
        Ok(entries
            .filter_map(|entry| self.compared_one(&snapshot, entry))
            .collect())
    }

    fn compared_one(&self, snapshot: &Snapshot, entry: &ServerEntry) -> Option<Compared> {
        Some(Compared {
            server: entry.name.clone(),
            judged: snapshot.judged(&entry.name)?.clone(),
            approved: self.gateway.pins.of(&entry.name)?,
        })
    }

    /// The server that a name means, and the tool of it; names of servers may have dots.
    fn meant(&self, name: &str) -> Result<(Option<String>, Option<String>), Failure> {
        let plan = self.gateway.plan();
        let of_server = |entry: &&Arc<ServerEntry>| {
            let rest = name.strip_prefix(entry.name.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let entry = plan
            .entries()
            .filter(of_server)
            .max_by_key(|entry| entry.name.as_str().len());
        let Some(entry) = entry else {
            let server = name.split_once('.').map_or(name, |(server, _)| server);
            return self.entry(server).map(|_| (None, None));
        };
        let server = entry.name.as_str();
        let tool = name[server.len()..].strip_prefix('.');
        Ok((Some(server.to_owned()), tool.map(str::to_owned)))
    }

    /// Stores what is approved, then lets it count.
    async fn keep(&self, server: &ServerName, batch: &Batch) -> Result<(), Failure> {
        let now = Timestamp::now();
        let stored = batch.approved.iter().map(|(tool, pin)| saved(tool, pin, now));
        let forgotten = batch.forgotten.iter().map(ToString::to_string).collect();
        let store = &self.gateway.store;
        store
            .approve_pins(server.as_str(), stored.collect(), forgotten)
            .await
            .map_err(unsaved)?;
        self.gateway
            .pins
            .approve(server, &batch.approved, &batch.forgotten);
        tracing::info!(server = %server, count = batch.approved.len(), "an operator has approved definitions of tools");
        Ok(())
    }
}

impl Compared {
    fn reports(&self) -> impl Iterator<Item = PinReport> {
        let approved = self.approved.pins.iter().map(|(tool, _)| tool);
        let new = self.judged.deviations.iter();
        let new = new.filter(|(_, deviation)| **deviation == Deviation::New);
        let mut tools: Vec<&Arc<str>> = approved.chain(new.map(|(tool, _)| tool)).collect();
        tools.sort();
        tools.into_iter().map(|tool| self.report(tool))
    }

    fn report(&self, tool: &str) -> PinReport {
        let since = self.approved.since.get(tool);
        PinReport {
            server: self.server.to_string(),
            tool: tool.to_owned(),
            state: state(self.judged.deviations.get(tool)),
            held: self.judged.held(tool).is_some(),
            approved_at: since.map(ToString::to_string),
        }
    }

    fn changes(&self) -> impl Iterator<Item = PinChange> {
        self.judged.deviations.keys().map(|tool| {
            let before = self.approved.pins.get(tool);
            let after = self.judged.now.get(tool);
            PinChange {
                pin: self.report(tool),
                notes: before.zip(after).map_or_else(Vec::new, notes),
                before: before.map(|pin| pin.definition.clone()),
                hash: after.map(|pin| pin.hash.clone()),
                after: after.map(|pin| pin.definition.clone()),
            }
        })
    }

    /// Whether there is such a tool.
    fn check(&self, tool: &str) -> Result<(), Failure> {
        let known = self.approved.pins.get(tool).or_else(|| self.judged.now.get(tool));
        known.map(drop).ok_or_else(|| {
            let server = &self.server;
            let failure = Failure::new(
                ErrorCode::NotFound,
                format!("server `{server}` has no tool `{tool}`"),
            );
            failure.hint(format!("`mcpr-ctl pins ls {server}` shows those it has"))
        })
    }

    /// Takes up an approval, if it is of what is listed now.
    fn approve(&self, approval: &Approval, batch: &mut Batch) -> Result<(), Failure> {
        self.check(&approval.tool)?;
        let tool: Arc<str> = approval.tool.as_str().into();
        match (self.judged.now.get(&tool), &approval.hash) {
            (Some(pin), Some(hash)) if pin.hash == *hash => batch.approved.push((tool, pin.clone())),
            (None, None) => batch.forgotten.push(tool),
            _ => return Err(changed_again(&self.server, &tool)),
        }
        Ok(())
    }
}

/// How many tools of a server differ from what is approved; nothing where none does.
pub(super) fn counts(judged: &Judged) -> Option<PinCounts> {
    let held = judged
        .deviations
        .keys()
        .filter(|tool| judged.held(tool).is_some());
    let counts = PinCounts {
        changed: judged.count(Deviation::Changed),
        new: judged.count(Deviation::New),
        held: held.count() as u64,
    };
    (counts.changed + counts.new > 0).then_some(counts)
}

fn state(deviation: Option<&Deviation>) -> PinState {
    match deviation {
        None => PinState::Approved,
        Some(Deviation::Changed) => PinState::Changed,
        Some(Deviation::New) => PinState::New,
        Some(Deviation::Removed) => PinState::Removed,
    }
}

/// What a change means for calls.
fn notes((before, after): (&Pin, &Pin)) -> Vec<String> {
    match compare(&before.definition, &after.definition) {
        Change::Unchanged => Vec::new(),
        Change::Compatible(notes) | Change::Breaking(notes) => notes,
    }
}

fn unpinned(entry: &ServerEntry) -> Failure {
    let server = &entry.name;
    if entry.pins == mcpr_registry::PinPolicy::Off {
        let failure = Failure::new(
            ErrorCode::Invalid,
            format!("the definitions of server `{server}` are not pinned"),
        );
        return failure.hint(format!("mcpr-ctl servers set {server} mcpr.pins=warn"));
    }
    let failure = Failure::new(
        ErrorCode::Unavailable,
        format!("server `{server}` has not been listed yet"),
    );
    failure.hint("`mcpr-ctl servers show` says why")
}

fn changed_again(server: &ServerName, tool: &str) -> Failure {
    let failure = Failure::new(
        ErrorCode::Failed,
        format!(
            "the definition of `{server}.{tool}` is not the one that was looked at, and nothing was approved"
        ),
    );
    failure.hint(format!("look again: mcpr-ctl pins diff {server}.{tool}"))
}

//! Pinned definitions, as operators see and approve them.

use std::sync::Arc;

use mcpr_admin::{
    Approval, ApprovePins, DiffPins, ErrorCode, Execute, Failure, ListPins, PinChange, PinCounts, PinDiff,
    PinList, PinReport, PinState,
};
use mcpr_auth::{Principal, Timestamp};
use mcpr_config::ServerEntry;
use mcpr_registry::{Compared, Deviation, Difference, ServerName, server_and_tool};

use super::Operator;
use super::projects::unsaved;
use crate::pins::{Approved, Batch, saved};
use crate::snapshot::Snapshot;

/// A server whose definitions are compared.
struct Pinned {
    server: ServerName,
    compared: Arc<Compared>,
    approved: Arc<Approved>,
}

impl Execute<ListPins, Principal> for Operator {
    async fn execute(&self, _: &Principal, asked: ListPins) -> Result<PinList, Failure> {
        let servers = self.pinned(asked.server.as_deref()).await?;
        Ok(PinList {
            pins: servers.iter().flat_map(Pinned::reports).collect(),
        })
    }
}

impl Execute<DiffPins, Principal> for Operator {
    async fn execute(&self, _: &Principal, asked: DiffPins) -> Result<PinDiff, Failure> {
        let (server, tool) = match &asked.name {
            Some(name) => self.meant(name)?,
            None => (None, None),
        };
        let servers = self.pinned(server.as_deref()).await?;
        if let (Some(tool), [server]) = (&tool, &*servers) {
            server.check(tool)?;
        }
        let fits = |change: &PinChange| tool.as_ref().is_none_or(|tool| change.pin.tool == *tool);
        let changes = servers.iter().flat_map(Pinned::changes).filter(fits);
        Ok(PinDiff {
            changes: changes.collect(),
        })
    }
}

impl Execute<ApprovePins, Principal> for Operator {
    async fn execute(&self, _: &Principal, asked: ApprovePins) -> Result<PinList, Failure> {
        let one_at_a_time = self.gateway.planning.lock().await;
        let mut batches: Vec<(ServerName, Batch)> = Vec::new();
        for (server, approvals) in asked.by_server() {
            for pinned in self.pinned(Some(server)).await? {
                batches.push((pinned.server.clone(), pinned.batch(&approvals)?));
            }
        }
        let kept = self.keep(&batches).await;
        // What is stored counts, also where the rest could not be.
        self.gateway.republish();
        drop(one_at_a_time);
        kept?;
        let servers = self.pinned(None).await?;
        let pins = servers.iter().flat_map(Pinned::reports);
        Ok(PinList {
            pins: pins.filter(|pin| asked.is_of(pin)).collect(),
        })
    }
}

impl Operator {
    /// The servers whose definitions are compared, once the lists say all that is known.
    async fn pinned(&self, server: Option<&str>) -> Result<Vec<Pinned>, Failure> {
        let asked = server.map(|name| self.entry(name)).transpose()?;
        self.gateway.caught_up().await;
        let snapshot = self.gateway.snapshot();
        if let Some(entry) = asked {
            let pinned = self.pinned_one(&snapshot, &entry);
            return pinned.map(|pinned| vec![pinned]).ok_or_else(|| unpinned(&entry));
        }
        let entries = snapshot.plan.entries();
        Ok(entries
            .filter_map(|entry| self.pinned_one(&snapshot, entry))
            .collect())
    }

    fn pinned_one(&self, snapshot: &Snapshot, entry: &ServerEntry) -> Option<Pinned> {
        Some(Pinned {
            server: entry.name.clone(),
            compared: snapshot.judged(&entry.name)?.clone(),
            approved: self.gateway.pins.of(&entry.name)?,
        })
    }

    /// The server that a name means, and the tool of it.
    fn meant(&self, name: &str) -> Result<(Option<String>, Option<String>), Failure> {
        let plan = self.gateway.plan();
        if plan.server(name).is_some() {
            return Ok((Some(name.to_owned()), None));
        }
        let Some((server, tool)) = server_and_tool(name, plan.servers.keys()) else {
            let server = name.split_once('.').map_or(name, |(server, _)| server);
            return self.entry(server).map(|_| (Some(server.to_owned()), None));
        };
        Ok((Some(server.to_string()), Some(tool.to_owned())))
    }

    /// Stores what is approved, then lets it count.
    async fn keep(&self, batches: &[(ServerName, Batch)]) -> Result<(), Failure> {
        let now = Timestamp::now();
        for (server, batch) in batches {
            let stored = batch.approved.iter().map(|(tool, pin)| saved(tool, pin, now));
            let forgotten = batch.forgotten.iter().map(ToString::to_string).collect();
            let store = &self.gateway.store;
            store
                .approve_pins(server.as_str(), stored.collect(), forgotten)
                .await
                .map_err(unsaved)?;
            self.gateway.pins.approve(server, batch, now);
            tracing::info!(server = %server, count = batch.approved.len(), "an operator has approved definitions of tools");
        }
        Ok(())
    }
}

impl Pinned {
    fn reports(&self) -> impl Iterator<Item = PinReport> {
        let tools = self.compared.tools().into_iter();
        tools.map(|tool| self.report(tool))
    }

    fn report(&self, tool: &str) -> PinReport {
        let since = self.approved.since.get(tool);
        PinReport {
            server: self.server.to_string(),
            tool: tool.to_owned(),
            state: state(self.compared.deviations.get(tool)),
            held: self.compared.held(tool).is_some(),
            approved_at: since.map(ToString::to_string),
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

    /// Whether there is such a tool.
    fn check(&self, tool: &str) -> Result<(), Failure> {
        if self.compared.knows(tool) {
            return Ok(());
        }
        let server = &self.server;
        let failure = Failure::new(
            ErrorCode::NotFound,
            format!("server `{server}` has no tool `{tool}`"),
        );
        Err(failure.hint(format!("`mcpr-ctl pins ls {server}` shows those it has")))
    }

    /// What is approved, if it is what is listed now.
    fn batch(&self, approvals: &[&Approval]) -> Result<Batch, Failure> {
        let mut batch = Batch::default();
        for Approval { tool, hash, .. } in approvals {
            self.check(tool)?;
            if !self.compared.is_now(tool, hash.as_deref()) {
                return Err(changed_again(&self.server, tool));
            }
            match self.compared.now.get(tool) {
                Some(pin) => batch.approved.push((tool.as_str().into(), pin.clone())),
                None => batch.forgotten.push(tool.as_str().into()),
            }
        }
        Ok(batch)
    }
}

/// How many tools of a server differ from what is approved; nothing where none does.
pub(super) fn counts(judged: &Compared) -> Option<PinCounts> {
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

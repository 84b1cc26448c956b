//! Listing: what the servers list becomes the next snapshot.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::Duration;

use mcpr_bridge::Identity;
use mcpr_config::{ServerEntry, ServerState as Configured};
use mcpr_protocol::Era;
use mcpr_registry::{
    Assignments, Capabilities, Catalog, ItemRef, Kind, Listing, Naming, Offers, ServerName, ServerState,
    States, View, Warning, instructions,
};
use mcpr_telemetry::Secrets;
use mcpr_upstream::{Freshness, Phase, Pool, Reach, Status};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::memory::{Note, Recollection};
use crate::snapshot::Snapshot;

/// How long changes of servers are gathered: what happens together becomes one generation.
const GATHER: Duration = Duration::from_millis(30);

/// Makes snapshots, one after the other.
pub(crate) struct Folder {
    pub(crate) servers: Vec<ServerEntry>,
    pub(crate) naming: Naming,
    /// The items on one page of a list.
    pub(crate) page_size: Option<usize>,
    pub(crate) pool: Arc<Pool>,
    pub(crate) memory: Arc<Recollection>,
    pub(crate) assignments: Assignments,
    /// The listings that were stored last, by server.
    pub(crate) stored: HashMap<ServerName, Arc<Offers>>,
    pub(crate) secrets: Secrets,
    /// Oddities that were told already.
    pub(crate) told: std::collections::HashSet<String>,
}

/// A server at the moment of the fold.
struct Seen<'a> {
    entry: &'a ServerEntry,
    status: Option<Status>,
}

impl Folder {
    /// Publishes a new snapshot whenever a server changes.
    pub(crate) async fn run(mut self, snapshots: watch::Sender<Arc<Snapshot>>, stop: CancellationToken) {
        let mut changes = self.pool.changes();
        changes.mark_changed(); // Something may have changed since the first snapshot.
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                changed = changes.changed() => if changed.is_err() { return },
            }
            tokio::time::sleep(GATHER).await;
            changes.borrow_and_update();
            snapshots.send_replace(Arc::new(self.fold()));
        }
    }

    /// The snapshot of this moment.
    pub(crate) fn fold(&mut self) -> Snapshot {
        let as_of = self.pool.changed();
        let servers = self.servers.clone();
        let seen: Vec<Seen<'_>> = servers.iter().map(|entry| self.see(entry)).collect();
        let listings: Vec<Listing> = seen.iter().filter_map(Seen::listing).collect();
        let built = Catalog::build(&listings, &self.naming, &self.assignments);
        self.learn(&seen, built.assignments, built.new_rows);
        self.tell(&built.warnings);
        let catalog = Arc::new(built.catalog);
        let down: Vec<&ServerName> = seen
            .iter()
            .filter(|seen| seen.is_down())
            .map(|seen| &seen.entry.name)
            .collect();
        let listed = View::of(catalog.clone(), |item: &ItemRef<'_>| !down.contains(&item.server));
        let known = View::everything(catalog);
        let shown: Vec<Listing> = listings
            .into_iter()
            .filter(|listing| !down.contains(&&listing.server))
            .collect();
        Snapshot::new(
            as_of,
            listed,
            known,
            identity(&shown, &self.naming, self.pool.instance()),
            states(&seen, &self.secrets),
            announced(&seen),
            (Kind::ALL.map(|kind| fresh(&seen, kind)), self.page_size),
        )
    }

    fn see<'a>(&self, entry: &'a ServerEntry) -> Seen<'a> {
        Seen {
            entry,
            status: self.pool.get(&entry.name).map(|upstream| upstream.status()),
        }
    }

    /// Remembers names and listings over runs.
    fn learn(&mut self, seen: &[Seen<'_>], assignments: Assignments, new_rows: Vec<mcpr_registry::Row>) {
        self.assignments = assignments;
        if !new_rows.is_empty() {
            self.memory.note(Note::Assignments(new_rows));
        }
        for (name, offers) in seen.iter().filter_map(Seen::fresh_offers) {
            let known = match self.stored.entry(name.clone()) {
                Entry::Occupied(mut known) if *known.get() != *offers => {
                    known.insert(offers.clone());
                    false
                }
                Entry::Occupied(_) => true,
                Entry::Vacant(place) => {
                    place.insert(offers.clone());
                    false
                }
            };
            if !known {
                self.memory.note(Note::Listing(name.clone(), offers.clone()));
            }
        }
    }

    /// Says what is odd about a listing, once.
    fn tell(&mut self, warnings: &[Warning]) {
        for warning in warnings {
            let text = warning.to_string();
            if self.told.len() < 10_000 && self.told.insert(text.clone()) {
                tracing::warn!(reason = text, "listing");
            }
        }
    }
}

impl Seen<'_> {
    fn listing(&self) -> Option<Listing> {
        if matches!(self.entry.state, Configured::Disabled) {
            return None;
        }
        let offers = self.status.as_ref().and_then(|status| status.offers.clone());
        Some(Listing {
            server: self.entry.name.clone(),
            naming: self.entry.naming.clone(),
            stateless_http: self.is_stateless_http(),
            offers: offers.unwrap_or_default(),
        })
    }

    fn is_stateless_http(&self) -> bool {
        let http =
            matches!(&self.entry.state, Configured::Enabled(spec) if matches!(spec.reach, Reach::Http(_)));
        let replica = self.status.as_ref().and_then(|status| status.replica.as_ref());
        http && replica.is_some_and(|replica| replica.version.era() == Era::Stateless)
    }

    fn fresh_offers(&self) -> Option<(&ServerName, &Arc<Offers>)> {
        let status = self
            .status
            .as_ref()
            .filter(|status| matches!(status.phase, Phase::Ready))?;
        Some((&self.entry.name, status.offers.as_ref()?))
    }

    fn is_down(&self) -> bool {
        let phase = self.status.as_ref().map(|status| &status.phase);
        matches!(
            phase,
            Some(Phase::Down { .. } | Phase::AuthRequired { .. } | Phase::Stopped)
        )
    }

    fn state(&self) -> Option<(ServerState, Option<String>)> {
        if let Configured::Misconfigured(fault) = &self.entry.state {
            return Some((ServerState::Misconfigured, Some(fault.reason())));
        }
        let status = self.status.as_ref()?;
        let reason = status.reason().map(str::to_owned);
        let state = match &status.phase {
            Phase::Ready => ServerState::Ok,
            Phase::Idle | Phase::Starting if status.offers.is_some() => ServerState::Stale,
            Phase::Idle | Phase::Starting => ServerState::Starting,
            Phase::Down { .. } | Phase::Stopped => ServerState::Down,
            Phase::AuthRequired { .. } => ServerState::AuthRequired,
        };
        Some((state, reason))
    }
}

/// A reason may quote what a server said before its end, and that what it was given.
fn states(seen: &[Seen<'_>], secrets: &Secrets) -> States {
    let mut states = States::new();
    for seen in seen {
        if let Some((state, reason)) = seen.state() {
            let reason = reason.map(|reason| secrets.scrub(&reason).into_owned());
            states.set(seen.entry.name.clone(), state, reason);
        }
    }
    states
}

/// How long the list of all servers holds: as long as each of theirs (`protocol.md` 14.10). One
/// that is about to grow is stale at once.
fn fresh(seen: &[Seen<'_>], kind: Kind) -> Freshness {
    let growing = |seen: &Seen<'_>| {
        let state = seen.state().map(|(state, _)| state);
        matches!(state, Some(ServerState::Starting | ServerState::Stale))
    };
    if seen.iter().any(growing) {
        return Freshness::STALE;
    }
    let up = seen.iter().filter(|seen| !seen.is_down());
    let lists = up.filter_map(|seen| seen.status.as_ref()?.fresh.of(kind));
    lists.reduce(Freshness::and).unwrap_or(Freshness::ANNOUNCED)
}

fn announced(seen: &[Seen<'_>]) -> [u64; 3] {
    seen.iter()
        .filter_map(|seen| seen.status.as_ref())
        .fold([0; 3], |[tools, prompts, resources], status| {
            let notices = status.notices;
            [
                tools + notices.tools,
                prompts + notices.prompts,
                resources + notices.resources,
            ]
        })
}

fn identity(listings: &[Listing], naming: &Naming, instance: &str) -> Identity {
    let any =
        |has: fn(&Capabilities) -> bool| listings.iter().any(|listing| has(&listing.offers.capabilities));
    Identity {
        name: "mcpr".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        instructions: instructions(listings, naming),
        instance: instance.to_owned(),
        tasks: any(|offered| offered.tasks),
        apps: any(|offered| offered.apps),
    }
}

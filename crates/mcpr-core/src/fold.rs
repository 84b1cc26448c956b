//! Listing: what the servers list becomes the next snapshot.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::Duration;

use mcpr_config::ServerEntry;
use mcpr_protocol::{Era, Object};
use mcpr_registry::{
    Assignments, Catalog, Compared, Kind, Listing, Offers, ServerName, ServerState, Tool, View, Warning,
};
use mcpr_telemetry::{Secrets, Timed};
use mcpr_upstream::{Phase, Pool, Reach, Server, Status, Upstream};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::memory::{Note, Recollection};
use crate::pins::Judge;
use crate::plan::{Plan, Standing};
use crate::snapshot::{ServerSeen, Snapshot, Views};

/// How long changes of servers are gathered: what happens together becomes one generation.
const GATHER: Duration = Duration::from_millis(30);

/// Makes snapshots, one after the other.
pub(crate) struct Folder {
    pub(crate) plans: watch::Receiver<Arc<Plan>>,
    pub(crate) pool: Arc<Pool>,
    pub(crate) memory: Arc<Recollection>,
    pub(crate) assignments: Assignments,
    /// The listings that were stored last, by server.
    pub(crate) stored: HashMap<ServerName, Arc<Offers>>,
    /// What the lists of a server leave of its offers, by server.
    pub(crate) filtered: HashMap<ServerName, Filtered>,
    /// Compares what servers list with what is approved.
    pub(crate) judge: Judge,
    pub(crate) secrets: Secrets,
    /// Oddities that were told already.
    pub(crate) told: std::collections::HashSet<String>,
}

/// What the lists of a server leave of its offers; kept, because most snapshots change neither.
pub(crate) struct Filtered {
    entry: Arc<ServerEntry>,
    offers: Arc<Offers>,
    judged: Option<Arc<Compared>>,
    left: Arc<Offers>,
}

/// A server at the moment of the fold.
struct Seen<'a> {
    entry: &'a Arc<ServerEntry>,
    standing: Standing<'a>,
    status: Option<Status>,
    /// How its tools compare with what is approved, where that is wanted.
    judged: Option<Arc<Compared>>,
}

impl Folder {
    /// Publishes a new snapshot whenever a server or the plan changes.
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
        let _timed = Timed::of("making the lists anew");
        let as_of = self.pool.changed();
        let plan = self.plans.borrow().clone();
        self.forget_gone(&plan);
        let seen: Vec<Seen<'_>> = plan.entries().map(|entry| self.see(&plan, entry)).collect();
        let listings: Vec<Listing> = seen.iter().filter_map(|seen| self.listing(&plan, seen)).collect();
        let built = Catalog::build(&listings, &plan.options.naming, &self.assignments);
        self.learn(&seen, built.assignments, built.new_rows);
        self.tell(&built.warnings);
        let views = views(Arc::new(built.catalog), &plan, &seen);
        let mut listings = listings.into_iter().peekable();
        let servers = seen
            .iter()
            .map(|seen| {
                let listing = listings.next_if(|listing| listing.server == seen.entry.name);
                seen.summed_up(listing, &self.secrets)
            })
            .collect();
        let instance = self.pool.instance().to_owned();
        Snapshot::new(as_of, plan.clone(), views, servers, instance)
    }

    /// Drops what is kept of servers that are not configured any more.
    fn forget_gone(&mut self, plan: &Plan) {
        let is_there = |server: &ServerName| plan.servers.contains_key(server);
        self.stored.retain(|server, _| is_there(server));
        self.filtered.retain(|server, _| is_there(server));
        self.judge.forget_gone(is_there);
    }

    fn see<'a>(&mut self, plan: &Plan, entry: &'a Arc<ServerEntry>) -> Seen<'a> {
        let standing = plan.standing(entry);
        let server = self.pool.get(&entry.name);
        let status = server.as_ref().map(|server| server.status());
        let offers = status.as_ref().and_then(|status| status.offers.as_ref());
        let judged = server.zip(status.as_ref()).zip(offers);
        let judged = judged
            .filter(|_| !standing.is_off())
            .and_then(|((server, status), offers)| {
                let is_all = has_listed_tools(status, offers) && !is_growing(&server);
                self.judge.judge(entry, offers, is_all)
            });
        Seen {
            entry,
            standing,
            judged,
            status,
        }
    }

    /// What a server gives to the catalog: all it offers that its lists leave.
    fn listing(&mut self, plan: &Plan, seen: &Seen<'_>) -> Option<Listing> {
        if seen.standing.is_off() {
            return None;
        }
        let offers = seen.status.as_ref().and_then(|status| status.offers.clone());
        let offers = offers.map(|offers| self.left_of(seen, offers));
        Some(Listing {
            server: seen.entry.name.clone(),
            naming: seen.entry.naming.clone(),
            overrides: plan.overrides(seen.entry),
            stateless_http: seen.is_stateless_http(),
            offers: offers.unwrap_or_default(),
        })
    }

    /// What the allow and deny lists leave, without what is new and not approved.
    fn left_of(&mut self, seen: &Seen<'_>, offers: Arc<Offers>) -> Arc<Offers> {
        let entry = seen.entry;
        let patterns = entry.tools.patterns();
        let judged = seen.judged.as_ref().filter(|judged| judged.holds());
        if patterns.is_none() && judged.is_none() {
            self.filtered.remove(&entry.name);
            return offers;
        }
        let known = self.filtered.get(&entry.name);
        if let Some(known) = known.filter(|known| known.is_of(entry, &offers, judged)) {
            return known.left.clone();
        }
        let keeps = |tool: &str| {
            let kept = patterns.as_ref().and_then(|patterns| patterns.keeps_away(tool));
            kept.is_some() || judged.is_some_and(|judged| judged.keeps_out(tool))
        };
        let left = Arc::new(without_kept(keeps, &offers));
        let filtered = Filtered {
            entry: entry.clone(),
            offers,
            judged: judged.cloned(),
            left: left.clone(),
        };
        self.filtered.insert(entry.name.clone(), filtered);
        left
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

impl Filtered {
    fn is_of(&self, entry: &Arc<ServerEntry>, offers: &Arc<Offers>, judged: Option<&Arc<Compared>>) -> bool {
        let same_judged = match (&self.judged, judged) {
            (None, None) => true,
            (Some(known), Some(judged)) => Arc::ptr_eq(known, judged),
            _ => false,
        };
        Arc::ptr_eq(&self.entry, entry) && Arc::ptr_eq(&self.offers, offers) && same_judged
    }
}

impl Seen<'_> {
    fn is_stateless_http(&self) -> bool {
        let http = matches!(self.standing, Standing::On(spec) if matches!(spec.reach, Reach::Http(_)));
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
        if let Standing::Misconfigured(fault) = self.standing {
            return Some((ServerState::Misconfigured, Some(fault.reason())));
        }
        let status = self.status.as_ref().filter(|_| !self.standing.is_off())?;
        let usable = matches!(status.phase, Phase::Ready);
        let reason = status.reason().filter(|_| !usable).map(str::to_owned);
        let state = match &status.phase {
            Phase::Ready => ServerState::Ok,
            Phase::Idle | Phase::Starting if status.offers.is_some() => ServerState::Stale,
            Phase::Idle | Phase::Starting => ServerState::Starting,
            Phase::Down { .. } | Phase::Stopped => ServerState::Down,
            Phase::AuthRequired { .. } => ServerState::AuthRequired,
        };
        Some((state, reason))
    }

    /// What a snapshot keeps of it. A reason may quote what a server said before its end, and that
    /// what it was given.
    fn summed_up(&self, listing: Option<Listing>, secrets: &Secrets) -> ServerSeen {
        let status = self.status.as_ref();
        let scrubbed = |reason: String| secrets.scrub(&reason).into_owned();
        let notices = status.map(|status| status.notices).unwrap_or_default();
        ServerSeen {
            name: self.entry.name.clone(),
            listing,
            judged: self.judged.clone(),
            state: self.state().map(|(state, reason)| (state, reason.map(scrubbed))),
            down: self.is_down(),
            fresh: Kind::ALL.map(|kind| status?.fresh.of(kind)),
            announced: [notices.tools, notices.prompts, notices.resources],
        }
    }
}

/// Whether it is known which tools a server has: a list that failed is not one without any, nor is it where only what was
/// read before is left.
fn has_listed_tools(status: &Status, offers: &Offers) -> bool {
    let may_have_failed = status.replica.is_none() && offers.tools.is_empty();
    status.fresh.of(Kind::Tools).is_some() && !may_have_failed || !offers.capabilities.tools
}

/// Whether more of its backends are about to list what they have.
fn is_growing(server: &Server) -> bool {
    let starting = |backend: &Arc<Upstream>| matches!(backend.status().phase, Phase::Starting);
    server.only_backend().is_none() && server.backends.iter().any(starting)
}

/// The views of a catalog. What is down is known and not listed; what is turned off is neither.
fn views(catalog: Arc<Catalog>, plan: &Plan, seen: &[Seen<'_>]) -> Views {
    let down: Vec<&ServerName> = seen
        .iter()
        .filter(|seen| seen.is_down())
        .map(|seen| &seen.entry.name)
        .collect();
    let off = plan.switches.tools_off();
    let all = View::everything(catalog);
    let on = match off.is_empty() {
        true => all.clone(),
        false => all.without(|tool| off.contains(&(tool.origin.server.as_str(), &*tool.origin.name))),
    };
    let (known, held) = told_apart(on, seen);
    let listed = match down.is_empty() {
        true => known.clone(),
        false => known.only_servers(|server| !down.contains(&server)),
    };
    Views {
        all,
        known,
        held,
        listed,
    }
}

/// What can be named, and the tools that are held back.
fn told_apart(on: View, seen: &[Seen<'_>]) -> (View, View) {
    let holding = seen
        .iter()
        .filter_map(|seen| Some((&seen.entry.name, seen.judged.as_ref()?)));
    let holding: HashMap<&ServerName, &Arc<Compared>> =
        holding.filter(|(_, judged)| judged.holds()).collect();
    if holding.is_empty() {
        let none = on.without_tools();
        return (on, none);
    }
    let is_held = |tool: &Tool| {
        let judged = holding.get(&tool.origin.server);
        judged.is_some_and(|judged| judged.held(&tool.origin.name).is_some())
    };
    (on.without(is_held), on.without(|tool| !is_held(tool)))
}

fn without_kept(keeps: impl Fn(&str) -> bool, offers: &Offers) -> Offers {
    let mut left = offers.clone();
    left.tools.retain(|tool| {
        let name = Object::read(tool).ok().and_then(|tool| tool.text("name"));
        name.is_none_or(|name| !keeps(&name))
    });
    left
}

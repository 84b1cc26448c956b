//! Servers and lists that change, as two snapshots in a row show it.

use std::sync::{Arc, Weak};

use mcpr_admin::{Event, EventKind, ServerState};
use mcpr_registry::{Compared, Deviation, ServerName};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{Teller, event};
use crate::gateway::Gateway;
use crate::operations::how_servers_are;
use crate::scope::Scope;
use crate::snapshot::{ServerSeen, Snapshot};

/// How a server is, and why.
pub(crate) type Seen = (ServerName, ServerState, Option<String>);

/// What was told last.
struct Last {
    snapshot: Arc<Snapshot>,
    servers: Vec<Seen>,
}

/// Tells of servers and lists that change, until the gateway ends.
pub(crate) async fn tell_changes(
    gateway: Weak<Gateway>,
    mut snapshots: watch::Receiver<Arc<Snapshot>>,
    stop: CancellationToken,
) {
    let Some(mut last) = gateway.upgrade().map(|gateway| Last::of(&gateway)) else {
        return;
    };
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            changed = snapshots.changed() => if changed.is_err() { return },
        }
        snapshots.mark_unchanged();
        let Some(gateway) = gateway.upgrade() else { return };
        let now = Last::of(&gateway);
        now.tell_since(&last, &gateway.events);
        last = now;
    }
}

impl Last {
    fn of(gateway: &Gateway) -> Self {
        Self {
            snapshot: gateway.snapshot(),
            servers: how_servers_are(gateway),
        }
    }

    fn tell_since(&self, before: &Self, teller: &Teller) {
        if teller.is_watched(EventKind::Server) {
            changes(&before.servers, &self.servers).for_each(|event| teller.tell(event));
        }
        if teller.is_watched(EventKind::Pins) {
            pin_changes(&before.snapshot, &self.snapshot).for_each(|event| teller.tell(event));
        }
        if teller.is_watched(EventKind::Catalog)
            && let Some(lists) = self.changed_lists(before)
        {
            teller.tell(Event {
                reason: Some(lists),
                ..event(EventKind::Catalog)
            });
        }
    }

    /// The lists of all there is that differ, if any do.
    fn changed_lists(&self, before: &Self) -> Option<String> {
        let all = Scope::everything();
        let [now, before] = [self, before].map(|last| last.snapshot.sight(&all).stamps);
        let kinds: Vec<_> = now.changed_since(&before).map(|kind| kind.to_string()).collect();
        (!kinds.is_empty()).then(|| kinds.join(", "))
    }
}

/// Servers that are in another state than before, or new, or gone.
fn changes<'a>(before: &'a [Seen], now: &'a [Seen]) -> impl Iterator<Item = Event> + 'a {
    let differs = |(name, state, _): &&Seen| state_in(before, name) != Some(*state);
    let changed = now.iter().filter(differs).map(|(name, state, reason)| Event {
        server: Some(name.to_string()),
        state: Some(*state),
        reason: reason.clone(),
        ..event(EventKind::Server)
    });
    let is_gone = |(name, ..): &&Seen| state_in(now, name).is_none();
    let gone = before.iter().filter(is_gone).map(|(name, ..)| Event {
        server: Some(name.to_string()),
        reason: Some("it is no longer configured".to_owned()),
        ..event(EventKind::Server)
    });
    changed.chain(gone)
}

/// Servers whose tools compare otherwise than before with what is approved.
fn pin_changes<'a>(before: &'a Snapshot, now: &'a Snapshot) -> impl Iterator<Item = Event> + 'a {
    let differs = |server: &&ServerSeen| {
        let known = before.judged(&server.name).map(|judged| &judged.deviations);
        let judged = server.judged.as_ref().map(|judged| &judged.deviations);
        known.filter(|known| !known.is_empty()) != judged.filter(|judged| !judged.is_empty())
    };
    // Of one whose tools are compared no longer there is nothing to tell.
    let event_of = |server: &ServerSeen| {
        Some(Event {
            server: Some(server.name.to_string()),
            reason: Some(in_words(server.judged.as_deref()?)),
            ..event(EventKind::Pins)
        })
    };
    now.servers.iter().filter(differs).filter_map(event_of)
}

/// What is not as it was approved, in a few words.
fn in_words(judged: &Compared) -> String {
    let kinds = [
        (Deviation::Changed, "changed"),
        (Deviation::New, "new"),
        (Deviation::Removed, "removed"),
    ];
    let named = |(deviation, word): &(Deviation, &str)| {
        let tools = judged.deviations.iter().filter(|(_, known)| *known == deviation);
        let tools: Vec<String> = tools
            .map(|(tool, _)| format!("`{}`", tool.escape_debug()))
            .collect();
        (!tools.is_empty()).then(|| format!("{word}: {}", tools.join(", ")))
    };
    let parts: Vec<String> = kinds.iter().filter_map(named).collect();
    match &*parts {
        [] => "all tools are as they were approved".to_owned(),
        parts if judged.holds() => format!("{}; held back", parts.join("; ")),
        parts => parts.join("; "),
    }
}

fn state_in(all: &[Seen], name: &ServerName) -> Option<ServerState> {
    let seen = all.iter().find(|(known, ..)| known == name);
    seen.map(|(_, state, _)| *state)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(name: &str, state: ServerState, reason: Option<&str>) -> Seen {
        (name.parse().unwrap(), state, reason.map(str::to_owned))
    }

    #[test]
    fn a_server_is_told_when_its_state_is_another_or_it_comes_or_goes() {
        let before = [
            seen("git", ServerState::Ok, None),
            seen("docs", ServerState::Down, Some("connection refused")),
            seen("jira", ServerState::Ok, None),
        ];
        let now = [
            seen("git", ServerState::Down, Some("it ended")),
            seen("docs", ServerState::Down, Some("timed out")),
            seen("web", ServerState::Starting, None),
        ];

        let told: Vec<_> = changes(&before, &now)
            .map(|event| (event.server.unwrap(), event.state, event.reason))
            .collect();

        let text = |text: &str| Some(text.to_owned());
        let expected = [
            ("git".to_owned(), Some(ServerState::Down), text("it ended")),
            ("web".to_owned(), Some(ServerState::Starting), None),
            ("jira".to_owned(), None, text("it is no longer configured")),
        ];
        assert_eq!(told, expected);
    }
}

//! Who has the places for connections, who gives way when all are taken, and who has had one for too long.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::task::{AbortHandle, Id, JoinError, JoinSet};
use tokio::time::{Interval, MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, warn};

use super::Limits;
use super::pulse::Pulse;

/// How many connections beyond the limit are told so; any more are just closed.
const SURPLUS: usize = 64;

/// The connections of a server.
///
/// Whoever has shown no token yet has a place only as long as nobody else needs it: strangers who open connections
/// and ask nothing cannot keep out those who do.
pub(super) struct Places {
    limits: Limits,
    tasks: JoinSet<()>,
    seats: HashMap<Id, Seat>,
    /// How many have a place of their own.
    taken: usize,
    /// When to look how long they have been doing what they do.
    watch: Interval,
}

/// One connection.
struct Seat {
    pulse: Arc<Pulse>,
    task: AbortHandle,
    /// Whether it is one too many, and only told so.
    surplus: bool,
}

/// What there is for one more connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Room {
    /// A place.
    Place,
    /// Time to tell it that there is none.
    Word,
    /// Nothing.
    None,
}

impl Places {
    pub(super) fn new(limits: Limits) -> Self {
        let mut watch = interval(limits.watch());
        watch.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            limits,
            tasks: JoinSet::new(),
            seats: HashMap::new(),
            taken: 0,
            watch,
        }
    }

    /// Looks for room, and makes some where a stranger can give way.
    pub(super) fn room(&mut self) -> Room {
        if self.taken < self.limits.connections || self.give_way() {
            Room::Place
        } else if self.tasks.len() < self.limits.connections + SURPLUS {
            Room::Word
        } else {
            Room::None
        }
    }

    /// Serves a connection that does what its pulse tells; one of a `surplus` takes no place.
    pub(super) fn serve(
        &mut self,
        task: impl Future<Output = ()> + Send + 'static,
        pulse: Arc<Pulse>,
        surplus: bool,
    ) {
        let task = self.tasks.spawn(task);
        self.taken += usize::from(!surplus);
        let seat = Seat {
            pulse,
            task: task.clone(),
            surplus,
        };
        self.seats.insert(task.id(), seat);
    }

    /// Waits until a connection has ended, and ends those that are over a limit; none if there is none. Cancel-safe.
    pub(super) async fn ended(&mut self) -> Option<()> {
        let ended = loop {
            tokio::select! { biased;
                ended = self.tasks.join_next_with_id() => break ended?,
                _ = self.watch.tick() => self.end_overdue(),
            }
        };
        self.leave(match &ended {
            Ok((id, ())) => *id,
            Err(error) => error.id(),
        });
        note_panic(ended.map(|_| ()));
        Some(())
    }

    fn end_overdue(&self) {
        let limits = &self.limits;
        let overdue = self
            .seats
            .values()
            .filter_map(|seat| Some((seat, seat.pulse.overdue(limits)?)));
        overdue.for_each(|(seat, reason)| {
            debug!(reason, "closing a connection");
            seat.task.abort();
        });
    }

    fn leave(&mut self, id: Id) -> Option<Seat> {
        let seat = self.seats.remove(&id)?;
        self.taken -= usize::from(!seat.surplus);
        Some(seat)
    }

    /// Lets the last answers out.
    pub(super) async fn drain(mut self, finish: &CancellationToken) {
        let grace = self.limits.grace;
        let overdue = async {
            finish.cancelled().await;
            sleep(grace).await;
        };
        let all_ended = async { while self.ended().await.is_some() {} };
        tokio::select! {
            () = all_ended => return,
            () = overdue => {}
        }
        warn!(
            connections = self.tasks.len(),
            ?grace,
            "dropping answers that did not finish in time"
        );
        self.tasks.shutdown().await;
    }

    /// Ends the connection of the stranger who has asked nothing for the longest time; false if there is none.
    pub(super) fn give_way(&mut self) -> bool {
        let seated = self.seats.iter().filter(|(_, seat)| !seat.surplus);
        let waiting = seated.filter_map(|(id, seat)| Some((seat.pulse.strange_since()?, *id)));
        let Some((_, id)) = waiting.min_by_key(|(since, _)| *since) else {
            return false;
        };
        if let Some(seat) = self.leave(id) {
            debug!("closing a connection that asks nothing: a new one needs its place");
            seat.task.abort();
        }
        true
    }
}

fn note_panic(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        error!(
            error = &error as &dyn std::error::Error,
            "a connection failed inside the gateway"
        );
    }
}

//! Who has the places for connections, and who gives way when all are taken.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::{AbortHandle, Id, JoinError, JoinSet};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, warn};

use super::pulse::Pulse;

/// How many connections beyond the limit are told so; any more are just closed.
const SURPLUS: usize = 64;

/// The connections of a server.
///
/// Whoever has shown no token yet has a place only as long as nobody else needs it: strangers who open connections
/// and ask nothing cannot keep out those who do.
pub(super) struct Places {
    most: usize,
    tasks: JoinSet<()>,
    /// Those that are served; the others are only told that there are too many.
    seats: HashMap<Id, Seat>,
}

/// The place of one connection.
struct Seat {
    pulse: Arc<Pulse>,
    task: AbortHandle,
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
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            tasks: JoinSet::new(),
            seats: HashMap::new(),
        }
    }

    /// Looks for room, and makes some where a stranger can give way.
    pub(super) fn room(&mut self) -> Room {
        if self.seats.len() < self.most || self.give_way() {
            Room::Place
        } else if self.tasks.len() < self.most + SURPLUS {
            Room::Word
        } else {
            Room::None
        }
    }

    /// Serves a connection; with its pulse if it gets a place.
    pub(super) fn serve(
        &mut self,
        task: impl Future<Output = ()> + Send + 'static,
        pulse: Option<Arc<Pulse>>,
    ) {
        let task = self.tasks.spawn(task);
        if let Some(pulse) = pulse {
            self.seats.insert(task.id(), Seat { pulse, task });
        }
    }

    /// Waits until a connection has ended; none if there is none. Cancel-safe.
    pub(super) async fn ended(&mut self) -> Option<()> {
        let ended = self.tasks.join_next_with_id().await?;
        self.seats.remove(&match &ended {
            Ok((id, ())) => *id,
            Err(error) => error.id(),
        });
        note_panic(ended.map(|_| ()));
        Some(())
    }

    /// Lets the last answers out.
    pub(super) async fn drain(mut self, finish: &CancellationToken, grace: Duration) {
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
    fn give_way(&mut self) -> bool {
        let strangers = self.seats.iter();
        let waiting = strangers.filter_map(|(id, seat)| Some((seat.pulse.strange_since()?, *id)));
        let Some((_, id)) = waiting.min_by_key(|(since, _)| *since) else {
            return false;
        };
        if let Some(seat) = self.seats.remove(&id) {
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

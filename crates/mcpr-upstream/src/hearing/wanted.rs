//! The streams on which a stateless server tells of resources, or of tasks: as few as it takes.
//!
//! What is wanted is on one stream until that has as many names as one may have, or as the server
//! takes. What the server refuses of a list is tried without the rest of it, so that nobody goes
//! unheard for what somebody else wants.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use mcpr_transport::Failed;
use tokio::time::{Instant, sleep_until};

use super::look::Looks;
use super::overlap::Names;
use super::part::{After, Part, Which};
use super::stream::Said;
use super::{Hearer, News};
use crate::Feed;
use crate::wishes::{Book, Life, Refusal};

/// How many streams there are for names that were never refused.
const PARTS: usize = 64;

/// How many there are with those for names that were.
const IN_ALL: usize = 512;

/// How many streams the server is asked for at once.
const OPENING: usize = 4;

/// How long the log keeps quiet about refusals after it has told of one.
const QUIET: Duration = Duration::from_secs(60);

/// Brings the streams in line with what is wanted, for one connection.
pub(super) struct Wanted {
    desk: Desk,
    parts: Vec<Part>,
    last_id: u64,
    /// Whose turn it is to be heard first.
    turn: usize,
}

/// What all the streams have in common.
pub(super) struct Desk {
    pub(super) hearer: Hearer,
    pub(super) looks: Looks,
    life: Life,
    /// When the log was told of a refusal.
    warned: Option<Instant>,
}

impl Wanted {
    pub(super) fn new(hearer: Hearer, life: Life) -> Self {
        Self {
            desk: Desk {
                hearer,
                looks: Looks::default(),
                life,
                warned: None,
            },
            parts: Vec::new(),
            last_id: 0,
            turn: 0,
        }
    }

    /// Ends with the connection.
    pub(super) async fn run(mut self) {
        let mut book = self.desk.hearer.wishes.watch();
        let mut differs = true;
        while !self.desk.hearer.replica.is_gone() {
            if differs || book.has_changed().unwrap_or(false) {
                let asked = asked(&book.borrow_and_update());
                self.confirm(&asked);
                let wanted = book.borrow().heard();
                self.share_out(&wanted, &asked);
            }
            self.open();
            let due = self.parts.iter().filter_map(Part::due).min();
            self.turn = self.turn.wrapping_add(1);
            differs = false;
            tokio::select! {
                (at, which, said) = said(&mut self.parts, self.turn) => self.take(at, which, said).await,
                seen = self.desk.looks.next() => self.desk.hearer.herald.tell(self.desk.hearer.feed, &seen),
                changed = book.changed() => match changed {
                    Ok(()) => differs = true,
                    Err(_) => return,
                },
                () = wait_until(due) => self.ring(),
            }
        }
    }

    /// What is wanted again and heard of anyway.
    fn confirm(&mut self, asked: &Names) {
        for name in asked {
            if self.parts.iter().any(|part| part.hears(name)) {
                self.desk.settle(name, Ok(()));
            }
        }
    }

    /// Finds a place for everything that is wanted, or says that there is none.
    fn share_out(&mut self, wanted: &Names, asked: &Names) {
        let mut placed = Names::new();
        for part in &mut self.parts {
            part.keep(|name| wanted.contains(name));
            placed.extend(part.names().iter().cloned());
        }
        for name in wanted.difference(&placed) {
            if let Some(part) = self.parts.iter_mut().find(|part| part.has_room_for(name)) {
                part.put(name.clone());
            } else if self.parts.iter().filter(|part| part.refusals == 0).count() < PARTS {
                let mut part = Part::new(self.fresh_id());
                part.put(name.clone());
                self.parts.push(part);
            } else if asked.contains(name) {
                self.desk.settle(name, Err(Refusal::Full));
            }
        }
    }

    /// Opens streams, first for those whose names were not refused.
    fn open(&mut self) {
        self.parts.retain(|part| !part.is_idle());
        self.parts.sort_by_key(|part| part.refusals);
        let mut opening = self.parts.iter().filter(|part| part.is_opening()).count();
        for part in &mut self.parts {
            if opening >= OPENING {
                return;
            }
            let before = part.is_opening();
            part.adjust(&self.desk.hearer);
            opening += usize::from(part.is_opening() && !before);
        }
    }

    async fn take(&mut self, at: usize, which: Which, said: Result<Said, Failed>) {
        let After { lost, apart, full } = self.parts[at].take(which, said, &mut self.desk);
        for part in &mut self.parts {
            if Some(part.id) == full {
                part.is_full();
            }
        }
        for apart in apart {
            if self.parts.len() < IN_ALL {
                let part = Part::of(self.fresh_id(), apart);
                self.parts.push(part);
            } else {
                self.parts[at].is_full();
                let names = apart.names.iter();
                names.for_each(|name| self.desk.settle(name, Err(Refusal::Full)));
            }
        }
        if lost {
            self.desk.hearer.tell(News::Lost).await;
        }
    }

    fn ring(&mut self) {
        for part in &mut self.parts {
            part.ring(&mut self.desk);
        }
    }

    fn fresh_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }
}

impl Desk {
    /// Notes what came of asking for something.
    pub(super) fn settle(&mut self, name: &Arc<str>, outcome: Result<(), Refusal>) {
        if let Err(refusal @ (Refusal::Error(_) | Refusal::Full)) = &outcome {
            self.warn(refusal);
        }
        let told = outcome.is_ok();
        let was_heard = self.hearer.settle(self.life, name, outcome);
        if told && was_heard && self.hearer.feed == Feed::Tasks {
            self.looks.begin(&self.hearer.replica, name);
        }
    }

    /// These are not heard of any more.
    pub(super) fn lose(&self, names: &Names) {
        self.hearer.wishes.lose(self.life, names);
    }

    /// Tells the log that the server refuses what its clients want, which they cannot help.
    fn warn(&mut self, refusal: &Refusal) {
        if self.warned.is_some_and(|warned| warned.elapsed() < QUIET) {
            return;
        }
        self.warned = Some(Instant::now());
        let (server, method) = (&self.hearer.replica.server, self.hearer.feed.method());
        match refusal {
            Refusal::Error(error) => tracing::warn!(
                %server,
                method,
                reason = error.as_str(),
                "the server does not tell of something that a client wants; more of the kind is in the log at debug"
            ),
            _ => tracing::warn!(
                %server,
                method,
                "clients want to hear of more than the gateway asks one server for"
            ),
        }
    }
}

/// What is said next on any stream, beginning with that whose turn it is. Cancel-safe.
async fn said(parts: &mut [Part], turn: usize) -> (usize, Which, Result<Said, Failed>) {
    poll_fn(|cx| poll_said(parts, turn, cx)).await
}

fn poll_said(
    parts: &mut [Part],
    turn: usize,
    cx: &mut Context<'_>,
) -> Poll<(usize, Which, Result<Said, Failed>)> {
    let count = parts.len();
    for step in 0..count {
        let at = (turn % count + step) % count;
        if let Poll::Ready((which, said)) = parts[at].poll(cx) {
            return Poll::Ready((at, which, said));
        }
    }
    Poll::Pending
}

fn asked(book: &Book) -> Names {
    book.asked().cloned().collect()
}

async fn wait_until(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => std::future::pending().await,
    }
}

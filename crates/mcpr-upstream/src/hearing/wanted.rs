//! The stream on which a stateless server tells of resources, or of tasks: one for all that are wanted.
//!
//! What a stream is about cannot be changed, so a change is a new stream. The old one gives way
//! once the server has taken note of the new one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use mcpr_protocol::{Notification, Object, RawJson};
use mcpr_transport::{Failed, FailedKind};
use serde_json::json;
use tokio::time::{Instant, sleep_until};

use super::look::Looks;
use super::stream::{Said, Stream};
use super::{Hearer, News, Pauses};
use crate::Feed;
use crate::wishes::{Book, Life, Refusal};

/// How long the server may take to take note of a stream.
const ACK: Duration = Duration::from_secs(5);

/// How long the old stream is heard beside the new one: what was said on it before the server took
/// note of the new one may still be on its way.
const OVERLAP: Duration = Duration::from_millis(50);

/// How long what is heard is kept back for a server that has not taken note of the new stream yet.
const PATIENCE: Duration = Duration::from_millis(100);

/// How much is kept back.
const KEPT: usize = 256;

type Names = BTreeSet<Arc<str>>;

/// Brings the stream in line with what is wanted, for one connection.
pub(super) struct Wanted {
    hearer: Hearer,
    life: Life,
    now: Option<Open>,
    next: Option<Open>,
    overlap: Option<Overlap>,
    looks: Looks,
    /// What was asked for last, which is not asked for again before this time.
    tried: (Names, Instant),
    pauses: Pauses,
}

struct Open {
    stream: Stream,
    names: Names,
    since: Instant,
}

/// A time in which one stream gives way to another. What is heard meanwhile is kept back and told
/// once, because the same may come on both.
struct Overlap {
    old: Option<Open>,
    until: Instant,
    kept: BTreeMap<String, Kept>,
}

struct Kept {
    note: Notification,
    /// What the old stream says is no news where the new one has spoken.
    is_old: bool,
}

impl Wanted {
    pub(super) fn new(hearer: Hearer, life: Life) -> Self {
        Self {
            hearer,
            life,
            now: None,
            next: None,
            overlap: None,
            looks: Looks::default(),
            tried: (Names::new(), Instant::now()),
            pauses: Pauses::new(),
        }
    }

    /// Ends with the connection.
    pub(super) async fn run(mut self) {
        let mut book = self.hearer.wishes.watch();
        while !self.hearer.replica.is_gone() {
            self.confirm(&asked(&book.borrow_and_update()));
            let wanted = book.borrow().heard();
            self.adjust(wanted);
            let due = self.due();
            let old = self.overlap.as_mut().and_then(|overlap| overlap.old.as_mut());
            tokio::select! {
                said = next(old) => self.take_from_old(said),
                said = next(self.now.as_mut()) => self.take_from_now(said).await,
                said = next(self.next.as_mut()) => self.take_from_next(said).await,
                seen = self.looks.next() => self.hearer.herald.tell(self.hearer.feed, &seen),
                changed = book.changed() => if changed.is_err() { return },
                () = wait_until(due) => self.ring(),
            }
        }
    }

    /// What is wanted again and heard of anyway.
    fn confirm(&mut self, asked: &[Arc<str>]) {
        for name in asked {
            if self.now.as_ref().is_some_and(|now| now.names.contains(name)) {
                self.settle(name, Ok(()));
            }
        }
    }

    /// Opens another stream if this one is about something else than what is wanted. One stream
    /// gives way at a time, so that changes in a row become few.
    fn adjust(&mut self, wanted: Names) {
        let waits = wanted == self.tried.0 && Instant::now() < self.tried.1;
        if self.next.is_some() || self.overlap.is_some() || waits {
            return;
        }
        if wanted.is_empty() {
            self.now = None;
        } else if self.now.as_ref().is_none_or(|now| now.names != wanted) {
            self.tried.0.clone_from(&wanted);
            self.next = Some(Open::new(&self.hearer, wanted));
            self.overlap = self.now.is_some().then(|| Overlap::new(None, PATIENCE));
        }
    }

    fn take_from_old(&mut self, said: Result<Said, Failed>) {
        match said {
            Ok(Said::Note(note)) => self.note(note, true),
            _ => self.end_overlap(),
        }
    }

    async fn take_from_now(&mut self, said: Result<Said, Failed>) {
        match said {
            Ok(Said::Note(note)) => self.note(note, self.next.is_some()),
            Ok(Said::Accepted(_)) => {}
            Ok(Said::Ended | Said::Refused(_)) => self.lose(),
            Err(failed) => {
                tracing::debug!(server = %self.hearer.replica.server, reason = %failed, "the stream of updates broke");
                self.lose();
                self.hearer.tell(News::Lost).await;
            }
        }
    }

    async fn take_from_next(&mut self, said: Result<Said, Failed>) {
        match said {
            Ok(Said::Note(note)) => self.note(note, false),
            Ok(Said::Accepted(filter)) => self.change_over(&self.hearer.feed.names_in(filter)),
            Ok(Said::Refused(error)) => self.fail(&Refusal::Error(error)),
            Ok(Said::Ended) => self.fail(&ended()),
            Err(failed) => {
                self.fail(&Refusal::Failed(failed));
                self.hearer.tell(News::Lost).await;
            }
        }
    }

    /// The server has taken note of the next stream.
    fn change_over(&mut self, accepted: &BTreeSet<String>) {
        let Some(mut open) = self.next.take() else { return };
        for name in &open.names {
            let told = accepted.contains(&**name);
            self.settle(name, told.then_some(()).ok_or(Refusal::NotOffered));
        }
        let asked = open.names.len();
        open.names.retain(|name| accepted.contains(&**name));
        if open.names.len() < asked {
            self.pause(Duration::ZERO);
        }
        if let Some(old) = self.now.replace(open) {
            let kept = self.overlap.take().map(|overlap| overlap.kept);
            self.overlap = Some(Overlap {
                kept: kept.unwrap_or_default(),
                ..Overlap::new(Some(old), OVERLAP)
            });
        }
    }

    /// The stream is lost: what happens from now on goes unheard.
    fn lose(&mut self) {
        let lasted = self
            .now
            .take()
            .map_or(Duration::ZERO, |open| open.since.elapsed());
        self.pause(lasted);
        self.end_overlap();
        self.life = self.hearer.wishes.interrupt(self.life);
    }

    /// The next stream did not come about.
    fn fail(&mut self, why: &Refusal) {
        let Some(open) = self.next.take() else { return };
        self.end_overlap();
        self.pause(open.since.elapsed());
        for name in &open.names {
            if self.now.as_ref().is_none_or(|now| !now.names.contains(name)) {
                self.settle(name, Err(why.clone()));
            }
        }
    }

    fn pause(&mut self, lasted: Duration) {
        self.tried.1 = Instant::now() + self.pauses.after(lasted);
    }

    fn settle(&mut self, name: &Arc<str>, outcome: Result<(), Refusal>) {
        let told = outcome.is_ok();
        let was_heard = self.hearer.settle(self.life, name, outcome);
        if told && was_heard && self.hearer.feed == Feed::Tasks {
            self.looks.begin(&self.hearer.replica, name);
        }
    }

    fn note(&mut self, note: Notification, is_old: bool) {
        let Some(name) = self.hearer.feed.named_by(&note) else {
            return;
        };
        self.looks.heard(&name);
        let Some(overlap) = &mut self.overlap else {
            return self.hearer.herald.note(&note);
        };
        overlap.keep(name, Kept { note, is_old });
        if overlap.kept.len() >= KEPT {
            self.end_overlap();
        }
    }

    fn end_overlap(&mut self) {
        if let Some(overlap) = self.overlap.take() {
            let kept = overlap.kept.values();
            kept.for_each(|kept| self.hearer.herald.note(&kept.note));
        }
    }

    fn due(&self) -> Option<Instant> {
        let overlap = self.overlap.as_ref().map(|overlap| overlap.until);
        let acknowledged = self.next.as_ref().map(|next| next.since + ACK);
        let again = Some(self.tried.1).filter(|again| *again > Instant::now());
        [overlap, acknowledged, again].into_iter().flatten().min()
    }

    fn ring(&mut self) {
        let now = Instant::now();
        if self.overlap.as_ref().is_some_and(|overlap| now >= overlap.until) {
            self.end_overlap();
        }
        if self.next.as_ref().is_some_and(|next| now >= next.since + ACK) {
            let detail = format!("`subscriptions/listen` was not acknowledged within {ACK:?}");
            self.fail(&Refusal::Failed(Failed::maybe_sent(FailedKind::TimedOut, detail)));
        }
    }
}

impl Open {
    fn new(hearer: &Hearer, names: Names) -> Self {
        let listed: Vec<&str> = names.iter().map(|name| &**name).collect();
        let filter = json!({ hearer.feed.filter(): listed });
        Self {
            stream: Stream::new(&hearer.replica, filter),
            names,
            since: Instant::now(),
        }
    }
}

impl Overlap {
    fn new(old: Option<Open>, lasts: Duration) -> Self {
        Self {
            old,
            until: Instant::now() + lasts,
            kept: BTreeMap::new(),
        }
    }

    fn keep(&mut self, name: String, said: Kept) {
        let before = self.kept.get(&name);
        if before.is_none_or(|before| before.is_old || !said.is_old) {
            self.kept.insert(name, said);
        }
    }
}

impl Feed {
    /// What a notification of it names.
    fn named_by(self, note: &Notification) -> Option<String> {
        let params = Object::read(note.params.as_ref()?).ok()?;
        (&*note.method == self.method()).then(|| params.text(self.member()))?
    }

    /// What a filter names.
    fn names_in(self, filter: Option<Object>) -> BTreeSet<String> {
        let listed = filter.and_then(|filter| filter.get(self.filter())?.elements());
        let names = listed.iter().flatten().filter_map(RawJson::to_text);
        names.collect()
    }
}

fn asked(book: &Book) -> Vec<Arc<str>> {
    book.asked().cloned().collect()
}

fn ended() -> Refusal {
    Refusal::Failed(Failed::maybe_sent(
        FailedKind::Malformed,
        "the server ended `subscriptions/listen` before it acknowledged it",
    ))
}

async fn next(open: Option<&mut Open>) -> Result<Said, Failed> {
    match open {
        Some(open) => open.stream.next().await,
        None => std::future::pending().await,
    }
}

async fn wait_until(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str, is_old: bool) -> Kept {
        let params = RawJson::trusted(text.to_owned());
        Kept {
            note: Notification::new(Feed::Tasks.method(), Some(params)),
            is_old,
        }
    }

    #[tokio::test]
    async fn what_the_old_stream_says_late_takes_nothing_back() {
        let mut overlap = Overlap::new(None, OVERLAP);
        let states = [
            ("1", true),
            ("2", true),
            ("3", false),
            ("2", true),
            ("4", false),
            ("3", true),
        ];
        for (state, is_old) in states {
            overlap.keep("t".into(), said(state, is_old));
        }
        let kept = overlap.kept.remove("t").unwrap();
        assert_eq!(kept.note.params.unwrap().as_str(), "4");
    }

    #[test]
    fn each_feed_is_read_by_its_own_names() {
        let note = said(r#"{"taskId":"t","uri":"u"}"#, false).note;
        assert_eq!(Feed::Tasks.named_by(&note).as_deref(), Some("t"));
        assert_eq!(
            Feed::Resources.named_by(&note),
            None,
            "it is no notification of a resource"
        );
        let filter = || Object::read(&RawJson::from_static(r#"{"taskIds":["a",5,"b"]}"#)).ok();
        assert_eq!(Feed::Tasks.names_in(filter()).len(), 2);
        assert!(Feed::Resources.names_in(filter()).is_empty() && Feed::Tasks.names_in(None).is_empty());
    }
}

//! What somebody wants to hear of from a server: resources, or tasks, by their names there.
//!
//! Each backend of the server is asked for all of it, and each has a say of its own: what one of them
//! tells of is told.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Weak};

use mcpr_protocol::RawJson;
use mcpr_transport::Failed;
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::Status;

/// What is wanted of one server, whatever becomes of its backends.
///
/// Something is wanted or it is not: counting those who want it is up to the caller.
#[derive(Debug, Default)]
pub struct Wishes(Mutex<Wanted>);

#[derive(Debug, Default)]
struct Wanted {
    names: BTreeSet<Arc<str>>,
    /// Who is asked for them.
    asked: Vec<Weak<Asked>>,
}

/// What is wanted of one backend, whatever becomes of the connections to it.
#[derive(Debug, Default)]
pub(crate) struct Asked(watch::Sender<Book>);

/// Why a server does not tell of something. `Display` is for the log: without the server's own words.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// It tells of none, or not of this one.
    NotOffered,
    /// It says so itself, with this error object.
    Error(RawJson),
    /// It was not asked: clients want more of it than it is asked for.
    Full,
    /// It could not be asked, and will be asked again.
    Failed(Failed),
    /// It is not there.
    Unavailable(Box<Status>),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOffered => f.write_str("the server tells of none"),
            Self::Error(_) => f.write_str("the server answers with an error"),
            Self::Full => f.write_str("clients want more of the server than it is asked for"),
            Self::Failed(failed) => failed.fmt(f),
            Self::Unavailable(_) => f.write_str("the server is not there"),
        }
    }
}

/// A connection or a session that is asked to fulfil wishes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Life {
    connection: u64,
    /// The sessions and streams of the connection, counted.
    attempt: u64,
}

/// All wishes at one moment.
#[derive(Debug, Default)]
pub(crate) struct Book {
    /// What is said of an earlier one no longer counts.
    life: Life,
    wishes: BTreeMap<Arc<str>, Wish>,
}

#[derive(Debug)]
struct Wish {
    standing: Standing,
    /// Whether it has ever been fulfilled.
    was_heard: bool,
}

#[derive(Debug)]
enum Standing {
    /// The server has not said yet whether it tells of it.
    Asked,
    /// It does.
    Stands,
    /// It does not.
    Refused(Refusal),
}

impl Wishes {
    /// Adds something. What was refused is asked for again.
    pub fn add(&self, name: &Arc<str>) {
        let mut wanted = self.0.lock();
        wanted.names.insert(name.clone());
        wanted.asked().for_each(|asked| asked.add(name));
    }

    /// Takes something out.
    pub fn remove(&self, name: &str) {
        let mut wanted = self.0.lock();
        wanted.names.remove(name);
        wanted.asked().for_each(|asked| asked.remove(name));
    }

    /// Whether nothing is wanted.
    pub fn is_empty(&self) -> bool {
        self.0.lock().names.is_empty()
    }

    /// Asks one more backend for all that is wanted, for as long as it is kept.
    pub(crate) fn ask(&self) -> Arc<Asked> {
        let asked = Arc::new(Asked::default());
        let mut wanted = self.0.lock();
        wanted.names.iter().for_each(|name| asked.add(name));
        wanted.asked.retain(|asked| asked.strong_count() > 0);
        wanted.asked.push(Arc::downgrade(&asked));
        asked
    }
}

impl Wanted {
    /// Those that are asked still.
    fn asked(&mut self) -> impl Iterator<Item = Arc<Asked>> {
        self.asked.retain(|asked| asked.strong_count() > 0);
        self.asked.iter().filter_map(Weak::upgrade)
    }
}

impl Asked {
    fn add(&self, name: &Arc<str>) {
        self.0.send_if_modified(|book| match book.wishes.get_mut(name) {
            Some(Wish {
                standing: Standing::Asked | Standing::Stands,
                ..
            }) => false,
            Some(refused) => {
                refused.standing = Standing::Asked;
                true
            }
            None => book.wishes.insert(name.clone(), Wish::new()).is_none(),
        });
    }

    /// Takes something out. What was refused is asked for again if that was granted: there may have been too much.
    fn remove(&self, name: &str) {
        self.0.send_if_modified(|book| {
            let Some(gone) = book.wishes.remove(name) else {
                return false;
            };
            if matches!(gone.standing, Standing::Stands) {
                book.ask_again_for_refused();
            }
            true
        });
    }

    /// Whether nothing is wanted.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.borrow().wishes.is_empty()
    }

    /// Waits until the server has said whether it tells of what is wanted.
    pub(crate) async fn settled(&self, name: &str) -> Result<(), Refusal> {
        let mut book = self.0.subscribe();
        let decided = |book: &Book| !matches!(book.standing(name), Some(Standing::Asked));
        match book
            .wait_for(decided)
            .await
            .as_deref()
            .map(|book| book.standing(name))
        {
            Ok(Some(Standing::Stands)) => Ok(()),
            Ok(Some(Standing::Refused(refusal))) => Err(refusal.clone()),
            _ => Err(Refusal::NotOffered), // It was taken back meanwhile.
        }
    }

    /// Waits until nothing is wanted; false if that was so from the beginning.
    pub(crate) async fn none_left(&self) -> bool {
        let mut book = self.0.subscribe();
        let waited = !book.borrow_and_update().wishes.is_empty();
        let _ = book.wait_for(|book| book.wishes.is_empty()).await;
        waited
    }

    /// The wishes and all their changes.
    pub(crate) fn watch(&self) -> watch::Receiver<Book> {
        self.0.subscribe()
    }

    /// A new connection is asked for everything from now on.
    pub(crate) fn begin(&self) -> Life {
        self.ask_all(|life| Life {
            connection: life.connection + 1,
            attempt: 0,
        })
    }

    /// Nothing is heard from now on: everything is to be asked for anew. Of no effect where
    /// another connection has taken over.
    pub(crate) fn interrupt(&self, life: Life) -> Life {
        let is_current = self.0.borrow().life.connection == life.connection;
        if !is_current {
            return life;
        }
        self.ask_all(|life| Life {
            attempt: life.attempt + 1,
            ..life
        })
    }

    /// Notes what came of asking for something. True if it was heard of in an earlier life, so
    /// that a change may have gone unheard meanwhile.
    pub(crate) fn settle(&self, life: Life, name: &str, outcome: Result<(), Refusal>) -> bool {
        let mut missed = false;
        self.0.send_if_modified(|book| {
            let is_current = book.life == life;
            let Some(wish) = book.wishes.get_mut(name).filter(|_| is_current) else {
                return false;
            };
            missed = wish.was_heard && !matches!(wish.standing, Standing::Stands);
            wish.was_heard |= outcome.is_ok();
            wish.standing = outcome.map_or_else(Standing::Refused, |()| Standing::Stands);
            true
        });
        missed
    }

    /// These are not heard of any more, and are to be asked for anew. What an earlier life says has no effect.
    pub(crate) fn lose<'n>(&self, life: Life, names: impl IntoIterator<Item = &'n Arc<str>>) {
        self.0.send_if_modified(|book| {
            let is_current = book.life == life;
            for name in names.into_iter().filter(|_| is_current) {
                if let Some(wish) = book.wishes.get_mut(name) {
                    wish.standing = Standing::Asked;
                }
            }
            is_current
        });
    }

    /// What could not be asked for, and what is no longer heard of, is asked for again.
    pub(crate) fn ask_again(&self) {
        self.0.send_modify(|book| {
            let again = book.wishes.values_mut().filter(|wish| !wish.is_given_up());
            let refused = again.filter(|wish| matches!(wish.standing, Standing::Refused(_)));
            refused.for_each(|wish| wish.standing = Standing::Asked);
        });
    }

    fn ask_all(&self, next: impl FnOnce(Life) -> Life) -> Life {
        let mut life = Life::default();
        self.0.send_modify(|book| {
            book.life = next(book.life);
            life = book.life;
            book.wishes
                .values_mut()
                .for_each(|wish| wish.standing = Standing::Asked);
        });
        life
    }
}

impl Book {
    /// Whether this is wanted.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.wishes.contains_key(name)
    }

    /// What is to be asked for.
    pub(crate) fn asked(&self) -> impl Iterator<Item = &Arc<str>> {
        let asked = |wish: &Wish| matches!(wish.standing, Standing::Asked);
        self.wishes
            .iter()
            .filter(move |(_, wish)| asked(wish))
            .map(|(name, _)| name)
    }

    /// What is heard of, or should be.
    pub(crate) fn heard(&self) -> BTreeSet<Arc<str>> {
        let heard = self.wishes.iter().filter(|(_, wish)| !wish.is_given_up());
        heard.map(|(name, _)| name.clone()).collect()
    }

    fn ask_again_for_refused(&mut self) {
        for wish in self.wishes.values_mut() {
            if let Standing::Refused(Refusal::NotOffered | Refusal::Error(_) | Refusal::Full) = wish.standing
            {
                wish.standing = Standing::Asked;
            }
        }
    }

    fn standing(&self, name: &str) -> Option<&Standing> {
        self.wishes.get(name).map(|wish| &wish.standing)
    }
}

impl Wish {
    fn new() -> Self {
        Self {
            standing: Standing::Asked,
            was_heard: false,
        }
    }

    /// Whether it makes no sense to ask for it again: the server refused it from the beginning.
    fn is_given_up(&self) -> bool {
        let by_itself = matches!(
            self.standing,
            Standing::Refused(Refusal::NotOffered | Refusal::Error(_) | Refusal::Full)
        );
        by_itself && !self.was_heard
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wishes(uris: &[&str]) -> Asked {
        let wishes = Asked::default();
        uris.iter().for_each(|uri| wishes.add(&Arc::from(*uri)));
        wishes
    }

    fn asked(wishes: &Asked) -> Vec<String> {
        wishes.0.borrow().asked().map(|uri| uri.to_string()).collect()
    }

    #[tokio::test]
    async fn what_is_interrupted_is_asked_for_anew_and_counts_as_missed() {
        let wishes = wishes(&["a", "b"]);
        let first = wishes.begin();
        assert!(!wishes.settle(first, "a", Ok(())) && !wishes.settle(first, "b", Err(Refusal::NotOffered)));
        assert!(wishes.settled("a").await.is_ok() && wishes.settled("b").await.is_err());

        let second = wishes.interrupt(first);

        assert_eq!(asked(&wishes), ["a", "b"]);
        assert!(!wishes.settle(first, "a", Ok(())), "an earlier life has no say");
        assert_eq!(asked(&wishes), ["a", "b"]);
        assert!(wishes.settle(second, "a", Ok(())) && !wishes.settle(second, "b", Ok(())));
    }

    #[tokio::test]
    async fn a_connection_that_was_replaced_interrupts_nothing() {
        let wishes = wishes(&["a"]);
        let (older, newer) = (wishes.begin(), wishes.begin());
        wishes.settle(newer, "a", Ok(()));

        wishes.interrupt(older);

        assert!(asked(&wishes).is_empty() && wishes.settled("a").await.is_ok());
    }

    #[tokio::test]
    async fn what_was_refused_is_asked_for_again_when_it_is_wanted_again() {
        let wishes = wishes(&["a"]);
        let life = wishes.begin();
        wishes.settle(life, "a", Err(Refusal::NotOffered));
        wishes.ask_again();
        assert!(asked(&wishes).is_empty() && wishes.0.borrow().heard().is_empty());

        wishes.add(&Arc::from("a"));

        assert_eq!(asked(&wishes), ["a"]);
        wishes.remove("a");
        assert!(wishes.is_empty() && wishes.settled("a").await.is_err());
    }

    #[test]
    fn what_was_refused_is_asked_for_again_when_something_else_is_wanted_no_more() {
        let wishes = wishes(&["a", "b", "c"]);
        let life = wishes.begin();
        wishes.settle(life, "a", Ok(()));
        wishes.settle(life, "b", Err(Refusal::Full));
        wishes.settle(life, "c", Err(Refusal::Error(RawJson::from_static("{}"))));
        assert!(asked(&wishes).is_empty());

        wishes.remove("a");

        assert_eq!(asked(&wishes), ["b", "c"]);
    }

    #[test]
    fn what_is_lost_is_asked_for_anew_and_the_rest_is_not() {
        let wishes = wishes(&["a", "b"]);
        let life = wishes.begin();
        wishes.settle(life, "a", Ok(()));
        wishes.settle(life, "b", Ok(()));

        wishes.lose(life, [&Arc::from("a")]);

        assert_eq!(asked(&wishes), ["a"]);
        assert!(wishes.settle(life, "a", Ok(())), "a change may have gone unheard");
    }

    #[test]
    fn what_was_heard_once_is_not_given_up() {
        let wishes = wishes(&["a"]);
        let life = wishes.begin();
        wishes.settle(life, "a", Ok(()));
        let life = wishes.interrupt(life);

        wishes.settle(life, "a", Err(Refusal::NotOffered));

        assert_eq!(wishes.0.borrow().heard().len(), 1);
        wishes.ask_again();
        assert_eq!(asked(&wishes), ["a"]);
    }

    #[tokio::test]
    async fn each_backend_is_asked_for_all_and_has_a_say_of_its_own() {
        let all = Wishes::default();
        all.add(&Arc::from("a"));
        let (first, second) = (all.ask(), all.ask());
        all.add(&Arc::from("b"));
        assert_eq!(
            (asked(&first), asked(&second)),
            (asked(&wishes(&["a", "b"])), asked(&wishes(&["a", "b"])))
        );

        first.settle(first.begin(), "a", Ok(()));
        second.settle(second.begin(), "a", Err(Refusal::NotOffered));

        assert!(first.settled("a").await.is_ok() && second.settled("a").await.is_err());
        all.remove("a");
        drop(second);
        all.remove("b");
        assert!(all.is_empty() && first.is_empty());
    }
}

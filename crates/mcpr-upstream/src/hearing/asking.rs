//! Asking a server of the session era to tell of resources.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use mcpr_protocol::{Message, Method, RawJson};
use mcpr_transport::{Failed, FailedKind, Outgoing, Party};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use super::{Hearer, News, is_a_break};
use crate::ask::answer_locally;
use crate::status::Heard;
use crate::wishes::{Book, Life, Refusal};

/// How many such requests are open at a server at once.
const AT_ONCE: usize = 16;

/// For an answer to one.
const PATIENCE: Duration = Duration::from_secs(30);

/// When it is tried again where one got no answer.
const AGAIN: Duration = Duration::from_secs(30);
/// The same where the way there was broken and its server is thought to be there still.
const SOON: Duration = Duration::from_millis(500);

/// Brings what the server was asked for in line with what is wanted, for one session.
pub(super) struct Asking {
    hearer: Hearer,
    life: Life,
    own: Own,
    work: JoinSet<Done>,
    again: Option<Instant>,
}

/// The resources that this session knows of.
#[derive(Default)]
struct Own(BTreeMap<Arc<str>, Place>);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// It is being asked for.
    Asking,
    /// The server tells of it.
    Told,
    /// It is being given back.
    Leaving,
    /// The way to the server is broken: it is asked for again, here or on the next connection.
    Broken,
}

/// Something to do.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Step {
    Subscribe(Arc<str>),
    Unsubscribe(Arc<str>),
    /// It was wanted again before it was given back.
    Confirm(Arc<str>),
}

/// What came of a request: the server's answer, or none.
struct Done {
    step: Step,
    session: u64,
    outcome: Result<Result<RawJson, RawJson>, Failed>,
}

impl Asking {
    pub(super) fn new(hearer: Hearer, life: Life) -> Self {
        Self {
            hearer,
            life,
            own: Own::default(),
            work: JoinSet::new(),
            again: None,
        }
    }

    /// Ends with the session.
    pub(super) async fn run(mut self) {
        let mut book = self.hearer.wishes.watch();
        loop {
            let steps = self.own.plan(&book.borrow_and_update(), self.work.len());
            steps.into_iter().for_each(|step| self.take(step));
            let again = self.again;
            tokio::select! {
                changed = book.changed() => if changed.is_err() { return },
                Some(Ok(done)) = self.work.join_next() => {
                    if !self.finish(done).await {
                        return;
                    }
                }
                () = wait_until(again) => self.ask_again(),
            }
        }
    }

    fn take(&mut self, step: Step) {
        match &step {
            Step::Subscribe(uri) => self.own.put(uri, Place::Asking),
            Step::Unsubscribe(uri) => self.own.put(uri, Place::Leaving),
            Step::Confirm(uri) => {
                self.hearer.settle(self.life, uri, Ok(()));
                return;
            }
        }
        self.work.spawn(send(self.hearer.clone(), step));
    }

    /// Takes an answer; false if the session has ended.
    async fn finish(&mut self, done: Done) -> bool {
        match (done.step, done.outcome) {
            (_, Err(failed)) if failed.kind == FailedKind::SessionExpired => {
                self.hearer.tell(News::Expired(done.session)).await;
                return false;
            }
            (Step::Subscribe(uri), Ok(Ok(_))) => {
                self.own.put(&uri, Place::Told);
                self.hearer.settle(self.life, &uri, Ok(()));
            }
            (Step::Subscribe(uri), Ok(Err(error))) => self.refused(&uri, Refusal::Error(error)),
            (Step::Subscribe(uri), Err(failed)) if is_a_break(&failed) => {
                // Whoever waits for it waits for the server, or hears that it is down.
                self.own.put(&uri, Place::Broken);
                self.again = Some(Instant::now() + SOON);
                self.hearer.tell(News::Lost).await;
            }
            (Step::Subscribe(uri), Err(failed)) => self.refused(&uri, Refusal::Failed(failed)),
            (Step::Unsubscribe(uri) | Step::Confirm(uri), _) => self.own.drop(&uri),
        }
        true
    }

    fn refused(&mut self, uri: &Arc<str>, why: Refusal) {
        self.own.drop(uri);
        let failed = matches!(why, Refusal::Failed(_));
        let was_heard = self.hearer.settle(self.life, uri, Err(why));
        if failed || was_heard {
            self.again = Some(Instant::now() + AGAIN);
        }
    }

    fn ask_again(&mut self) {
        self.again = None;
        self.own.0.retain(|_, place| *place != Place::Broken);
        self.hearer.wishes.ask_again();
    }
}

impl Own {
    /// What is to be done now, while `busy` requests are open. Nothing is done to a resource for
    /// which one is.
    fn plan(&self, book: &Book, busy: usize) -> Vec<Step> {
        let place = |uri: &Arc<str>| self.0.get(uri).copied();
        let confirmed = book.asked().filter(|uri| place(uri) == Some(Place::Told));
        let new = book.asked().filter(|uri| place(uri).is_none());
        let unwanted = self
            .0
            .iter()
            .filter(|(uri, place)| **place == Place::Told && !book.has(uri));
        let requests = unwanted
            .map(|(uri, _)| Step::Unsubscribe(uri.clone()))
            .chain(new.cloned().map(Step::Subscribe));
        let confirmed = confirmed.cloned().map(Step::Confirm);
        confirmed
            .chain(requests.take(AT_ONCE.saturating_sub(busy)))
            .collect()
    }

    fn put(&mut self, uri: &Arc<str>, place: Place) {
        self.0.insert(uri.clone(), place);
    }

    fn drop(&mut self, uri: &str) {
        self.0.remove(uri);
    }
}

async fn send(hearer: Hearer, step: Step) -> Done {
    let (method, uri) = match &step {
        Step::Unsubscribe(uri) => (Method::ResourcesUnsubscribe, uri),
        Step::Subscribe(uri) | Step::Confirm(uri) => (Method::ResourcesSubscribe, uri),
    };
    let session = hearer.replica.session();
    let answer = timeout(PATIENCE, request(&hearer, method.clone(), uri)).await;
    let outcome = answer.unwrap_or_else(|_| {
        let detail = format!("no answer to `{method}` within {PATIENCE:?}");
        Err(Failed::maybe_sent(FailedKind::TimedOut, detail))
    });
    Done {
        step,
        session,
        outcome,
    }
}

async fn request(hearer: &Hearer, method: Method, uri: &str) -> Result<Result<RawJson, RawJson>, Failed> {
    let replica = &hearer.replica;
    let request = Outgoing {
        id: replica.next_id(),
        method,
        params: RawJson::render(&json!({ "uri": uri })).into(),
        name: None,
        headers: Vec::new(),
        party: Party::GATEWAY,
    };
    let mut exchange = replica.open(request).await?;
    loop {
        match exchange.next().await? {
            Message::Response(response) => return Ok(response.outcome),
            Message::Request(request) => answer_locally(&**replica.transport(), &request).await?,
            Message::Notification(note) => {
                hearer.herald.note(&note);
                let mut heard = Heard::default();
                heard.note(&note.method);
                if heard.any() {
                    hearer.tell(News::Changed(heard)).await;
                }
            }
        }
    }
}

async fn wait_until(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => std::future::pending().await,
    }
}

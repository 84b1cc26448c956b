//! A gateway that ends and starts again while clients call: what was acknowledged was done, once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use mcpr_tests::client::{Session, Stateless};
use mcpr_tests::http::{Answer, Request};
use mcpr_tests::{Brood, Fake, Program, extent, figure, gateway, wait_until};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::impatient;

/// How many clients of each era call at the same time.
const CLIENTS: usize = 4;

/// How many calls have to succeed between two ends of the gateway.
const BETWEEN: usize = 40;

/// What became of calls, by the number that each of them has.
#[derive(Debug, Default)]
struct Tally {
    /// Answered with success.
    acknowledged: BTreeSet<u64>,
    /// The connection was refused, or closed before an answer.
    broken: BTreeSet<u64>,
    /// Refused with 404: the session was gone.
    unknown_session: BTreeSet<u64>,
    /// Answered with an error.
    errors: Vec<Value>,
}

/// How the gateway ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Asked,
    Killed,
}

struct Stage {
    gateway: Program,
    fake: Fake,
    tally: Mutex<Tally>,
    last: AtomicU64,
}

impl Stage {
    async fn new() -> Self {
        let fake = Fake::script()
            .tool("write")
            .set("session", json!(true))
            .delay("tools/call", 0.003);
        let fake = fake.http();
        let gateway = gateway()
            .fake_with("a", &fake, impatient())
            .program(&Brood::new())
            .await;
        gateway.run().await;
        let (tally, last) = Default::default();
        Self {
            gateway,
            fake,
            tally,
            last,
        }
    }

    /// The next call: its number, and the parameters without their braces.
    fn next(&self) -> (u64, String) {
        let id = self.last.fetch_add(1, Ordering::Relaxed);
        (id, format!(r#""name":"a_write","arguments":{{"id":{id}}}"#))
    }

    /// Makes calls in sessions; when one is gone, the next is opened, as the specification says.
    async fn session_client(&self) {
        let mut session = self.open().await;
        loop {
            let (id, params) = self.next();
            let request = session.post(&session.text("tools/call", &format!("{{{params}}}")));
            let answer = request.try_send(self.gateway.port).await;
            if answer.as_ref().is_some_and(|answer| answer.status() == 404) {
                self.tally.lock().unknown_session.insert(id);
                session = self.open().await;
            } else {
                self.note(id, answer).await;
            }
        }
    }

    async fn open(&self) -> Session {
        loop {
            match Session::try_open(self.gateway.port, &self.gateway.token, "2025-11-25").await {
                Some(session) => return session,
                None => self.gateway.listening().await,
            }
        }
    }

    async fn stateless_client(&self) {
        let client = self.gateway.stateless();
        loop {
            let (id, params) = self.next();
            let request: Request = post(&client, &params);
            self.note(id, request.try_send(self.gateway.port).await).await;
        }
    }

    async fn note(&self, id: u64, answer: Option<Answer>) {
        let Some(answer) = answer else {
            self.tally.lock().broken.insert(id);
            return self.gateway.listening().await;
        };
        let message = answer.message();
        match message["result"]["content"].is_array() {
            true => _ = self.tally.lock().acknowledged.insert(id),
            false => self.tally.lock().errors.push(message),
        }
    }

    /// Ends the gateway again and again, each time after some calls.
    async fn ends(&self, end: End, rounds: usize) {
        for _ in 0..rounds {
            self.some_calls().await;
            match end {
                End::Asked => assert!(self.gateway.terminate().await.success()),
                End::Killed => self.gateway.kill().await,
            }
            self.gateway.launch();
        }
        self.some_calls().await;
    }

    async fn some_calls(&self) {
        let succeeded = || self.tally.lock().acknowledged.len();
        let enough = succeeded() + BETWEEN;
        wait_until(Duration::from_secs(60), "more calls", || {
            (succeeded() >= enough).then_some(())
        })
        .await;
    }

    /// How often each call was done.
    fn done(&self) -> BTreeMap<u64, usize> {
        let mut done = BTreeMap::new();
        for call in self.fake.received_of("tools/call") {
            let id = call.params()["arguments"]["id"]
                .as_u64()
                .expect("each call has its number");
            *done.entry(id).or_default() += 1;
        }
        done
    }
}

fn post(client: &Stateless, params: &str) -> Request {
    client.post(
        &client.text("1", "tools/call", params),
        "tools/call",
        Some("a_write"),
    )
}

/// Has clients call while the gateway ends and starts, and gives what became of their calls, and how
/// often each was done.
async fn under_load(end: End, rounds: usize) -> (Tally, BTreeMap<u64, usize>) {
    let stage = Stage::new().await;
    let sessions = join_all((0..CLIENTS).map(|_| stage.session_client()));
    let stateless = join_all((0..CLIENTS).map(|_| stage.stateless_client()));
    tokio::select! {
        () = stage.ends(end, rounds) => {}
        _ = sessions => unreachable!("they go on for ever"),
        _ = stateless => unreachable!("they go on for ever"),
    }
    let done = stage.done();
    let tally = std::mem::take(&mut *stage.tally.lock());
    let (acknowledged, broken) = (tally.acknowledged.len(), tally.broken.len());
    let told = format!("{rounds} times, {acknowledged} calls acknowledged, {broken} connections broken");
    figure(&format!("restarts under load ({end:?})"), told);
    (tally, done)
}

fn assert_nothing_lost(tally: &Tally, done: &BTreeMap<u64, usize>) {
    assert!(
        tally.errors.is_empty(),
        "clients see broken connections at the most: {:?}",
        tally.errors
    );
    assert!(done.values().all(|times| *times == 1), "nothing is done twice");
    assert!(
        tally.acknowledged.iter().all(|id| done.contains_key(id)),
        "what is acknowledged is done"
    );
    assert!(
        !tally.unknown_session.iter().any(|id| done.contains_key(id)),
        "what is refused is not done"
    );
    assert!(!tally.unknown_session.is_empty(), "sessions were opened anew");
}

#[tokio::test(flavor = "multi_thread")]
async fn b47_b30_a_gateway_that_restarts_under_load_loses_nothing_and_breaks_no_call_that_it_has_begun() {
    let (tally, done) = under_load(End::Asked, extent(3, 50)).await;

    assert_nothing_lost(&tally, &done);
    assert!(
        !tally.broken.iter().any(|id| done.contains_key(id)),
        "what was begun was answered"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn b30_a_gateway_that_is_killed_under_load_loses_no_call_that_was_acknowledged() {
    let (tally, done) = under_load(End::Killed, extent(3, 50)).await;

    assert_nothing_lost(&tally, &done);
    assert!(!tally.broken.is_empty(), "some calls were under way");
}

//! A hundred servers, of which thirty cannot be used (SRV-03, AGG-12, B01).

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use mcpr_tests::{Brood, Builder, Fake, Program, Received, cpu_time, extent, figure, gateway, is_long};
use serde_json::{Value, json};

use crate::NOTHING_LEFT;

/// How many servers may be starting at once: more than never end their start, so that the others do.
const PARALLEL: usize = 14;

/// How many servers are of each broken kind.
const BROKEN: usize = 10;

const GOOD: usize = 70;

/// Far more than a list takes that waits for nobody, and far less than one that does: the machine may be busy,
/// and the program made for finding faults.
const AT_ONCE: Duration = Duration::from_secs(2);

/// What is promised, of a program as it is released.
const PROMISED: Duration = Duration::from_millis(100);

/// How long the processor is watched when all has settled.
const WATCHED: Duration = Duration::from_secs(60);

/// What the servers are made of.
struct Kinds {
    /// All good ones write into one log.
    good: Fake,
    /// These are never introduced.
    silent: Fake,
}

impl Kinds {
    fn new() -> Self {
        Self {
            good: Fake::script().tool("t").delay("initialize", 0.03).stdio(),
            silent: Fake::script()
                .tool("t")
                .with(r#"{"silent": ["initialize"]}"#)
                .stdio(),
        }
    }

    /// The servers in their order: the broken ones are among the first.
    fn gateway(&self, brood: &Brood) -> Builder {
        let mut builder = gateway().own("startup", json!({ "parallel": PARALLEL }));
        for n in 0..GOOD {
            if n < BROKEN {
                for (kind, entry) in self.broken() {
                    builder = builder.server(&format!("{kind}{n}"), brood.mark(entry));
                }
            }
            builder = builder.server(&format!("good{n}"), brood.mark(self.good.entry()));
        }
        builder
    }

    fn broken(&self) -> [(&str, Value); 3] {
        let mut silent = self.silent.entry();
        silent["mcpr"] = json!({ "timeouts": { "start": "1h" } });
        [
            ("missing", json!({ "command": "/no/such/bin" })),
            ("exits", json!({ "command": "sh", "args": ["-c", "exit 1"] })),
            ("silent", silent),
        ]
    }

    /// The most servers that were between their first message and their listing at one time.
    fn most_starting(&self) -> usize {
        let (good, silent) = (self.good.received(), self.silent.received());
        let mut all: Vec<&Received> = good.iter().chain(&silent).collect();
        // What ends in a millisecond comes before what begins in it: the place was its.
        all.sort_by(|one, other| one.at.total_cmp(&other.at).then(is_end(other).cmp(&is_end(one))));
        let (mut starting, mut most) = (BTreeSet::new(), 0);
        for received in all {
            match received.method.as_deref() {
                Some("server/discover" | "initialize") => _ = starting.insert(received.pid),
                Some("tools/list") => _ = starting.remove(&received.pid),
                _ => {}
            }
            most = most.max(starting.len());
        }
        most
    }
}

/// Whether it is the last message of a start.
fn is_end(received: &Received) -> bool {
    received.method.as_deref() == Some("tools/list")
}

fn count(servers: &[Value], kind: &str, state: &str) -> usize {
    let is = |server: &&Value| {
        server["name"].as_str().is_some_and(|name| name.starts_with(kind)) && server["state"] == state
    };
    servers.iter().filter(is).count()
}

/// Starts it, and gives how long the first list took once it was listening, and how many tools that had.
async fn first_list(gateway: &Program) -> (Duration, usize) {
    gateway.launch();
    gateway.listening().await;
    let began = Instant::now();
    let listed = gateway
        .stateless()
        .request("tools/list", "", None)
        .await
        .message();
    let tools = listed["result"]["tools"].as_array().expect("a list").len();
    (began.elapsed(), tools)
}

/// How long a first list may take.
fn at_once() -> Duration {
    let released = !cfg!(debug_assertions);
    if released {
        extent(AT_ONCE, PROMISED)
    } else {
        AT_ONCE
    }
}

async fn all_good_are_ready(gateway: &Program) {
    let settled = |servers: &[Value]| {
        count(servers, "good", "ok") == GOOD
            && count(servers, "missing", "down") == BROKEN
            && count(servers, "exits", "down") == BROKEN
    };
    let servers = gateway.await_servers(settled).await;
    assert_eq!(count(&servers, "silent", "starting"), BROKEN);
    assert_eq!(gateway.client().await.tools().await.len(), GOOD);
}

#[tokio::test(flavor = "multi_thread")]
async fn srv_03_agg_12_b01_of_a_hundred_servers_the_seventy_good_ones_are_served_and_few_start_at_once() {
    let (brood, kinds) = (Brood::new(), Kinds::new());
    let gateway = kinds.gateway(&brood).program(&brood).await;

    let (cold, listed) = first_list(&gateway).await;
    assert!(cold < at_once(), "{cold:?}");
    assert!(listed < GOOD, "it did not wait for the servers");
    all_good_are_ready(&gateway).await;
    let most = kinds.most_starting();
    assert!(
        (BROKEN + 1..=PARALLEL).contains(&most),
        "{most} were starting at once"
    );
    figure(
        "first list of 100 servers, nothing known of them",
        format_args!("{cold:?}"),
    );
    stays_idle(&gateway).await;

    assert!(gateway.terminate().await.success());
    brood.all_gone_within(NOTHING_LEFT).await;
    let (warm, listed) = first_list(&gateway).await;
    assert!(warm < at_once(), "{warm:?}");
    assert_eq!(listed, GOOD, "what was listed before is listed at once");
    figure(
        "first list of 100 servers, with the listings of before",
        format_args!("{warm:?}"),
    );
}

/// What 70 ready servers and 30 that are tried again cost; a measurement, and so only in the long form.
async fn stays_idle(gateway: &Program) {
    if !is_long() {
        return;
    }
    let before = cpu_time(gateway.pid());
    tokio::time::sleep(WATCHED).await;
    let used = cpu_time(gateway.pid()) - before;
    let share = used.as_secs_f64() / WATCHED.as_secs_f64() * 100.0;
    figure(
        "processor used by an idle gateway of 100 servers",
        format_args!("{share:.2} %"),
    );
    assert!(share < 1.0, "{used:?} in {WATCHED:?}");
}

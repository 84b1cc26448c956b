//! Servers and gateways that come and go, again and again: none of their processes stays (SRV-04).

use mcpr_tests::{Brood, Fake, Program, await_no_process, extent, figure, gateway, processes, signal};
use serde_json::{Value, json};

use crate::{NOTHING_LEFT, SLACK, impatient, text};

/// A gateway, its guardian, a shell, and the server below it.
const PROCESSES: usize = 4;

/// A gateway whose only server is the grandchild of a shell.
struct Stage {
    brood: Brood,
    fake: Fake,
    gateway: Program,
}

impl Stage {
    async fn new() -> Self {
        let (brood, fake) = (Brood::new(), Fake::script().tool("t").stdio());
        let entry = entry(&brood, &fake, 0);
        let gateway = gateway().server("a", entry).program(&brood).await;
        gateway.run().await;
        Self { brood, fake, gateway }
    }

    /// One life of the server, from a call to its end, and to the next life.
    async fn cycle(&self, round: usize) {
        let before = self.gateway.ready("a").await;
        match round % 5 {
            0 => self.switch_off_and_on().await,
            1 => self.change(round).await,
            2 => self.operate("servers/restart").await,
            3 => assert!(signal("KILL", pid(&before))),
            _ => assert!(signal("KILL", self.grandchild(&before))),
        }
        let is_new = |server: &Value| server["state"] == "ok" && server["pid"] != before["pid"];
        self.gateway.await_server("a", is_new).await;
        let answer = self.gateway.stateless().call("a_t", r#"{"n":1}"#).await;
        assert_eq!(text(&answer), r#"{"n":1}"#);
    }

    async fn switch_off_and_on(&self) {
        self.operate("servers/disable").await;
        await_no_process(&self.mark()).await;
        self.operate("servers/enable").await;
    }

    /// A configuration with another entry, taken over by a reload.
    async fn change(&self, round: usize) {
        let servers = [("a", entry(&self.brood, &self.fake, round))];
        let text = self.gateway.configuration(&servers, &json!({}));
        std::fs::write(self.gateway.file(), text).expect("the file can be written");
        self.gateway.operate("reload", &json!({})).await;
    }

    async fn operate(&self, path: &str) {
        let answer = self.gateway.operate(path, &json!({ "name": "a" })).await;
        assert!(answer["error"].is_null(), "{path}: {answer}");
    }

    /// The process of the server itself, below the shell.
    fn grandchild(&self, server: &Value) -> u32 {
        let shell = pid(server);
        let all = processes(&self.mark());
        *all.iter()
            .find(|pid| **pid != shell)
            .expect("the shell has a child")
    }

    fn mark(&self) -> String {
        self.fake.spec_path().display().to_string()
    }
}

fn entry(brood: &Brood, fake: &Fake, version: usize) -> Value {
    let mut entry = brood.mark(fake.grandchild(""));
    entry["env"]["VERSION"] = json!(version.to_string());
    entry["mcpr"] = impatient();
    entry
}

fn pid(server: &Value) -> u32 {
    let pid = server["pid"].as_u64().expect("a process");
    pid.try_into().expect("process ids are small")
}

#[tokio::test(flavor = "multi_thread")]
async fn b06_srv_04_servers_that_start_stop_change_and_die_again_and_again_leave_nothing() {
    let (warm_up, rounds) = extent((5, 10), (100, 1_000));
    let stage = Stage::new().await;
    for round in 0..warm_up {
        stage.cycle(round).await;
    }
    stage.gateway.is_tidy(PROCESSES).await;
    let before = stage.gateway.footprint();

    for round in 0..rounds {
        stage.cycle(warm_up + round).await;
    }

    stage.gateway.is_tidy(PROCESSES).await;
    let after = before.is_kept_by(stage.gateway.pid(), SLACK).await;
    figure("cycles: before", format_args!("{before:?}"));
    figure("cycles: after", format_args!("{rounds} rounds: {after:?}"));
    assert!(stage.gateway.terminate().await.success());
    stage.brood.all_gone_within(NOTHING_LEFT).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b06_srv_04_of_gateways_that_end_or_are_killed_again_and_again_nothing_is_left() {
    let rounds = extent(4, 200);
    let brood = Brood::new();
    let [plain, deep, strayed] = [(); 3].map(|()| Fake::script().tool("t").stdio());
    let gateway = gateway()
        .server("plain", brood.mark(plain.entry()))
        .server("deep", brood.mark(deep.grandchild("")))
        .server("strayed", brood.mark(strayed.grandchild("setsid")));
    let gateway = gateway.program(&brood).await;

    for round in 0..rounds {
        gateway.run().await;
        assert_eq!(
            brood.processes().len(),
            7,
            "a gateway, a guardian, two shells, three servers"
        );
        match round % 2 {
            0 => gateway.kill().await,
            _ => assert!(gateway.terminate().await.success()),
        }
        brood.all_gone_within(NOTHING_LEFT).await;
    }
    figure("gateways that ended and left nothing", rounds);
}

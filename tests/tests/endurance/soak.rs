//! All that happens in days, in minutes: calls of all kinds, clients that come and go, lists that change,
//! servers that die, configurations that are read again. Nothing grows, and nothing stays.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use mcpr_tests::http::Request;
use mcpr_tests::{Brood, Fake, Footprint, Program, extent, figure, gateway, signal, wait_for, wait_until};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use crate::{NOTHING_LEFT, SLACK, impatient, text};

/// How many clients of each era are there at the same time.
const CLIENTS: usize = 4;

/// How many requests are made between two deaths, and between two configurations.
const BETWEEN: usize = 60;

/// How long all may take to become quiet.
const QUIET: Duration = Duration::from_secs(60);

/// The processes of a gateway with its guardian, two servers and a second backend.
const PROCESSES: usize = 5;

/// A world with a gateway in it.
struct World {
    brood: Brood,
    steady: Fake,
    mortal: Fake,
    forgetful: Fake,
    gateway: Program,
    made: AtomicUsize,
}

impl World {
    async fn new() -> Self {
        let notify = json!([{ "method": "notifications/tools/list_changed", "on": "tools/call:change" }]);
        let steady = Fake::script()
            .tool("change")
            .tool("slow")
            .set("notify", notify)
            .set("progress", json!({ "count": 3, "interval": 0.001 }))
            .set("prompts", json!([{ "name": "p" }]))
            .set("resources", json!([{ "uri": "memo:///r", "name": "r" }]))
            .with(r#"{"env_tool": true}"#)
            .delay("tools/call:slow", 0.05);
        let (steady, mortal) = (steady.stdio(), Fake::script().tool("t").stdio());
        let forgetful = Fake::script()
            .tool("t")
            .with(r#"{"session": true, "ttl": 20}"#)
            .http();
        let brood = Brood::new();
        let mut world = gateway();
        for (name, entry) in servers(&brood, [&steady, &mortal, &forgetful], 0) {
            world = world.server(name, entry);
        }
        let gateway = world.own("limits", limits()).program(&brood).await;
        gateway.run().await;
        Self {
            brood,
            steady,
            mortal,
            forgetful,
            gateway,
            made: AtomicUsize::new(0),
        }
    }

    /// Lives for so long, and then lets all become quiet; gives what the gateway holds then.
    async fn live(&self, span: Duration) -> Footprint {
        let end = Instant::now() + span;
        let (_, _, _, _) = tokio::join!(
            join_all((0..CLIENTS).map(|n| self.sessions(n, end))),
            join_all((0..CLIENTS).map(|n| self.stateless(n, end))),
            // These wait for what clients do, and so for ever once they have gone.
            timeout_at(end, self.deaths()),
            timeout_at(end, self.configurations()),
        );
        self.is_quiet().await;
        self.gateway.footprint()
    }

    /// Clients with sessions: some take leave, some just go, with a stream or a call open.
    async fn sessions(&self, first: usize, end: Instant) {
        let mut visit = first;
        while Instant::now() < end {
            let client = self.gateway.client().await;
            let stream = client.stream().await;
            for n in 0..5 {
                self.try_call(client.call("mortal_t", r#"{"n":1}"#).await);
                assert_eq!(
                    text(&self.count(client.call("forgetful_t", "{}").await)),
                    "{}",
                    "{n}"
                );
            }
            self.count(client.call("steady_change", "{}").await);
            match visit % 3 {
                0 => {
                    let leave = client.in_session(Request::new("DELETE", "/mcp"));
                    assert_eq!(leave.send(client.port).await.status(), 204);
                }
                1 => drop(stream),
                _ => drop(
                    client
                        .begin(
                            "tools/call",
                            r#"{"name":"steady_slow","_meta":{"progressToken":1}}"#,
                        )
                        .await,
                ),
            }
            visit += 1;
        }
    }

    /// Clients without: they call, read, list and listen, and close before the answer now and then.
    async fn stateless(&self, first: usize, end: Instant) {
        let client = self.gateway.stateless();
        let mut visit = first;
        while Instant::now() < end {
            visit += 1;
            self.try_call(client.call("mortal_t", r#"{"n":1}"#).await);
            assert_eq!(
                text(&self.count(client.call("steady_echo", r#"{"n":2}"#).await)),
                r#"{"n":2}"#
            );
            let answer = match visit % 4 {
                0 => client.request("tools/list", "", None).await,
                1 => {
                    client
                        .request("prompts/get", r#""name":"steady_p""#, Some("steady_p"))
                        .await
                }
                2 => {
                    let listed = client.request("resources/list", "", None).await.message();
                    let uri = listed["result"]["resources"][0]["uri"]
                        .as_str()
                        .expect("a resource");
                    client
                        .request("resources/read", &format!(r#""uri":"{uri}""#), Some(uri))
                        .await
                }
                _ => {
                    let notifications = r#""notifications":{"toolsListChanged":true}"#;
                    let (_, mut listen) = client.begin("subscriptions/listen", notifications, None).await;
                    listen.event().await.expect("the acknowledgement");
                    continue;
                }
            };
            let message = self.count(answer.message());
            assert!(message["result"].is_object(), "{message}");
            let slow = client.text("1", "tools/call", r#""name":"steady_slow","arguments":{}"#);
            let slow = client.post(&slow, "tools/call", Some("steady_slow"));
            drop(slow.start(client.port).await);
        }
    }

    /// A backend dies each time some requests have been made.
    async fn deaths(&self) {
        loop {
            self.some_requests().await;
            let server = self.gateway.ready("mortal").await;
            let backends = server["backends"].as_array().expect("backends");
            let pid = backends.last().and_then(|backend| backend["pid"].as_u64());
            let pid = pid.and_then(|pid| u32::try_from(pid).ok());
            // A new configuration may have ended it a moment ago.
            if let Some(pid) = pid.filter(|pid| self.brood.processes().contains(pid)) {
                signal("KILL", pid);
            }
        }
    }

    /// The configuration changes each time some requests have been made.
    async fn configurations(&self) {
        for version in 1.. {
            self.some_requests().await;
            let fakes = [&self.steady, &self.mortal, &self.forgetful];
            let servers = servers(&self.brood, fakes, version);
            let text = self
                .gateway
                .configuration(&servers, &json!({ "builtins": false, "limits": limits() }));
            std::fs::write(self.gateway.file(), text).expect("the file can be written");
            self.gateway.operate("reload", &json!({})).await;
        }
    }

    async fn some_requests(&self) {
        let made = || self.made.load(Ordering::Relaxed);
        let enough = made() + BETWEEN;
        wait_until(QUIET, "more requests", || (made() >= enough).then_some(())).await;
    }

    /// Counts an answer that must be one.
    fn count(&self, message: Value) -> Value {
        self.made.fetch_add(1, Ordering::Relaxed);
        message
    }

    /// Counts an answer of the server that dies, which may be an error.
    fn try_call(&self, message: Value) {
        let message = self.count(message);
        let reason = message["error"]["data"]["reason"].as_str();
        let lost = matches!(
            reason,
            Some("outcome_unknown" | "starting" | "server_down" | "no_backend")
        );
        assert!(lost || message["result"].is_object(), "{message}");
    }

    /// No session, no call, no process and no zombie is left over.
    async fn is_quiet(&self) {
        wait_for(QUIET, "an idle gateway", async || {
            let status = self.gateway.ctl(&["status"]).await;
            let servers = status["servers"].as_array().expect("servers");
            let idle = servers
                .iter()
                .all(|server| server["state"] == "ok" && server["inFlight"] == 0);
            (idle && status["sessions"] == 0).then_some(())
        })
        .await;
        self.gateway.is_tidy(PROCESSES).await;
    }
}

/// Sessions end soon when nobody uses them.
fn limits() -> Value {
    json!({ "sessionIdle": "1s" })
}

fn servers(
    brood: &Brood,
    [steady, mortal, forgetful]: [&Fake; 3],
    version: usize,
) -> [(&'static str, Value); 3] {
    let mut changing = brood.mark(mortal.entry());
    changing["env"]["VERSION"] = json!((version / 4).to_string());
    changing["mcpr"] = impatient();
    changing["mcpr"]["replicas"] = json!(2);
    let mut tagged = forgetful.entry();
    tagged["mcpr"] = json!({ "tags": [format!("v{version}")] });
    [
        ("steady", brood.mark(steady.entry())),
        ("mortal", changing),
        ("forgetful", tagged),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn b34_srv_04_after_days_in_minutes_a_gateway_holds_what_it_held_at_first() {
    let (warm_up, spans, span) = extent((2, 1, 6), (60, 9, 60));
    let world = World::new().await;
    let before = world.live(Duration::from_secs(warm_up)).await;
    figure("soak: at first", format_args!("{before:?}"));

    for _ in 0..spans {
        let now = world.live(Duration::from_secs(span)).await;
        let made = world.made.load(Ordering::Relaxed);
        figure("soak", format_args!("{made} requests: {now:?}"));
    }

    let broken_off = world.steady.received_of("notifications/cancelled").len();
    assert!(broken_off > 0, "calls were closed before their answers");
    before.is_kept_by(world.gateway.pid(), SLACK).await;
    assert!(world.gateway.terminate().await.success());
    world.brood.all_gone_within(NOTHING_LEFT).await;
}

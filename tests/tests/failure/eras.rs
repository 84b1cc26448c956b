//! Which era a server speaks: found out once, remembered, or said in its entry.

use std::collections::BTreeSet;

use mcpr_tests::{Fake, gateway};
use serde_json::{Value, json};

use crate::{impatient, text};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

fn count(fake: &Fake, method: &str) -> usize {
    fake.received_of(method).len()
}

#[tokio::test(flavor = "multi_thread")]
async fn era_a_session_server_is_probed_once_in_its_life_with_mcpr() {
    for fake in [
        Fake::script().tool("t").stdio(),
        Fake::script().tool("t").http(),
        Fake::script().tool("t").sse(),
    ] {
        let entry = || {
            let mut entry = fake.entry();
            entry.as_object_mut().unwrap().remove("type");
            entry
        };
        let first = gateway().server("a", entry()).ready().await;
        let probes = fake
            .received()
            .iter()
            .filter(|received| received.text.contains("server/discover"))
            .count();
        first.core.shutdown().await;
        let seen = fake.received().len();
        let second = gateway().server("a", entry()).at_home_of(&first).start().await;
        second.await_state("a", "ok").await;

        assert_eq!(text(&second.client().await.call("a_t", "{}").await), "{}");
        assert!(probes <= 1);
        let later: Vec<_> = fake.received().into_iter().skip(seen).collect();
        assert!(
            later
                .iter()
                .all(|received| !received.text.contains("server/discover")),
            "{later:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn era_a_stateless_server_is_spoken_to_with_envelopes_only() {
    for fake in [
        Fake::script().tool("t").with(r#"{"era": "stateless"}"#).stdio(),
        Fake::script().tool("t").with(r#"{"era": "stateless"}"#).http(),
    ] {
        let first = gateway().fake("a", &fake).ready().await;
        assert_eq!(text(&first.client().await.call("a_t", "{}").await), "{}");
        assert_eq!(first.server("a").await["protocol"], "2026-07-28");
        first.core.shutdown().await;
        let second = gateway().fake("a", &fake).at_home_of(&first).start().await;
        second.await_state("a", "ok").await;

        assert_eq!(
            (count(&fake, "initialize"), count(&fake, "server/discover")),
            (0, 2)
        );
        for method in ["server/discover", "tools/list", "tools/call"] {
            assert_eq!(
                fake.received_of(method)[0].params()["_meta"][VERSION],
                "2026-07-28",
                "{method}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn era_a_server_of_both_is_spoken_to_in_the_newer() {
    let fake = Fake::script().tool("t").with(r#"{"era": "both"}"#).stdio();
    let gateway = gateway().fake("a", &fake).ready().await;

    assert_eq!(gateway.server("a").await["protocol"], "2026-07-28");
    assert_eq!(count(&fake, "initialize"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn era_a_server_that_the_probe_kills_is_started_again_without_one() {
    let fake = Fake::script()
        .tool("t")
        .with(r#"{"exit_on": "server/discover"}"#)
        .stdio();
    let first = gateway().fake("a", &fake).ready().await;
    assert_eq!(text(&first.client().await.call("a_t", "{}").await), "{}");
    assert_eq!(first.server("a").await["starts"], 1);
    first.core.shutdown().await;

    let second = gateway().fake("a", &fake).at_home_of(&first).start().await;
    second.await_state("a", "ok").await;

    assert_eq!(count(&fake, "server/discover"), 1);
    let pids: BTreeSet<_> = fake.received().iter().map(|received| received.pid).collect();
    assert_eq!(pids.len(), 3, "probed, served, served again");
}

#[tokio::test(flavor = "multi_thread")]
async fn era_a_server_that_is_silent_to_the_probe_is_started_afresh() {
    let fake = Fake::script()
        .tool("t")
        .with(r#"{"silent": ["server/discover"]}"#)
        .stdio();
    let gateway = gateway().fake("a", &fake).ready().await;

    assert_eq!(text(&gateway.client().await.call("a_t", "{}").await), "{}");
    let (probed, greeted) = (
        fake.received_of("server/discover"),
        fake.received_of("initialize"),
    );
    assert_eq!((probed.len(), greeted.len()), (1, 1));
    assert_ne!(probed[0].pid, greeted[0].pid);
}

#[tokio::test(flavor = "multi_thread")]
async fn era_a_stateless_refusal_that_names_older_versions_leads_to_a_handshake() {
    let error = json!({ "code": -32022, "message": "m", "data": { "supported": ["2025-06-18"], "requested": "2026-07-28" } });
    for fake in [
        Fake::script()
            .tool("t")
            .error("server/discover", error.clone())
            .stdio(),
        Fake::script()
            .tool("t")
            .error("server/discover", error.clone())
            .http(),
    ] {
        let gateway = gateway().fake("a", &fake).ready().await;

        assert_eq!(text(&gateway.client().await.call("a_t", "{}").await), "{}");
        assert_eq!(count(&fake, "initialize"), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn era_a_server_of_an_unknown_future_is_told_by_its_versions() {
    let error =
        json!({ "code": -32022, "message": "m", "data": { "supported": ["2027-01-01", "2027-06-01"] } });
    let fake = Fake::script().tool("t").error("server/discover", error).stdio();
    let gateway = gateway().fake("a", &fake).start().await;

    let server = gateway.await_state("a", "down").await;

    assert!(
        server["reason"]
            .as_str()
            .unwrap()
            .contains("2027-01-01, 2027-06-01"),
        "{server}"
    );
    assert_eq!(count(&fake, "initialize"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn era_the_entry_can_settle_the_protocol() {
    let choices = [
        ("session", "2025-11-25", 0),
        ("stateless", "2026-07-28", 1),
        ("2025-03-26", "2025-03-26", 0),
        ("2026-07-28", "2026-07-28", 1),
    ];
    for (choice, version, probes) in choices {
        let fake = Fake::script().tool("t").with(r#"{"era": "both"}"#).http();
        let gateway = gateway()
            .fake_with("a", &fake, json!({ "protocol": choice }))
            .ready()
            .await;

        assert_eq!(gateway.server("a").await["protocol"], version);
        assert_eq!(
            (count(&fake, "server/discover"), count(&fake, "initialize")),
            (probes, 1 - probes),
            "{choice}"
        );
        let greeting: Value = fake.received()[0].params();
        let offered = greeting
            .get("protocolVersion")
            .unwrap_or(&greeting["_meta"][VERSION]);
        assert_eq!(offered, version);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn era_a_settled_protocol_that_the_server_does_not_speak_is_a_clear_failure() {
    let fake = Fake::script().tool("t").stdio();
    let gateway = gateway()
        .fake_with("a", &fake, json!({ "protocol": "stateless" }))
        .start()
        .await;

    let server = gateway.await_state("a", "down").await;

    assert!(
        server["reason"]
            .as_str()
            .unwrap()
            .contains("does not speak 2026-07-28"),
        "{server}"
    );
    assert_eq!(count(&fake, "initialize"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn era_a_server_that_changes_its_era_is_found_out_again() {
    let fake = Fake::script().tool("t").http();
    let gateway = gateway().fake_with("a", &fake, impatient()).ready().await;
    let client = gateway.client().await;
    for (era, version) in [("stateless", "2026-07-28"), ("session", "2025-11-25")] {
        fake.kill();
        gateway.await_state("a", "down").await;
        fake.rescript(Fake::script().tool("t").set("era", json!(era)));
        fake.restart();

        gateway
            .await_server("a", |server| {
                server["state"] == "ok" && server["protocol"] == version
            })
            .await;
        assert_eq!(text(&client.call("a_t", "{}").await), "{}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn era_an_outage_is_no_verdict() {
    let fake = Fake::script()
        .tool("t")
        .with(r#"{"era": "stateless", "mask": {"status": 503, "until": 1}}"#)
        .http();
    let gateway = gateway().fake_with("a", &fake, impatient()).start().await;

    let server = gateway.await_state("a", "ok").await;

    assert_eq!(
        (&server["protocol"], &server["starts"]),
        (&json!("2026-07-28"), &json!(2))
    );
}

//! A server over HTTP that forgets its sessions all the time (SRV-07).

use std::collections::BTreeMap;

use futures_util::future::join_all;
use mcpr_tests::client::Stateless;
use mcpr_tests::{Fake, Gateway, Received, extent, figure, gateway};
use serde_json::json;

use crate::text;

/// How many requests a session of the server lasts.
const LASTS: usize = 5;

/// How many clients share the calls, each with a token of its own.
const CLIENTS: usize = 8;

async fn clients(gateway: &Gateway) -> Vec<Stateless> {
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        let token = gateway.another_token(&["call"]).await;
        clients.push(Stateless {
            token,
            port: gateway.port,
        });
    }
    clients
}

fn session(received: &Received) -> Option<&str> {
    received.header("mcp-session-id").first().copied()
}

/// How many requests came in each session; those of the first session are counted first.
fn requests(all: &[Received]) -> Vec<usize> {
    let mut order = Vec::new();
    let mut counts = BTreeMap::<&str, usize>::new();
    for received in all {
        let Some(id) = session(received) else { continue };
        if !counts.contains_key(id) {
            order.push(id);
        }
        let is_request = !received.text.is_empty() && !received.message()["id"].is_null();
        *counts.entry(id).or_default() += usize::from(is_request);
    }
    order.iter().map(|id| counts[id]).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn srv_07_b02_many_calls_at_once_to_a_server_that_forgets_its_sessions_succeed_with_one_renewal_each() {
    let calls = extent(200, 1_000);
    let fake = Fake::script()
        .tool("t")
        .set("session", json!(true))
        .set("ttl", json!(LASTS))
        .http();
    let own = json!({ "maxConcurrency": calls, "queue": { "max": calls } });
    let limits = json!({ "connections": 2 * calls + 100 });
    let gateway = gateway()
        .fake_with("a", &fake, own)
        .own("limits", limits)
        .ready()
        .await;
    let clients = clients(&gateway).await;

    let answers = join_all((0..calls).map(async |n| {
        let arguments = format!(r#"{{"n":{n}}}"#);
        let answer = clients[n % CLIENTS].call("a_t", &arguments).await;
        assert_eq!(text(&answer), arguments);
    }));
    answers.await;

    let all = fake.received();
    let opened = |received: &&Received| {
        matches!(
            received.method.as_deref(),
            Some("initialize" | "notifications/initialized")
        )
    };
    let handshakes: Vec<_> = all.iter().filter(opened).collect();
    for pair in handshakes.chunks_exact(2) {
        // Two at once would stand beside each other.
        assert_eq!(pair[0].method.as_deref(), Some("initialize"));
        assert_eq!(pair[1].method.as_deref(), Some("notifications/initialized"));
    }
    let requests = requests(&all);
    assert_eq!(
        requests.len(),
        handshakes.len() / 2,
        "each session that was opened was used"
    );
    let (_, expired) = requests.split_last().unwrap();
    assert!(
        expired.iter().all(|count| *count > LASTS),
        "none was renewed before its time: {requests:?}"
    );
    assert_eq!(gateway.server("a").await["starts"], 1);
    figure(
        "calls at once without an error, sessions that expired",
        format_args!("{calls}, {}", expired.len()),
    );
}

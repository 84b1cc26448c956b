//! Gateways that have one another as servers (B110).

use std::time::{Duration, Instant};

use mcpr_tests::client::Session;
use mcpr_tests::http::{Connection, Request};
use mcpr_tests::{Fake, Gateway, free_port, gateway, wait_for};
use serde_json::json;

use crate::{impatient, text};

const CHANGED: &str = "notifications/tools/list_changed";
const SOON: Duration = Duration::from_secs(20);

/// A gateway with a server of its own, and the gateway at `next`.
async fn one(own: &Fake, port: u16, next: u16) -> Gateway {
    let mut entry = json!({ "type": "http", "url": format!("http://127.0.0.1:{next}/mcp") });
    entry["mcpr"] = impatient();
    let builder = gateway().fake("own", own).server("next", entry);
    builder.on_port(port).open().start().await
}

/// Gateways of which each has the next as a server, and the last the first, with a server of their own each.
async fn circle<const N: usize>(fakes: &[Fake; N]) -> Vec<Gateway> {
    let ports = [(); N].map(|()| free_port());
    let mut gateways = Vec::new();
    for (n, own) in fakes.iter().enumerate() {
        gateways.push(one(own, ports[n], ports[(n + 1) % N]).await);
    }
    gateways
}

/// Waits until the tools are these.
async fn lists(client: &Session, names: &[&str]) {
    let mut listed = Vec::new();
    let deadline = Instant::now() + SOON;
    while listed != names {
        assert!(Instant::now() < deadline, "{listed:?} instead of {names:?}");
        tokio::task::yield_now().await;
        listed = client.tool_names().await;
        listed.sort();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b110_in_a_circle_each_gateway_lists_what_each_has_once() {
    let fakes = [(); 3].map(|()| Fake::script().tool("t").stdio());
    let gateways = circle(&fakes).await;

    for gateway in &gateways {
        let client = gateway.client().await;
        lists(&client, &["next_next_own_t", "next_own_t", "own_t"]).await;
        let answer = client.call("next_next_own_t", r#"{"far":1}"#).await;
        assert_eq!(text(&answer), r#"{"far":1}"#);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b110_a_gateway_of_a_circle_that_starts_anew_changes_nothing() {
    let fakes = [(); 2].map(|()| Fake::script().tool("t").stdio());
    let mut gateways = circle(&fakes).await;
    lists(&gateways[1].client().await, &["next_own_t", "own_t"]).await;
    let ports = [gateways[0].port, gateways[1].port];

    gateways.remove(0).stop().await;
    let anew = one(&fakes[0], ports[0], ports[1]).await;

    for gateway in [&anew, &gateways[0]] {
        lists(&gateway.client().await, &["next_own_t", "own_t"]).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b110_a_change_reaches_all_gateways_of_a_circle() {
    let fakes = [(); 3].map(|()| Fake::script().with(r#"{"env_tool": true}"#).stdio());
    let gateways = circle(&fakes).await;
    let (near, far) = (gateways[1].client().await, gateways[0].client().await);
    let far_tool = |name: &str| format!("next_own_{name}");
    wait_for(SOON, "the tools of the next", async || {
        far.tool_names().await.contains(&far_tool("add")).then_some(())
    })
    .await;

    near.call("own_add", "{}").await;

    wait_for(SOON, "the new tool", async || {
        far.tool_names().await.contains(&far_tool("new1")).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b110_a_gateway_that_announces_what_is_no_change_is_not_passed_on() {
    let introduced = json!({
        "protocolVersion": "2025-11-25", "capabilities": { "tools": { "listChanged": true } },
        "serverInfo": { "name": "other", "version": "1" }, "_meta": { "dev.mcpr/gateway": "other" },
    });
    let script = Fake::script().tool("t").with(r#"{"env_tool": true}"#);
    let script = script.set("notify", json!([{ "method": CHANGED }]));
    let fake = script.raw("initialize", &introduced.to_string()).stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let client = gateway.client().await;
    let mut stream = client.stream().await;
    client.call("a_t", "{}").await;
    fake.await_received("tools/list", 2).await;

    client.call("a_add", "{}").await;

    let told = async |stream: &mut Connection| stream.message(|message| message["method"] == CHANGED).await;
    assert!(told(&mut stream).await.is_some());
    assert!(client.tool_names().await.contains(&"a_new1".to_owned()));
    client
        .in_session(Request::new("DELETE", "/mcp"))
        .send(client.port)
        .await;
    assert!(told(&mut stream).await.is_none(), "another notice");
}

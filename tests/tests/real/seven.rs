//! All real servers form one, and bad ones in the same file disturb nobody.

use std::time::{Duration, Instant};

use mcpr_tests::{Fake, Gateway, await_no_process};
use serde_json::{Value, json};

use crate::world::Servers;

/// How many tools each has for a client without capabilities.
const TOOLS: [(&str, usize); 9] = [
    ("everything", 17),
    ("filesystem", 14),
    ("memory", 9),
    ("sequential-thinking", 1),
    ("time", 2),
    ("git", 12),
    ("fetch", 1),
    ("everything-http", 17),
    ("everything-sse", 17),
];

/// The promise is 100 ms; the rest is for a machine that runs other tests meanwhile.
const AT_ONCE: Duration = Duration::from_millis(500);

#[tokio::test(flavor = "multi_thread")]
async fn agg_01_agg_12_nine_real_servers_form_one_whatever_bad_ones_do() {
    let servers = Servers::new().await;
    let [slow, asleep] = [(); 2].map(|()| Fake::script().delay("start", 3600.0).stdio());
    let gateway = servers
        .gateway()
        .server("dead", json!({ "command": "no-such-command-anywhere" }))
        .server(
            "refused",
            json!({ "type": "http", "url": "http://127.0.0.1:1/mcp" }),
        )
        .fake_with(
            "slow",
            &slow,
            json!({ "timeouts": { "start": "1s" }, "restart": { "backoffMax": "1s" } }),
        )
        .fake("asleep", &asleep);
    let gateway = gateway.start().await;

    let began = Instant::now();
    let first = gateway
        .stateless()
        .request("tools/list", "", None)
        .await
        .message();
    assert!(
        began.elapsed() < AT_ONCE,
        "the first list took {:?}",
        began.elapsed()
    );
    assert_eq!(states(&first)["asleep"]["state"], "starting");

    all_are_listed(&gateway).await;
    all_are_called(&servers, &gateway).await;
    bad_ones_are_explained(&gateway).await;
    servers.stop(gateway).await;
    for fake in [slow, asleep] {
        await_no_process(&fake.spec_path().display().to_string()).await;
    }
}

async fn all_are_listed(gateway: &Gateway) {
    for (server, count) in TOOLS {
        gateway.listed_as(server, "ok").await;
        assert_eq!(gateway.server(server).await["tools"], count, "{server}");
    }
    for client in gateway.clients().await {
        assert_eq!(
            client.tools().await.len(),
            TOOLS.iter().map(|(_, count)| count).sum::<usize>()
        );
        let list = client.ask("tools/list", "").await.message();
        TOOLS
            .iter()
            .for_each(|(server, _)| assert_eq!(states(&list)[server]["state"], "ok"));
    }
}

async fn all_are_called(servers: &Servers, gateway: &Gateway) {
    for client in gateway.clients().await {
        for sample in servers.samples() {
            let told = client
                .call(sample.exposed, &sample.arguments.to_string())
                .await
                .message();
            sample.check(&told["result"], "the test");
        }
    }
}

/// Each is named with its reason, also while it is tried again.
async fn bad_ones_are_explained(gateway: &Gateway) {
    let reasons = [
        ("dead", "no program `no-such-command-anywhere`"),
        ("refused", "Connection refused"),
        ("slow", "no introduction within 1s"),
    ];
    for (server, part) in reasons {
        let named = |told: &Value| {
            told["reason"]
                .as_str()
                .is_some_and(|reason| reason.contains(part))
        };
        let told = gateway.await_server(server, named).await;
        assert!(told["starts"].as_u64() >= Some(1), "{told}");
    }
    let tried_again = |told: &Value| told["starts"].as_u64() > Some(1);
    let told = gateway.await_server("slow", tried_again).await;
    assert!(told["reason"].is_string(), "{told}");
}

fn states(list: &Value) -> &Value {
    &list["result"]["_meta"]["dev.mcpr/servers"]
}

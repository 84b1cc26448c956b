//! Servers that do not read what they are sent.

use futures_util::future::join_all;
use mcpr_tests::{Fake, Gateway, await_no_process, gateway};
use serde_json::{Value, json};

/// A server that reads nothing more once its tool `deafen` is called.
fn deaf() -> Fake {
    let keys = r#"{"deaf_on": "tools/call:deafen"}"#;
    Fake::script().tool("t").tool("deafen").with(keys).stdio()
}

/// A gateway before one that is deaf and one that is well.
async fn serving(fake: &Fake, well: &Fake) -> Gateway {
    let own = json!({ "timeouts": { "call": "4s" } });
    let gateway = gateway().fake_with("a", fake, own).fake("b", well).ready().await;
    let deafened = gateway.client().await.call("a_deafen", "{}").await;
    assert!(deafened["result"].is_object(), "{deafened}");
    gateway
}

/// Forty calls of a megabyte each: more than the pipe and the queue before it hold.
async fn forty_calls(gateway: &Gateway) -> Vec<Value> {
    let client = gateway.client().await;
    let arguments = json!({ "x": "x".repeat(1 << 20) }).to_string();
    join_all((0..40).map(|_| client.call("a_t", &arguments))).await
}

#[tokio::test(flavor = "multi_thread")]
async fn http_05_calls_of_a_server_that_does_not_read_end_at_their_limit_and_hold_up_no_other_server() {
    let (fake, well) = (deaf(), Fake::script().tool("t").stdio());
    let gateway = serving(&fake, &well).await;
    let mut stuck = std::pin::pin!(forty_calls(&gateway));
    let others = async {
        let client = gateway.client().await;
        gateway
            .await_server("a", |server| server["inFlight"].as_u64() >= Some(10))
            .await;
        for _ in 0..10 {
            assert!(client.call("b_t", "{}").await["result"].is_object());
        }
    };

    tokio::select! {
        _ = &mut stuck => panic!("the other server was held up"),
        () = others => {}
    }

    for answer in stuck.await {
        assert_eq!(answer["error"]["data"]["reason"], "timeout", "{answer}");
    }
    assert_eq!(fake.received_of("tools/call").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn srv_04_a_server_that_does_not_read_can_be_turned_off() {
    let (fake, well) = (deaf(), Fake::script().tool("t").stdio());
    let gateway = serving(&fake, &well).await;
    forty_calls(&gateway).await;

    gateway.operate("servers/disable", json!({ "name": "a" })).await;

    await_no_process(&fake.spec_path().display().to_string()).await;
}

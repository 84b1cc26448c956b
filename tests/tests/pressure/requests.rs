//! How many requests of one principal may be under way (SEC-05).

use futures_util::future::join_all;
use mcpr_tests::client::Session;
use mcpr_tests::http::Connection;
use mcpr_tests::{Fake, Gateway, gateway};
use serde_json::{Value, json};

use crate::wire::Wire;
use crate::{assert_busy, per_principal};

const SETTING: &str = "`limits.perPrincipal.inFlight`";

/// A server whose tool `slow` never answers.
fn slow() -> Fake {
    let silent = r#"{"silent": ["tools/call:slow", "prompts/get"]}"#;
    Fake::script().tool("slow").tool("quick").with(silent).stdio()
}

/// A gateway that grants each principal two requests at servers.
async fn narrow(fake: &Fake) -> Gateway {
    gateway()
        .with_builtins()
        .own("limits", per_principal("inFlight", 2))
        .fake("a", fake)
        .ready()
        .await
}

/// Two calls that are never answered, as they wait.
async fn two_under_way(client: &Session, fake: &Fake) -> Vec<Connection> {
    let begun = (0..2).map(|_| async {
        let call = client.text("tools/call", r#"{"name":"a_slow"}"#);
        client.post(&call).start(client.port).await
    });
    let under_way = join_all(begun).await;
    fake.await_received("tools/call", 2).await;
    under_way
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_one_request_too_many_is_refused_and_others_have_their_own_share() {
    let fake = slow();
    let gateway = narrow(&fake).await;
    let client = gateway.client().await;
    let _under_way = two_under_way(&client, &fake).await;

    assert_busy(&client.call("a_quick", "{}").await, SETTING);
    assert_busy(&gateway.client().await.call("a_quick", "{}").await, SETTING);
    assert_busy(&gateway.stateless().call("a_quick", "{}").await, SETTING);

    let other = Session::open(
        gateway.port,
        &gateway.another_token(&["call"]).await,
        "2025-11-25",
    )
    .await;
    assert!(other.call("a_quick", "{}").await["result"].is_object());
    assert_eq!(
        fake.received_of("tools/call").len(),
        3,
        "what is refused goes nowhere"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_long_calls_leave_room_for_what_the_gateway_answers_itself() {
    let fake = slow();
    let gateway = narrow(&fake).await;
    let client = gateway.client().await;
    let _under_way = two_under_way(&client, &fake).await;

    assert_eq!(client.tools().await.len(), 9);
    assert!(client.call("list-toolsets", "{}").await["result"].is_object());
    assert_eq!(client.request("ping", "{}").await.message()["result"], json!({}));
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_who_gives_a_request_up_has_its_spot_again() {
    let fake = slow();
    let gateway = narrow(&fake).await;
    let client = gateway.client().await;
    let _under_way = two_under_way(&client, &fake).await;

    for id in [1, 2] {
        let params = json!({ "requestId": id }).to_string();
        client.notify("notifications/cancelled", &params).await;
    }
    fake.await_received("notifications/cancelled", 2).await;

    let answers = join_all((0..2).map(|_| client.call("a_quick", "{}"))).await;
    assert!(answers.iter().all(|answer| answer["result"].is_object()));
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_a_call_whose_connection_is_lost_still_counts_until_it_ends() {
    let fake = slow();
    let gateway = narrow(&fake).await;
    let client = gateway.client().await;

    drop(two_under_way(&client, &fake).await);

    // The loss is no cancel in a session, however often the client looks.
    assert_busy(&client.call("a_quick", "{}").await, SETTING);
    client
        .in_session(mcpr_tests::http::Request::new("DELETE", "/mcp"))
        .send(gateway.port)
        .await;
    fake.await_received("notifications/cancelled", 2).await;
    assert!(gateway.client().await.call("a_quick", "{}").await["result"].is_object());
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_the_share_holds_on_a_pipe_and_cancels_are_still_heard() {
    let fake = slow();
    let gateway = narrow(&fake).await;
    let mut wire = Wire::open(&gateway).await;
    for id in ["1", "2"] {
        wire.request(id, "tools/call", r#"{"name":"a_slow"}"#).await;
    }
    fake.await_received("tools/call", 2).await;

    assert_busy(
        &wire.ask("3", "tools/call", r#"{"name":"a_quick"}"#).await,
        SETTING,
    );
    assert!(wire.ask("4", "tools/list", "{}").await["result"].is_object());
    wire.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#)
        .await;
    fake.await_received("notifications/cancelled", 1).await;
    assert!(wire.ask("5", "tools/call", r#"{"name":"a_quick"}"#).await["result"].is_object());
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_operators_have_a_share_too() {
    let fake = slow();
    let gateway = narrow(&fake).await;
    let call = |name: &str| gateway.operate("tools/call", json!({ "name": format!("a_{name}") }));
    let busy = async {
        fake.await_received("tools/call", 2).await;
        call("quick").await
    };

    let refused = tokio::select! {
        _ = join_all([call("slow"), call("slow")]) => unreachable!("they are never answered"),
        refused = busy => refused,
    };

    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains(SETTING), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_a_call_that_waits_for_its_client_leaves_its_spot() {
    let fake = Fake::script()
        .tool("t")
        .tool("quick")
        .interview(json!({
            "on": ["tools/call:t"],
            "rounds": [[{ "method": "elicitation/create",
                          "params": { "message": "?", "requestedSchema": { "type": "object", "properties": {} } } }]]
        }))
        .stdio();
    let gateway = gateway()
        .own("limits", per_principal("inFlight", 1))
        .fake("a", &fake)
        .ready()
        .await;
    let client = gateway.stateless();
    let meta = r#""io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}"#;
    let message = client.text_with("1", "tools/call", r#""name":"a_t","arguments":{}"#, meta);
    let asked = client
        .post(&message, "tools/call", Some("a_t"))
        .send(client.port)
        .await;
    assert_eq!(asked.message()["result"]["resultType"], "input_required");

    let other = client.call("a_quick", "{}").await;

    assert!(other["result"].is_object(), "{other}");
}

#[tokio::test(flavor = "multi_thread")]
async fn cfg_05_the_share_follows_the_configuration() {
    let fake = slow();
    let gateway = narrow(&fake).await;
    let client = gateway.client().await;
    let _under_way = two_under_way(&client, &fake).await;
    assert_busy(&client.call("a_quick", "{}").await, SETTING);

    let own = json!({ "limits": per_principal("inFlight", 3) });
    gateway.configure(&[("a", fake.entry())], &own);
    let reloaded = gateway.operate("reload", json!({})).await;

    assert_eq!(
        (&reloaded["unchanged"], &reloaded["needsRestart"]),
        (&json!(1), &Value::Null)
    );
    assert!(client.call("a_quick", "{}").await["result"].is_object());
}

//! Servers that start when somebody needs them.

use mcpr_tests::{Fake, gateway};
use serde_json::{Value, json};

use crate::text;

fn lazy() -> Value {
    json!({ "lazy": true })
}

#[tokio::test(flavor = "multi_thread")]
async fn srv_03_the_first_request_starts_all_servers_and_waits_for_them() {
    let (a, b) = (
        Fake::script().tool("t").delay("initialize", 0.2).stdio(),
        Fake::script().tool("t").http(),
    );
    let builder = gateway().own("startup", json!({ "when": "first_request" }));
    let gateway = builder.fake("a", &a).fake("b", &b).start().await;
    let client = gateway.client().await;
    assert_eq!(
        [
            gateway.server("a").await["starts"].clone(),
            gateway.server("b").await["starts"].clone()
        ],
        [0, 0]
    );

    let (first, second) = tokio::join!(client.tool_names(), client.tool_names());

    assert_eq!(
        (first, second),
        (
            vec!["a_t".to_owned(), "b_t".into()],
            vec!["a_t".into(), "b_t".into()]
        )
    );
    client.call("a_t", "{}").await;
    assert_eq!(
        [
            gateway.server("a").await["starts"].clone(),
            gateway.server("b").await["starts"].clone()
        ],
        [1, 1]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_12_srv_03_a_lazy_server_is_started_once_to_be_listed_and_then_sleeps() {
    let fake = Fake::script().tool("t").stdio();
    let gateway = gateway().fake_with("a", &fake, lazy()).start().await;

    let server = gateway
        .await_server("a", |server| server["state"] == "idle" && server["tools"] == 1)
        .await;

    assert_eq!(server["starts"], 1);
    assert_eq!(gateway.client().await.tool_names().await, ["a_t"]);
    mcpr_tests::await_no_process(&fake.spec_path().display().to_string()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn srv_03_a_lazy_server_starts_at_its_first_use_and_is_kept() {
    let fake = Fake::script().tool("t").stdio();
    let before = gateway().fake("a", &fake).ready().await;
    before.core.shutdown().await;
    let gateway = gateway()
        .fake_with("a", &fake, lazy())
        .at_home_of(&before)
        .start()
        .await;
    let client = gateway.client().await;
    assert_eq!(client.tool_names().await, ["a_t"]);
    assert_eq!(gateway.server("a").await["starts"], 0);

    let (one, two) = tokio::join!(client.call("a_t", r#"{"n":1}"#), client.call("a_t", r#"{"n":2}"#));

    assert_eq!((text(&one), text(&two)), (r#"{"n":1}"#, r#"{"n":2}"#));
    assert_eq!(text(&client.call("a_t", "{}").await), "{}");
    let server = gateway.server("a").await;
    assert_eq!((&server["state"], &server["starts"]), (&json!("ok"), &json!(1)));
}

#[tokio::test(flavor = "multi_thread")]
async fn srv_03_calls_that_come_while_a_lazy_server_wakes_wait_for_it() {
    let fake = Fake::script().tool("t").stdio();
    let before = gateway().fake("a", &fake).ready().await;
    before.core.shutdown().await;
    fake.rescript(Fake::script().tool("t").delay("initialize", 0.3));
    let gateway = gateway()
        .fake_with("a", &fake, lazy())
        .at_home_of(&before)
        .start()
        .await;
    let (client, seen) = (gateway.client().await, fake.received_of("initialize").len());
    let late = async {
        fake.await_received("initialize", seen + 1).await;
        client.call("a_t", r#"{"n":2}"#).await
    };

    let (first, late) = tokio::join!(client.call("a_t", r#"{"n":1}"#), late);

    assert_eq!((text(&first), text(&late)), (r#"{"n":1}"#, r#"{"n":2}"#));
}

#[tokio::test(flavor = "multi_thread")]
async fn srv_03_an_idle_lazy_server_is_stopped_and_wakes_again() {
    let fake = Fake::script().tool("t").stdio();
    let own = json!({ "lazy": true, "stopAfterIdle": "100ms" });
    let gateway = gateway().fake_with("a", &fake, own).start().await;
    gateway
        .await_server("a", |server| server["state"] == "idle" && server["tools"] == 1)
        .await;
    let client = gateway.client().await;
    client.call("a_t", "{}").await;

    gateway.await_state("a", "idle").await;

    mcpr_tests::await_no_process(&fake.spec_path().display().to_string()).await;
    assert_eq!(client.tool_names().await, ["a_t"]);
    assert_eq!(
        text(&client.call("a_t", r#"{"again":1}"#).await),
        r#"{"again":1}"#
    );
    assert_eq!(gateway.server("a").await["starts"], 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn srv_03_a_server_at_work_is_not_idle() {
    let fake = Fake::script().tool("t").delay("tools/call", 0.5).stdio();
    let own = json!({ "lazy": true, "stopAfterIdle": "100ms" });
    let gateway = gateway().fake_with("a", &fake, own).start().await;
    gateway
        .await_server("a", |server| server["state"] == "idle" && server["tools"] == 1)
        .await;

    let answer = gateway.client().await.call("a_t", r#"{"slow":1}"#).await;

    assert_eq!(text(&answer), r#"{"slow":1}"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn srv_03_no_call_is_lost_while_a_server_is_stopped_for_idleness() {
    let fake = Fake::script().tool("t").stdio();
    let own = json!({ "lazy": true, "stopAfterIdle": "1ms" });
    let gateway = gateway().fake_with("a", &fake, own).start().await;
    gateway.await_server("a", |server| server["tools"] == 1).await;
    let client = gateway.client().await;

    let mut starts = None;
    for n in 0..4000 {
        let arguments = format!(r#"{{"n":{n}}}"#);
        assert_eq!(text(&client.call("a_t", &arguments).await), arguments);
        starts = gateway.server("a").await["starts"].as_u64();
        if n >= 40 && starts > Some(5) {
            break; // On a fast machine calls often come before it is stopped.
        }
    }
    assert!(starts > Some(5), "it was stopped in between: {starts:?} starts");
}

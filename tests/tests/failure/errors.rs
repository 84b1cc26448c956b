//! The errors that mcpr makes itself: what programs find in them, and what people read.

use mcpr_tests::{Fake, gateway};
use serde_json::{Value, json};

use crate::{impatient, reason};

/// The `data` of an error that blames a server, without its request id, which must be a number.
fn data(answer: &Value) -> Value {
    let error = &answer["error"];
    assert_eq!(error["code"], -32603, "{answer}");
    assert!(answer.get("result").is_none(), "never an empty success: {answer}");
    let mut data = error["data"].clone();
    let members = data.as_object_mut().expect("data");
    assert!(
        members
            .remove("requestId")
            .is_some_and(|id| id.as_u64() > Some(0)),
        "{answer}"
    );
    let server = members["server"].as_str().expect("a server");
    assert!(
        error["message"]
            .as_str()
            .is_some_and(|text| text.contains(&format!("`{server}`"))),
        "{answer}"
    );
    data
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_08_err_server_down_says_why_and_when_to_try_again() {
    let fake = Fake::script().tool("t").http();
    let gateway = gateway()
        .fake_with("a", &fake, json!({ "restart": { "backoffMin": "30s" } }))
        .ready()
        .await;
    gateway.core.shutdown().await;
    fake.kill();
    let gateway = gateway_at(&gateway, &fake).await;
    let client = gateway.client().await;

    let answer = client.call("a_t", "{}").await;

    let mut data = data(&answer);
    let wait = data["retryAfterMs"].take().as_u64().unwrap();
    assert!((1..=42_000).contains(&wait), "{wait}");
    assert_eq!(
        data,
        json!({ "reason": "server_down", "server": "a", "retry": "safe", "retryAfterMs": null })
    );
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("cannot connect") && message.contains("mcpr-ctl"),
        "{message}"
    );
}

/// A gateway that knows from an earlier run what the server lists, and finds it down.
async fn gateway_at(before: &mcpr_tests::Gateway, fake: &Fake) -> mcpr_tests::Gateway {
    let own = json!({ "restart": { "backoffMin": "30s" } });
    let gateway = gateway()
        .fake_with("a", fake, own)
        .at_home_of(before)
        .start()
        .await;
    gateway.await_state("a", "down").await;
    gateway
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_08_err_starting_is_a_matter_of_time() {
    let fake = Fake::script().tool("t").stdio();
    let before = gateway().fake("a", &fake).ready().await;
    before.core.shutdown().await;
    fake.rescript(Fake::script().tool("t").with(r#"{"silent": ["initialize"]}"#));
    let gateway = gateway().fake("a", &fake).at_home_of(&before).start().await;

    let answer = gateway.client().await.call("a_t", "{}").await;

    let mut data = data(&answer);
    assert!(data["retryAfterMs"].take().as_u64() > Some(0), "{answer}");
    assert_eq!(
        data,
        json!({ "reason": "starting", "server": "a", "retry": "safe", "retryAfterMs": null })
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_08_err_outcome_unknown_when_a_server_dies_at_work() {
    let fake = Fake::script()
        .tool("t")
        .with(r#"{"exit_on": "tools/call", "stderr_text": "out of disk\n"}"#)
        .stdio();
    let gateway = gateway().fake("a", &fake).ready().await;

    let answer = gateway.client().await.call("a_t", "{}").await;

    assert_eq!(
        data(&answer),
        json!({ "reason": "outcome_unknown", "server": "a", "retry": "unsafe" })
    );
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("exit code 3") && message.contains("out of disk"),
        "{message}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn http_05_err_timeout_and_silence_name_their_setting() {
    for (setting, expected) in [("call", "timeout"), ("silence", "silence")] {
        let fake = Fake::script()
            .tool("t")
            .with(r#"{"silent": ["tools/call"]}"#)
            .stdio();
        let own = json!({ "timeouts": { setting: "100ms" } });
        let gateway = gateway().fake_with("a", &fake, own).ready().await;

        let answer = gateway.client().await.call("a_t", "{}").await;

        assert_eq!(
            data(&answer),
            json!({ "reason": expected, "server": "a", "retry": "unsafe" })
        );
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(
            message.contains("100ms") && message.contains(&format!("timeouts.{setting}")),
            "{message}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_14_err_busy_when_nobody_more_may_wait() {
    let fake = Fake::script()
        .tool("t")
        .with(r#"{"silent": ["tools/call"]}"#)
        .stdio();
    let own = json!({ "maxConcurrency": 1, "queue": { "max": 0 } });
    let gateway = gateway().fake_with("a", &fake, own).ready().await;
    let client = gateway.client().await;
    let (_, _at_work) = begin(&client, &fake).await;

    let answer = client.call("a_t", "{}").await;

    assert_eq!(
        data(&answer),
        json!({ "reason": "busy", "server": "a", "retry": "safe" })
    );
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("mcpr.queue.max"),
        "{answer}"
    );
}

/// A call that the fake never answers, once it has arrived there.
async fn begin(client: &mcpr_tests::client::Session, fake: &Fake) -> (String, mcpr_tests::http::Connection) {
    let text = client.text("tools/call", r#"{"name":"a_t","arguments":{}}"#);
    let mut connection = mcpr_tests::http::Connection::open(client.port).await;
    connection.send(&client.post(&text).bytes()).await;
    fake.await_received("tools/call", 1).await;
    (text, connection)
}

#[tokio::test(flavor = "multi_thread")]
async fn err_the_errors_of_mcpr_are_answers_of_http_200_in_both_eras() {
    let fake = Fake::script()
        .tool("t")
        .with(r#"{"exit_on": "tools/call"}"#)
        .stdio();
    let gateway = gateway().fake_with("a", &fake, impatient()).ready().await;

    let session = gateway
        .client()
        .await
        .request("tools/call", r#"{"name":"a_t"}"#)
        .await;
    gateway
        .await_server("a", |server| server["state"] == "ok" && server["starts"] == 2)
        .await;
    let stateless = gateway
        .stateless()
        .request("tools/call", r#""name":"a_t""#, Some("a_t"))
        .await;

    assert_eq!([session.status(), stateless.status()], [200, 200]);
    assert_eq!(
        [reason(&session.message()), reason(&stateless.message())],
        ["outcome_unknown"; 2]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn b50_an_error_of_the_server_passes_as_it_is() {
    let error = json!({ "code": -31999, "message": "m", "data": { "a": [1] } });
    let fake = Fake::script().tool("t").error("tools/call", error.clone()).http();
    let gateway = gateway().fake("a", &fake).ready().await;

    assert_eq!(gateway.client().await.call("a_t", "{}").await["error"], error);
}

#[tokio::test(flavor = "multi_thread")]
async fn ctl_04_a_prompt_that_does_not_exist_is_not_found() {
    let gateway = gateway().ready().await;

    let answer = gateway
        .operate("prompts/get", json!({ "name": "nope", "arguments": {} }))
        .await;

    assert_eq!(answer["error"]["code"], "not_found", "{answer}");
    assert_eq!(answer["error"]["message"], "Unknown prompt: nope");
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_08_a_misconfigured_server_says_what_is_wrong_with_it() {
    let entry = json!({ "type": "http", "url": "http://127.0.0.1:99999/mcp" });
    let gateway = gateway().server("odd", entry).ready().await;

    let client = gateway.client().await;
    let answer = client
        .request("resources/read", r#"{"uri":"resource://odd/a:b"}"#)
        .await
        .message();

    let message = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(
        message.contains("`odd` is misconfigured") && message.contains("port"),
        "{answer}"
    );
    assert_eq!(answer["error"]["data"]["retry"], "no");
}

//! Progress and log messages of a call reach whoever made it, under the token it gave (B17).

use mcpr_tests::{Fake, gateway};
use serde_json::{Value, json};

use crate::pairs;
use crate::wire::Wire;

const THREE: &str = r#"{"progress":{"count":3,"interval":0.02}}"#;

/// The progress values in messages, each checked to carry this token.
fn values(messages: &[Value], token: &Value) -> Vec<u64> {
    let progress = messages
        .iter()
        .filter(|message| message["method"] == "notifications/progress");
    let value = |message: &Value| {
        assert_eq!(&message["params"]["progressToken"], token, "{message}");
        message["params"]["progress"].as_u64().unwrap()
    };
    progress.map(value).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn b17_concurrent_calls_of_a_session_get_their_own_progress_under_their_own_tokens() {
    for (_fake, gateway) in pairs::servers(|script| script.tool("x").with(THREE)).await {
        let client = gateway.client().await;
        let call = async |token: &str| {
            let params = format!(r#"{{"name":"a_x","_meta":{{"progressToken":{token}}}}}"#);
            let answer = client.request("tools/call", &params).await;
            assert_eq!(answer.head.header("content-type"), Some("text/event-stream"));
            answer
                .events()
                .iter()
                .map(|event| event.message())
                .collect::<Vec<_>>()
        };
        let (number, text) = tokio::join!(call("7"), call("\"7\""));
        for (messages, token) in [(number, json!(7)), (text, json!("7"))] {
            assert_eq!(values(&messages, &token), [1, 2, 3]);
            assert!(
                messages.len() == 4 && messages[3]["result"].is_object(),
                "the answer is last: {messages:?}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b17_a_stateless_client_gets_progress_too() {
    for (fake, gateway) in pairs::servers(|script| script.tool("x").with(THREE)).await {
        let params = r#""name":"a_x""#;
        let text = gateway.stateless().text("1", "tools/call", params);
        let text = text.replace(r#""_meta":{"#, r#""_meta":{"progressToken":"tök","#);
        let answer = gateway
            .stateless()
            .post(&text, "tools/call", Some("a_x"))
            .send(gateway.port)
            .await;
        let messages: Vec<Value> = answer.events().iter().map(|event| event.message()).collect();
        assert_eq!(values(&messages, &json!("tök")), [1, 2, 3]);
        assert!(
            messages.len() == 4 && messages[3]["result"]["resultType"] == "complete",
            "{messages:?}"
        );
        let call = &fake.await_received("tools/call", 1).await[0];
        assert!(
            call.params()["_meta"]["progressToken"].is_u64(),
            "the server sees mcpr's own: {}",
            call.text
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b17_a_client_on_a_pipe_gets_progress_too() {
    for (_fake, gateway) in pairs::servers(|script| script.tool("x").with(THREE)).await {
        let mut wire = Wire::open(&gateway).await;
        wire.request("1", "tools/call", r#"{"name":"a_x","_meta":{"progressToken":0}}"#)
            .await;
        let messages = [
            wire.next().await,
            wire.next().await,
            wire.next().await,
            wire.next().await,
        ];
        assert_eq!(values(&messages, &json!(0)), [1, 2, 3]);
        assert_eq!(messages[3]["id"], 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_token_there_is_no_progress_and_the_answer_is_json() {
    for (fake, gateway) in pairs::servers(|script| script.tool("x").with(THREE)).await {
        let client = gateway.client().await;
        for meta in [
            "{}",
            r#"{"progressToken":null}"#,
            r#"{"progressToken":1.5}"#,
            r#"{"progressToken":{}}"#,
        ] {
            let answer = client
                .request("tools/call", &format!(r#"{{"name":"a_x","_meta":{meta}}}"#))
                .await;
            assert_eq!(
                answer.head.header("content-type"),
                Some("application/json"),
                "{meta}"
            );
        }
        let calls = fake.await_received("tools/call", 4).await;
        assert!(
            calls
                .iter()
                .all(|call| call.params()["_meta"]["progressToken"].is_null())
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b17_progress_resets_the_limit_of_silence() {
    let fake = Fake::script()
        .tool("x")
        .with(r#"{"progress":{"count":6,"interval":0.2}}"#)
        .stdio();
    let silent = Fake::script()
        .tool("x")
        .with(r#"{"silent":["tools/call"]}"#)
        .stdio();
    let limits = json!({ "silence": "900ms", "call": "10s" });
    let gateway = gateway()
        .fake("a", &fake)
        .fake("b", &silent)
        .own("timeouts", limits)
        .ready()
        .await;
    let client = gateway.client().await;
    let call = async |tool| {
        client
            .request(
                "tools/call",
                &json!({ "name": tool, "_meta": { "progressToken": 1 } }).to_string(),
            )
            .await
            .message()
    };
    let (talking, silent) = tokio::join!(call("a_x"), call("b_x"));
    assert!(talking["result"].is_object(), "{talking}");
    assert_eq!(silent["error"]["data"]["reason"], "silence");
}

#[tokio::test(flavor = "multi_thread")]
async fn log_messages_reach_a_client_from_the_level_on_that_it_set() {
    let notes = ["debug", "warning", "error"]
        .map(|level| json!({ "method": "notifications/message", "params": { "level": level, "data": "d" } }));
    let fake = Fake::script()
        .tool("x")
        .set("notify", json!(notes))
        .set("capabilities", json!({ "tools": {}, "logging": {} }))
        .http();
    let gateway = gateway().fake("a", &fake).ready().await;
    let client = gateway.client().await;
    let heard = async || {
        let answer = client.request("tools/call", r#"{"name":"a_x"}"#).await;
        let messages = answer
            .events()
            .into_iter()
            .map(|event| event.message()["params"]["level"].clone());
        messages.filter(|level| !level.is_null()).collect::<Vec<_>>()
    };
    assert_eq!(
        heard().await,
        ["warning", "error"],
        "from `info` on before it set one"
    );
    client.request("logging/setLevel", r#"{"level":"warning"}"#).await;
    assert_eq!(heard().await, ["warning", "error"]);
    client
        .request("logging/setLevel", r#"{"level":"emergency"}"#)
        .await;
    assert_eq!(heard().await, [Value::Null; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn log_messages_reach_a_stateless_request_only_if_it_says_a_level() {
    let note = json!([{ "method": "notifications/message", "params": { "level": "info", "data": "d" } }]);
    for (_fake, gateway) in pairs::servers(|script| script.tool("x").set("notify", note.clone()))
        .await
        .into_iter()
        .skip(1)
        .step_by(2)
    {
        let stateless = gateway.stateless();
        let text = stateless.text("1", "tools/call", r#""name":"a_x""#);
        let with = text.replace(
            r#""_meta":{"#,
            r#""_meta":{"io.modelcontextprotocol/logLevel":"info","#,
        );
        let plain = stateless
            .post(&text, "tools/call", Some("a_x"))
            .send(gateway.port)
            .await;
        let logged = stateless
            .post(&with, "tools/call", Some("a_x"))
            .send(gateway.port)
            .await;
        assert_eq!(plain.head.header("content-type"), Some("application/json"));
        assert_eq!(logged.events()[0].message()["params"]["level"], "info");
    }
}

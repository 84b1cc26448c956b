//! Answers that can be told to be answers, and cannot be read.

use std::time::Instant;

use mcpr_tests::{Fake, Gateway, Script, gateway};
use serde_json::{Value, json};

use crate::{AT_ONCE, text};

/// What libraries and hands have written in place of an answer.
const BROKEN: [(&str, &str); 8] = [
    (
        "both",
        r#"{"jsonrpc":"2.0","id":{id},"result":{},"error":{"code":1,"message":"m"}}"#,
    ),
    ("neither", r#"{"jsonrpc":"2.0","id":{id}}"#),
    (
        "nothing",
        r#"{"jsonrpc":"2.0","id":{id},"result":null,"error":null,"result":null}"#,
    ),
    ("versionless", r#"{"id":{id},"result":{"content":[]}}"#),
    ("oldest", r#"{"jsonrpc":"1.0","id":{id},"result":{"content":[]}}"#),
    (
        "twice",
        r#"{"jsonrpc":"2.0","id":{id},"id":{id},"result":{"content":[]}}"#,
    ),
    (
        "batch",
        r#"[{"jsonrpc":"2.0","id":{id},"result":{"content":[]}}]"#,
    ),
    (
        "python",
        r#"{"jsonrpc":"2.0","id":{id},"result":{"content":[],"x":NaN}}"#,
    ),
];

/// A server that answers each of its tools but the last with something broken.
fn broken() -> Script {
    let tools = BROKEN.iter().fold(Fake::script(), |script, (tool, answer)| {
        script.tool(tool).reply(&format!("tools/call:{tool}"), answer)
    });
    tools.tool("sound")
}

/// The same script on each wire.
fn on_each_wire(script: impl Fn() -> Script) -> [Fake; 4] {
    [
        script().stdio(),
        script().sse(),
        script().http(),
        script().set("sse", json!(true)).http(),
    ]
}

async fn in_front_of(fake: &Fake) -> Gateway {
    gateway().fake("a", fake).ready().await
}

/// What an error of mcpr's own about an answer of `a` says; all of them have the same members.
fn message(answer: &Value) -> &str {
    let (error, data) = (&answer["error"], &answer["error"]["data"]);
    let told = [&data["reason"], &data["server"], &data["retry"]];
    assert_eq!(told, ["outcome_unknown", "a", "unsafe"], "{answer}");
    assert!(data["requestId"].is_u64() && error["code"] == -32603, "{answer}");
    error["message"].as_str().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn b90_an_answer_that_cannot_be_read_fails_its_call_at_once_on_every_wire() {
    for fake in on_each_wire(broken) {
        let gateway = in_front_of(&fake).await;
        let client = gateway.client().await;
        for (tool, _) in BROKEN {
            let began = Instant::now();

            let answer = client.call(&format!("a_{tool}"), "{}").await;

            assert!(began.elapsed() < AT_ONCE, "{tool}");
            let message = message(&answer);
            assert!(
                message.contains("server `a` gave an answer that is no MCP")
                    && message.contains("look at what"),
                "{message}"
            );
        }
        assert_eq!(text(&client.call("a_sound", "{}").await), "{}");
        assert_eq!(gateway.server("a").await["starts"], 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b90_an_error_beside_a_null_result_is_the_error_on_every_wire() {
    let answer = r#"{"jsonrpc":"2.0","id":{id},"result":null,"error":{"code":-7,"message":"no luck"}}"#;
    for fake in on_each_wire(|| Fake::script().tool("t").reply("tools/call", answer)) {
        let gateway = in_front_of(&fake).await;

        let answer = gateway.client().await.call("a_t", "{}").await;

        assert_eq!(answer["error"], json!({ "code": -7, "message": "no luck" }));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b03_what_a_server_prints_about_a_call_is_not_taken_for_its_answer() {
    let printed = (1..50).flat_map(|id| {
        [
            format!(r#"[DEBUG] sent {{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#),
            format!(r#"{{"level":30,"id":{id},"error":"none","msg":"a request has come"}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":[]}}"#),
        ]
    });
    let noise: Vec<String> = printed.collect();
    let script = json!({ "noise": noise, "junk_on": "tools/call" });
    let fake = Fake::script().tool("t").with(&script.to_string()).stdio();
    let gateway = in_front_of(&fake).await;

    assert_eq!(
        text(&gateway.client().await.call("a_t", r#"{"n":1}"#).await),
        r#"{"n":1}"#
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn err_b89_an_answer_that_is_too_long_is_an_error_with_server_reason_and_next_step() {
    let long = format!(r#"{{"content":[],"x":"{}"}}"#, "x".repeat(2 << 20));
    let script = || Fake::script().tool("t").raw("tools/call", &long);
    for fake in [
        script().stdio(),
        script().http(),
        script().set("sse", json!(true)).http(),
    ] {
        let limits = json!({ "serverMessage": "1mb" });
        let gateway = gateway().own("limits", limits).fake("a", &fake).ready().await;

        let answer = gateway.client().await.call("a_t", "{}").await;

        let message = message(&answer);
        assert!(
            message.contains("server `a`") && message.contains("raise `limits.serverMessage`"),
            "{message}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn err_sec_05_an_answer_that_is_nested_too_deep_is_an_error_with_server_and_reason() {
    let nested = format!(r#"{{"content":[],"x":{}{}}}"#, "[".repeat(600), "]".repeat(600));
    let reply = format!(r#"{{"jsonrpc":"2.0","id":{{id}},"result":{nested}}}"#);
    for fake in on_each_wire(|| Fake::script().tool("t").reply("tools/call", &reply)) {
        let gateway = in_front_of(&fake).await;

        let answer = gateway.client().await.call("a_t", "{}").await;

        let message = message(&answer);
        assert!(message.contains("more than 512 levels deep"), "{message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn err_an_answer_to_another_request_says_so_in_words() {
    let reply = r#"{"jsonrpc":"2.0","id":"zzz","result":{}}"#;
    let fake = Fake::script().tool("t").reply("tools/call", reply).http();
    let gateway = in_front_of(&fake).await;

    let answer = gateway.client().await.call("a_t", "{}").await;

    let message = message(&answer);
    assert!(
        message.contains("with the response to another request") && !message.contains("Some("),
        "{message}"
    );
}

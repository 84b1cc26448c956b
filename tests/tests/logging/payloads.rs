//! What clients send and servers answer is in no line (LOG-04), whatever is wrong with it.

use mcpr_telemetry::{Capture, Format, Level};
use mcpr_tests::{Fake, Gateway, Script, gateway, logged};
use serde_json::{Value, json};

/// What a client sends, and what servers repeat.
const SENT: &str = r#"{"password":"c4nary-of-a-payload"}"#;

/// A part of it.
const CANARY: &str = "c4nary";

/// Servers that repeat what they were sent where no result is, and what tells of them.
fn parrots() -> Vec<(Fake, &'static str)> {
    let wrong = |text: &str| text.replace("SENT", SENT);
    let of_reply = |text: &str| Fake::script().tool("t").reply("tools/call", &wrong(text));
    let masked = |status: u16, ctype: &str| {
        let body = wrong("bad args SENT");
        let mask = json!({ "status": status, "ctype": ctype, "body": body, "on": "tools/call" });
        Fake::script().tool("t").set("mask", mask).http()
    };
    let versionless = r#"{"id":{id},"result":SENT}"#;
    let both = r#"{"jsonrpc":"2.0","id":{id},"result":SENT,"error":SENT}"#;
    let streamed = |script: Script| script.set("sse", json!(true)).http();
    vec![
        (of_reply(versionless).stdio(), "cannot be read"),
        (of_reply(both).stdio(), "cannot be read"),
        (of_reply(both).sse(), "cannot be read"),
        (of_reply(versionless).http(), "cannot be read"),
        (streamed(of_reply(both)), "cannot be read"),
        (
            of_reply(r#"{"jsonrpc":"2.0","id":"SENT","#).http(),
            "cannot be read",
        ),
        (
            of_reply(r#"{"jsonrpc":"2.0","id":"c4nary","result":{}}"#).http(),
            "another request",
        ),
        (masked(400, "text/plain"), "answers 400 (text/plain)"),
        (masked(500, "text/plain"), "answers 500 (text/plain)"),
        (masked(200, "text/html"), "answers 200 (text/html)"),
    ]
}

/// A gateway in front of a server, and what it records of calls at the level that tells most.
async fn in_front_of(fake: &Fake) -> (Gateway, Capture) {
    logged();
    let calls = Capture::new(Level::Trace, Format::Json);
    let gateway = gateway().fake("a", fake).calls(calls.calls()).ready().await;
    (gateway, calls)
}

/// Everything that was logged so far.
fn lines(calls: &Capture) -> String {
    [logged(), calls.lines()].concat().join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn log_04_what_a_server_repeats_in_place_of_an_answer_is_in_no_line() {
    for (fake, told) in parrots() {
        let (gateway, calls) = in_front_of(&fake).await;

        let answer = gateway.client().await.call("a_t", SENT).await;

        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(told) && message.contains(CANARY), "{message}");
        let kept = gateway.operate("history/list", json!({})).await["calls"][0]["error"].clone();
        assert_eq!(kept, message, "the history has it");
        let lines = lines(&calls);
        assert!(lines.contains(told) && !lines.contains(CANARY), "{lines}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn log_04_what_a_server_prints_once_it_is_at_work_is_in_no_line() {
    let script = json!({ "noise": [format!("debug: {SENT}")], "hex": "ff633461 6e617279 0a", "junk_on": "tools/call" });
    let fake = Fake::script().tool("t").with(&script.to_string()).stdio();
    let (gateway, calls) = in_front_of(&fake).await;

    let answer = gateway.client().await.call("a_t", SENT).await;

    assert!(answer["result"].is_object(), "{answer}");
    let lines = lines(&calls);
    let skipped = lines
        .lines()
        .filter(|line| line.contains("skipped a line on stdout"));
    assert_eq!(skipped.count(), 2, "{lines}");
    assert!(lines.contains("bytes=8") && !lines.contains(CANARY), "{lines}");
}

#[tokio::test(flavor = "multi_thread")]
async fn log_04_an_error_that_a_server_gives_is_in_no_line_whatever_it_is_about() {
    let error = json!({ "code": -32050, "message": SENT });
    let script = Fake::script()
        .tool("t")
        .set("resources", json!([{ "name": "r", "uri": "file:///r" }]))
        .set(
            "capabilities",
            json!({ "tools": {}, "resources": { "subscribe": true } }),
        )
        .error("tools/call", error.clone())
        .error("resources/subscribe", error);
    let fake = script.stdio();
    let (gateway, calls) = in_front_of(&fake).await;
    let client = gateway.client().await;

    let called = client.call("a_t", SENT).await;
    let subscribed = client
        .request("resources/subscribe", r#"{"uri":"file:///r"}"#)
        .await;

    let subscribed: Value = subscribed.message();
    for answer in [called, subscribed] {
        assert!(
            answer["error"]["message"].to_string().contains(CANARY),
            "{answer}"
        );
    }
    let lines = lines(&calls);
    assert!(
        lines.contains("resources/subscribe") && !lines.contains(CANARY),
        "{lines}"
    );
}

//! Over stdio, where what it says is the same on every wire.

use std::time::{Duration, Instant};

use mcpr_tests::Fake;
use mcpr_tests::pipe::Pipe;
use serde_json::json;

use crate::{call, initialize, request};

/// A session over stdio that is ready for calls.
async fn opened(fake: &Fake) -> Pipe {
    let mut pipe = Pipe::start(&fake.command());
    pipe.initialize("2025-11-25").await;
    pipe
}

#[tokio::test]
async fn lists_and_results_keep_every_byte() {
    let tool = r#"{"inputSchema":{"z":1E400,"a":123456789012345678901234567890},"name":"t","x_future":1.0}"#;
    let result = r#"{"content":[],"structuredContent":{"h":123456789012345678901234567890,"e":1E400}}"#;
    let fake = Fake::script().tool_entry(tool).raw("tools/call", result).stdio();
    let mut pipe = opened(&fake).await;

    pipe.send(&request(7, "tools/list", json!({}))).await;
    let list = pipe.line().await.unwrap();
    pipe.send(&request(8, "tools/call", call("t"))).await;
    let called = pipe.line().await.unwrap();

    assert!(String::from_utf8(list).unwrap().contains(tool));
    assert_eq!(
        String::from_utf8(called).unwrap(),
        format!(r#"{{"jsonrpc":"2.0","id":8,"result":{result}}}"#)
    );
}

#[tokio::test]
async fn arguments_come_back_and_are_logged_as_they_came() {
    let fake = Fake::script().set("env_tool", json!(true)).stdio();
    let mut pipe = opened(&fake).await;
    let arguments = r#"{"z": 1e400, "a": [18446744073709551616]}"#;
    let text = format!(
        r#"{{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{{"name":"echo","arguments":{arguments}}}}}"#
    );

    pipe.send(&text).await;
    let answer = pipe.message(|message| message["id"] == "a").await;

    assert_eq!(answer["result"]["content"][0]["text"], arguments);
    let received = fake.await_received("tools/call", 1).await;
    assert_eq!(received[0].text, text);
}

#[tokio::test]
async fn noise_surrounds_the_first_reply() {
    let script = r#"{"noise": ["Starting v1.2", "[1]"], "hex": "efbbbf0a", "mid": ["tick"], "eol": "\r\n"}"#;
    let fake = Fake::script().with(script).tool("t").stdio();
    let mut pipe = Pipe::start(&fake.command());

    pipe.send(&initialize()).await;
    let mut lines = Vec::new();
    for _ in 0..4 {
        lines.push(String::from_utf8_lossy(&pipe.line().await.unwrap()).into_owned());
    }

    assert_eq!(lines, ["tick", "Starting v1.2", "[1]", "\u{feff}"]);
    assert!(String::from_utf8_lossy(&pipe.line().await.unwrap()).contains(r#""id":1"#));
}

#[tokio::test]
async fn pages_lead_to_the_end() {
    let mut script = Fake::script().set("page", json!(2));
    for name in ["a", "b", "c", "d", "e"] {
        script = script.tool(name);
    }
    let fake = script.stdio();
    let mut pipe = opened(&fake).await;

    let (mut names, mut cursor) = (Vec::new(), json!({}));
    loop {
        let page = pipe.request("tools/list", cursor).await["result"].take();
        names.extend(
            page["tools"]
                .as_array()
                .unwrap()
                .iter()
                .map(|tool| tool["name"].clone()),
        );
        match page.get("nextCursor") {
            Some(next) => cursor = json!({ "cursor": next }),
            None => break,
        }
    }

    assert_eq!(names, ["a", "b", "c", "d", "e"]);
}

#[tokio::test]
async fn calls_run_side_by_side() {
    let fake = Fake::script()
        .tool("slow")
        .tool("quick")
        .delay("tools/call:slow", 0.5)
        .stdio();
    let mut pipe = opened(&fake).await;
    let start = Instant::now();

    pipe.send(&request(101, "tools/call", call("slow"))).await;
    pipe.send(&request(102, "tools/call", call("slow"))).await;
    pipe.request("tools/call", call("quick")).await;
    let quick = start.elapsed();
    pipe.message(|message| message["id"] == 101).await;
    pipe.message(|message| message["id"] == 102).await;

    assert!(quick < Duration::from_millis(400), "{quick:?}");
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
}

#[tokio::test]
async fn progress_carries_the_token_as_it_was_given() {
    let fake = Fake::script()
        .tool("t")
        .set("progress", json!({ "count": 2, "interval": 0 }))
        .stdio();
    let mut pipe = opened(&fake).await;
    let mut params = call("t");
    params["_meta"] = json!({ "progressToken": "7" });

    pipe.send(&request(5, "tools/call", params)).await;
    let first = pipe
        .message(|message| message["method"] == "notifications/progress")
        .await;
    let second = pipe.message(|_| true).await;

    assert_eq!(
        first["params"],
        json!({ "progressToken": "7", "progress": 1, "total": 2 })
    );
    assert_eq!(second["params"]["progress"], 2);
    assert_eq!(pipe.message(|_| true).await["id"], 5);
}

#[tokio::test]
async fn a_call_can_end_the_process() {
    let fake = Fake::script()
        .tool("t")
        .set("exit_on", json!("tools/call"))
        .stdio();
    let mut pipe = opened(&fake).await;

    pipe.send(&request(2, "tools/call", call("t"))).await;

    assert_eq!(pipe.line().await, None);
    assert_eq!(pipe.close().await, Some(3));
    assert_eq!(fake.received_of("tools/call").len(), 1);
}

#[tokio::test]
async fn an_unanswered_ping_ends_the_process() {
    let fake = Fake::script().tool("t").set("ping_client", json!(true)).stdio();
    let mut pipe = opened(&fake).await;

    let ping = pipe.message(|message| message["method"] == "ping").await;

    assert_eq!(ping["id"], "p");
    assert_eq!(pipe.line().await, None);
    assert_eq!(pipe.close().await, Some(4));
}

#[tokio::test]
async fn the_tool_add_adds_a_tool_and_says_so() {
    let fake = Fake::script().set("env_tool", json!(true)).stdio();
    let mut pipe = opened(&fake).await;

    pipe.send(&request(2, "tools/call", call("add"))).await;
    pipe.message(|message| message["method"] == "notifications/tools/list_changed")
        .await;
    let list = pipe.request("tools/list", json!({})).await;

    assert_eq!(list["result"]["tools"][0]["name"], "new1");
}

#[tokio::test]
async fn a_request_to_the_client_brings_its_answer_back() {
    let ask = json!({ "method": "elicitation/create", "params": { "message": "name?" } });
    let interview = json!([{ "rounds": [[ask]] }]);
    let fake = Fake::script().tool("t").set("interview", interview).stdio();
    let mut pipe = opened(&fake).await;

    pipe.send(&request(2, "tools/call", call("t"))).await;
    let asked = pipe
        .message(|message| message["method"] == "elicitation/create")
        .await;
    let reply = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "action": "decline" } }).to_string();
    pipe.send(&reply).await;

    let answer = pipe.message(|message| message["id"] == 2).await;
    assert_eq!(answer["result"]["content"][0]["text"], format!("[[{reply}]]"));
}

#[tokio::test]
async fn the_old_probe_is_refused_and_the_handshake_still_works() {
    let fake = Fake::script().tool("t").stdio();
    let mut pipe = Pipe::start(&fake.command());

    let probe = pipe.request("server/discover", json!({})).await;
    let answer = pipe.initialize("2099-01-01").await;

    assert_eq!(probe["error"]["code"], -32601);
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
}

#[tokio::test]
async fn a_long_line_and_much_stderr_do_not_hide_the_answer() {
    let fake = Fake::script()
        .tool("t")
        .with(r#"{"flood": 1000000, "stderr": 262144}"#)
        .stdio();
    let mut pipe = Pipe::start(&fake.command());

    pipe.send(&initialize()).await;

    assert_eq!(pipe.line().await.map(|line| line.len()), Some(1_000_000));
    assert_eq!(pipe.message(|_| true).await["id"], 1);
    assert_eq!(pipe.complaints().len(), 262_144);
}

//! Over streamable HTTP and the old HTTP+SSE.

use std::time::Duration;

use mcpr_tests::drivers::{Client, Operation};
use mcpr_tests::http::Request;
use mcpr_tests::{Fake, Script, wait_until};
use serde_json::{Value, json};

use crate::{call, initialize, request};

/// A stateless request with its envelope.
fn stateless(method: &str, mut params: Value) -> Request {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    Request::post("/mcp", request(1, method, params))
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", method)
}

#[tokio::test]
async fn a_session_expires_after_its_requests() {
    let fake = Fake::script()
        .tool("t")
        .with(r#"{"session": true, "ttl": 1}"#)
        .http();
    let opening = Request::post("/mcp", initialize()).send(fake.port()).await;
    let session = opening.head.header("mcp-session-id").unwrap().to_owned();
    let within = |body: &str| Request::post("/mcp", body).header("mcp-session-id", &session);

    let note = within(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
        .send(fake.port())
        .await;
    let list = within(&request(2, "tools/list", json!({})))
        .send(fake.port())
        .await;
    let gone = within(&request(3, "tools/list", json!({})))
        .send(fake.port())
        .await;
    let without = Request::post("/mcp", request(4, "tools/list", json!({})))
        .send(fake.port())
        .await;

    assert_eq!(note.status(), 202);
    assert_eq!(list.message()["result"]["tools"][0]["name"], "t");
    assert_eq!((gone.status(), without.status()), (404, 400));
    let received = fake.received_of("tools/list");
    assert_eq!(received[0].header("mcp-session-id"), [session.as_str()]);
}

#[tokio::test]
async fn a_fake_comes_back_on_its_port() {
    let fake = Fake::script().tool("t").http();
    Request::post("/mcp", initialize()).send(fake.port()).await;

    fake.kill();
    fake.restart();

    assert_eq!(
        Request::post("/mcp", initialize())
            .send(fake.port())
            .await
            .status(),
        200
    );
    let received = fake.received_of("initialize");
    assert_ne!(received[0].pid, received[1].pid);
}

#[tokio::test]
async fn events_come_in_every_spelling() {
    let spellings = [
        json!({ "crlf": true }),
        json!({ "sse_style": ["comments", "nospace", "noevent", "unknown"] }),
        json!({ "sse_style": ["ids", "retry", "split", "priming"] }),
    ];
    for spelling in spellings {
        let fake = Fake::script()
            .tool("t")
            .set("sse", json!(true))
            .with(&spelling.to_string())
            .http();
        let answer = Request::post("/mcp", request(1, "tools/list", json!({})))
            .send(fake.port())
            .await;
        assert_eq!(answer.head.header("content-type"), Some("text/event-stream"));
        assert_eq!(
            answer.message()["result"]["tools"][0]["name"],
            "t",
            "{spelling}: {}",
            answer.text()
        );
    }
}

#[tokio::test]
async fn http_liberties_are_taken() {
    let told = |script: Script| async move {
        let fake = script.tool("t").http();
        let answer = Request::post("/mcp", request(1, "tools/list", json!({})))
            .send(fake.port())
            .await;
        (answer.status(), answer.head, answer.body)
    };

    let (status, head, _) = told(Fake::script().set("slash", json!(true))).await;
    assert_eq!((status, head.header("location")), (307, Some("/mcp/")));
    let (status, head, body) = told(Fake::script().set("mask", json!({ "status": 401, "body": "no" }))).await;
    assert_eq!(
        (status, head.header("content-type"), body),
        (401, Some("text/plain"), b"no".to_vec())
    );
    let (_, head, _) = told(Fake::script().set("ctype", json!("Application/JSON; charset=x"))).await;
    assert_eq!(head.header("content-type"), Some("Application/JSON; charset=x"));
}

#[tokio::test]
async fn news_arrive_on_the_get_stream() {
    let fake = Fake::script().set("env_tool", json!(true)).http();
    let (head, mut stream) = Request::get("/mcp").open(fake.port()).await;

    Request::post("/mcp", request(1, "tools/call", call("add")))
        .send(fake.port())
        .await;

    assert_eq!(head.status, 200);
    let news = stream.message(|message| !message.is_null()).await.unwrap();
    assert_eq!(news["method"], "notifications/tools/list_changed");
}

#[tokio::test]
async fn stateless_requests_are_checked_against_their_headers() {
    let schema =
        json!({ "type": "object", "properties": { "r": { "type": "string", "x-mcp-header": "Region" } } });
    let tool = json!({ "name": "t", "inputSchema": schema }).to_string();
    let fake = Fake::script()
        .tool_entry(&tool)
        .set("era", json!("stateless"))
        .http();
    let params = json!({ "name": "t", "arguments": { "r": "é" } });
    let send = async |request: Request| {
        let answer = request.send(fake.port()).await;
        (answer.status(), answer.message())
    };

    let (status, found) = send(stateless("server/discover", json!({}))).await;
    assert_eq!(
        (status, &found["result"]["supportedVersions"]),
        (200, &json!(["2026-07-28"]))
    );
    let complete = stateless("tools/call", params.clone()).header("mcp-name", "t");
    let (status, bare) = send(complete.clone()).await;
    assert_eq!((status, &bare["error"]["code"]), (400, &json!(-32020)));
    let (status, called) = send(complete.header("mcp-param-region", "=?base64?w6k=?=")).await;
    assert_eq!(
        (status, &called["result"]["resultType"]),
        (200, &json!("complete"))
    );
    let (status, unknown) = send(stateless("initialize", json!({}))).await;
    assert_eq!((status, &unknown["error"]["code"]), (404, &json!(-32601)));
    let (status, old) = send(Request::post("/mcp", initialize())).await;
    assert_eq!(
        (status, &old["error"]["data"]["supported"]),
        (400, &json!(["2026-07-28"]))
    );
}

#[tokio::test]
async fn a_listener_hears_of_changes_and_its_end_is_logged() {
    let fake = Fake::script().with(r#"{"era": "both", "env_tool": true}"#).http();
    let listen = stateless(
        "subscriptions/listen",
        json!({ "notifications": { "toolsListChanged": true } }),
    );
    let (_, mut stream) = listen.open(fake.port()).await;

    let accepted = stream.message(|_| true).await.unwrap();
    stateless("tools/call", call("add"))
        .header("mcp-name", "add")
        .send(fake.port())
        .await;
    let news = stream.message(|_| true).await.unwrap();
    drop(stream);

    assert_eq!(accepted["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(
        news["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
        1
    );
    let closed = || fake.received().into_iter().find_map(|received| received.closed);
    assert_eq!(
        wait_until(Duration::from_secs(5), "the end in the log", closed).await,
        "1"
    );
}

#[tokio::test]
async fn the_old_transport_answers_on_its_stream() {
    let fake = Fake::script().tool("t").sse();
    let (_, mut stream) = Request::get("/sse").open(fake.port()).await;
    let endpoint = stream.event().await.unwrap();

    let posted = Request::post(&endpoint.data, initialize())
        .send(fake.port())
        .await;
    let answer = stream.message(|message| message["id"] == 1).await.unwrap();
    let wrong = Request::post("/sse", initialize()).send(fake.port()).await;

    assert_eq!(
        (endpoint.name.as_str(), endpoint.data.as_str()),
        ("endpoint", "/messages?s=1")
    );
    assert_eq!((posted.status(), wrong.status()), (202, 405));
    assert_eq!(answer["result"]["serverInfo"]["name"], "fakemcp");
}

#[tokio::test]
async fn real_clients_take_it_for_a_server() {
    let prompt = json!([{ "name": "p", "arguments": [{ "name": "x" }] }]);
    let resource = json!([{ "name": "r", "uri": "memo://a" }]);
    let script = || {
        Fake::script()
            .set("env_tool", json!(true))
            .set("session", json!(true))
    };
    let script = || {
        script()
            .set("prompts", prompt.clone())
            .set("resources", resource.clone())
    };
    let operations = [
        Operation::list_tools(),
        Operation::call_tool("echo", json!({ "a": 1 })),
        Operation::get_prompt("p", json!({ "x": "1" })),
        Operation::read_resource("memo://a"),
    ];
    for era in ["session", "stateless", "both"] {
        let fake = script().set("era", json!(era)).http();
        for client in Client::ALL {
            let modern = matches!(client, Client::TypeScriptAuto | Client::PythonAuto);
            if era == "stateless" && !modern {
                continue;
            }
            let told = client.run(&fake.url(), None, &operations).await.unwrap();
            let version = if modern && era != "session" {
                "2026-07-28"
            } else {
                "2025-11-25"
            };
            assert_eq!(told.version.as_deref(), Some(version), "{client:?} {era}");
            assert_eq!(told.ok(1)["content"][0]["text"], r#"{"a":1}"#, "{client:?} {era}");
            assert_eq!(
                told.ok(3)["contents"][0]["text"],
                "read memo://a",
                "{client:?} {era}"
            );
        }
    }
}

#[tokio::test]
async fn an_answer_can_break_off() {
    let fake = Fake::script().tool("t").set("cut", json!(["tools/list"])).http();
    let (head, mut stream) = Request::post("/mcp", request(1, "tools/list", json!({})))
        .open(fake.port())
        .await;

    assert_eq!(head.status, 200);
    assert_eq!(stream.event().await.map(|event| event.data), Some(String::new()));
    assert_eq!(stream.event().await, None);
}

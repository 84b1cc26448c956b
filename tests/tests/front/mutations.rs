//! Thousands of messages that are almost right: each is answered, and the gateway serves on.

use mcpr_tests::fuzz::mutated;
use mcpr_tests::http::{Answer, Request};
use mcpr_tests::{Fake, Gateway, gateway};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use tokio::runtime::Runtime;

use crate::wire::Wire;

/// How many messages are sent.
const MANY: u32 = 2500;

/// Texts that stand in messages, or could.
const TOKENS: [&str; 34] = [
    "null",
    "true",
    "0",
    "-1",
    "1e999",
    "123456789012345678901234567890",
    "\"\"",
    "\"x\"",
    "{}",
    "[]",
    "[[",
    "}",
    "{",
    "]",
    "\"",
    ",",
    ":",
    "\\",
    "\\u0000",
    "\u{0}",
    "\u{feff}",
    "é",
    "\"jsonrpc\":\"2.0\"",
    "\"id\":1",
    "\"method\":\"ping\"",
    "\"params\":{}",
    "\"_meta\":{}",
    "\"name\":\"a_x\"",
    "\"arguments\":null",
    "\"result\":{}",
    "\"error\":{}",
    "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"",
    "\"cursor\":\"x\"",
    "\n",
];

/// Right messages, to begin with.
const MESSAGES: [&str; 12] = [
    r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{"cursor":null}}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a_x","arguments":{"n":1E400,"s":"\u00e9"},"_meta":{"progressToken":7}}}"#,
    r#"{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"resource://a/file:///r"}}"#,
    r#"{"jsonrpc":"2.0","id":4,"method":"prompts/get","params":{"name":"a_p","arguments":{"k":"v"}}}"#,
    r#"{"jsonrpc":"2.0","id":5,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"a_p"},"argument":{"name":"k","value":"v"}}}"#,
    r#"{"jsonrpc":"2.0","id":6,"method":"logging/setLevel","params":{"level":"info"}}"#,
    r#"{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
    r#"{"jsonrpc":"2.0","id":8,"result":{"roots":[]}}"#,
    r#"{"jsonrpc":"2.0","id":9,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"a_x","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
];

/// The headers of one request: of a session, of the other era, or of nobody.
#[derive(Clone, Debug)]
struct Headers {
    session: bool,
    version: Option<&'static str>,
    method: Option<&'static str>,
    name: Option<&'static str>,
    accept: &'static str,
}

impl Headers {
    fn any() -> impl Strategy<Value = Self> {
        let version = prop::option::of(select(
            &["2025-11-25", "2026-07-28", "2099-01-01", "\u{e9}", ""][..],
        ));
        let method = prop::option::of(select(&["ping", "tools/list", "tools/call", "", "x"][..]));
        let name = prop::option::of(select(&["a_x", "=?base64?YV94?=", "=?base64?!?=", ""][..]));
        let accept = select(
            &[
                "application/json, text/event-stream",
                "application/json",
                "text/event-stream",
                "*/*",
            ][..],
        );
        (any::<bool>(), version, method, name, accept).prop_map(|(session, version, method, name, accept)| {
            Self {
                session,
                version,
                method,
                name,
                accept,
            }
        })
    }

    fn on(&self, mut request: Request, session: &str) -> Request {
        request = request.replace("accept", self.accept);
        let session = self.session.then_some(session);
        let all = [
            ("mcp-session-id", session),
            ("mcp-protocol-version", self.version),
            ("mcp-method", self.method),
            ("mcp-name", self.name),
        ];
        all.into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
            .fold(request, |request, (name, value)| request.header(name, value))
    }
}

/// The same cases in every run.
fn runner() -> TestRunner {
    let config = Config {
        cases: MANY,
        failure_persistence: None,
        ..Config::default()
    };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

fn serving(runtime: &Runtime) -> (Fake, Gateway) {
    let fake = Fake::script()
        .tool("x")
        .with(r#"{"prompts":[{"name":"p"}],"resources":[{"uri":"file:///r","name":"r"}]}"#)
        .stdio();
    let gateway = runtime.block_on(
        gateway()
            .fake("a", &fake)
            .own("limits", serde_json::json!({ "sessions": 100 }))
            .ready(),
    );
    (fake, gateway)
}

/// Whether an answer is one that the tables know: a message, or nothing where nothing is due.
fn is_proper(answer: &Answer) -> bool {
    let known = matches!(answer.status(), 200 | 202 | 400 | 404 | 406);
    let empty = answer.body.is_empty() && matches!(answer.status(), 200 | 202);
    known && (empty || answer.message()["jsonrpc"] == "2.0")
}

#[test]
fn thousands_of_mutated_messages_over_http_are_answered_and_the_gateway_serves_on() {
    let runtime = Runtime::new().unwrap();
    let (_fake, gateway) = serving(&runtime);
    let client = runtime.block_on(gateway.client());
    let ran = runner().run(
        &(mutated(&MESSAGES, &TOKENS), Headers::any()),
        |(body, headers)| {
            let request = headers.on(Request::post("/mcp", body).token(&gateway.token), &client.id);
            let answer = runtime.block_on(request.send(gateway.port));
            prop_assert!(is_proper(&answer), "{} {}", answer.status(), answer.text());
            Ok(())
        },
    );
    ran.unwrap();
    runtime.block_on(serves_on(&gateway));
}

#[test]
fn thousands_of_mutated_lines_on_a_pipe_are_survived() {
    let runtime = Runtime::new().unwrap();
    let (_fake, gateway) = serving(&runtime);
    let wire = tokio::sync::Mutex::new(runtime.block_on(Wire::open(&gateway)));
    let ran = runner().run(&mutated(&MESSAGES, &TOKENS), |body| {
        runtime.block_on(async {
            let mut wire = wire.lock().await;
            wire.send_bytes(&body).await;
            wire.ask("\"the next\"", "ping", "{}").await;
        });
        Ok(())
    });
    ran.unwrap();
    runtime.block_on(serves_on(&gateway));
}

async fn serves_on(gateway: &Gateway) {
    let answer = gateway.client().await.call("a_x", r#"{"n":1}"#).await;
    assert_eq!(answer["result"]["content"][0]["text"], r#"{"n":1}"#);
    assert_eq!(
        gateway.server("a").await["starts"],
        1,
        "and its server is the same"
    );
}

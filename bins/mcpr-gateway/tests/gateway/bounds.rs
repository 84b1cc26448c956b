//! How long the end of a gateway may take, whatever its clients and its servers do (B47).

use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::ending::counting;
use crate::stage::{Stage, await_none, demo_server, program};

/// A server that ends neither with its input nor when it is asked to.
fn stubborn() -> Value {
    let script = format!("trap '' TERM; {} __demo-server calc; sleep 60", program());
    json!({ "command": "sh", "args": ["-c", script] })
}

fn with_grace(server: Value, grace: &str) -> Stage {
    Stage::with(&json!({ "mcpServers": { "calc": server }, "mcpr": { "drain": { "grace": grace } } }))
}

#[test]
fn b47_the_usual_end_takes_less_than_8_s_whatever_calls_and_servers_do() {
    let stage = Stage::with(&json!({ "mcpServers": { "calc": stubborn() } }));
    let mut gateway = stage.serve();
    let client = counting(&stage, &gateway, 100);
    let children = gateway.children();

    let asked = Instant::now();
    gateway.signal(Signal::TERM);

    let answer = client.answers_to(1);
    assert_eq!(answer["error"]["data"]["reason"], "outcome_unknown", "{answer}");
    assert_eq!(gateway.exit_code(), 0);
    assert!(asked.elapsed() < Duration::from_secs(8), "{:?}", asked.elapsed());
    assert_eq!(children.len(), 2, "the server and the guardian");
    await_none(&children);
}

#[test]
fn b47_a_call_that_does_not_end_in_its_time_gets_an_error_and_the_gateway_ends() {
    for signal in [Signal::TERM, Signal::INT] {
        let stage = with_grace(demo_server("calc"), "200ms");
        let mut gateway = stage.serve();
        let client = counting(&stage, &gateway, 100);

        let asked = Instant::now();
        gateway.signal(signal);

        let answer = client.answers_to(1);
        assert_eq!(answer["error"]["data"]["retry"], "unsafe", "{answer}");
        assert_eq!(gateway.exit_code(), 0);
        assert!(asked.elapsed() < Duration::from_secs(3), "{:?}", asked.elapsed());
    }
}

#[test]
fn b47_nothing_new_is_accepted_while_calls_finish() {
    let stage = with_grace(demo_server("calc"), "60s");
    let mut gateway = stage.serve();
    let port = gateway.port();
    let client = counting(&stage, &gateway, 8);

    gateway.signal(Signal::TERM);
    gateway.hears("\"stopping\"");

    while TcpStream::connect(("127.0.0.1", port)).is_ok() {}
    let answer = client.answers_to(1);
    assert_eq!(
        answer["result"]["content"][0]["text"], "Counted to 8.",
        "{answer}"
    );
    assert_eq!(gateway.exit_code(), 0);
}

#[test]
fn b47_the_end_of_input_ends_a_gateway_on_a_pipe_within_3_s_whatever_its_server_does() {
    let stage = Stage::with(&json!({ "mcpServers": { "calc": stubborn() } }));
    let mut client = stage.start(&["stdio"]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "progressToken": 1,
    });
    let params = json!({ "name": "calc_count", "arguments": { "to": 100 }, "_meta": meta });
    client.says(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }));
    client.answers_with("method", "notifications/progress");
    let children = client.children();

    let left = Instant::now();
    client.leave();

    assert_eq!(client.exit_code(), 0);
    assert!(left.elapsed() < Duration::from_secs(3), "{:?}", left.elapsed());
    await_none(&children);
}

#[test]
fn b47_a_gateway_on_a_pipe_answers_calls_under_way_when_it_is_told_to_end() {
    let stage = with_grace(demo_server("calc"), "60s");
    let mut client = stage.start(&["stdio"]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "progressToken": 1,
    });
    let params = json!({ "name": "calc_count", "arguments": { "to": 3 }, "_meta": meta });
    client.says(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }));
    client.answers_with("method", "notifications/progress");

    client.signal(Signal::TERM);

    let answer = client.answers_to(1);
    assert_eq!(
        answer["result"]["content"][0]["text"], "Counted to 3.",
        "{answer}"
    );
    assert_eq!(client.exit_code(), 0);
}

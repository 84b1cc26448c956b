//! The end of a gateway, in whatever way it comes.

use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;

use crate::http::is_complete;
use crate::stage::{Running, Stage, await_none, demo_server, until};

#[test]
fn srv_04_a_gateway_that_is_asked_to_end_leaves_nothing_behind() {
    for signal in [Signal::TERM, Signal::INT] {
        let stage = Stage::serving(&["calc", "notes"]);
        let mut gateway = stage.serve();
        let children = gateway.children();
        assert_eq!(children.len(), 3, "two servers and the guardian");

        gateway.signal(signal);

        assert_eq!(gateway.exit_code(), 0);
        await_none(&children);
        assert!(!stage.path("ctl.sock").exists());
    }
}

#[test]
fn srv_04_a_gateway_that_is_killed_leaves_no_process_behind() {
    let shell = json!({ "command": "sh", "args": ["-c", format!("{} __demo-server calc; true", crate::stage::program())] });
    let stage = Stage::with(&json!({ "mcpServers": { "calc": demo_server("calc"), "shell": shell } }));
    let mut gateway = stage.serve();
    let children = gateway.children();

    gateway.signal(Signal::KILL);

    gateway.ends();
    await_none(&children);
}

#[test]
fn b47_a_call_under_way_is_finished_before_the_end() {
    let stage = Stage::serving(&["calc"]);
    let mut gateway = stage.serve();
    let client = counting(&stage, &gateway, 4);

    gateway.signal(Signal::TERM);

    let answer = client.answers_to(1);
    assert_eq!(
        answer["result"]["content"][0]["text"], "Counted to 4.",
        "{answer}"
    );
    assert_eq!(gateway.exit_code(), 0);
}

#[test]
fn b47_a_gateway_that_is_asked_twice_ends_at_once() {
    let stage = Stage::serving(&["calc"]);
    let mut gateway = stage.serve();
    let _client = counting(&stage, &gateway, 100);
    let children = gateway.children();

    gateway.signal(Signal::TERM);
    gateway.hears("\"stopping\"");
    gateway.signal(Signal::TERM);

    assert_eq!(gateway.exit_code(), 130);
    await_none(&children);
}

#[test]
fn b47_an_open_stream_does_not_hold_up_the_end() {
    let stage = Stage::serving(&["calc", "notes"]);
    let mut gateway = stage.serve();
    let url = format!("http://127.0.0.1:{}", gateway.port());
    let mut client = stage.start_with(&["connect", "--url", &url], &[("MCPR_TOKEN", &gateway.token())]);
    let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    client.says(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }));
    client.answers_to(1);
    client.says(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let add = json!({ "name": "notes_add", "arguments": { "text": "x" } });
    client.says(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": add }));
    client.answers_with("method", "notifications/resources/list_changed");

    let asked = Instant::now();
    gateway.signal(Signal::TERM);

    assert_eq!(gateway.exit_code(), 0);
    assert!(asked.elapsed() < Duration::from_secs(4), "{:?}", asked.elapsed());
}

#[test]
fn b47_a_gateway_ends_although_nobody_reads_what_it_says() {
    let stage = Stage::serving(&["calc"]);
    let full = r#"mkfifo full && exec 3<>full && head -c 65536 /dev/zero >&3 && exec "$@" 2>full"#;
    let mut gateway = stage.start_under(&["bash", "-c", full, "bash"], &["serve", "--port", "0"]);
    until("it can be asked", || {
        UnixStream::connect(stage.path("ctl.sock")).ok()
    });
    until("the lists are complete", || {
        is_complete(&stage.path("ctl.sock")).then_some(())
    });

    let asked = Instant::now();
    gateway.signal(Signal::TERM);

    assert_eq!(gateway.exit_code(), 0);
    assert!(asked.elapsed() < Duration::from_secs(8), "{:?}", asked.elapsed());
}

#[test]
fn b47_a_bridge_to_a_gateway_that_does_not_answer_can_be_ended() {
    let stage = Stage::new();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", silent.local_addr().unwrap());
    let mut client = stage.start(&["connect", "--url", &url]);
    let _asked = silent.accept().unwrap();

    client.signal(Signal::TERM);

    assert_eq!(client.exit_code(), 0);
}

/// A client with a call under way, four steps a second.
pub(crate) fn counting(stage: &Stage, gateway: &Running, to: u64) -> Running {
    let url = format!("http://127.0.0.1:{}", gateway.port());
    let mut client = stage.start_with(&["connect", "--url", &url], &[("MCPR_TOKEN", &gateway.token())]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "progressToken": 1,
    });
    let params = json!({ "name": "calc_count", "arguments": { "to": to }, "_meta": meta });
    client.says(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }));
    assert_eq!(client.answers()["method"], "notifications/progress");
    client
}

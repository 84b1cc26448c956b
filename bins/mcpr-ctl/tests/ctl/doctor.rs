//! `doctor` in several situations.

mod details;

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::clients::{at_home, machine, program, write};
use crate::stage::{Ran, Stage};

/// A configuration that listens on a port which nobody has.
fn configured(stage: &Stage, servers: &Value) -> u16 {
    let port = free_port();
    let config = json!({ "mcpServers": servers, "mcpr": { "listen": format!("127.0.0.1:{port}") } });
    write(stage, "mcpr.json", &config.to_string());
    port
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// What a gateway on `port` with these servers says of itself.
fn status(stage: &Stage, port: u16, servers: &Value) -> &'static str {
    let status = json!({
        "version": env!("CARGO_PKG_VERSION"), "pid": 8123, "uptimeSeconds": 5, "startedAt": "2027-01-15T07:30:00Z",
        "listen": [format!("http://127.0.0.1:{port}/mcp")], "configFiles": [stage.path("mcpr.json")],
        "sessions": 0, "callsTotal": 0, "errorsTotal": 0, "servers": servers,
    });
    Box::leak(status.to_string().into_boxed_str())
}

fn server(name: &str, state: &str, reason: Option<&str>) -> Value {
    let mut server = json!({ "name": name, "state": state, "via": "stdio", "inFlight": 0, "starts": 1 });
    if let Some(reason) = reason {
        server["reason"] = reason.into();
    }
    server
}

/// The transcript without what differs from run to run.
fn told(ran: &Ran, port: u16) -> String {
    let text = ran.to_string().replace(&format!(":{port}"), ":PORT");
    text.replace(&format!("port {port}"), "port PORT")
        .replace(&format!("process {}", std::process::id()), "process PID")
        .replace(&format!("kill {}", std::process::id()), "kill PID")
}

/// The checks of this kind, as JSON.
fn of_kind(ran: &Ran, kind: &str) -> Vec<Value> {
    let checks = ran.json()["checks"].as_array().unwrap().clone();
    checks
        .into_iter()
        .filter(|check| check["check"] == kind)
        .collect()
}

const TOOLS: &str = r#"{"tools":[{"name":"git_status","server":"git","origin":"status"}]}"#;
const TOKENS: &str = r#"{"tokens":[{"id":"tk_1","kind":"pat","name":"laptop","prefix":"mcpr_pat_x7Q","state":"active","scopes":["read","call"],"created":"2027-01-15T07:30:00Z"}]}"#;

/// Answers once, as a gateway does that asks for tokens.
fn asks_for_tokens(listener: TcpListener) -> std::thread::JoinHandle<()> {
    answering(
        listener,
        "HTTP/1.1 401 Unauthorized\r\ncontent-length: 2\r\n\r\n{}",
    )
}

fn answering(listener: TcpListener, answer: &'static str) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        use std::io::{Read, Write};
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 4096];
        let _ = stream.read(&mut request).unwrap();
        stream.write_all(answer.as_bytes()).unwrap();
    })
}

#[test]
fn ctl_01_a_healthy_gateway_has_nothing_to_complain_of() {
    let mut stage = machine();
    program(&stage, "uvx");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let config = json!({ "mcpServers": { "git": { "command": "uvx", "args": ["mcp-server-git"] } },
                         "mcpr": { "listen": format!("127.0.0.1:{port}") } });
    write(&stage, "mcpr.json", &config.to_string());
    let status = status(&stage, port, &json!([server("git", "ok", None)]));
    stage.run_gateway(&[
        ("status", 200, status),
        ("tools/list", 200, TOOLS),
        ("tokens/list", 200, TOKENS),
    ]);
    let door = asks_for_tokens(listener);

    let ran = stage.ctl(&["doctor"]);

    door.join().unwrap();
    assert_eq!(ran.code, 0, "{ran}");
    assert_snapshot!(told(&ran, port));
}

#[test]
fn ctl_01_a_gateway_with_sick_servers_is_told_of_with_what_to_do() {
    let mut stage = machine();
    program(&stage, "uvx");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let long = "a_tool_with_a_name_that_no_client_would_ever_take_as_it_is";
    let tools = json!({ "tools": [
        { "name": "git_a_tool_with_a_name_that_no_client_would_uxkket", "server": "git", "origin": long },
    ] });
    let config = json!({ "mcpServers": {
        "git": { "command": "no-such-program-here" }, "docs": { "url": "https://docs.example/mcp", "type": "http" },
        "slack": { "url": "https://slack.example/mcp", "type": "http" }, "gone": { "command": "also-not-here" },
        "jira": { "url": "https://jira.example/mcp", "type": "http", "headers": { "Authorization": "Bearer ${JIRA_TOKEN}" } },
    }, "mcpr": { "listen": format!("127.0.0.1:{port}") } });
    write(&stage, "mcpr.json", &config.to_string());
    let status = status(
        &stage,
        port,
        &json!([
            server("git", "ok", None),
            server("docs", "down", Some("connection refused")),
            server("slack", "auth-required", Some("HTTP 401")),
            server("gone", "down", Some("no program")),
            server(
                "jira",
                "misconfigured",
                Some("headers.Authorization needs JIRA_TOKEN, which is not set")
            ),
            server("old", "stale", None),
        ]),
    );
    let tools: &'static str = Box::leak(tools.to_string().into_boxed_str());
    stage.run_gateway(&[
        ("status", 200, status),
        ("tools/list", 200, tools),
        ("tokens/list", 200, r#"{"tokens":[]}"#),
    ]);
    let door = answering(listener, "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");

    let ran = stage.ctl(&["doctor"]);

    door.join().unwrap();
    assert_eq!(ran.code, 6, "{ran}");
    assert_snapshot!(told(&ran, port));
}

#[test]
fn ctl_02_without_a_gateway_the_files_are_looked_at_and_it_says_what_was_not() {
    let stage = machine();
    program(&stage, "uvx");
    let port = configured(
        &stage,
        &json!({ "git": { "command": "uvx", "args": ["mcp-server-git"] } }),
    );

    let ran = stage.ctl(&["doctor"]);

    assert_eq!(ran.code, 0, "{ran}");
    assert_snapshot!(told(&ran, port));
}

#[test]
fn ctl_02_without_anything_at_all_it_says_how_to_begin() {
    let stage = machine().set("MCPR_PORT", free_port().to_string());

    let ran = stage.ctl(&["--json", "doctor"]);

    assert_eq!(ran.code, 0, "{ran}");
    let configuration = of_kind(&ran, "configuration");
    assert!(
        configuration[1]["message"]
            .as_str()
            .unwrap()
            .contains("there is no configuration file"),
        "{ran}"
    );
}

#[test]
fn ctl_01_a_configuration_that_cannot_be_read_ends_with_7_and_its_place() {
    let stage = machine();
    for (text, name) in [
        ("{\n  \"mcpServers\": {\n", "broken"),
        (r#"{"mcpr": {"lisen": 1}}"#, "typo"),
    ] {
        write(&stage, "mcpr.json", text);
        let ran = stage.ctl(&["doctor"]);
        assert_eq!(ran.code, 7, "{ran}");
        assert_snapshot!(name, ran);
    }
    assert_eq!(stage.ctl(&["doctor", "--config", "none.json"]).code, 7);
}

#[test]
fn ctl_01_another_version_of_the_gateway_is_a_warning() {
    let stage = at_home(Stage::gateway(&[(
        "status",
        200,
        r#"{"version":"0.0.9","pid":1,"uptimeSeconds":1,"startedAt":"x","listen":[],"configFiles":[],"sessions":0,"callsTotal":0,"errorsTotal":0,"servers":[]}"#,
    )]));

    let ran = stage.ctl(&["--json", "doctor"]);

    let gateway = &of_kind(&ran, "gateway")[0];
    assert_eq!(gateway["state"], "warning", "{ran}");
    assert!(gateway["fix"].as_str().unwrap().contains("mcpr-ctl stop"));
}

#[test]
fn ctl_01_a_silent_gateway_and_a_slow_shell_do_not_hold_it_up() {
    let stage = machine();
    write(&stage, "slow-shell", "#!/bin/sh\n/bin/sleep 60\n");
    let shell = stage.path("slow-shell");
    fs::set_permissions(&shell, fs::Permissions::from_mode(0o755)).unwrap();
    configured(&stage, &json!({ "x": { "command": "no-such-program-at-all" } }));
    let listener = std::os::unix::net::UnixListener::bind(stage.path("ctl.sock")).unwrap();
    let stage = stage.set("SHELL", shell.display().to_string());

    let began = Instant::now();
    let ran = stage.ctl(&["--json", "doctor"]);

    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    assert_eq!(of_kind(&ran, "gateway")[0]["state"], "problem", "{ran}");
    drop(listener);
}

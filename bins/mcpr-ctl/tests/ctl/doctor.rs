//! `doctor` in several situations.

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
    checks.into_iter().filter(|check| check["check"] == kind).collect()
}

const TOOLS: &str = r#"{"tools":[{"name":"git_status","server":"git","origin":"status"}]}"#;
const TOKENS: &str = r#"{"tokens":[{"id":"tk_1","kind":"pat","name":"laptop","prefix":"mcpr_pat_x7Q","state":"active","scopes":["read","call"],"created":"2027-01-15T07:30:00Z"}]}"#;

/// Answers once, as a gateway does that asks for tokens.
fn asks_for_tokens(listener: TcpListener) -> std::thread::JoinHandle<()> {
    answering(listener, "HTTP/1.1 401 Unauthorized\r\ncontent-length: 2\r\n\r\n{}")
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
    stage.start(&[("status", 200, status), ("tools/list", 200, TOOLS), ("tokens/list", 200, TOKENS)]);
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
    let status = status(&stage, port, &json!([
        server("git", "ok", None),
        server("docs", "down", Some("connection refused")),
        server("slack", "auth-required", Some("HTTP 401")),
        server("gone", "down", Some("no program")),
        server("jira", "misconfigured", Some("headers.Authorization needs JIRA_TOKEN, which is not set")),
        server("old", "stale", None),
    ]));
    let tools: &'static str = Box::leak(tools.to_string().into_boxed_str());
    stage.start(&[("status", 200, status), ("tools/list", 200, tools), ("tokens/list", 200, r#"{"tokens":[]}"#)]);
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
    let port = configured(&stage, &json!({ "git": { "command": "uvx", "args": ["mcp-server-git"] } }));

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
    assert!(configuration[1]["message"].as_str().unwrap().contains("there is no configuration file"), "{ran}");
}

#[test]
fn ctl_01_a_configuration_that_cannot_be_read_ends_with_7_and_its_place() {
    let stage = machine();
    for (text, name) in [("{\n  \"mcpServers\": {\n", "broken"), (r#"{"mcpr": {"lisen": 1}}"#, "typo")] {
        write(&stage, "mcpr.json", text);
        let ran = stage.ctl(&["doctor"]);
        assert_eq!(ran.code, 7, "{ran}");
        assert_snapshot!(name, ran);
    }
    assert_eq!(stage.ctl(&["doctor", "--config", "none.json"]).code, 7);
}

#[test]
fn http_02_a_port_that_is_taken_is_named_with_who_has_it() {
    let stage = machine();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let config = json!({ "mcpServers": {}, "mcpr": { "listen": format!("127.0.0.1:{port}") } });
    write(&stage, "mcpr.json", &config.to_string());

    let ran = stage.ctl(&["--json", "doctor"]);

    assert_eq!(ran.code, 6, "{ran}");
    let check = &of_kind(&ran, "port")[0];
    assert_eq!(check["state"], "problem");
    let message = check["message"].as_str().unwrap();
    assert!(message.starts_with(&format!("port {port} on 127.0.0.1 is taken by")), "{message}");
    if cfg!(target_os = "linux") {
        assert!(message.contains(&format!("(process {})", std::process::id())), "{message}");
        assert!(check["fix"].as_str().unwrap().contains("--port N"));
    }
}

#[test]
fn cfg_03_each_server_that_cannot_be_used_is_named_with_its_place() {
    let stage = machine();
    fs::create_dir_all(stage.path("home/.nvm/versions/node/v22.1.0/bin")).unwrap();
    let npx = stage.path("home/.nvm/versions/node/v22.1.0/bin/npx-of-the-test");
    fs::write(&npx, "").unwrap();
    fs::set_permissions(&npx, fs::Permissions::from_mode(0o755)).unwrap();
    program(&stage, "uvx");
    let port = configured(&stage, &json!({
        "env": { "type": "http", "url": "https://x.example/mcp", "headers": { "A": "${NOT_SET}" } },
        "nowhere": { "command": "no-such-program-at-all" },
        "nvm": { "command": "npx-of-the-test" },
        "spaced": { "command": "npx -y server" },
        "folder": { "command": "uvx", "cwd": "/no/such/folder" },
        "url": { "type": "http", "url": "notaurl" },
        "typo": { "command": "uvx", "mcpr": { "prefx": "t" } },
        "off": { "command": "no-such-program-either", "disabled": true },
    }));

    let ran = stage.ctl(&["doctor"]);

    assert_eq!(ran.code, 6, "{ran}");
    assert_snapshot!(told(&ran, port));
}

#[test]
fn b04_names_that_flatten_alike_are_told_of_without_a_gateway() {
    let stage = machine();
    program(&stage, "uvx");
    configured(&stage, &json!({ "a.b": { "command": "uvx" }, "a_b": { "command": "uvx", "args": ["x"] } }));

    let ran = stage.ctl(&["--json", "doctor"]);

    let names = of_kind(&ran, "names");
    assert_eq!((names.len(), &names[0]["state"]), (1, &json!("warning")), "{ran}");
    assert_eq!(names[0]["server"], "a_b");
}

#[test]
fn sec_05_files_that_others_may_read_or_write_are_named_with_the_command() {
    let stage = machine();
    program(&stage, "uvx");
    configured(&stage, &json!({ "git": { "command": "uvx", "env": { "GITHUB_TOKEN": "ghp_secret", "LOG": "info" } } }));
    write(&stage, "secrets/jira", "x");
    let mode = |file: &str, bits| {
        fs::set_permissions(stage.path(file), fs::Permissions::from_mode(bits)).unwrap();
    };
    mode("mcpr.json", 0o644);
    mode("secrets/jira", 0o644);

    let readable = stage.ctl(&["--json", "doctor"]);
    mode("mcpr.json", 0o666);
    let writable = stage.ctl(&["--json", "doctor"]);
    mode("mcpr.json", 0o600);
    mode("secrets/jira", 0o600);
    let private = stage.ctl(&["--json", "doctor"]);

    let fixes = |ran: &Ran| -> Vec<String> {
        let checks = of_kind(ran, "permissions");
        checks
            .iter()
            .map(|check| check["fix"].as_str().unwrap().replace(&stage.path("").display().to_string(), ""))
            .collect()
    };
    assert_eq!(fixes(&readable), ["chmod 600 mcpr.json", "chmod 600 secrets/jira"]);
    assert_eq!(fixes(&writable), ["chmod go-w mcpr.json", "chmod 600 secrets/jira"]);
    assert_eq!((fixes(&private).len(), private.code), (0, 0), "{private}");
    assert!(!readable.out().contains("ghp_secret"));
}

#[test]
fn ctl_01_a_client_that_starts_a_server_beside_mcpr_has_its_tools_twice() {
    let stage = machine();
    program(&stage, "uvx");
    let port = configured(&stage, &json!({ "git": { "command": "uvx", "args": ["mcp-server-git"] } }));
    let git = json!({ "command": "uvx", "args": ["mcp-server-git"], "env": { "LOG": "1" } });
    let mcpr = json!({ "url": format!("http://127.0.0.1:{port}/mcp") });
    let claude = json!({ "mcpServers": { "mcpr": mcpr, "my git": git } });
    write(&stage, "home/.claude.json", &claude.to_string());
    let astray = json!({ "mcpServers": { "mcpr": { "url": "http://127.0.0.1:1/mcp" } } });
    write(&stage, "home/.cursor/mcp.json", &astray.to_string());
    let alone = json!({ "mcpServers": { "git": git } });
    write(&stage, "home/.codeium/windsurf/mcp_config.json", &alone.to_string());

    let ran = stage.ctl(&["--json", "doctor"]);

    let clients: Vec<String> = of_kind(&ran, "clients")
        .iter()
        .map(|check| format!("{} {} | {}", check["state"], check["message"], check["fix"]))
        .collect();
    assert_snapshot!(clients.join("\n").replace(&format!(":{port}"), ":PORT"));
}

#[test]
fn ctl_02_the_database_is_looked_at_and_not_made() {
    let stage = machine();
    configured(&stage, &json!({}));
    let before = stage.ctl(&["--json", "doctor"]);
    assert!(!stage.path("mcpr.db").exists());
    stage.ctl(&["tokens", "create", "--name", "a", "--expires", "1d"]);
    let after = stage.ctl(&["--json", "doctor"]);
    fs::write(stage.path("mcpr.db"), "this is a text file and no database at all").unwrap();
    let broken = stage.ctl(&["--json", "doctor"]);

    assert!(of_kind(&before, "database")[0]["message"].as_str().unwrap().contains("none yet"));
    assert!(of_kind(&after, "database")[0]["message"].as_str().unwrap().contains("can be read (schema "));
    let tokens = of_kind(&after, "tokens");
    assert_eq!([&tokens[0]["state"], &tokens[1]["state"]], ["ok", "warning"], "{after}");
    assert_eq!((broken.code, &of_kind(&broken, "database")[0]["state"]), (6, &json!("problem")));
}

#[test]
fn ctl_01_a_log_folder_that_cannot_be_written_is_a_problem() {
    let stage = machine();
    let config = json!({ "mcpr": { "log": { "file": "./a-file/mcpr.log" }, "listen": format!("127.0.0.1:{}", free_port()) } });
    write(&stage, "mcpr.json", &config.to_string());
    write(&stage, "a-file", "");

    let ran = stage.ctl(&["--json", "doctor"]);

    assert_eq!((ran.code, &of_kind(&ran, "log")[0]["state"]), (6, &json!("problem")), "{ran}");
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
    write(&stage, "slow-shell", "#!/bin/sh\nsleep 60\n");
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

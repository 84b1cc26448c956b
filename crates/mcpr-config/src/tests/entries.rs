//! What a valid entry comes to.

use mcpr_protocol::Version;
use mcpr_registry::UriPolicy;
use mcpr_upstream::{ProtocolChoice, SseChoice};
use std::time::Duration;

use super::*;
use crate::Via;

#[test]
fn b01_a_file_with_dead_servers_is_read_whole() {
    let config = load(
        r#"{"mcpServers": {"ok": {"command": "fakemcp"}, "bad": {"command": "/no/such/bin"},
            "off": {"type": "http", "url": "http://127.0.0.1:9/mcp"}}}"#,
    );
    let shown: Vec<_> = config
        .servers
        .iter()
        .map(|entry| (entry.via, entry.shown.as_str()))
        .collect();

    assert!(
        config
            .servers
            .iter()
            .all(|entry| matches!(entry.state, ServerState::Enabled(_)))
    );
    assert_eq!(
        shown,
        [
            (Some(Via::Stdio), "fakemcp"),
            (Some(Via::Stdio), "/no/such/bin"),
            (Some(Via::Http), "http://127.0.0.1:9/mcp")
        ]
    );
    assert!(config.warnings.is_empty());
}

#[test]
fn b09_env_holds_only_what_the_entry_says_and_the_rest_is_the_child_s_allow_list() {
    let entry = server(r#"{"command": "python3", "env": {"X": "1", "N": 2, "B": true, "GONE": null}}"#);
    let process = process(&entry);
    let env: Vec<_> = process
        .env
        .iter()
        .map(|(name, value)| (name.as_str(), value.reveal()))
        .collect();

    assert_eq!(env, [("X", "1"), ("N", "2"), ("B", "true")]);
    assert!(!process.inherit_env);
}

#[test]
fn srv_02_a_server_can_inherit_all_variables() {
    let inherits = |own: &str| process(&server(&format!(r#"{{"command": "x", "mcpr": {own}}}"#))).inherit_env;

    assert!(inherits(r#"{"env": "inherit"}"#));
    assert!(!inherits(r#"{"env": "clean"}"#));
    assert!(!inherits("{}"));
}

#[test]
fn b28_every_spelling_of_a_type_is_known() {
    let read = |fields: &str| {
        let entry = server(&format!("{{{fields}}}"));
        (
            entry.via.unwrap(),
            http(&entry).sse,
            http(&entry).url.reveal().to_owned(),
        )
    };
    let url = "http://h/mcp".to_owned();

    for spelling in [
        "http",
        "streamable-http",
        "streamableHttp",
        "streamable_http",
        "HTTP",
        "remote",
    ] {
        let read = read(&format!(r#""type": "{spelling}", "url": "http://h/mcp""#));
        assert_eq!(read, (Via::Http, SseChoice::Never, url.clone()), "{spelling}");
    }
    for fields in [
        r#""type": "sse", "url": "http://h/mcp""#,
        r#""transportType": "sse", "url": "http://h/mcp""#,
        r#""transport": "sse", "url": "http://h/mcp""#,
        r#""transport": {"type": "sse", "url": "http://h/mcp"}"#,
    ] {
        assert_eq!(
            read(fields),
            (Via::Sse, SseChoice::Always, url.clone()),
            "{fields}"
        );
    }
    for key in ["url", "serverUrl", "httpUrl"] {
        assert_eq!(
            read(&format!(r#""{key}": "http://h/mcp""#)),
            (Via::Http, SseChoice::Auto, url.clone()),
            "{key}"
        );
    }
}

#[test]
fn b28_nested_fields_are_found() {
    let entry =
        server(r#"{"transport": {"type": "stdio", "command": "run", "args": ["a"], "env": {"K": "v"}}}"#);
    let process = process(&entry);

    assert_eq!(
        (process.command.as_str(), process.args.as_slice()),
        ("run", ["a".to_owned()].as_slice())
    );
    assert_eq!(process.env.len(), 1);
}

#[test]
fn b61_cwd_and_a_relative_command_start_from_the_folder_of_the_file() {
    let entry = server(r#"{"command": "./bin/run", "args": ["./kept"], "cwd": "./sub"}"#);
    let process = process(&entry);

    assert_eq!(process.command, "/base/bin/run");
    assert_eq!(process.cwd.as_deref(), Some("/base/sub".as_ref()));
    assert_eq!(process.args, ["./kept"]);
}

#[test]
fn b61_the_variables_of_one_server_are_not_another_s() {
    let config =
        load(r#"{"mcpServers": {"a": {"command": "x", "env": {"SECRET_A": "1"}}, "b": {"command": "x"}}}"#);
    assert!(process(&config.servers[1]).env.is_empty());
}

#[test]
fn cfg_02_other_clients_off_switches_are_honoured() {
    let state = |fields: &str| server(&format!(r#"{{"command": "x", {fields}}}"#)).state;

    assert!(matches!(state(r#""disabled": true"#), ServerState::Disabled(_)));
    assert!(matches!(state(r#""enabled": false"#), ServerState::Disabled(_)));
    assert!(matches!(
        state(r#""disabled": false, "enabled": true"#),
        ServerState::Enabled(_)
    ));
}

#[test]
fn a_disabled_server_may_be_unfinished() {
    let entry = server(r#"{"disabled": true, "command": "${NOT_SET}", "mcpr": {"unknown": 1}}"#);
    assert!(matches!(entry.state, ServerState::Disabled(_)));
    assert_eq!(entry.shown, "${NOT_SET}");
}

#[test]
fn cfg_02_a_file_of_variables_is_read_and_env_wins_over_it() {
    let env = Fixed::default().file("/base/.env", "A=file\nB='two words'\n");
    let entry = server_in(
        env,
        r#"{"command": "x", "envFile": "${workspaceFolder}/.env", "env": {"A": "entry"}}"#,
    );
    let env: Vec<_> = process(&entry)
        .env
        .iter()
        .map(|(name, value)| (name.as_str(), value.reveal()))
        .collect();

    assert_eq!(env, [("B", "two words"), ("A", "entry")]);
    assert!(entry.secrets.iter().any(|secret| secret.reveal() == "two words"));
}

#[test]
fn http_05_the_limit_of_a_call_comes_from_the_nearest_that_says_one() {
    let config = load(
        r#"{"mcpServers": {
              "default": {"command": "x"},
              "client": {"command": "x", "timeout": 120000},
              "text": {"command": "x", "timeout": "500ms"},
              "own": {"command": "x", "timeout": 120000, "mcpr": {"timeouts": {"call": "off", "silence": "5m"}}}},
            "mcpr": {"timeouts": {"call": "10m", "start": "5s"}}}"#,
    );
    let call = |index: usize| spec(&config.servers[index]).timeouts.call;

    assert_eq!(call(0), Some(Duration::from_secs(600)));
    assert_eq!(call(1), Some(Duration::from_secs(120)));
    assert_eq!(call(2), Some(Duration::from_millis(500)));
    assert_eq!(call(3), None);
    assert_eq!(
        spec(&config.servers[3]).timeouts.silence,
        Some(Duration::from_secs(300))
    );
    assert_eq!(spec(&config.servers[0]).timeouts.start, Duration::from_secs(5));
}

#[test]
fn a_timeout_that_was_meant_as_seconds_is_ignored_with_a_warning() {
    let config = load(r#"{"mcpServers": {"s": {"command": "x", "timeout": 60}}}"#);

    assert_eq!(
        spec(&config.servers[0]).timeouts.call,
        Some(Duration::from_secs(3600))
    );
    insta::assert_snapshot!(warnings(&config).join("\n"));
}

#[test]
fn srv_03_everything_that_mcpr_alone_knows_about_a_server() {
    let entry = server(
        r#"{"command": "x", "mcpr": {
            "prefix": "gh", "naming": {"style": "raw"}, "resources": {"uris": "raw"}, "protocol": "2025-06-18",
            "maxConcurrency": 4, "queue": {"max": 64, "wait": "10s"}, "lazy": true, "stopAfterIdle": "15m",
            "restart": {"backoffMin": 500, "backoffMax": "10s"}}}"#,
    );
    let spec = spec(&entry);

    assert_eq!(spec.protocol, ProtocolChoice::Exactly(Version::V2025_06_18));
    assert_eq!(
        (spec.max_concurrency, spec.queue.max, spec.queue.wait.as_secs()),
        (4, 64, 10)
    );
    assert_eq!(
        (spec.lazy, spec.stop_after_idle),
        (true, Some(Duration::from_secs(900)))
    );
    assert_eq!(
        (spec.restart.min.as_millis(), spec.restart.max.as_secs()),
        (500, 10)
    );
    assert_eq!(
        (entry.naming.prefix.as_deref(), entry.naming.raw),
        (Some("gh"), true)
    );
    assert_eq!(entry.naming.uris, Some(UriPolicy::Raw));
}

#[test]
fn what_others_act_on_is_checked_and_kept() {
    let config = load(
        r#"{"mcpServers": {"s": {"command": "x", "mcpr": {"replicas": 3, "balance": "round_robin", "tags": ["eu"],
            "tools": {"allow": ["get_*"]}, "retry": "safe", "isolation": "auto"}}},
            "mcpr": {"builtins": false, "expose": "toolset", "projects": {"web": {"servers": ["s"]}},
            "toolsets": {"dev": {"tools": [{"namespacedName": "s.x"}]}}}}"#,
    );

    assert_eq!(config.servers[0].backends.replicas, 3);
    assert_eq!(config.servers[0].tools.allow, ["get_*"]);
    assert!(!config.gateway.builtins);
    assert_eq!(config.gateway.projects[0].servers[0].as_str(), "s");
    assert_eq!(config.gateway.toolsets[0].tools, ["s.x"]);
    assert_eq!(warnings(&config), [""; 0]);
}

#[test]
fn keys_of_other_clients_are_left_alone() {
    let config = load(
        r#"{"$schema": "x", "inputs": [], "permissions": {}, "mcpServers": {"s": {"command": "x", "alwaysLoad": true,
            "autoApprove": [], "trust": true, "x-own": 1, "_meta": {}, "description": "d", "gallery": true}}}"#,
    );
    assert_eq!(warnings(&config), [""; 0]);
}

#[test]
fn keys_that_look_like_ours_are_told_apart() {
    let config = load(
        r#"{"mcpServer": {}, "mcpServers": {"s": {"command": "x", "arg": ["y"], "lazy": true, "timeouts": {},
            "headersHelper": "h"}}}"#,
    );
    insta::assert_snapshot!(warnings(&config).join("\n"));
}

#[test]
fn sec_05_pins_in_a_place_where_they_would_not_hold_are_an_error() {
    let config = load(r#"{"mcpServers": {"s": {"command": "x", "pins": "block"}}}"#);
    let ServerState::Misconfigured(fault) = &config.servers[0].state else {
        panic!("the server may run");
    };
    assert!(
        fault
            .to_string()
            .contains("`pins` has no effect here; it belongs in the object `mcpr`"),
        "{fault}"
    );
}

#[test]
fn log_04_a_command_line_is_shown_without_its_secrets_and_they_are_known() {
    let entry =
        server(r#"{"command": "run", "args": ["--api-key", "canary1", "postgresql://u:canary2@h/db", "x"]}"#);

    assert_eq!(entry.shown, "run --api-key ••• postgresql://u:•••@h/db x");
    let known: Vec<_> = entry.secrets.iter().map(|secret| secret.reveal()).collect();
    assert_eq!(known, ["canary1", "canary2"]);
}

#[test]
fn nothing_secret_is_in_the_debug_text_of_an_entry() {
    let env = Fixed::default().with("TOKEN", "s3cr3t-value");
    let entry = server_in(
        env,
        r#"{"command": "run", "args": ["--key=${TOKEN}"], "env": {"K": "${TOKEN}"}, "cwd": "/d"}"#,
    );

    assert_eq!(process(&entry).args, ["--key=s3cr3t-value"]);
    assert!(!format!("{entry:?}").contains("s3cr3t"), "{entry:?}");
    assert_eq!(entry.shown, "run --key=${TOKEN}");
}

#[test]
fn log_04_the_parts_of_credentials_in_headers_are_known_too() {
    let entry = server(
        r#"{"type": "http", "url": "https://h/mcp",
            "headers": {"Authorization": "Basic bWU6czNjcjN0IQ==", "cookie": "lang=en; sid=\"c00kie7\""}}"#,
    );

    let known: Vec<_> = entry.secrets.iter().map(|secret| secret.reveal()).collect();
    for part in ["me:s3cr3t!", "s3cr3t!", "c00kie7"] {
        assert!(known.contains(&part), "{part} in {known:?}");
    }
}

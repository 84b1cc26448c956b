//! Real files of several clients, and odd encodings.

use super::*;

#[test]
fn cfg_02_a_file_of_claude_code_loads_unchanged() {
    let env = Fixed::default().with("API_KEY", "k-1234567");
    let config = load_in(
        env,
        r#"{ "mcpServers": {
    "files":  { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/srv/notes"], "env": { "LOG": "${LOG:-info}" } },
    "api":    { "type": "http", "url": "${API_BASE:-https://api.example.com}/mcp",
                "headers": { "Authorization": "Bearer ${API_KEY}" }, "timeout": 600000, "alwaysLoad": true } } }"#,
    )
    .unwrap();

    assert_eq!(warnings(&config), [""; 0]);
    assert_eq!(process(&config.servers[0]).env[0].1.reveal(), "info");
    assert_eq!(
        http(&config.servers[1]).url.reveal(),
        "https://api.example.com/mcp"
    );
    assert_eq!(http(&config.servers[1]).headers[0].1.reveal(), "Bearer k-1234567");
    assert_eq!(
        config.servers[1].shown,
        "${API_BASE:-https://api.example.com}/mcp"
    );
}

#[test]
fn cfg_02_a_file_of_vs_code_loads_and_an_input_says_what_to_do() {
    let text = r#"{
  // VS Code allows comments.
  "inputs": [{ "type": "promptString", "id": "token", "password": true }],
  "servers": {
    "a": { "type": "stdio", "command": "npx", "args": ["${workspaceFolder}"], "envFile": null },
    "b": { "type": "http", "url": "https://h/mcp", "headers": { "Authorization": "Bearer ${input:token}" } },
  }
}"#;
    let kept = Fixed::default().file("/home/ann/.config/mcpr/secrets/token", "t0ken-value\n");

    let asked = load(text);
    let known = load_in(kept, text).unwrap();

    assert_eq!(process(&asked.servers[0]).args, ["/base"]);
    assert_eq!(
        http(&known.servers[1]).headers[0].1.reveal(),
        "Bearer t0ken-value"
    );
    insta::assert_snapshot!(format!(
        "{}\n{}",
        warnings(&asked).join("\n"),
        reason(&asked.servers[1])
    ));
}

#[test]
fn both_roots_in_one_file_are_read_and_a_name_in_both_is_told() {
    let config = load(
        r#"{"mcpServers": {"a": {"command": "first"}}, "servers": {"a": {"command": "x"}, "b": {"command": "y"}}}"#,
    );

    assert_eq!(process(&config.servers[0]).command, "first");
    assert_eq!(config.servers.len(), 2);
    insta::assert_snapshot!(warnings(&config).join("\n"));
}

#[test]
fn b96_a_file_from_notepad_loads() {
    let config = load("\u{feff}{\r\n  \"mcpServers\": {\r\n    \"a\": {\"command\": \"x\"}\r\n  }\r\n}\r\n");
    assert_eq!(config.servers.len(), 1);
    assert_eq!(warnings(&config), [""; 0]);
}

#[test]
fn b112_text_is_utf_8_whatever_the_locale() {
    let entry = server_in(
        Fixed::default().with("LC_ALL", "C"),
        r#"{"command": "x", "args": ["a — b"]}"#,
    );
    assert_eq!(process(&entry).args, ["a — b"]);
}

#[test]
fn b109_a_server_that_is_there_twice_is_told() {
    let config = load("{\"mcpServers\": {\n\"a\": {\"command\": \"x\"},\n\"a\": {\"command\": \"y\"}}}");

    assert_eq!(config.servers.len(), 1);
    assert_eq!(process(&config.servers[0]).command, "y");
    insta::assert_snapshot!(warnings(&config).join("\n"));
}

#[test]
fn b109_names_that_differ_in_case_or_flatten_alike_are_different_servers() {
    let config = load(
        r#"{"mcpServers": {"a.b": {"command": "x"}, "a_b": {"command": "x"}, "A_b": {"command": "x"}, "é—": {"command": "x"}}}"#,
    );
    assert_eq!(config.servers.len(), 4);
}

#[test]
fn the_file_of_the_bench_loads_silently() {
    let config = load(
        r#"{"mcpServers": {"a": {"type": "http", "url": "http://127.0.0.1:9401/mcp"}}, "mcpr": {"builtins": false}}"#,
    );
    assert_eq!(warnings(&config), [""; 0]);
}

#[test]
fn cfg_02_a_server_outside_of_mcp_servers_is_told() {
    let config = load(
        r#"{"git": {"command": "uvx"}, "web": {"url": "http://h"}, "theme": {"dark": true}, "mcp": {}}"#,
    );

    let told = warnings(&config).join("\n");
    assert_eq!(config.servers.len(), 0);
    for part in [
        "`git` looks like a server",
        "`web` looks like a server",
        "`mcpServers`",
    ] {
        assert!(told.contains(part), "{told}");
    }
    assert!(!told.contains("theme"), "{told}");
}

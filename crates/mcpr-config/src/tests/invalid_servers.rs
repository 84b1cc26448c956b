//! One snapshot for each way in which an entry can be wrong.

use super::*;

/// Snapshots why each of these entries cannot be used, and that the server beside it can.
fn reasons_in(env: impl Fn() -> Fixed, entries: &[&str]) -> String {
    let told = entries.iter().map(|entry| {
        let text = format!("{{\"mcpServers\": {{\"good\": {{\"command\": \"x\"}},\n\"s\": {entry}}}}}");
        let config = load_in(env(), &text).unwrap();
        assert!(matches!(config.servers[0].state, ServerState::Enabled(_)));
        format!("{entry}\n    {}", reason(&config.servers[1]))
    });
    told.collect::<Vec<_>>().join("\n")
}

fn reasons(entries: &[&str]) -> String {
    reasons_in(Fixed::default, entries)
}

#[test]
fn b53_cfg_04_an_entry_of_a_wrong_shape() {
    insta::assert_snapshot!(reasons(&[
        r#"{"type": "foo"}"#,
        "{}",
        r#""npx""#,
        r#"{"command": 5}"#,
        r#"{"command": ""}"#,
        r#"{"command": ["npx", "-y"]}"#,
        r#"{"command": "x", "args": "-y"}"#,
        r#"{"command": "x", "args": [["-y"]]}"#,
        r#"{"command": "x", "env": ["A=1"]}"#,
        r#"{"command": "x", "env": {"A": {}}}"#,
        r#"{"command": "x", "env": {"A=B": "1"}}"#,
        r#"{"command": "x", "cwd": 1}"#,
        r#"{"command": "x", "disabled": "yes"}"#,
        r#"{"command": "x", "timeout": "soon"}"#,
        r#"{"command": "x", "timeout": []}"#,
        r#"{"comand": "x"}"#,
        r#"{"type": "stdio"}"#,
        r#"{"type": "http"}"#,
    ]));
}

#[test]
fn b28_an_entry_that_contradicts_itself() {
    insta::assert_snapshot!(reasons(&[
        r#"{"command": "x", "url": "http://h/mcp"}"#,
        r#"{"type": "http", "command": "x"}"#,
        r#"{"type": "stdio", "url": "http://h/mcp"}"#,
        r#"{"type": "ws", "url": "wss://h/mcp"}"#,
    ]));
}

#[test]
fn b53_a_url_or_header_that_cannot_be_one() {
    let env = || Fixed::default().with("KEY", "s3cr3t\nline");
    insta::assert_snapshot!(reasons_in(
        env,
        &[
            r#"{"type": "http", "url": "notaurl"}"#,
            r#"{"type": "http", "url": "ftp://h/mcp"}"#,
            r#"{"type": "http", "url": "https:///mcp"}"#,
            r#"{"type": "http", "url": "https://h/m cp"}"#,
            r#"{"type": "http", "url": "https://${KEY}/mcp"}"#,
            r#"{"type": "http", "url": "https://h/mcp", "headers": {"a b": "1"}}"#,
            r#"{"type": "http", "url": "https://h/mcp", "headers": {"A": "${KEY}"}}"#,
            r#"{"type": "http", "url": "https://h/mcp", "headers": ["A: 1"]}"#,
        ]
    ));
}

#[test]
fn cfg_03_a_reference_that_leads_nowhere() {
    let env = || {
        Fixed::default()
            .shared_file("/home/ann/.config/mcpr/secrets/shared", "s3cr3t")
            .file("/base/binary", vec![0xFF])
            .file("/base/.env", "A=1\nnonsense")
    };
    insta::assert_snapshot!(reasons_in(
        env,
        &[
            r#"{"command": "${NOT_SET}"}"#,
            r#"{"command": "x", "args": ["a", "${NOT_SET}"]}"#,
            r#"{"command": "x", "env": {"K": "${file:none}"}}"#,
            r#"{"command": "x", "env": {"K": "${file:binary}"}}"#,
            r#"{"command": "x", "env": {"K": "${secret:none}"}}"#,
            r#"{"command": "x", "env": {"K": "${secret:shared}"}}"#,
            r#"{"command": "x", "env": {"K": "${input:id}"}}"#,
            r#"{"command": "x", "env": {"K": "${command:ask}"}}"#,
            r#"{"command": "x", "envFile": "none"}"#,
            r#"{"command": "x", "envFile": ".env"}"#,
            r#"{"command": "${EMPTY:-}"}"#,
        ]
    ));
}

#[test]
fn cfg_04_what_mcpr_alone_knows_must_be_right() {
    insta::assert_snapshot!(reasons(&[
        r#"{"command": "x", "mcpr": []}"#,
        r#"{"command": "x", "mcpr": {"replica": 3}}"#,
        r#"{"command": "x", "mcpr": {"something": 3}}"#,
        r#"{"command": "x", "mcpr": {"queue": {"maximum": 3}}}"#,
        r#"{"command": "x", "mcpr": {"replicas": 0}}"#,
        r#"{"command": "x", "mcpr": {"replicas": "3"}}"#,
        r#"{"command": "x", "mcpr": {"balance": "round-robin"}}"#,
        r#"{"command": "x", "mcpr": {"isolation": "process"}}"#,
        r#"{"command": "x", "mcpr": {"protocol": "2020-01-01"}}"#,
        r#"{"command": "x", "mcpr": {"timeouts": {"call": 0}}}"#,
        r#"{"command": "x", "mcpr": {"timeouts": {"start": "off"}}}"#,
        r#"{"command": "x", "mcpr": {"restart": {"backoffMin": "2m"}}}"#,
        r#"{"command": "x", "mcpr": {"lazy": "yes"}}"#,
        r#"{"command": "x", "mcpr": {"env": "all"}}"#,
        r#"{"command": "x", "mcpr": {"tags": "eu"}}"#,
        r#"{"command": "x", "mcpr": {"naming": {"style": "rough"}}}"#,
    ]));
}

#[test]
fn cfg_04_a_key_that_cannot_name_a_server_is_told() {
    let long = "x".repeat(65);
    let config = load(&format!(
        r#"{{"mcpServers": {{"a/b": {{"command": "x"}}, "": {{"command": "x"}}, "{long}": {{"command": "x"}},
            "good": {{"command": "x"}}, "native": {{"command": "x"}}, "mcpr": {{"command": "x"}}}}}}"#
    ));

    let names: Vec<_> = config.servers.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["good", "native", "mcpr"]);
    insta::assert_snapshot!(format!(
        "{}\n{}",
        warnings(&config).join("\n"),
        reason(&config.servers[1])
    ));
}

#[test]
fn srv_03_idling_means_nothing_to_a_server_that_is_not_lazy() {
    let config = load(r#"{"mcpServers": {"s": {"command": "x", "mcpr": {"stopAfterIdle": "1m"}}}}"#);
    insta::assert_snapshot!(warnings(&config).join("\n"));
}

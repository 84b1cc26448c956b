//! `${…}` in every field.

use super::*;

fn secrets(entry: &ServerEntry) -> Vec<&str> {
    entry
        .secrets
        .iter()
        .map(mcpr_upstream::SecretText::reveal)
        .collect()
}

#[test]
fn b10_cfg_03_a_variable_reaches_every_field() {
    let env = || Fixed::default().with("T", "abcdefg");
    let program = server_in(
        env(),
        r#"{"command": "run-${T}", "args": ["--t", "${T}"], "env": {"K": "=${T}"}, "cwd": "/d/${T}"}"#,
    );
    let remote = server_in(
        env(),
        r#"{"type": "http", "url": "https://${env:T}.example/mcp", "headers": {"Authorization": "Bearer ${T}"}}"#,
    );

    assert_eq!(process(&program).command, "run-abcdefg");
    assert_eq!(process(&program).args, ["--t", "abcdefg"]);
    assert_eq!(process(&program).env[0].1.reveal(), "=abcdefg");
    assert_eq!(process(&program).cwd.as_deref(), Some("/d/abcdefg".as_ref()));
    assert_eq!(http(&remote).url.reveal(), "https://abcdefg.example/mcp");
    assert_eq!(http(&remote).headers[0].1.reveal(), "Bearer abcdefg");
    assert!(secrets(&remote).contains(&"Bearer abcdefg") && secrets(&remote).contains(&"abcdefg"));
}

#[test]
fn b10_an_unset_variable_concerns_its_server_alone_and_names_field_and_variable() {
    let config = load(
        r#"{"mcpServers": {"a": {"command": "x"},
            "b": {"type": "http", "url": "http://h/mcp", "headers": {"Authorization": "Bearer ${T}"}}}}"#,
    );

    assert!(matches!(config.servers[0].state, ServerState::Enabled(_)));
    insta::assert_snapshot!(reason(&config.servers[1]));
}

#[cfg(unix)]
#[test]
fn b10_a_variable_that_is_no_text_is_told_and_has_no_default() {
    use std::os::unix::ffi::OsStrExt;

    let env = Fixed::default().with("T", std::ffi::OsStr::from_bytes(b"a\xff"));

    let entry = server_in(env, r#"{"command": "x", "args": ["${T:-default}"]}"#);

    assert!(
        reason(&entry).ends_with("args[0] needs T, which is no text in UTF-8"),
        "{}",
        reason(&entry)
    );
}

#[test]
fn b10_an_empty_variable_never_makes_an_empty_header() {
    let env = || Fixed::default().with("T", "");
    let header = |value: &str| {
        server_in(
            env(),
            &format!(r#"{{"type": "http", "url": "http://h/mcp", "headers": {{"A": "{value}"}}}}"#),
        )
    };
    let program = server_in(env(), r#"{"command": "x", "args": ["${T}", "${T:-default}"]}"#);

    assert_eq!(
        reason(&header("Bearer ${T}")),
        "mcpr.json:1:79: headers.A needs T, which is empty"
    );
    assert_eq!(
        reason(&header(" ")),
        "mcpr.json:1:79: `headers.A` must not be empty"
    );
    assert_eq!(process(&program).args, ["", "default"]);
}

#[test]
fn cfg_03_expansion_happens_once() {
    let env = Fixed::default().with("A", "${B}").with("B", "never");
    let entry = server_in(
        env,
        r#"{"command": "x", "args": ["${A}", "$B", "${C:-$B}", "${"]}"#,
    );
    assert_eq!(process(&entry).args, ["${B}", "$B", "$B", "${"]);
}

#[test]
fn cfg_03_places_are_known() {
    let entry = server(
        r#"{"command": "x", "args": ["${userHome}/a", "${workspaceFolder}", "${workspaceFolderBasename}", "a${/}b${pathSeparator}c"]}"#,
    );
    assert_eq!(process(&entry).args, ["/home/ann/a", "/base", "base", "a/b/c"]);
    assert!(secrets(&entry).is_empty());
}

#[test]
fn cfg_03_a_file_is_read_without_its_last_line_break() {
    let env = Fixed::default()
        .file("/base/keys/k", "k-value\r\n")
        .file("/run/k", "two\nlines");
    let entry = server_in(
        env,
        r#"{"command": "x", "args": ["${file:keys/k}", "${file:/run/k}"]}"#,
    );

    assert_eq!(process(&entry).args, ["k-value", "two\nlines"]);
    assert_eq!(secrets(&entry), ["k-value", "two\nlines"]);
}

#[test]
fn cfg_03_a_secret_comes_from_the_credentials_or_else_from_the_private_folder() {
    let entry = r#"{"command": "x", "args": ["${secret:t}"]}"#;
    let own = || Fixed::default().file("/home/ann/.config/mcpr/secrets/t", "own\n");
    let both = own()
        .with("CREDENTIALS_DIRECTORY", "/run/cred")
        .file("/run/cred/t", "credential");

    assert_eq!(process(&server_in(own(), entry)).args, ["own"]);
    assert_eq!(process(&server_in(both, entry)).args, ["credential"]);
}

#[test]
fn cfg_03_the_folder_of_secrets_follows_the_home_of_mcpr() {
    let env = Fixed::default()
        .with("MCPR_HOME", "/m")
        .file("/m/secrets/t", "there");
    assert_eq!(
        process(&server_in(env, r#"{"command": "x", "args": ["${secret:t}"]}"#)).args,
        ["there"]
    );
}

#[test]
fn log_04_what_is_in_every_path_is_no_secret() {
    let env = Fixed::default()
        .with("HOME", "/home/ann")
        .with("XDG_CACHE_HOME", "/c");
    let entry = server_in(
        env,
        r#"{"command": "x", "args": ["${HOME}", "${XDG_CACHE_HOME}", "${NONE:-literal}"]}"#,
    );
    assert!(secrets(&entry).is_empty());
}

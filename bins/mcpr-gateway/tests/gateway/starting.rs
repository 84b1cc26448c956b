//! The start of a gateway, and why there may be none.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use insta::assert_snapshot;
use serde_json::json;

use crate::http::ask;
use crate::stage::{Stage, demo_server, program, until};

#[test]
fn cfg_04_a_configuration_that_is_not_valid_ends_with_7_and_says_where() {
    let stage = Stage::new();
    stage.write("typo.json", "{\n  \"mcpr\": { \"lisen\": \"127.0.0.1\" }\n}");
    let ran = [
        &["--config", "typo.json"][..],
        &["serve", "--config", "typo.json"],
        &["stdio", "--config", "typo.json"],
        &["serve", "--config", "absent.json"],
    ]
    .map(|words| stage.run(words));

    assert!(ran.iter().all(|ran| ran.code == 7));
    assert_snapshot!(ran.map(|ran| ran.to_string()).join("\n\n"));
    assert_eq!(stage.files(), ["typo.json"]);
}

#[test]
fn http_02_a_port_that_is_taken_ends_with_8_and_leaves_nothing_behind() {
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = other.local_addr().unwrap().port().to_string();
    let stage = Stage::serving(&["calc"]);

    let flag = stage.run(&["--port", &port]);
    let variable = Stage::new().set("MCPR_PORT", &port).run(&["serve"]);
    let demo = Stage::new().run(&["demo", "--port", &port]);

    assert_eq!([flag.code, variable.code, demo.code], [8, 8, 8], "{flag}");
    let pid = std::process::id();
    for part in [&port, &format!("process {pid}"), "--port N", "MCPR_PORT"] {
        assert!(flag.stderr.contains(part), "{flag}");
    }
    assert_eq!(stage.files(), ["mcpr.json"], "no database, log or socket");
}

#[test]
fn a_second_gateway_of_the_same_home_is_refused() {
    let stage = Stage::serving(&[]);
    let mut first = stage.start(&["--port", "0"]);
    first.hears("no servers");

    let second = stage.run(&["--port", "0"]);

    assert_eq!(second.code, 8, "{second}");
    assert!(
        second.stderr.contains(&format!("process {}", first.pid())),
        "{second}"
    );
    assert_eq!(
        ask(first.port(), Some(&first.token()), "tools/list", json!({})).0,
        200
    );
}

#[test]
fn a_second_gateway_is_refused_where_the_first_has_no_control_socket_too() {
    let stage = Stage::serving(&[]);
    stage.write("ctl.sock", "a file, not a socket");
    let mut first = stage.start(&["--port", "0"]);
    first.hears("no servers");

    let second = stage.run(&["--port", "0"]);

    assert_eq!(second.code, 8, "{second}");
    for part in [&format!("process {}", first.pid()), "MCPR_HOME", "mcpr.db"] {
        assert!(second.stderr.contains(part), "{second}");
    }
    first.signal(rustix::process::Signal::TERM);
    assert_eq!(first.exit_code(), 0);
    stage.start(&["--port", "0"]).hears("no servers");
}

#[test]
fn log_04_all_that_a_gateway_keeps_is_for_its_owner_alone_whatever_the_umask() {
    let stage = Stage::serving(&["calc"]);
    let home = stage.path("state").display().to_string();
    let config = stage.path("mcpr.json").display().to_string();
    let open = format!("umask 0; export MCPR_HOME={home}; exec \"$0\" \"$@\"");
    let mut gateway = stage.start_under(&["sh", "-c", &open], &["--config", &config, "--port", "0"]);
    gateway.hears("; `mcpr-ctl status` shows more");

    let kept = modes(&stage.path("state"));

    let names: Vec<&str> = kept.iter().map(|(name, _)| name.as_str()).collect();
    for name in [
        "mcpr.db",
        "mcpr.db-wal",
        "mcpr.db-shm",
        "mcpr.lock",
        "ctl.sock",
        "logs",
    ] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    for (name, mode) in kept {
        let folder = ["state", "logs"].contains(&name.as_str());
        assert_eq!(mode, if folder { 0o700 } else { 0o600 }, "{name}");
    }
}

/// The names and modes of a folder and of all in it.
fn modes(path: &Path) -> Vec<(String, u32)> {
    let found = std::fs::symlink_metadata(path).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap().to_owned();
    let below = std::fs::read_dir(path).ok().filter(|_| found.is_dir());
    let below = below.into_iter().flatten().flatten();
    let own = (name, found.permissions().mode() & 0o777);
    std::iter::once(own)
        .chain(below.flat_map(|entry| modes(&entry.path())))
        .collect()
}

#[test]
fn without_a_control_socket_the_gateway_serves_all_the_same() {
    let stage = Stage::serving(&["calc"]);
    stage.write("ctl.sock", "a file, not a socket");

    let mut gateway = stage.start(&["--port", "0"]);

    gateway.hears("mcpr-ctl cannot reach this gateway");
    gateway.hears("; `mcpr-ctl status` shows more");
    assert_eq!(
        ask(gateway.port(), Some(&gateway.token()), "tools/list", json!({})).0,
        200
    );
}

#[test]
fn a_database_that_is_damaged_is_explained() {
    let stage = Stage::serving(&["calc"]);
    stage.write("mcpr.db", &"no database ".repeat(100));

    let ran = stage.run(&["--port", "0", "--log-file", "none"]);

    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("is damaged or not a database"), "{ran}");
}

#[test]
fn http_03_the_first_token_is_shown_once_and_never_logged() {
    let stage = Stage::serving(&["calc"]);
    let mut gateway = stage.serve();
    let token = gateway.token();

    let (status, answer) = ask(gateway.port(), None, "tools/list", json!({}));
    assert_eq!((status, &answer["error"]), (401, &json!("missing_token")));
    assert_eq!(ask(gateway.port(), Some(&token), "tools/list", json!({})).0, 200);
    gateway.signal(rustix::process::Signal::TERM);
    assert_eq!(gateway.exit_code(), 0);
    let told = gateway.told.join("\n");
    let fresh = |line: &&str| !line.starts_with('{');
    let told: Vec<_> = told.lines().filter(fresh).collect();
    assert_eq!(told.iter().filter(|line| line.trim() == token).count(), 1);

    let again = stage.serve();
    assert!(!again.told.join("\n").contains("mcpr_pat_"));
    assert!(!stage.logs().contains(&token));
}

#[test]
fn http_03_without_tokens_loopback_is_open() {
    let stage = Stage::serving(&["calc"]);
    let mut gateway = stage.start(&["--no-auth", "--port", "0"]);
    gateway.hears("; `mcpr-ctl status` shows more");

    assert_eq!(ask(gateway.port(), None, "tools/list", json!({})).0, 200);
    assert!(!gateway.told.join("\n").contains("mcpr_pat_"));
}

#[test]
fn srv_03_a_lenient_start_tells_of_every_server_and_a_strict_one_fails() {
    let config =
        json!({ "mcpServers": { "calc": demo_server("calc"), "dead": { "command": "/nowhere/server" } } });
    let stage = Stage::with(&config);

    let gateway = stage.serve();
    let told = gateway.told.join("\n");
    assert!(told.contains("  ready   calc  4 tools, 1 prompt"), "{told}");
    assert!(
        told.contains("  failed  dead  no program at `/nowhere/server`"),
        "{told}"
    );
    drop(gateway);

    let strict = stage.run(&["--strict", "--port", "0"]);
    assert_eq!(strict.code, 1);
    assert!(
        strict
            .stderr
            .contains("server `dead` is not ready: no program at `/nowhere/server`"),
        "{strict}"
    );
}

#[test]
fn log_01_who_asks_for_json_gets_nothing_else_on_stderr() {
    let stage = Stage::serving(&["calc"]);
    drop(stage.serve()); // The first token is shown, whatever is asked for.

    let mut gateway = stage.start(&["--port", "0", "--log-format", "json"]);
    gateway.hears("server ready");

    for line in &gateway.told {
        assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{line}");
    }
}

#[test]
fn b110_a_bridge_that_leads_back_to_its_own_gateway_is_no_server() {
    let stage = Stage::new();
    let home = stage.path("").display().to_string();
    let bridge = json!({ "command": program(), "args": ["connect"], "env": { "MCPR_HOME": home } });
    let servers = json!({ "mcpServers": { "calc": demo_server("calc"), "loop": bridge } });
    stage.write("mcpr.json", &servers.to_string());
    let mut gateway = stage.start(&["serve", "--port", "0"]);

    let told = gateway.hears("this gateway itself");

    assert!(told.contains("loop"), "{told}");
    let tools = ask(gateway.port(), Some(&gateway.token()), "tools/list", json!({})).1;
    assert!(!tools.to_string().contains("loop_"), "{tools}");
}

#[test]
fn sec_02_the_first_token_is_not_left_in_a_file_that_others_may_read() {
    for (mode, made) in [(0o644, false), (0o600, true)] {
        let stage = Stage::serving(&["calc"]);
        let (_gateway, file) = stage.start_into_file(mode, &["serve", "--port", "0"]);
        let said = || std::fs::read_to_string(&file).ok();

        let said = until("servers are told of", || {
            said().filter(|said| said.contains("; `mcpr-ctl status` shows more"))
        });

        assert_eq!(said.contains("mcpr_pat_"), made, "{said}");
        assert_eq!(
            said.contains("mcpr-ctl tokens create --name NAME\n"),
            !made,
            "{said}"
        );
    }
}

#[test]
fn log_02_no_file_is_called_off() {
    for word in ["off", "none"] {
        let stage = Stage::serving(&[]);
        let mut gateway = stage.start(&["serve", "--port", "0", "--log-file", word]);
        gateway.hears("no servers");
        assert_eq!(
            stage
                .files()
                .iter()
                .filter(|file| *file == word || *file == "logs")
                .count(),
            0
        );
    }
}

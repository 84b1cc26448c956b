//! The clients on a machine, and the entries that point them at the gateway.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;

use crate::samples::*;
use crate::stage::Stage;

const NAMES: [&str; 10] = [
    "claude-code",
    "claude-desktop",
    "cursor",
    "vscode",
    "codex",
    "gemini",
    "windsurf",
    "zed",
    "cline",
    "goose",
];

/// A home in which programs and files of clients can be put.
pub(crate) fn machine() -> Stage {
    at_home(Stage::new())
}

/// The stage with a home and a `PATH` of its own, in which the gateway's program is.
pub(crate) fn at_home(stage: Stage) -> Stage {
    let home = stage.path("home");
    let bin = stage.path("bin");
    fs::create_dir_all(&home).unwrap();
    program(&stage, "mcpr-gateway");
    stage
        .set("HOME", home.display().to_string())
        .set("PATH", bin.display().to_string())
}

/// Puts a program into `PATH`.
pub(crate) fn program(stage: &Stage, name: &str) {
    let file = stage.path("bin").join(name);
    write(stage, &format!("bin/{name}"), "");
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Writes a file, with the folders that it needs.
pub(crate) fn write(stage: &Stage, name: &str, text: &str) {
    let file = stage.path(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn ctl_01_every_client_gets_its_entry_and_is_told_where_it_goes() {
    let stage = machine();
    for name in NAMES {
        let ran = stage.ctl(&["clients", "print", name]);
        assert_eq!(ran.code, 0, "{ran}");
        assert_snapshot!(ran.name(), ran);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn ctl_01_every_client_can_start_a_program_instead() {
    let stage = machine();
    let all = NAMES.map(|name| {
        let ran = stage.ctl(&["clients", "print", name, "--stdio", "--project", "web", "-q"]);
        assert_eq!(ran.code, 0, "{ran}");
        ran.to_string()
    });
    assert_snapshot!(all.join("\n\n"));
}

#[cfg(target_os = "linux")]
#[test]
fn ctl_01_scripts_get_the_entry_of_every_client_as_json() {
    let stage = machine();
    let all = NAMES.map(|name| {
        let ran = stage.ctl(&[
            "--json",
            "clients",
            "print",
            name,
            "--project",
            "web",
            "--toolset",
            "dev",
        ]);
        assert_eq!(
            (ran.code, ran.out().lines().count(), &*ran.stderr),
            (0, 1, ""),
            "{ran}"
        );
        ran.to_string()
    });
    assert_snapshot!(all.join("\n\n"));
}

#[test]
fn ctl_01_an_entry_is_read_back_by_those_who_know_its_language() {
    let stage = machine();
    for name in [
        "claude-code",
        "cursor",
        "vscode",
        "gemini",
        "windsurf",
        "zed",
        "cline",
    ] {
        let ran = stage.ctl(&["clients", "print", name]);
        assert!(ran.json().is_object(), "{ran}");
    }
}

#[test]
fn ctl_02_the_url_is_that_of_the_running_gateway_else_that_of_the_configuration() {
    let url = |stage: &Stage, words: &[&str]| {
        let ran = stage.ctl(&[&["clients", "print", "cursor"], words].concat());
        ran.json()["mcpServers"]["mcpr"]["url"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let idle = machine();
    assert_eq!(url(&idle, &[]), "http://127.0.0.1:3282/mcp");
    write(&idle, "mcpr.json", r#"{"mcpr": {"listen": "0.0.0.0:4000"}}"#);
    assert_eq!(url(&idle, &[]), "http://127.0.0.1:4000/mcp");
    assert_eq!(url(&idle, &["--url", "https://box"]), "https://box/mcp");
    assert_eq!(
        url(&idle, &["--gateway", "http://10.0.0.1:80/x/mcp"]),
        "http://10.0.0.1:80/x/mcp"
    );
    write(&idle, "mcpr.json", "{ broken");
    assert_eq!(url(&idle, &[]), "http://127.0.0.1:3282/mcp");
    let busy = at_home(Stage::gateway(&[("status", 200, STATUS)]));
    assert_eq!(url(&busy, &[]), "http://127.0.0.1:3282/mcp");
}

#[test]
fn ctl_01_a_gateway_of_its_own_gets_the_files_and_folders_that_count_here() {
    let stage = machine();
    write(&stage, "mine.json", "{}");

    let own = stage.ctl(&["clients", "print", "zed", "--stdio=own", "--config", "mine.json"]);
    let absent = stage.ctl(&["clients", "print", "zed", "--stdio=own", "--config", "none.json"]);

    assert_snapshot!([own.to_string(), absent.to_string()].join("\n\n"));
}

#[test]
fn sec_02_a_program_that_connects_elsewhere_wants_a_token_and_the_socket_none() {
    let stage = machine();

    let here = stage.ctl(&["clients", "print", "claude-desktop", "-q"]);
    let there = stage.ctl(&[
        "clients",
        "print",
        "claude-desktop",
        "-q",
        "--url",
        "https://box/mcp",
    ]);

    assert_snapshot!([here.to_string(), there.to_string()].join("\n\n"));
}

#[test]
fn ctl_04_spellings_are_understood_and_slips_recognised() {
    let stage = machine();
    for name in [
        "claude_code",
        "claude",
        "vs-code",
        "code",
        "Claude-Desktop",
        "gemini-cli",
    ] {
        assert_eq!(stage.ctl(&["clients", "print", name, "-q"]).code, 0, "{name}");
    }
    for words in [
        &["clients", "print", "cusor"][..],
        &["clients", "print", "emacs"],
        &["clients", "print", "zed", "--token-env", "1X"],
        &["clients", "print", "zed", "--token-env", "X", "--stdio"],
        &["clients", "print", "zed", "--stdio=own", "--url", "http://box"],
        &["clients", "print", "zed", "--project", ""],
    ] {
        let ran = stage.ctl(words);
        assert_eq!(ran.code, 2, "{ran}");
        assert_snapshot!(ran.name(), ran);
    }
}

/// A machine on which several clients are, in several states.
fn populated() -> Stage {
    let stage = machine();
    program(&stage, "claude");
    program(&stage, "code");
    write(
        &stage,
        "home/.cursor/mcp.json",
        r#"{ "mcpServers": { "mcpr": { "url": "http://localhost:3282/mcp" }, "git": { "command": "uvx" } } }"#,
    );
    write(
        &stage,
        "home/.codex/config.toml",
        "[mcp_servers.all]\nurl = \"http://127.0.0.1:3282/mcp/\"\n[mcp_servers.x]\ncommand = \"x\"\nenabled = false\n",
    );
    write(
        &stage,
        "home/.config/Claude/claude_desktop_config.json",
        r#"{ "mcpServers": { "gateway": { "command": "/opt/bin/mcpr-gateway", "args": ["connect"] } } }"#,
    );
    write(&stage, "home/.gemini/settings.json", "{ \"mcpServers\": ");
    write(&stage, "home/.config/goose/config.yaml", "GOOSE_MODEL: x\n");
    stage
}

#[cfg(target_os = "linux")]
#[test]
fn ctl_01_the_clients_of_a_machine_are_listed_with_what_leads_to_mcpr() {
    let stage = populated();

    assert_snapshot!(stage.ctl(&["clients", "ls"]));
    assert_snapshot!(stage.ctl(&["--json", "clients", "ls"]));
}

#[test]
fn ctl_01_nothing_of_a_client_is_changed() {
    let stage = populated();
    let file = stage.path("home/.cursor/mcp.json");
    let before = fs::read(&file).unwrap();

    stage.ctl(&["clients", "ls"]);
    stage.ctl(&["clients", "print", "cursor"]);
    stage.ctl(&["doctor"]);

    assert_eq!(fs::read(&file).unwrap(), before);
    assert!(!stage.path("mcpr.db").exists() && !stage.path("logs").exists());
}

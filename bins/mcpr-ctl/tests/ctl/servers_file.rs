//! Servers in the configuration file, with and without a gateway.

mod edit;
mod refusals;
mod together;
mod trial;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::stage::Stage;

use self::refusals::refused;

/// A file as people write them.
const LIVED_IN: &str = r#"{
  // Mine.
  "mcpServers": {
    "git": { "command": "uvx", "args": ["mcp-server-git"] }, // from PyPI
    "docs": { "type": "http", "url": "https://example.com/mcp" },
  },
}
"#;

/// A home whose configuration file has this text.
pub(crate) fn home_with(text: &str) -> Stage {
    let stage = Stage::new();
    fs::write(stage.path("mcpr.json"), text).unwrap();
    stage
}

/// What the configuration file says.
pub(crate) fn text(stage: &Stage) -> String {
    fs::read_to_string(stage.path("mcpr.json")).unwrap()
}

fn parsed(stage: &Stage) -> Value {
    serde_json::from_str(&text(stage)).unwrap()
}

#[test]
fn cfg_01_the_user_s_file_is_made_with_its_folder_for_its_owner_alone() {
    let stage = Stage::new();
    let home = stage.path("not/there");
    let stage = stage.set("MCPR_HOME", home.to_str().unwrap());

    let ran = stage.ctl(&["servers", "add", "echo", "--", "echo", "a", "b"]);

    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_snapshot!(ran);
    assert_eq!((mode(home.clone()), mode(home.join("mcpr.json"))), (0o700, 0o600));
    assert_snapshot!(fs::read_to_string(home.join("mcpr.json")).unwrap());
}

#[test]
fn ctl_01_a_server_is_added_and_everything_else_stays() {
    let stage = home_with(LIVED_IN);

    assert_snapshot!(stage.ctl(&["servers", "add", "notes", "--json", "--", "echo"]));

    assert_eq!(
        text(&stage),
        LIVED_IN.replace(
            "mcp\" },\n",
            "mcp\" },\n    \"notes\": { \"command\": \"echo\" },\n"
        )
    );
}

#[test]
fn ctl_01_every_flag_has_its_key() {
    let stage = Stage::new();
    let folder = stage.path("");
    let here = folder.canonicalize().unwrap();

    stage.ctl(&[
        "servers",
        "add",
        "a",
        "--env",
        "LEVEL=info",
        "--env",
        "LEVEL=debug",
        "--cwd",
        "sub",
        "--tag",
        "eu",
        "--tag",
        "web",
        "--prefix",
        "x",
        "--lazy",
        "--disabled",
        "--",
        "./run.sh",
        "--flag",
        "-v",
    ]);
    stage.ctl(&[
        "servers",
        "add",
        "b",
        "--url",
        "https://example.com/sse",
        "--type",
        "sse",
        "-H",
        "X-Key: ${KEY}",
    ]);

    let absolute = |path: &str| here.join(path).display().to_string();
    assert_eq!(
        parsed(&stage)["mcpServers"],
        json!({
            "a": {
                "command": absolute("run.sh"), "args": ["--flag", "-v"], "env": { "LEVEL": "debug" },
                "cwd": absolute("sub"), "disabled": true,
                "mcpr": { "prefix": "x", "tags": ["eu", "web"], "lazy": true }
            },
            "b": { "type": "sse", "url": "https://example.com/sse", "headers": { "X-Key": "${KEY}" } }
        })
    );
}

#[test]
fn ctl_01_a_name_that_exists_is_replaced_only_when_that_is_said() {
    let stage = home_with(LIVED_IN);

    assert_snapshot!(refused(&stage, 1, &["servers", "add", "git", "--", "echo"]));
    assert_snapshot!(stage.ctl(&["servers", "add", "git", "--force", "--", "echo"]));

    assert_eq!(
        text(&stage),
        LIVED_IN.replace(r#""uvx", "args": ["mcp-server-git"]"#, r#""echo""#)
    );
}

#[test]
fn cfg_01_of_several_files_the_last_that_has_the_server_is_written_else_the_last() {
    let stage = Stage::new();
    let file = |name: &str, servers: &str| {
        fs::write(stage.path(name), format!("{{\"mcpServers\": {servers}}}")).unwrap();
    };
    file("a.json", r#"{"one": {"command": "a"}, "two": {"command": "a"}}"#);
    file("b.json", r#"{"one": {"command": "b"}}"#);
    let read = |name: &str| fs::read_to_string(stage.path(name)).unwrap();
    let files = ["--config", "a.json", "--config", "b.json", "--config", "c.json"];
    let ctl = |words: &[&str]| stage.ctl(&[words, &files].concat());

    ctl(&["servers", "set", "one", "command=x"]);
    ctl(&["servers", "set", "two", "command=y"]);
    assert!(read("b.json").contains(r#""x""#) && read("a.json").contains(r#""y""#));
    assert!(!stage.path("c.json").exists());

    let added = stage.ctl(&[&["servers", "add", "three"], &files[..], &["--", "echo"]].concat());
    assert_eq!(added.code, 0, "{added}");
    assert!(read("c.json").contains("three"));

    assert_snapshot!(ctl(&["servers", "rm", "one", "--yes"]));
    assert!(read("a.json").contains("one") && !read("b.json").contains("one"));
}

#[test]
fn cfg_02_a_file_of_vs_code_keeps_its_form() {
    let stage = home_with(
        "{\n\t\"inputs\": [],\n\t\"servers\": {\n\t\t\"a\": {\n\t\t\t\"command\": \"x\"\n\t\t}\n\t}\n}\n",
    );

    stage.ctl(&["servers", "add", "b", "--", "echo"]);
    stage.ctl(&["servers", "set", "a", "mcpr.tags=[\"eu\"]"]);

    assert_snapshot!(text(&stage));
}

#[test]
fn ctl_01_values_are_set_as_json_or_text_and_removed() {
    let stage = home_with(LIVED_IN);

    assert_snapshot!(stage.ctl(&[
        "servers",
        "set",
        "docs",
        "mcpr.timeouts.call=5m",
        "timeout=120000",
        "disabled=true"
    ]));
    assert_eq!(
        text(&stage),
        LIVED_IN.replace(
            "com/mcp\" }",
            "com/mcp\", \"mcpr\": { \"timeouts\": { \"call\": \"5m\" } }, \"timeout\": 120000, \"disabled\": true }"
        )
    );
    stage.ctl(&[
        "servers",
        "set",
        "docs",
        "mcpr=",
        "timeout=",
        "disabled=",
        "--json",
    ]);
    assert_eq!(text(&stage), LIVED_IN);
    assert_snapshot!(stage.ctl(&["servers", "set", "docs", "timeout=", "--json"]));
    assert_eq!(text(&stage), LIVED_IN);
}

#[test]
fn ctl_01_keys_with_dots_are_quoted() {
    let stage = home_with("{}");
    stage.ctl(&["servers", "add", "a", "--", "echo"]);

    let ran = stage.ctl(&[
        "servers",
        "set",
        "a",
        "mcpr.tools.override.\"get.me\".name=whoami",
    ]);

    assert_eq!(ran.code, 0, "{ran}");
    assert_eq!(
        parsed(&stage)["mcpServers"]["a"]["mcpr"],
        json!({ "tools": { "override": { "get.me": { "name": "whoami" } } } })
    );
}

#[test]
fn log_04_a_secret_that_is_written_out_is_taken_with_a_note_that_does_not_repeat_it() {
    let stage = Stage::new();

    let header = stage.ctl(&[
        "servers",
        "add",
        "a",
        "--url",
        "https://e.com/mcp",
        "-H",
        "Authorization: Bearer s3cret-1",
    ]);
    let variable = stage.ctl(&[
        "servers",
        "add",
        "b",
        "--env",
        "API_TOKEN=s3cret-2",
        "--env",
        "LEVEL=1",
        "--",
        "echo",
    ]);
    let reference = stage.ctl(&[
        "servers",
        "add",
        "c",
        "--env",
        "API_TOKEN=${API_TOKEN}",
        "--",
        "echo",
    ]);

    assert_snapshot!(header);
    assert_snapshot!(variable);
    assert_snapshot!(reference);
    assert!(text(&stage).contains("s3cret-1") && text(&stage).contains("s3cret-2"));
}

#[test]
fn ctl_01_servers_are_removed_all_or_none() {
    let stage = home_with(LIVED_IN);

    assert_snapshot!(refused(&stage, 3, &["servers", "rm", "git", "dosc", "--yes"]));
    assert_snapshot!(refused(&stage, 2, &["servers", "rm", "git"]));
    assert_snapshot!(stage.ctl(&["servers", "rm", "git", "docs", "--yes"]));
    assert_eq!(text(&stage), "{\n  // Mine.\n  \"mcpServers\": {},\n}\n");
}

#[test]
fn ctl_01_removal_is_told_to_scripts() {
    let stage = home_with(LIVED_IN);

    assert_snapshot!(stage.ctl(&["servers", "rm", "git", "-y", "--json"]));
}

#[test]
fn ctl_04_a_running_gateway_is_thought_of() {
    let with_file = |file: &'static str| {
        let status = json!({
            "version": "0.1.0", "pid": 1, "uptimeSeconds": 1, "startedAt": "2027-01-15T08:00:00Z", "listen": [],
            "configFiles": [file], "sessions": 0, "callsTotal": 0, "errorsTotal": 0, "servers": []
        });
        Stage::gateway(&[("status", 200, status.to_string().leak())])
    };

    // The name is told as the gateway sees it; the command runs in the same folder.
    let same = with_file("./mcpr.json");
    let other = with_file("/etc/mcpr/mcpr.json");

    assert_snapshot!(same.ctl(&["servers", "add", "a", "--", "echo"]));
    assert_snapshot!(other.ctl(&["servers", "add", "a", "--", "echo"]));
}

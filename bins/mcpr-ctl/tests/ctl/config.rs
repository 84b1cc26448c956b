//! The configuration files, shown, checked and changed.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use insta::assert_snapshot;

use crate::servers_file::{home_with, text};
use crate::stage::Stage;

const FILE: &str = r#"{
  // Servers.
  "mcpServers": {
    "git": { "command": "sh", "args": ["-c", "x"], "env": { "TOKEN": "s3cret-1", "LEVEL": "${LEVEL:-s3cret-2}" } },
    "docs": { "type": "http", "url": "https://u:s3cret-3@example.com/mcp?k=s3cret-4", "headers": { "Authorization": "Bearer ${DOCS}" } }
  },
  "mcpr": { "timeouts": { "call": "5m" }, "limits": { "pageSize": 500 } }
}
"#;

/// Two files of which the second one wins.
fn two() -> Stage {
    let stage = Stage::new();
    fs::write(
        stage.path("a.json"),
        "{\n  \"mcpServers\": {\n    \"one\": { \"command\": \"a\", \"env\": { \"K\": \"s3cret\" } },\n    \"two.x\": { \"command\": \"a\" }\n  },\n  \"mcpr\": { \"listen\": \"127.0.0.1:1\", \"timeouts\": { \"start\": \"1s\", \"call\": \"1m\" } }\n}\n",
    )
    .unwrap();
    fs::write(
        stage.path("b.json"),
        "{\n  \"servers\": {\n    \"one\": { \"command\": \"b\", \"args\": [\"x\", 1, true] }\n  },\n  \"mcpr\": { \"timeouts\": { \"call\": \"2m\" } }\n}",
    )
    .unwrap();
    stage
}

const BOTH: [&str; 4] = ["--config", "a.json", "--config", "b.json"];

#[test]
fn cfg_01_a_home_whose_name_is_no_text_holds_everything_and_can_be_shown() {
    let stage = Stage::new();
    let home = stage.path("").join(OsStr::from_bytes(b"h\xe9"));
    let ran = |words: &[&str]| {
        let output = stage.command(words).env("MCPR_HOME", &home).output().unwrap();
        assert!(output.status.success(), "{words:?} {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };

    ran(&["tokens", "create", "--name", "a"]);
    ran(&["config", "set", "log.level", "warn", "--json"]);
    ran(&["backup", "copy.db", "--json"]);
    let looked = ran(&["config", "path", "--json"]);

    assert!(home.join("mcpr.db").exists() && home.join("mcpr.json").exists());
    assert!(looked.contains("h\u{fffd}/mcpr.json"), "{looked}");
}

#[test]
fn log_04_a_file_is_shown_as_it_is_but_for_secrets() {
    let stage = home_with(FILE);

    let [people, scripts] =
        [&["config", "show"][..], &["config", "show", "--json"]].map(|words| stage.ctl(words));

    assert_snapshot!(people);
    assert!(!people.out().contains("s3cret") && !scripts.out().contains("s3cret"));
    assert_eq!(scripts.json()["files"][0]["text"], people.out());
}

#[test]
fn ctl_01_several_files_are_told_apart_and_none_is_told_too() {
    assert_snapshot!(two().ctl(&[&["config", "show"], &BOTH[..]].concat()));
    assert_snapshot!(Stage::new().ctl(&["config", "show"]));
    assert_snapshot!(Stage::new().ctl(&["config", "show", "--effective"]));
}

#[test]
fn cfg_01_what_the_files_come_to_is_shown_with_the_line_of_each_value() {
    let stage = two().set("MCPR_PORT", "4000");

    assert_snapshot!(stage.ctl(&[&["config", "show", "--effective"], &BOTH[..]].concat()));
    let scripts = stage.ctl(&[&["config", "show", "--effective", "--json"], &BOTH[..]].concat());
    assert_snapshot!(format!("{:#}", scripts.json()));
}

#[test]
fn cfg_01_which_files_are_looked_at_and_which_count_is_shown() {
    let none = Stage::new();
    let one = home_with("{}");
    let variable = two().set("MCPR_CONFIG", "b.json");

    assert_snapshot!(none.ctl(&["config", "path"]));
    assert_snapshot!(one.ctl(&["config", "path"]));
    assert_snapshot!(one.ctl(&["config", "path", "--json"]));
    assert_snapshot!(variable.ctl(&["config", "path"]));
    assert_snapshot!(two().ctl(&[&["config", "path"], &BOTH[..], &["--config", "c.json"]].concat()));
}

#[test]
fn cfg_06_the_configuration_is_checked_as_the_gateway_does() {
    let good = home_with(r#"{"mcpServers": {"a": {"command": "sh"}}}"#);
    let bad = home_with(
        r#"{"mcpServers": {"a": {"command": "/nowhere/x"}, "b": {"command": "sh", "mcpr": {"prefx": "p"}}}}"#,
    );

    assert_snapshot!(good.ctl(&["config", "check"]));
    assert_snapshot!(bad.ctl(&["config", "check"]));
    assert_snapshot!(bad.ctl(&["config", "check", "--json"]));
}

#[test]
fn ctl_04_a_file_that_is_no_json_ends_with_7_everywhere() {
    let stage = home_with("{\n  \"mcpr\": {,}\n}");

    for words in [
        &["config", "show"][..],
        &["config", "show", "--effective"],
        &["config", "check"],
        &["config", "get", "listen"],
        &["config", "set", "listen", "0.0.0.0"],
    ] {
        let ran = stage.ctl(words);
        assert_eq!(ran.code, 7, "{ran}");
        assert!(ran.to_string().contains("mcpr.json:2:12"), "{ran}");
    }
    assert_snapshot!(stage.ctl(&["config", "show"]));
    assert_snapshot!(stage.ctl(&["config", "show", "--json"]));
}

#[test]
fn cfg_06_the_schema_is_printed() {
    let stage = Stage::new();
    let shipped = include_str!("../../../../schema/mcpr-1.json");

    let people = stage.ctl(&["config", "schema"]);
    let scripts = stage.ctl(&["config", "schema", "--json"]);

    assert_eq!(people.out(), shipped);
    assert_eq!(scripts.out().lines().count(), 1);
    assert_eq!(
        scripts.json(),
        serde_json::from_str::<serde_json::Value>(shipped).unwrap()
    );
}

#[test]
fn ctl_01_one_value_is_printed_from_the_files_or_else_the_default() {
    let stage = two();
    let get = |key: &str, more: &[&str]| stage.ctl(&[&["config", "get", key], &BOTH[..], more].concat());

    assert_eq!(
        get("listen", &[]).to_string(),
        "$ mcpr-ctl config get listen --config a.json --config b.json\n127.0.0.1:1\n\n[exit 0]"
    );
    assert_eq!(get("listen", &["--json"]).out(), "\"127.0.0.1:1\"\n");
    assert_eq!(get("timeouts", &["--json"]).out(), "{\"call\":\"2m\"}\n");
    assert_snapshot!(get("timeouts", &[]));
    assert_snapshot!(get("timeouts.start", &[]));
    assert_snapshot!(get("limits.pageSize", &["--json"]));
}

#[test]
fn ctl_04_a_key_that_is_not_there_ends_with_3() {
    let stage = Stage::new();

    for key in ["lisen", "naming.seperator", "listen.port", "allowedHosts"] {
        let ran = stage.ctl(&["config", "get", key]);
        assert_eq!(ran.code, 3, "{ran}");
        assert_snapshot!(ran.name(), ran);
    }
    assert_eq!(stage.ctl(&["config", "get", "a..b"]).code, 2);
}

#[test]
fn ctl_01_one_value_is_changed_where_it_stands() {
    let stage = home_with(FILE);

    assert_snapshot!(stage.ctl(&["config", "set", "timeouts.call", "10m"]));
    assert_snapshot!(stage.ctl(&["config", "set", "log.level", "debug", "--json"]));
    assert_eq!(
        text(&stage),
        FILE.replace("5m", "10m")
            .replace("500 } }", "500 }, \"log\": { \"level\": \"debug\" } }")
    );
    assert_snapshot!(stage.ctl(&["config", "set", "log", ""]));
    assert_snapshot!(stage.ctl(&["config", "set", "log", "", "--json"]));
    assert_eq!(text(&stage), FILE.replace("5m", "10m"));
}

#[test]
fn cfg_01_of_several_files_the_one_whose_key_counts_is_changed() {
    let stage = two();
    let set = |key, value| stage.ctl(&[&["config", "set", key, value], &BOTH[..]].concat());
    let read = |name| fs::read_to_string(stage.path(name)).unwrap();

    set("listen", "127.0.0.1:2");
    set("timeouts.start", "9s");
    set("expose", "toolset");

    assert!(read("a.json").contains("127.0.0.1:2") && !read("a.json").contains("9s"));
    assert!(read("b.json").contains("\"start\": \"9s\"") && read("b.json").contains("toolset"));
}

#[test]
fn cfg_04_a_value_that_is_not_valid_is_not_written() {
    let stage = home_with(FILE);

    for (key, value) in [
        ("lisen", "x"),
        ("listen", "nowhere"),
        ("limits.pageSize", "many"),
        ("timeouts", "5m"),
    ] {
        let ran = stage.ctl(&["config", "set", key, value]);
        assert_eq!(ran.code, 7, "{ran}");
        assert_snapshot!(ran.name(), ran);
    }
    assert_eq!(text(&stage), FILE);
}

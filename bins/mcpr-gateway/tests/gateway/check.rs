//! `check`

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::stage::{Stage, demo_server};

fn mixed() -> Stage {
    let mut off = demo_server("notes");
    off["disabled"] = true.into();
    Stage::with(&json!({ "mcpServers": {
        "calc": demo_server("calc"),
        "dead": { "command": "/nowhere/server" },
        "jira": { "type": "http", "url": "https://jira.example/mcp", "headers": { "Authorization": "Bearer ${JIRA_TOKEN}" } },
        "off": off,
        "typo": { "command": "sh", "mcpr": { "prefx": "t" } },
    } }))
}

#[test]
fn cfg_06_what_is_wrong_is_shown_with_its_place_and_what_to_do() {
    let ran = mixed().run(&["check"]);

    assert_eq!(ran.code, 7);
    assert_snapshot!(ran);
}

#[test]
fn cfg_06_scripts_get_the_same_as_json() {
    let stage = mixed();
    let ran = stage.run(&["check", "--json"]);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let text = format!("{report:#}").replace(&stage.path("").display().to_string(), "[HOME]/");

    assert_eq!((ran.code, ran.stdout.lines().count()), (7, 1));
    assert_snapshot!(text.replace(crate::stage::program(), "[PROGRAM]"));
}

#[test]
fn cfg_06_a_sound_configuration_ends_well_and_nothing_is_started() {
    let stage = Stage::serving(&["calc"]);
    let ran = stage.run(&["check"]);

    assert_eq!(ran.code, 0);
    assert_snapshot!(ran);
    assert_eq!(stage.files(), ["mcpr.json"]);
}

#[test]
fn cfg_06_a_file_that_cannot_be_used_at_all_is_explained() {
    let stage = Stage::new();
    stage.write("broken.json", "{ \"mcpServers\": {");
    stage.write("typo.json", "{\n  \"mcpr\": { \"lisen\": \"127.0.0.1\" }\n}");
    let ran = [
        &["check", "--config", "broken.json"][..],
        &["check", "--config", "typo.json"],
        &["check", "--config", "absent.json"],
        &["check"],
    ]
    .map(|words| stage.run(words));

    assert_eq!(ran.each_ref().map(|ran| ran.code), [7, 7, 7, 0]);
    assert_snapshot!(ran.map(|ran| ran.to_string()).join("\n\n"));
}

#[test]
fn cfg_06_a_file_cannot_talk_to_the_terminal() {
    let stage = Stage::new();
    stage.write(
        "mcpr.json",
        r#"{"mcpServers":{"\u001b[31ma":{"command":"sh"},"b":{"command":"sh","args":["\u001b[2J\n\u202e"]}},"\u001b]0;x":{"url":"y"}}"#,
    );
    stage.write("typo.json", r#"{"mcpr":{"\u001b[31mred":1}}"#);

    let checked = stage.run(&["check"]);
    let served = stage.run(&["serve", "--config", "typo.json"]);

    for page in [&checked.stdout, &served.stderr] {
        assert!(!page.contains(['\u{1b}', '\u{202e}']), "{page:?}");
        assert!(page.contains(r"\u{1b}[31m"), "{page:?}");
    }
}

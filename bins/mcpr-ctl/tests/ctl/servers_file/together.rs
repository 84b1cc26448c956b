//! Several changes of one file at once.

use std::process::Child;

use super::{home_with, text};
use crate::stage::Stage;

/// Starts commands all at once, and gives how they end.
fn all_at_once(stage: &Stage, commands: &[Vec<&str>]) -> Vec<Option<i32>> {
    let running: Vec<Child> = commands.iter().map(|words| stage.start(words)).collect();
    let ended = running.into_iter().map(|child| child.wait_with_output().unwrap());
    ended.map(|output| output.status.code()).collect()
}

#[test]
fn ctl_02_whoever_changes_a_file_at_the_same_time_as_others_changes_it_all_the_same() {
    let stage = home_with(r#"{ "mcpServers": {} }"#);
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let mut commands: Vec<_> = names
        .iter()
        .map(|name| vec!["servers", "add", name, "--", "sh"])
        .collect();
    commands.push(vec!["config", "set", "limits.pageSize", "500"]);

    let codes = all_at_once(&stage, &commands);

    assert_eq!(codes, [Some(0); 9]);
    let file: serde_json::Value = serde_json::from_str(&text(&stage)).unwrap();
    let mut added: Vec<_> = file["mcpServers"].as_object().unwrap().keys().collect();
    added.sort();
    assert_eq!(added, names.iter().collect::<Vec<_>>());
    assert_eq!(file["mcpr"]["limits"]["pageSize"], 500);
}

#[test]
fn ctl_02_of_two_that_add_one_name_at_once_one_is_told_that_it_is_there() {
    let stage = home_with(r#"{ "mcpServers": {} }"#);
    let one = vec!["servers", "add", "a", "--", "sh"];

    let mut codes = all_at_once(&stage, &[one.clone(), one.clone(), one]);

    codes.sort();
    assert_eq!(codes, [Some(0), Some(1), Some(1)]);
}

#[test]
fn ctl_02_servers_are_removed_at_once_and_none_of_another_file_for_them() {
    let stage = home_with(r#"{ "mcpServers": {} }"#);
    let file = |servers: &str| format!(r#"{{ "mcpServers": {{ {servers} }} }}"#);
    std::fs::write(stage.path("one.json"), file(r#""a": { "command": "sh" }"#)).unwrap();
    let both = file(r#""a": { "command": "sh" }, "b": { "command": "sh" }"#);
    std::fs::write(stage.path("two.json"), both).unwrap();
    let remove = |name| {
        vec![
            "servers", "rm", name, "--yes", "--config", "one.json", "--config", "two.json",
        ]
    };

    let codes = all_at_once(&stage, &[remove("a"), remove("b")]);

    assert_eq!(codes, [Some(0), Some(0)]);
    assert!(
        std::fs::read_to_string(stage.path("one.json"))
            .unwrap()
            .contains("\"a\"")
    );
    assert!(
        !std::fs::read_to_string(stage.path("two.json"))
            .unwrap()
            .contains("command")
    );
}

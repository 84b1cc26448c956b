//! The help texts, which are a promise too.

use insta::assert_snapshot;
use serde_json::Value;

use crate::stage::Stage;

#[test]
fn every_command_explains_itself() {
    let stage = Stage::new();
    for words in [
        &["--help"][..],
        &["serve", "--help"],
        &["stdio", "--help"],
        &["connect", "--help"],
        &["check", "--help"],
        &["init", "--help"],
        &["demo", "--help"],
        &["version", "--help"],
    ] {
        let ran = stage.run(words);
        assert_eq!(ran.code, 0, "{ran}");
        assert_snapshot!(ran.name(), ran);
    }
}

#[test]
fn a_command_line_that_makes_no_sense_says_why() {
    let stage = Stage::new();
    let ran = [
        &["serv"][..],
        &["--prot", "1"],
        &["--port", "99999"],
        &["--listen", "nowhere"],
        &["--log-level", "loud"],
        &["--no-auth", "--listen", "0.0.0.0"],
    ]
    .map(|words| stage.run(words));

    assert!(ran.iter().all(|ran| ran.code == 2));
    assert_snapshot!(ran.map(|ran| ran.to_string()).join("\n\n"));
}

#[test]
fn the_version_is_told_to_people_and_to_scripts() {
    let stage = Stage::new();

    let flag = stage.run(&["--version"]);
    let people = stage.run(&["version"]);
    let scripts: Value = serde_json::from_str(&stage.run(&["version", "--json"]).stdout).unwrap();

    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(flag.stdout, format!("mcpr-gateway {version}\n"));
    assert_eq!(people.stdout, flag.stdout);
    assert_eq!(scripts["version"], version);
    assert_eq!(scripts["protocols"][4], "2026-07-28");
}

//! What is not written, and how that is told.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;

use super::{LIVED_IN, home_with, text};
use crate::stage::{Ran, Stage};

/// Runs a command that must end like this, and must leave the file as it is.
pub(super) fn refused(stage: &Stage, code: i32, words: &[&str]) -> Ran {
    let before = fs::read(stage.path("mcpr.json")).ok();
    let ran = stage.ctl(words);
    assert_eq!(ran.code, code, "{ran}");
    assert_eq!(fs::read(stage.path("mcpr.json")).ok(), before, "{ran}");
    ran
}

#[test]
fn cfg_04_what_could_not_be_used_is_not_written_and_the_key_is_named() {
    let stage = home_with(LIVED_IN);

    for (code, words) in [
        (2, &["servers", "add", "a/b", "--", "echo"][..]),
        (7, &["servers", "add", "native", "--", "echo"]),
        (7, &["servers", "add", "a", "--url", "example.com"]),
        (7, &["servers", "add", "a", "--disabled", "--url", "example.com"]),
        (7, &["servers", "add", "a", "--", "${1}"]),
        (7, &["servers", "set", "git", "mcpr.prefx=g"]),
        (7, &["servers", "set", "git", "mcpr.timeouts.call=soon"]),
        (7, &["servers", "set", "git", "comand=x"]),
        (7, &["servers", "set", "git", "lazy=true"]),
        (7, &["servers", "set", "git", "url=https://example.com"]),
        (7, &["servers", "set", "git", "command="]),
        (7, &["servers", "set", "git", "args.first=x"]),
        (3, &["servers", "set", "gti", "cwd=/"]),
    ] {
        let ran = refused(&stage, code, words);
        assert_snapshot!(ran.name(), ran);
    }
    assert_snapshot!(refused(
        &stage,
        7,
        &["servers", "set", "git", "mcpr.prefx=g", "--json"]
    ));
}

#[test]
fn ctl_04_what_makes_no_sense_together_ends_with_2() {
    let stage = Stage::new();

    for words in [
        &["servers", "add", "a"][..],
        &["servers", "add", "a", "--url", "https://e.com", "--", "echo"],
        &["servers", "add", "a", "-H", "X: y", "--", "echo"],
        &["servers", "add", "a", "--url", "https://e.com", "--env", "A=1"],
        &["servers", "add", "a", "--url", "https://e.com", "-H", "X"],
        &["servers", "set", "a"],
        &["servers", "set", "a", "b"],
        &["servers", "rm"],
    ] {
        refused(&stage, 2, words);
    }
}

#[test]
fn ctl_04_a_file_that_is_no_json_stays_untouched_and_the_place_is_told() {
    let stage = home_with("{\n  \"mcpServers\": {\n    git: {}\n  }\n}\n");

    assert_snapshot!(refused(&stage, 7, &["servers", "add", "a", "--", "echo"]));
    assert_snapshot!(refused(&stage, 7, &["servers", "rm", "git", "--yes"]));
}

#[test]
fn cfg_04_a_file_whose_top_is_invalid_already_is_not_written() {
    let stage = home_with("{\n  \"mcpr\": { \"lisen\": 1 }\n}\n");

    assert_snapshot!(refused(&stage, 7, &["servers", "add", "a", "--", "echo"]));
}

#[test]
fn ctl_04_a_folder_that_may_not_be_written_ends_with_4() {
    let stage = home_with(LIVED_IN);
    let mode = |bits| fs::set_permissions(stage.path(""), fs::Permissions::from_mode(bits)).unwrap();

    mode(0o500);
    let ran = stage.ctl(&["servers", "set", "docs", "disabled=true"]);
    mode(0o700);

    // The superuser may write everywhere.
    if ran.code != 0 {
        assert_eq!(ran.code, 4, "{ran}");
        assert!(ran.stderr.contains("--config FILE"), "{ran}");
        assert_eq!(text(&stage), LIVED_IN);
    }
}

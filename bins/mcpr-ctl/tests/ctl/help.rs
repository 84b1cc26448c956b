//! What is told beside the commands: help without one, the version, the topics.

use insta::assert_snapshot;

use crate::stage::Stage;

#[test]
fn ctl_04_every_topic_is_shown_by_help_and_alone() {
    let stage = Stage::new();

    for topic in ["exit-codes", "environment", "formats"] {
        let shown = stage.ctl(&["help", topic]);
        let alone = stage.ctl(&[topic]);
        assert_eq!((shown.code, alone.code), (0, 0), "{shown}");
        assert!(shown.out().ends_with(alone.out()), "{shown}");
        assert_snapshot!(shown.name(), shown);
    }
}

#[test]
fn ctl_04_help_of_a_command_is_that_of_its_flag() {
    let stage = Stage::new();

    let ways = [&["servers", "add", "--help"][..], &["help", "servers", "add"]].map(|words| stage.ctl(words));

    assert_eq!(ways[0].out(), ways[1].out());
    assert!(ways[0].out().starts_with("Add a server"), "{}", ways[0]);
}

#[test]
fn ctl_04_without_a_command_there_is_help() {
    let ran = Stage::new().ctl(&[]);

    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("Commands:"), "{ran}");
}

#[test]
fn the_version_is_told() {
    assert_eq!(
        Stage::new().ctl(&["--version"]).out(),
        concat!("mcpr-ctl ", env!("CARGO_PKG_VERSION"), "\n")
    );
}

#[test]
fn ctl_04_help_and_errors_have_the_colours_that_are_wanted() {
    let stage = Stage::new();
    let coloured = |words| {
        let ran = stage.ctl(words);
        format!("{}{}", ran.out(), ran.stderr).contains('\x1b')
    };

    assert!(coloured(&["statsu", "--color", "always"]));
    assert!(coloured(&["--color=always", "status", "--help"]));
    assert!(!coloured(&["statsu"]));
    assert!(!coloured(&["--color", "sometimes", "status"]));
}

//! The help texts, which are a promise too.

use insta::assert_snapshot;

use crate::stage::Stage;

#[test]
fn ctl_04_every_command_explains_itself() {
    let stage = Stage::new();

    for words in [
        &["--help"][..],
        &["status", "--help"],
        &["servers", "--help"],
        &["tools", "--help"],
        &["tools", "call", "--help"],
        &["resources", "read", "--help"],
        &["prompts", "get", "--help"],
        &["tokens", "--help"],
        &["tokens", "create", "--help"],
        &["clients", "--help"],
        &["clients", "print", "--help"],
        &["doctor", "--help"],
        &["help", "exit-codes"],
    ] {
        let ran = stage.ctl(words);
        assert_eq!(ran.code, 0, "{ran}");
        assert_snapshot!(ran.name(), ran);
    }
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

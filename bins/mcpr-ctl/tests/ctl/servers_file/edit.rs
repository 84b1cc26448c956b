//! `servers edit` and `config edit`, with a terminal and without.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use insta::assert_snapshot;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::{LIVED_IN, home_with, text};
use crate::stage::Stage;

/// Runs a command on a terminal at which somebody types `input`; gives its exit code and what it said.
fn at_a_terminal(stage: &Stage, words: &[&str], input: &str) -> (i32, String) {
    let near = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&near).unwrap();
    unlockpt(&near).unwrap();
    let name = ptsname(&near, Vec::new()).unwrap();
    let far = fs::File::options()
        .read(true)
        .write(true)
        .open(name.to_str().unwrap())
        .unwrap();
    fs::File::from(near.try_clone().unwrap())
        .write_all(input.as_bytes())
        .unwrap();
    let mut command = stage.command(words);
    command
        .stdin(far.try_clone().unwrap())
        .stdout(far)
        .stderr(Stdio::piped());
    let output = command.spawn().unwrap().wait_with_output().unwrap();
    let home = stage.path("").display().to_string();
    let told = String::from_utf8(output.stderr).unwrap();
    (
        output.status.code().unwrap(),
        told.replace(home.trim_end_matches('/'), "HOME"),
    )
}

/// A home whose editor puts this text in the place of what it is given.
fn editing(new: &str) -> Stage {
    let stage = home_with(LIVED_IN);
    fs::write(stage.path("new.json"), new).unwrap();
    let editor = format!("cp '{}'", stage.path("new.json").display());
    stage.set("EDITOR", editor)
}

#[test]
fn ctl_04_without_a_terminal_there_is_no_editor_and_the_reason_is_told() {
    let stage = editing("{}");

    for words in [&["servers", "edit", "git"][..], &["config", "edit"]] {
        let ran = stage.ctl(words);
        assert_snapshot!(ran.name(), ran);
    }
    assert_eq!(stage.ctl(&["servers", "edit", "gti"]).code, 3);
    assert_eq!(text(&stage), LIVED_IN);
}

#[test]
fn ctl_01_what_comes_out_of_the_editor_is_written() {
    let new = LIVED_IN.replace("uvx", "npx");
    let stage = editing(&new);

    let (code, told) = at_a_terminal(&stage, &["servers", "edit", "git"], "");

    assert_eq!((code, told.as_str()), (0, ""));
    assert_eq!(text(&stage), new);
}

#[test]
fn ctl_01_visual_wins_over_editor_and_may_have_arguments() {
    let stage = editing("{}");
    let new = stage.path("a b.json");
    fs::write(&new, "{\"mcpServers\": {}}").unwrap();
    let visual = format!("cp -f '{}'", new.display());
    let stage = stage.set("VISUAL", visual);

    assert_eq!(at_a_terminal(&stage, &["config", "edit"], "").0, 0);

    assert_eq!(text(&stage), "{\"mcpServers\": {}}");
}

#[test]
fn cfg_04_what_has_become_invalid_is_not_written_unless_it_is_mended() {
    let broken = editing("{");
    let wrong = editing("{\"mcpServers\": {\"git\": {\"command\": \"x\", \"mcpr\": {\"prefx\": \"g\"}}}}");

    let (code, told) = at_a_terminal(&broken, &["config", "edit"], "k\n");
    assert_eq!(code, 1);
    assert_snapshot!(told);
    let (code, told) = at_a_terminal(&wrong, &["config", "edit"], "e\nk\n");
    assert_eq!(code, 1);
    assert_eq!(told.matches("did you mean `prefix`?").count(), 2, "{told}");
    assert_eq!(
        (text(&broken), text(&wrong)),
        (LIVED_IN.to_owned(), LIVED_IN.to_owned())
    );
}

#[test]
fn ctl_01_an_editor_that_fails_changes_nothing() {
    let stage = home_with(LIVED_IN).set("EDITOR", "false");

    let (code, told) = at_a_terminal(&stage, &["config", "edit"], "");

    assert_eq!(code, 1);
    assert!(
        told.contains("the editor `false` failed") && told.contains("VISUAL or EDITOR"),
        "{told}"
    );
    assert_eq!(text(&stage), LIVED_IN);
}

#[test]
fn ctl_01_a_removal_is_asked_for_at_a_terminal() {
    let stage = home_with(LIVED_IN);

    // Standard error must be the person's too.
    let (code, told) = at_a_terminal(&stage, &["servers", "rm", "git"], "n\n");

    assert_eq!(code, 2, "{told}");
    assert_eq!(text(&stage), LIVED_IN);
}

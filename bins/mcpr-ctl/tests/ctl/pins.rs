//! Pinned definitions, and what a terminal gets to see of what servers wrote.

use std::process::Stdio;

use insta::assert_snapshot;

use crate::stage::Stage;
use crate::terminal::{shown_on, terminal};

const PINS: &str = r#"{"pins":[
{"server":"git","tool":"clone","state":"new","held":true},
{"server":"git","tool":"push","state":"changed","held":true,"approvedAt":"2027-01-15T08:00:00Z"},
{"server":"git","tool":"status","state":"approved","held":false,"approvedAt":"2027-01-15T08:00:00Z"},
{"server":"docs","tool":"old\u001b[2J","state":"removed","held":false,"approvedAt":"2027-01-15T08:00:00Z"}]}"#;

const DIFF: &str = r#"{"changes":[
{"pin":{"server":"git","tool":"push","state":"changed","held":true,"approvedAt":"2027-01-15T08:00:00Z"},
"before":{"name":"push","description":"Push commits"},"after":{"description":"Push\u202e them","name":"push"},"hash":"9f86","notes":["`description` changed"]},
{"pin":{"server":"git","tool":"pull","state":"removed","held":false},"before":{"name":"pull"}}]}"#;

const NONE: &str = r#"{"changes":[]}"#;

const TOOLS: &str = r#"{"tools":[{"name":"evil","server":"e\u001b]0;x\u0007","origin":"evil\u009b2J",
"description":"a\u001b[2J\u009b31m\u202eb\u2028c","estimatedTokens":1}]}"#;

const TOOL: &str = r#"{"tool":{"name":"evil","server":"e","origin":"evil","description":"a\u009b31m\u202eb","estimatedTokens":1},
"definition":{"name":"evil","description":"\u009b31m\u202e","inputSchema":{"title":"git\u202e"}}}"#;

#[test]
fn pins_are_listed_and_narrowed() {
    let stage = Stage::gateway(&[("pins/list", 200, PINS)]);

    assert_snapshot!(stage.ctl(&["pins", "ls"]));
    stage.ctl(&["pins", "ls", "git", "--json"]);

    assert_eq!(stage.asked(), ["pins/list {}", r#"pins/list {"server":"git"}"#]);
}

#[test]
fn pins_that_differ_are_shown_and_approved_as_they_were_shown() {
    let stage = Stage::gateway(&[("pins/diff", 200, DIFF), ("pins/approve", 200, PINS)]);

    assert_snapshot!(stage.ctl(&["pins", "diff"]));
    assert_snapshot!(stage.ctl(&["pins", "approve", "git"]).stderr);
    stage.ctl(&["pins", "approve", "git", "git.push", "--yes"]);

    let approved = stage.asked().pop().unwrap();
    let all = r#"[{"server":"git","tool":"push","hash":"9f86"},{"server":"git","tool":"pull"}]"#;
    assert_eq!(approved, format!(r#"pins/approve {{"approvals":{all}}}"#));
}

#[test]
fn pins_that_do_not_differ_need_no_approval() {
    let stage = Stage::gateway(&[("pins/diff", 200, NONE), ("pins/approve", 200, r#"{"pins":[]}"#)]);

    let ran = stage.ctl(&["pins", "approve", "git", "--yes"]);

    assert_eq!((ran.code, ran.stdout.len()), (0, 0));
    assert!(ran.stderr.contains("nothing to approve"), "{}", ran.stderr);
}

#[test]
fn ctl_04_a_terminal_gets_no_control_characters_whatever_servers_wrote() {
    let answers = [
        ("tools/list", 200, TOOLS),
        ("tools/show", 200, TOOL),
        ("pins/list", 200, PINS),
        ("pins/diff", 200, DIFF),
    ];
    let stage = Stage::gateway(&answers);
    for words in [
        "tools ls",
        "tools show evil",
        "tools show evil --schema",
        "pins ls",
        "pins diff",
    ] {
        for json in [None, Some("--json")] {
            let (near, far) = terminal();
            let words: Vec<&str> = words.split(' ').chain(["--color", "never"]).chain(json).collect();
            let mut command = stage.command(&words);
            let mut child = command.stdout(far).stderr(Stdio::null()).spawn().unwrap();
            drop(command);
            assert!(child.wait().unwrap().success(), "{words:?}");

            let shown = shown_on(near);

            let harmful = |c: char| {
                c.is_control() && !matches!(c, '\n' | '\r' | '\t') || matches!(c, '\u{2028}' | '\u{202e}')
            };
            assert!(shown.contains("evil") || shown.contains("git"), "{shown}");
            assert!(!shown.contains(harmful), "{words:?}: {}", shown.escape_debug());
        }
    }
}

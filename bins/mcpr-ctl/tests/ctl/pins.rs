//! Pinned definitions, and what a terminal gets to see of what servers wrote.

use std::process::Stdio;

use insta::assert_snapshot;
use mcpr_auth::Timestamp;
use mcpr_protocol::RawJson;
use mcpr_registry::Offers;
use mcpr_store::{SavedListing, SavedPin, SavedPins};

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

/// A home in which no gateway runs: the last one has approved these definitions of `git`, and has seen others since.
fn seen(config: &str, approved: &[[&str; 2]], listed: &[&'static str]) -> Stage {
    let stage = Stage::new();
    std::fs::write(stage.path("mcpr.json"), config).unwrap();
    let at = Timestamp::from_unix(1_800_000_000);
    let pin = |[tool, definition]: &[&str; 2]| SavedPin {
        tool: (*tool).to_owned(),
        definition: (*definition).to_owned(),
        at,
    };
    let (server, tools) = ("git".to_owned(), approved.iter().map(pin).collect());
    let offers = Offers {
        tools: listed.iter().map(|tool| RawJson::from_static(tool)).collect(),
        ..Offers::default()
    };
    let listing = SavedListing {
        server: server.clone(),
        format: Offers::BLOB_FORMAT,
        at,
        body: offers.to_blob().into(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let store = mcpr_store::open(stage.path("mcpr.db")).await.unwrap();
        store.put_listing(listing).await.unwrap();
        let pins = SavedPins { server, tools };
        store.put_first_pins(pins, at).await.unwrap();
        store.close().await;
    });
    stage
}

#[test]
fn pins_without_a_gateway_what_the_lists_keep_away_differs_for_nobody() {
    let config = r#"{"mcpServers": {"git": {"command": "g", "mcpr":
        {"pins": "block", "tools": {"allow": ["p*", "status"], "deny": ["*_all"]}}}}}"#;
    let before = [
        ["push", r#"{"name":"push"}"#],
        ["push_all", r#"{"name":"push_all"}"#],
    ];
    let now = [
        r#"{"name":"push","description":"other"}"#,
        r#"{"name":"push_all","description":"other"}"#,
        r#"{"name":"pull_all"}"#,
        r#"{"name":"clone"}"#,
        r#"{"name":"status"}"#,
    ];
    let stage = seen(config, &before, &now);
    let told = |words: &[&str]| {
        let json = stage.ctl(&[words, &["--json"]].concat()).json();
        let pins = json["pins"].as_array().cloned().unwrap_or_default();
        let state = |pin: &serde_json::Value| format!("{} {}", pin["tool"], pin["state"]).replace('"', "");
        pins.iter().map(state).collect::<Vec<_>>().join(", ")
    };

    assert_eq!(
        told(&["pins", "ls"]),
        "push changed, push_all approved, status new"
    );
    let approved = told(&["pins", "approve", "git", "--yes"]);

    assert_eq!(approved, "push approved, status approved");
    assert_eq!(
        told(&["pins", "ls"]),
        "push approved, push_all approved, status approved"
    );
    assert_eq!(stage.ctl(&["pins", "diff", "git.pus"]).code, 3);
    assert!(
        stage
            .ctl(&["pins", "diff", "gut"])
            .stderr
            .contains("did you mean `git`?")
    );
}

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

//! What happens, told as it happens.

use insta::assert_snapshot;

use crate::open::{Open, first_line, interrupt};
use crate::stage::Stage;

const EVENTS: &str = concat!(
    r#"data: {"kind":"server","at":"2027-01-15T08:00:00.123Z","server":"docs","state":"down","reason":"connection\u001b[31m refused"}"#,
    "\n\n:\n\n",
    r#"data: {"kind":"server","at":"2027-01-15T08:00:01.000Z","server":"git","state":"ok"}"#,
    "\n\n",
    r#"data: {"kind":"server","at":"2027-01-15T08:00:02.000Z","server":"jira","reason":"it is no longer configured"}"#,
    "\n\n",
    r#"data: {"kind":"catalog","at":"2027-01-15T08:00:03.000Z","reason":"tools, prompts","futureMember":1}"#,
    "\n\n",
    r#"data: {"kind":"call","at":"2027-01-15T08:00:04.000Z","server":"git","missed":2,"call":{"method":"tools/call","tool":"status","status":"ok","durationUs":41000,"principal":"tk_7h2k9qmd","client":"cursor"}}"#,
    "\n\n",
    r#"data: {"kind":"call","at":"2027-01-15T08:00:05.000Z","reason":"Unknown tool: x","call":{"method":"tools/call","status":"error","durationUs":210,"principal":"local"}}"#,
    "\n\n",
    r#"data: {"kind":"call","at":"2027-01-15T08:00:06.000Z","server":"docs","call":{"method":"resources/read","status":"cancelled","durationUs":2190000,"principal":"tk_7h2k9qmd"}}"#,
    "\n\n",
);

const OLDER: &str = r#"{"error":{"code":"not_found","message":"there is no operation at `/admin/v1/events`",
"hint":"a client that is newer than the gateway may know more operations"}}"#;

#[test]
fn ctl_03_events_are_told_a_line_each_until_the_gateway_ends() {
    let stage = Stage::gateway(&[("events", 200, EVENTS)]);

    assert_snapshot!(stage.ctl(&["events"]));
    assert_snapshot!(stage.ctl(&["events", "--json"]));
    assert_snapshot!(stage.ctl(&["events", "-q"]).stderr);
    assert_eq!(stage.asked(), ["events {}"; 3]);
}

#[test]
fn ctl_03_only_some_kinds_of_events_are_asked_for() {
    let stage = Stage::gateway(&[("events", 200, EVENTS)]);

    stage.ctl(&["events", "--kind", "server", "--kind", "call"]);
    stage.ctl(&["events", "--kind", "catalog,call"]);

    assert_eq!(
        stage.asked(),
        [
            r#"events {"kinds":["server","call"]}"#,
            r#"events {"kinds":["catalog","call"]}"#
        ]
    );
    assert_snapshot!(stage.ctl(&["events", "--kind", "weather"]));
}

#[test]
fn ctl_03_ctrl_c_ends_the_events_with_130() {
    let open = Open::saying(EVENTS);
    let mut child = open.stage.start(&["events"]);
    let line = first_line(child.stdout.as_mut().unwrap());
    assert!(line.contains("docs down"), "{line}");

    interrupt(&child);

    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    open.left();
}

#[test]
fn ctl_03_who_has_read_enough_ends_the_events() {
    let stage = Stage::gateway(&[("events", 200, EVENTS)]);

    assert_eq!(stage.unread(&["events"]), (0, String::new()));
}

#[test]
fn ctl_03_no_gateway_an_older_one_and_a_silent_one_are_told_apart() {
    assert_eq!(Stage::new().ctl(&["events"]).code, 5);
    let older = Stage::gateway(&[("events", 404, OLDER)]);
    assert_snapshot!(older.ctl(&["events"]));
    let silent = Open::saying(":\n\n");
    assert_eq!(silent.stage.ctl(&["events", "--timeout", "100ms"]).code, 124);
}

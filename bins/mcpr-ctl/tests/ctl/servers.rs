//! Servers: one in full, on and off, started anew.

use insta::assert_snapshot;

use crate::online::{both, value};
use crate::samples::*;
use crate::stage::Stage;

const DETAIL: &str = r#"{"server":{"name":"git","state":"ok","via":"stdio","protocol":"2025-11-25","tools":1,"prompts":1,"resources":0,"inFlight":1,"pid":8130,"starts":2},
"place":"/etc/mcpr/mcpr.json:3:5","tags":["frontend","vcs"],"switched":"enabled","title":"Git","instructions":"Ask for the status first.\u001b[31m\n",
"tools":[{"name":"status","exposedName":"git_status","estimatedTokens":92},{"name":"push","hidden":"an operator has turned it off","estimatedTokens":310}],
"projects":["web"]}"#;

const BARE: &str = r#"{"server":{"name":"docs","state":"down","inFlight":0,"reason":"connection refused","retryInMs":4000,"starts":0},"tools":[]}"#;

const UP: &str = r#"{"name":"git","state":"ok","via":"stdio","protocol":"2025-11-25","tools":12,"inFlight":0,"pid":8130,"starts":2}"#;

const STILL_DOWN: &str = r#"{"name":"docs","state":"down","via":"http","inFlight":0,"reason":"connection refused","retryInMs":4000,"starts":7}"#;

const OFF: &str = r#"{"name":"git","state":"disabled","via":"stdio","inFlight":0,"reason":"an operator has turned it off","starts":0}"#;

#[test]
fn ctl_01_a_server_is_shown_in_full() {
    let (people, scripts) = both("servers/show", DETAIL, &["servers", "show", "git"]);

    assert_snapshot!(people);
    assert_eq!(scripts.json(), value(DETAIL));
}

#[test]
fn ctl_01_of_a_server_that_never_came_up_little_is_known() {
    let (people, scripts) = both("servers/show", BARE, &["server", "show", "docs"]);

    assert_snapshot!(people);
    assert_eq!(scripts.json(), value(BARE));
}

#[test]
fn agg_13_servers_are_turned_on_and_off_and_started_anew() {
    for (path, answer, words) in [
        ("servers/enable", UP, ["servers", "enable", "git"]),
        ("servers/disable", OFF, ["servers", "disable", "git"]),
        ("servers/restart", STILL_DOWN, ["servers", "restart", "docs"]),
    ] {
        let (people, scripts) = both(path, answer, &words);
        assert_snapshot!(people.name(), people);
        assert_eq!(scripts.json(), value(answer));
    }
}

#[test]
fn agg_13_of_several_servers_one_that_fails_does_not_stop_the_others() {
    let stage = Stage::gateway(&[
        ("servers/restart", 200, UP),
        ("servers/restart gti", 404, NO_SERVER),
        ("servers/list", 200, SERVERS),
    ]);

    assert_snapshot!(stage.ctl(&["servers", "restart", "gti", "git"]));
    assert_snapshot!(stage.ctl(&["servers", "restart", "git", "gti", "--json"]));
    assert_eq!(stage.ctl(&["servers", "restart", "gti", "gti"]).code, 3);
    assert_eq!(stage.ctl(&["servers", "restart", "git", "git"]).code, 0);
}

#[test]
fn ctl_04_a_mistyped_server_is_recognised_by_every_command() {
    let stage = Stage::gateway(&[
        ("servers/show", 404, NO_SERVER),
        ("servers/enable", 404, NO_SERVER),
        ("servers/disable", 404, NO_SERVER),
        ("servers/restart", 404, NO_SERVER),
        ("servers/list", 200, SERVERS),
    ]);

    for command in ["show", "enable", "disable", "restart"] {
        let ran = stage.ctl(&["servers", command, "gti"]);
        assert_eq!(ran.code, 3, "{ran}");
        assert!(ran.stderr.contains("did you mean `git`?"), "{ran}");
    }
}

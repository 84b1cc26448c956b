//! The running gateway as a whole: reload and drain.

use insta::assert_snapshot;

use crate::online::{both, value};
use crate::stage::Stage;

const RELOADED: &str = r#"{"files":["/etc/mcpr/mcpr.json"],"added":["docs"],"removed":["jira"],"changed":["git","linear"],"unchanged":4,
"needsRestart":["listen"],"warnings":["/etc/mcpr/mcpr.json:3: unknown key `mcpServer` is ignored"]}"#;

const SAME: &str = r#"{"files":["/etc/mcpr/mcpr.json"],"unchanged":1}"#;

const BROKEN: &str = r#"{"error":{"code":"invalid_config","message":"/etc/mcpr/mcpr.json:3:1: it is no JSON","hint":"the old configuration stays in force"}}"#;

const DRAINED: &str = r#"{"pid":8123,"finished":3,"abandoned":0}"#;

const GIVEN_UP: &str = r#"{"pid":8123,"finished":1,"abandoned":2}"#;

#[test]
fn cfg_05_a_reload_tells_what_it_changed() {
    let (people, scripts) = both("reload", RELOADED, &["reload"]);
    assert_snapshot!(people);
    assert_eq!(scripts.json(), value(RELOADED));

    let (people, scripts) = both("reload", SAME, &["reload"]);
    assert_snapshot!(people);
    assert_eq!(scripts.json(), value(SAME));
}

#[test]
fn cfg_05_a_broken_file_is_told_and_changes_nothing() {
    let stage = Stage::gateway(&[("reload", 400, BROKEN)]);

    assert_snapshot!(stage.ctl(&["reload"]));
}

#[test]
fn ctl_01_drain_returns_when_the_gateway_has_ended() {
    let stage = Stage::gateway(&[("drain", 200, DRAINED)]);

    assert_snapshot!(stage.ctl(&["drain"]));
    assert_eq!(stage.asked()[0], r#"drain {"waitMs":30000}"#);
    assert_eq!(stage.ctl(&["status"]).code, 5);
}

#[test]
fn ctl_01_requests_that_were_given_up_are_told_and_end_with_6() {
    let stage = Stage::gateway(&[("drain", 200, GIVEN_UP)]);
    let scripts = Stage::gateway(&[("drain", 200, GIVEN_UP)]);

    assert_snapshot!(stage.ctl(&["drain", "--wait", "1m30s"]));
    assert_eq!(stage.asked()[0], r#"drain {"waitMs":90000}"#);
    let ran = scripts.ctl(&["drain", "--json"]);
    assert_eq!((ran.json(), ran.code), (value(GIVEN_UP), 6));
}

#[test]
fn ctl_04_a_time_to_wait_that_is_none_is_wrong_usage() {
    assert_eq!(Stage::new().ctl(&["drain", "--wait", "soon"]).code, 2);
}

//! Past calls: listed, followed, shown, repeated, exported and forgotten.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;
use mcpr_store::CallRow;

use crate::open::interrupt;
use crate::stage::Stage;

const CALLS: &str = r#"{"calls":[
{"id":"h_0dkn5pm80r1x2","at":"2027-01-15T08:00:00.123Z","durationUs":41000,"method":"tools/call","server":"git","tool":"status","status":"ok","principal":"tk_7h2k9qmd","client":"cursor","project":"web","requestId":"17","correlationId":"c0ffee00"},
{"id":"h_0dkn5pm7zz000","at":"2027-01-15T07:59:58.000Z","durationUs":2190000,"method":"resources/read","server":"docs","status":"error","code":-32002,"error":"no\u001b[31m such\nresource","principal":"local","requestId":"16","correlationId":"16"}],
"next":"h_0dkn5pm7zz000"}"#;

const NEWER: &str = r#"{"calls":[{"id":"h_0dkn5pm9a0000","at":"2027-01-15T08:00:05.000Z","durationUs":900,"method":"tools/call","server":"git","tool":"log","status":"tool_error","principal":"tk_7h2k9qmd","requestId":"18","correlationId":"18"}]}"#;

const NONE: &str = r#"{"calls":[]}"#;

const CALL: &str = r#"{"id":"h_0dkn5pm80r1x2","at":"2027-01-15T08:00:00.123Z","durationUs":41000,"method":"tools/call","server":"git","tool":"status","status":"ok","principal":"tk_7h2k9qmd","client":"cursor","project":"web","requestId":"17","correlationId":"c0ffee00","arguments":{"path":".","n":123456789012345678901234567890}}"#;

const RESULT: &str = r#"data: {"result":{"content":[{"type":"text","text":"clean"}]}}

"#;

/// Sends what was asked for through a home whose database has these calls, and no gateway.
fn kept(calls: Vec<CallRow>) -> Stage {
    let stage = Stage::new();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let store = mcpr_store::open(stage.path("mcpr.db")).await.unwrap();
        store.put_calls(calls.into_iter().collect()).await.unwrap();
        store.close().await;
    });
    stage
}

/// The call with this number: each began a day after the one before it.
fn call(number: i64) -> CallRow {
    CallRow {
        id: format!("h_{number:013}"),
        at_ms: 1_800_000_000_000 + number * 86_400_000,
        duration_us: 1500,
        request_id: number.to_string(),
        correlation_id: number.to_string(),
        method: "tools/call".into(),
        server: Some("git".into()),
        tool: Some("status".into()),
        status: "ok".into(),
        principal: "local".into(),
        ..CallRow::default()
    }
}

#[test]
fn log_06_past_calls_are_listed_and_narrowed() {
    let stage = Stage::gateway(&[("history/list", 200, CALLS)]);

    assert_snapshot!(stage.ctl(&["history"]));
    assert_snapshot!(stage.ctl(&["history", "ls", "--json", "-n", "2"]));
    let wishes = [
        "--server",
        "git",
        "--tool",
        "status",
        "--status",
        "error",
        "--principal",
        "local",
        "--slow",
        "2s",
        "--text",
        "main",
        "--limit",
        "5",
    ];
    let ran = stage.ctl(&[&["history", "-q", "--since", "2027-01-15T08:00:00Z"], &wishes[..]].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran}");
    assert_snapshot!(stage.asked().join("\n"));
}

#[test]
fn log_06_a_time_ago_is_a_time() {
    let stage = Stage::gateway(&[("history/list", 200, NONE)]);

    assert_snapshot!(stage.ctl(&["history", "--since", "1h"]));

    let asked = &stage.asked()[0];
    assert!(
        asked.contains(r#""since":"20"#) && asked.contains("Z\""),
        "{asked}"
    );
}

#[test]
fn log_06_calls_are_followed_until_ctrl_c() {
    let stage = Stage::gateway(&[
        (r#"history/list "limit":10}"#, 200, CALLS),
        (r#"history/list "after":"h_0dkn5pm80r1x2""#, 200, NEWER),
        (r#"history/list "after":"h_0dkn5pm9a0000""#, 200, NONE),
    ]);
    let mut child = stage.start(&["history", "-f"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();

    let told: Vec<_> = (0..3).map(|_| lines.next().unwrap().unwrap()).collect();
    interrupt(&child);

    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_snapshot!(told.join("\n").replace('\t', "→"));
}

#[test]
fn log_06_followed_calls_come_page_by_page() {
    let second = r#"{"calls":[{"id":"h_2","at":"2027-01-15T08:00:05.000Z","durationUs":900,"method":"tools/call","status":"ok","principal":"local","requestId":"1","correlationId":"1"}]}"#;
    let first = r#"{"calls":[{"id":"h_3","at":"2027-01-15T08:00:06.000Z","durationUs":900,"method":"tools/call","status":"ok","principal":"local","requestId":"2","correlationId":"2"}],"next":"h_3"}"#;
    let stage = Stage::gateway(&[
        (r#"history/list "limit":1}"#, 200, NONE),
        (r#"history/list {"limit":1000}"#, 200, first),
        (r#"history/list "before":"h_3""#, 200, second),
        (r#"history/list "after":"h_3""#, 200, NONE),
    ]);
    let mut child = stage.start(&["history", "-f", "-n", "1", "--json"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();

    let told: Vec<_> = (0..2).map(|_| lines.next().unwrap().unwrap()).collect();
    interrupt(&child);

    child.wait().unwrap();
    assert!(told[0].contains("h_2") && told[1].contains("h_3"), "{told:?}");
}

#[test]
fn log_06_a_call_is_shown_with_all_that_is_kept() {
    let stage = Stage::gateway(&[("history/show", 200, CALL)]);

    assert_snapshot!(stage.ctl(&["history", "show", "h_0dkn5pm80"]));
    assert_snapshot!(stage.ctl(&["history", "show", "h_0dkn5pm80", "--json"]));
}

#[test]
fn log_06_a_call_is_made_again_with_the_same_arguments() {
    let stage = Stage::gateway(&[("history/show", 200, CALL), ("tools/call", 200, RESULT)]);

    assert_snapshot!(stage.ctl(&["history", "replay", "h_0dkn5pm80"]));
    assert_eq!(
        stage.asked()[1],
        r#"tools/call {"name":"git.status","arguments":{"path":".","n":123456789012345678901234567890}}"#
    );
}

#[test]
fn log_06_a_built_in_tool_is_called_again_by_its_own_name() {
    let call = r#"{"id":"h_1","at":"2027-01-15T08:00:00.123Z","durationUs":1,"method":"tools/call","server":"mcpr","tool":"list-toolsets","status":"ok","principal":"local","requestId":"1","correlationId":"1","arguments":{}}"#;
    let stage = Stage::gateway(&[("history/show", 200, call), ("tools/call", 200, RESULT)]);

    assert_eq!(stage.ctl(&["history", "replay", "h_1"]).code, 0);

    assert_eq!(
        stage.asked()[1],
        r#"tools/call {"name":"list-toolsets","arguments":{}}"#
    );
}

#[test]
fn ctl_04_what_was_not_kept_in_full_is_not_made_again() {
    let stage = Stage::gateway(&[
        (
            "history/show h_none",
            200,
            r#"{"id":"h_none","at":"","durationUs":1,"method":"tools/call","server":"git","tool":"push","status":"ok","principal":"local","requestId":"1","correlationId":"1"}"#,
        ),
        (
            "history/show h_hidden",
            200,
            r#"{"id":"h_hidden","at":"","durationUs":1,"method":"tools/call","server":"git","tool":"push","status":"ok","principal":"local","requestId":"1","correlationId":"1","arguments":{"key":"[redacted]"}}"#,
        ),
        (
            "history/show h_cut",
            200,
            r#"{"id":"h_cut","at":"","durationUs":1,"method":"tools/call","server":"git","tool":"push","status":"ok","principal":"local","requestId":"1","correlationId":"1","arguments":"{\"a\":\"x… (8 bytes more)"}"#,
        ),
        (
            "history/show h_read",
            200,
            r#"{"id":"h_read","at":"","durationUs":1,"method":"resources/read","server":"git","status":"ok","principal":"local","requestId":"1","correlationId":"1","arguments":{"uri":"a:b"}}"#,
        ),
    ]);

    for id in ["h_none", "h_hidden", "h_cut", "h_read"] {
        let ran = stage.ctl(&["history", "replay", id]);
        assert_eq!(ran.code, 1, "{ran}");
        assert_snapshot!(ran.name(), ran);
    }
    assert!(
        stage
            .asked()
            .iter()
            .all(|asked| asked.starts_with("history/show"))
    );
}

#[test]
fn ctl_02_the_history_is_read_without_a_gateway_too() {
    let failed = CallRow {
        status: "error".into(),
        code: Some(-32001),
        error: Some("the disk is full".into()),
        arguments: Some(r#"{ "path":"." }"#.into()),
        ..call(2)
    };
    let stage = kept(vec![call(1), failed, call(3)]);

    assert_snapshot!(stage.ctl(&["history", "-n", "2"]));
    assert_snapshot!(stage.ctl(&["history", "show", "h_0000000000002", "-q"]));
    assert_eq!(
        stage.ctl(&["history", "--status", "error", "--json"]).json()["calls"][0]["requestId"],
        "2"
    );
    let none = stage.ctl(&["history", "show", "h_"]);
    assert_eq!(none.code, 3, "{none}");
    assert_snapshot!(none);
    assert_eq!(stage.ctl(&["history", "replay", "h_0000000000002"]).code, 5);
}

#[test]
fn ctl_02_looking_for_calls_makes_no_database() {
    let stage = Stage::new();

    assert_snapshot!(stage.ctl(&["history"]));
    assert_eq!(stage.ctl(&["history", "export"]).out(), "");
    assert_eq!(stage.ctl(&["history", "purge", "--yes"]).code, 0);
    assert!(!stage.path("mcpr.db").exists());
}

#[test]
fn log_06_all_calls_are_exported_whatever_their_number() {
    let stage = kept((1..=450).map(call).collect());

    let ran = stage.ctl(&["history", "export"]);

    let ids: Vec<_> = ran
        .out()
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["requestId"].clone())
        .collect();
    let expected: Vec<_> = (1..=450).rev().map(|number| number.to_string()).collect();
    assert_eq!(ids, expected);
    assert!(ran.stderr.contains("450 calls"), "{}", ran.stderr);
    assert_eq!(
        stage
            .ctl(&["history", "export", "--since", "2030-01-01T00:00:00Z"])
            .out(),
        ""
    );
}

#[test]
fn log_06_a_line_of_an_export_is_one_line_whatever_was_sent() {
    let broken = CallRow {
        arguments: Some("{\r\n  \"a\": \"b\"\n}".into()),
        ..call(1)
    };
    let stage = kept(vec![broken]);

    let ran = stage.ctl(&["history", "export", "-q"]);

    assert_eq!(ran.out().lines().count(), 1);
    assert_eq!(ran.json()["arguments"]["a"], "b");
}

#[test]
fn log_06_a_spreadsheet_gets_fields_that_are_whole_and_no_formulas() {
    let odd = CallRow {
        error: Some("=HYPERLINK(\"http://evil\")".into()),
        code: Some(-32001),
        client: Some("a,b\n\"c\"".into()),
        arguments: Some(r#"{"a":"b"}"#.into()),
        ..call(2)
    };
    let stage = kept(vec![call(1), odd]);

    let ran = stage.ctl(&["history", "export", "--format", "csv"]);

    assert_snapshot!(ran.to_string().replace("\r\n", "␍␊\n"));
}

#[test]
fn log_06_an_export_into_a_file_is_for_its_owner_alone() {
    let stage = kept(vec![call(1), call(2)]);
    std::fs::write(stage.path("old.csv"), "x".repeat(10_000)).unwrap();

    assert_snapshot!(stage.ctl(&["history", "export", "--output", "calls.jsonl"]));
    let ran = stage.ctl(&["history", "export", "--format", "csv", "-o", "old.csv", "--json"]);

    let mode = std::fs::metadata(stage.path("calls.jsonl"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(ran.json(), serde_json::json!({ "calls": 2, "file": "old.csv" }));
    let written = std::fs::read_to_string(stage.path("old.csv")).unwrap();
    assert_eq!(written.lines().count(), 3, "{written}");
    assert_snapshot!(stage.ctl(&["history", "export", "-o", "absent/calls.csv"]));
}

#[test]
fn log_06_who_has_read_enough_ends_an_export() {
    let stage = kept((1..=450).map(call).collect());

    assert_eq!(stage.unread(&["history", "export", "-q"]), (0, String::new()));
}

#[test]
fn log_06_old_calls_are_forgotten_on_purpose_only() {
    let stage = kept(vec![call(1), call(2), call(3)]);

    assert_snapshot!(stage.ctl(&["history", "purge", "--older-than", "30d"]));
    assert_snapshot!(stage.ctl(&[
        "history",
        "purge",
        "--older-than",
        "2027-01-17T08:00:00Z",
        "--yes"
    ]));
    assert_eq!(
        stage
            .ctl(&["history", "purge", "--server", "docs", "-y", "--json"])
            .json()["deleted"],
        0
    );
    assert_eq!(
        stage.ctl(&["history", "--json"]).json()["calls"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    assert_eq!(
        stage.ctl(&["history", "purge", "-y", "--json"]).json()["deleted"],
        2
    );
}

#[test]
fn ctl_03_what_is_forgotten_is_what_was_said() {
    let stage = Stage::gateway(&[("history/purge", 200, r#"{"deleted":1}"#)]);

    assert_snapshot!(stage.ctl(&[
        "history",
        "purge",
        "--yes",
        "--server",
        "git",
        "--tool",
        "push",
        "--status",
        "cancelled"
    ]));
    assert_eq!(
        stage.asked(),
        [r#"history/purge {"server":"git","tool":"push","status":"cancelled"}"#]
    );
}

#[test]
fn ctl_04_options_of_a_list_do_not_go_with_other_commands() {
    let stage = kept(vec![call(1)]);

    assert_snapshot!(stage.ctl(&["history", "--server", "git", "show", "h_1"]));
    for (words, code) in [
        (&["history", "--server", "git", "show", "h_1"][..], 2),
        (&["history", "-f", "ls"], 2),
        (&["history", "--status", "fine"], 2),
        (&["history", "--limit", "0"], 2),
        (&["history", "--since", "yesterday"], 2),
        (&["history", "export", "--format", "xml"], 2),
        (&["history", "--json", "show", "h_0000000000001"], 0),
        (&["--json", "history", "show", "h_0000000000001"], 0),
    ] {
        let ran = stage.ctl(words);
        assert_eq!(ran.code, code, "{ran}");
    }
}

//! Tokens that are limited, and one token in full.

use insta::assert_snapshot;

use crate::online::{both, value};
use crate::samples::*;
use crate::stage::Stage;

const LIMITED: &str = r#"{"secret":"mcpr_pat_x7Qa0Tn","id":"tk_7h2k9qmd","kind":"pat","name":"laptop","prefix":"mcpr_pat_x7Q",
"state":"active","project":"web","toolset":"dve","scopes":["read","call"],"created":"2027-01-15T08:00:00Z"}"#;

const LISTING: &str = r#"{"secret":"mcpr_pat_x7Qa0Tn","id":"tk_7h2k9qmd","kind":"pat","name":"ci","prefix":"mcpr_pat_x7Q",
"state":"active","scopes":["read","call"],"servers":["git","jira"],"tools":["git.*","jira.search"],"rate":"600/m",
"created":"2027-01-15T08:00:00Z"}"#;

const LISTED: &str = r#"{"tokens":[{"id":"tk_7h2k9qmd","kind":"pat","name":"ci","prefix":"mcpr_pat_9kW",
"state":"active","scopes":["read","call"],"servers":["git","jira"],"tools":["git.*","jira.search"],"rate":"600/m",
"created":"2027-01-15T08:00:00Z","rotated":"2027-01-16T08:00:00Z",
"retiring":{"prefix":"mcpr_pat_x7Q","until":"2027-01-17T08:00:00Z"}}]}"#;

#[test]
fn http_03_a_token_is_shown_by_its_id_or_its_name() {
    let (people, scripts) = both("tokens/list", TOKENS, &["tokens", "show", "laptop"]);

    assert_snapshot!(people);
    assert_eq!(scripts.json(), value(TOKENS)["tokens"][0]);
    let stage = Stage::gateway(&[("tokens/list", 200, TOKENS)]);
    assert_snapshot!(stage.ctl(&["token", "show", "tk_0000"]));
}

#[test]
fn ctl_04_a_mistyped_token_is_recognised() {
    let stage = Stage::gateway(&[("tokens/list", 200, TOKENS)]);

    assert_snapshot!(stage.ctl(&["tokens", "show", "laptpo"]));
}

#[test]
fn prj_02_a_token_is_limited_and_what_it_is_limited_to_may_come_later() {
    let stage = Stage::gateway(&[
        ("tokens/create", 200, LIMITED),
        ("projects/list", 200, PROJECTS),
        ("toolsets/list", 200, TOOLSETS),
    ]);

    let words = [
        "tokens",
        "create",
        "--name",
        "laptop",
        "--project",
        "web",
        "--toolset",
        "dve",
    ];
    assert_snapshot!(stage.ctl(&words));
    assert_eq!(
        stage.asked()[0],
        r#"tokens/create {"name":"laptop","project":"web","toolset":"dve","scopes":["read","call"]}"#
    );
}

#[test]
fn sec_02_a_token_lists_the_servers_and_tools_it_reaches_and_has_a_rate() {
    let stage = Stage::gateway(&[
        ("tokens/create", 200, LISTING),
        ("projects/list", 200, PROJECTS),
        ("toolsets/list", 200, TOOLSETS),
        ("servers/list", 200, SERVERS),
    ]);

    let words = [
        "tokens",
        "create",
        "--name",
        "ci",
        "--servers",
        "git,jira",
        "--tools",
        "git.*,jira.search",
        "--rate",
        "600/m",
    ];
    assert_snapshot!(stage.ctl(&words));
    assert_eq!(
        stage.asked()[0],
        r#"tokens/create {"name":"ci","scopes":["read","call"],"servers":["git","jira"],"tools":["git.*","jira.search"],"rate":"600/m"}"#
    );
    let stage = Stage::gateway(&[("tokens/list", 200, LISTED)]);
    assert_snapshot!(stage.ctl(&["tokens", "show", "ci"]));
    assert_snapshot!(stage.ctl(&["tokens", "create", "--name", "ci", "--rate", "fast"]));
}

#[test]
fn sec_02_a_token_for_tools_that_are_not_there_says_which_were_meant() {
    let limited = LISTING.replace(
        r#"["git.*","jira.search"]"#,
        r#"["git_status","docs.*","ghost.*"]"#,
    );
    let stage = Stage::gateway(&[
        ("tokens/create", 200, limited.leak()),
        ("servers/list", 200, SERVERS),
        ("tools/list", 200, TOOLS),
    ]);

    let ran = stage.ctl(&[
        "tokens",
        "create",
        "--name",
        "ci",
        "--tools",
        "git_status,docs.*,ghost.*",
    ]);

    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.stderr.contains("no tool fits `git_status`"), "{ran}");
    assert!(ran.stderr.contains("did you mean `git.status`?"), "{ran}");
    assert!(ran.stderr.contains("no tool fits `ghost.*`"), "{ran}");
    assert!(!ran.stderr.contains("`docs.*`:"), "{ran}");
}

#[test]
fn sec_02_a_token_is_rotated() {
    let (people, scripts) = both("tokens/rotate", ROTATED, &["tokens", "rotate", "laptop"]);

    assert_snapshot!(people);
    assert_eq!(scripts.json(), value(ROTATED));
    let stage = Stage::gateway(&[("tokens/rotate", 200, ROTATED)]);
    for (grace, seconds) in [("0", 0), ("90d", 7_776_000), ("1500ms", 2)] {
        stage.ctl(&["tokens", "rotate", "laptop", "--grace", grace]);
        assert_eq!(
            stage.asked().last().unwrap(),
            &format!(r#"tokens/rotate {{"which":"laptop","graceSeconds":{seconds}}}"#)
        );
    }
    assert_snapshot!(stage.ctl(&["tokens", "rotate", "laptop", "--grace", "soon"]));
}

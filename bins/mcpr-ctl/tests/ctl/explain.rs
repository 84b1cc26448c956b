//! Why a tool is or is not visible.

use insta::assert_snapshot;

use crate::online::{both, value};
use crate::stage::Stage;

const VISIBLE: &str = r#"{"name":"git_status","principal":"anybody","visible":true,"callable":true,
"tool":{"name":"git_status","server":"git","origin":"status","estimatedTokens":92},
"checks":[{"what":"name","verdict":"pass","found":"`git_status` means `git.status`, which clients see as `git_status`"},
{"what":"server","verdict":"pass","found":"server `git` is ok"}],"route":"server `git` over stdio, 2025-11-25, pid 8130, as `status`"}"#;

const HIDDEN: &str = r#"{"name":"git_push","principal":"tk_7h2k9qmd","visible":false,"callable":false,
"tool":{"name":"git_push","server":"git","origin":"push","estimatedTokens":310},
"checks":[{"what":"naming","verdict":"note","found":"its name is overridden"},
{"what":"switch","verdict":"block","found":"an operator has turned the tool off","hint":"mcpr-ctl tools enable git.push"}],
"route":"server `git` over stdio, as `push`"}"#;

const READ_ONLY: &str = r#"{"name":"git_push","principal":"tk_7h2k9qmd","visible":true,"callable":false,
"tool":{"name":"git_push","server":"git","origin":"push","estimatedTokens":310},
"checks":[{"what":"token","verdict":"note","found":"the token lacks the scope `call`"}]}"#;

const UNKNOWN: &str = r#"{"name":"git_statsu","principal":"anybody","visible":false,"callable":false,
"checks":[{"what":"name","verdict":"block","found":"no tool is named `git_statsu`","hint":"did you mean `git_status`?"}],"suggestions":["git_status","git.status"]}"#;

const NO_TOKEN: &str = r#"{"error":{"code":"not_found","message":"there is no token `laptpo`","hint":"see `mcpr-ctl tokens ls`"}}"#;

#[test]
fn ctl_01_a_tool_that_is_there_is_explained_and_ends_with_0() {
    let (people, scripts) = both("tools/explain", VISIBLE, &["explain", "git_status"]);

    assert_snapshot!(people);
    assert_eq!((scripts.json(), scripts.code), (value(VISIBLE), 0));
}

#[test]
fn ctl_01_a_tool_that_is_hidden_is_explained_with_what_to_do_and_ends_with_1() {
    let (people, scripts) = both("tools/explain", HIDDEN, &["explain", "git_push"]);

    assert_snapshot!(people);
    assert_eq!((scripts.json(), scripts.code), (value(HIDDEN), 1));
}

#[test]
fn ctl_01_a_tool_that_can_only_be_seen_ends_with_1() {
    let (people, _) = both("tools/explain", READ_ONLY, &["explain", "git_push"]);

    assert_snapshot!(people);
}

#[test]
fn ctl_04_a_name_that_means_no_tool_ends_with_3_and_shows_what_is_like_it() {
    let (people, scripts) = both("tools/explain", UNKNOWN, &["explain", "git_statsu"]);

    assert_snapshot!(people);
    assert_eq!((scripts.json(), scripts.code), (value(UNKNOWN), 3));
}

#[test]
fn ctl_01_a_tool_is_explained_for_a_token_a_project_and_a_toolset() {
    let stage = Stage::gateway(&[("tools/explain", 404, NO_TOKEN)]);

    let words = [
        "explain",
        "t",
        "--token",
        "laptpo",
        "--project",
        "web",
        "--toolset",
        "dev",
    ];
    assert_snapshot!(stage.ctl(&words));
    assert_eq!(
        stage.asked(),
        [r#"tools/explain {"name":"t","token":"laptpo","project":"web","toolset":"dev"}"#]
    );
}

//! Tools: lists with costs, search, switches, other names.

use insta::assert_snapshot;

use crate::online::{both, value};
use crate::samples::*;
use crate::stage::Stage;

const ALL_TOOLS: &str = r#"{"tools":[
{"name":"git_status","server":"git","origin":"status","description":"Show the status","readOnly":true,"estimatedTokens":92},
{"name":"git.push","server":"git","origin":"push","description":"Push","estimatedTokens":310,"hidden":"an operator has turned it off"}]}"#;

const FOUND: &str = r#"{"tools":[
{"namespacedName":"git.status","exposedName":"git_status","description":"Show the status.","estimatedTokens":92,"registered":true,"toolsets":["dev","web"]},
{"namespacedName":"git.log","exposedName":"git_log","estimatedTokens":1949,"registered":false}],
"total":12,"estimatedTokens":24100,"nextCursor":"c1","unavailable":{"docs":"connection refused"}}"#;

const NOTHING_FOUND: &str = r#"{"tools":[],"total":0,"estimatedTokens":0}"#;

const OFF: &str = r#"{"namespacedName":"git.push","enabled":false}"#;

const ON: &str = r#"{"namespacedName":"git.push","enabled":true,"exposedName":"git_push"}"#;

const RENAMED: &str = r#"{"namespacedName":"git.push","enabled":true,"exposedName":"publish","name":"publish","description":"Publish"}"#;

const BAD_NAME: &str = r#"{"error":{"code":"invalid","message":"`a b` cannot name a tool","hint":"at most 64 letters, digits, `_` and `-`"}}"#;

#[test]
fn set_11_lists_of_tools_show_what_each_costs_and_all_together() {
    let stage = Stage::gateway(&[("tools/list", 200, TOOLS)]);

    assert_snapshot!(stage.ctl(&["tools", "ls", "--tokens"]));
    assert_eq!(stage.ctl(&["tools", "ls", "-q"]).stderr, "");
}

#[test]
fn ctl_01_hidden_tools_are_listed_with_the_reason_when_asked_for() {
    let (people, scripts) = both("tools/list", ALL_TOOLS, &["tools", "ls", "--all", "--tokens"]);

    assert_snapshot!(people);
    assert_eq!(scripts.json(), value(ALL_TOOLS));
}

#[test]
fn ctl_01_tools_are_listed_by_server_project_and_toolset() {
    let stage = Stage::gateway(&[("tools/list", 200, TOOLS)]);

    stage.ctl(&[
        "tools",
        "ls",
        "--server",
        "git",
        "--project",
        "web",
        "--toolset",
        "dev",
        "--all",
    ]);

    assert_eq!(
        stage.asked(),
        [r#"tools/list {"server":"git","project":"web","toolset":"dev","all":true}"#]
    );
}

#[test]
fn ctl_04_a_mistyped_project_or_toolset_of_a_list_is_recognised() {
    for (words, refusal, meant) in [
        (
            ["--project", "wbe"],
            r#"{"error":{"code":"not_found","message":"there is no project `wbe`"}}"#,
            "`web`",
        ),
        (
            ["--toolset", "dve"],
            r#"{"error":{"code":"not_found","message":"there is no toolset `dve`"}}"#,
            "`dev`",
        ),
    ] {
        let stage = Stage::gateway(&[
            ("tools/list", 404, refusal),
            ("projects/list", 200, PROJECTS),
            ("toolsets/list", 200, TOOLSETS),
        ]);
        let ran = stage.ctl(&[&["tools", "ls"][..], &words].concat());
        assert_eq!(ran.code, 3, "{ran}");
        assert!(ran.stderr.contains(&format!("did you mean {meant}?")), "{ran}");
    }
}

#[test]
fn set_01_tools_are_found_by_words_whatever_is_equipped() {
    let (people, scripts) = both("tools/discover", FOUND, &["tools", "search", "show", "status"]);

    assert_snapshot!(people);
    assert_eq!(
        scripts.json()["tools"][0]["namespacedName"],
        value(FOUND)["tools"][0]["namespacedName"]
    );
    assert_eq!(scripts.json()["total"], 12);
}

#[test]
fn set_01_a_search_is_narrowed_and_may_find_nothing() {
    let stage = Stage::gateway(&[("tools/discover", 200, NOTHING_FOUND)]);

    assert_snapshot!(stage.ctl(&["tools", "search", "x", "--server", "git", "--limit", "5"]));
    assert_eq!(
        stage.asked(),
        [r#"tools/discover {"server":"git","query":"x","limit":5}"#]
    );
}

#[test]
fn ctl_01_the_schema_of_a_tool_stands_alone_when_asked_for() {
    let (people, scripts) = both("tools/show", TOOL, &["tools", "show", "git_status", "--schema"]);

    assert_snapshot!(people);
    assert_snapshot!(scripts);
}

#[test]
fn ctl_04_a_definition_without_a_schema_has_none_to_show() {
    let bare = r#"{"tool":{"name":"a","server":"s","origin":"a"},"definition":{"name":"a"}}"#;
    let stage = Stage::gateway(&[("tools/show", 200, bare)]);

    assert_snapshot!(stage.ctl(&["tools", "show", "a", "--schema"]));
}

#[test]
fn agg_13_tools_are_turned_off_and_on() {
    let (people, scripts) = both("tools/disable", OFF, &["tools", "disable", "git_push"]);
    assert_snapshot!(people);
    assert_eq!(scripts.json(), value(OFF));

    let (people, scripts) = both("tools/enable", ON, &["tools", "enable", "git.push"]);
    assert_snapshot!(people);
    assert_eq!(scripts.json(), value(ON));
}

#[test]
fn agg_13_of_several_tools_one_that_fails_does_not_stop_the_others() {
    let stage = Stage::gateway(&[
        ("tools/disable", 200, OFF),
        ("tools/disable statsu", 404, NO_TOOL),
        ("tools/list", 200, TOOLS),
    ]);

    let words = ["tools", "disable", "git_statsu", "git_push"];
    assert_snapshot!(stage.ctl(&words));
    assert_snapshot!(stage.ctl(&[&words[..], &["--json"]].concat()));
}

#[test]
fn ctl_01_a_tool_is_given_another_name_and_description() {
    let stage = Stage::gateway(&[("tools/override", 200, RENAMED)]);

    assert_snapshot!(stage.ctl(&["tools", "rename", "git_push", "publish"]));
    stage.ctl(&[
        "tools",
        "override",
        "git_push",
        "--name",
        "publish",
        "--description",
        "Publish",
    ]);
    stage.ctl(&["tools", "override", "git_push", "--description", ""]);
    let reset = stage.ctl(&["tools", "override", "git_push", "--reset", "--json"]);

    assert_eq!(reset.json(), value(RENAMED));
    assert_snapshot!(stage.asked().join("\n"));
}

#[test]
fn ctl_04_a_name_that_clients_do_not_take_is_refused() {
    let stage = Stage::gateway(&[("tools/override", 400, BAD_NAME)]);

    assert_snapshot!(stage.ctl(&["tools", "rename", "git_push", "a b"]));
}

#[test]
fn ctl_04_a_mistyped_tool_is_recognised_by_every_command() {
    let stage = Stage::gateway(&[
        ("tools/enable", 404, NO_TOOL),
        ("tools/disable", 404, NO_TOOL),
        ("tools/override", 404, NO_TOOL),
        ("tools/list", 200, TOOLS),
    ]);

    for words in [
        &["tools", "enable", "git_statsu"][..],
        &["tools", "disable", "git_statsu"],
        &["tools", "rename", "git_statsu", "a"],
        &["tools", "override", "git_statsu", "--reset"],
    ] {
        let ran = stage.ctl(words);
        assert_eq!(ran.code, 3, "{ran}");
        assert!(ran.stderr.contains("did you mean `git_status`?"), "{ran}");
    }
}

#[test]
fn ctl_04_an_override_of_nothing_is_wrong_usage() {
    let stage = Stage::new();

    for words in [
        &["tools", "override", "t"][..],
        &["tools", "override", "t", "--reset", "--name", "a"],
        &["tools", "search"],
        &["tools", "enable"],
    ] {
        assert_eq!(stage.ctl(words).code, 2);
    }
}

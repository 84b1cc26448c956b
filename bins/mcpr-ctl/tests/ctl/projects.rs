//! Projects, against a gateway.

use insta::assert_snapshot;

use crate::online::{both, value};
use crate::samples::*;
use crate::stage::Stage;

const SHOP: &str = r#"{"name":"shop","fromFile":false,"description":"The shop","servers":["git","jira"],"tags":["frontend"],"toolset":"dev",
"members":["git","docs"],"missing":["server jira"],"tools":12,"estimatedTokens":3100}"#;

const NO_PROJECT: &str = r#"{"error":{"code":"not_found","message":"there is no project `shpo`"}}"#;

const TAKEN: &str = r#"{"error":{"code":"invalid","message":"there is a project `shop` already","hint":"replace it with --replace, or choose another name"}}"#;

#[test]
fn prj_01_projects_are_listed() {
    let (people, scripts) = both("projects/list", PROJECTS, &["projects", "ls"]);

    assert_snapshot!(people);
    assert_eq!(scripts.json(), value(PROJECTS));
}

#[test]
fn prj_01_no_projects_are_an_empty_table_and_a_note() {
    let stage = Stage::gateway(&[("projects/list", 200, r#"{"projects":[]}"#)]);

    assert_snapshot!(stage.ctl(&["project", "list"]));
}

#[test]
fn prj_01_a_project_is_shown() {
    let (people, scripts) = both("projects/show", SHOP, &["projects", "show", "shop"]);

    assert_snapshot!(people);
    assert_eq!(scripts.json(), value(SHOP));
}

#[test]
fn prj_01_a_project_is_made_and_what_it_lacks_is_told() {
    let stage = Stage::gateway(&[("projects/save", 200, SHOP)]);
    let words = [
        "projects",
        "create",
        "shop",
        "--servers",
        "git,jira",
        "--tags",
        "frontend",
    ];
    let more = ["--toolset", "dev", "--description", "The shop"];

    assert_snapshot!(stage.ctl(&[&words[..], &more].concat()));
    let scripts = stage.ctl(&[
        "projects",
        "create",
        "shop",
        "--servers",
        "git",
        "--replace",
        "--json",
    ]);

    assert_eq!(scripts.json(), value(SHOP));
    assert_snapshot!(stage.asked().join("\n"));
}

#[test]
fn prj_01_a_project_is_changed() {
    let stage = Stage::gateway(&[("projects/show", 200, SHOP), ("projects/save", 200, SHOP)]);

    let edits = [
        "--add",
        "docs",
        "--remove",
        "jira",
        "--add-tag",
        "ui",
        "--remove-tag",
        "frontend",
    ];
    let ran = stage.ctl(&[&["projects", "edit", "shop", "--toolset", ""][..], &edits].concat());

    assert_snapshot!(ran);
    assert_snapshot!(stage.asked().join("\n"));
}

#[test]
fn prj_01_a_project_is_deleted() {
    let (people, scripts) = both("projects/delete", SHOP, &["projects", "rm", "shop"]);

    assert_snapshot!(people);
    assert_eq!(scripts.json(), value(SHOP));
}

#[test]
fn ctl_04_a_mistyped_project_is_recognised_by_every_command() {
    let stage = Stage::gateway(&[
        ("projects/show", 404, NO_PROJECT),
        ("projects/delete", 404, NO_PROJECT),
        ("projects/list", 200, PROJECTS),
    ]);

    for words in [
        &["projects", "show", "shpo"][..],
        &["projects", "edit", "shpo", "--add", "git"],
        &["projects", "rm", "shpo"],
    ] {
        let ran = stage.ctl(words);
        assert_eq!(ran.code, 3, "{ran}");
        assert!(ran.stderr.contains("did you mean `shop`?"), "{ran}");
    }
}

#[test]
fn ctl_04_a_project_that_is_there_is_not_replaced_unasked() {
    let stage = Stage::gateway(&[("projects/save", 400, TAKEN)]);

    assert_snapshot!(stage.ctl(&["projects", "create", "shop", "--servers", "git"]));
}

#[test]
fn ctl_04_what_a_project_does_not_name_cannot_be_removed_from_it() {
    let stage = Stage::gateway(&[("projects/show", 200, SHOP)]);

    assert_snapshot!(stage.ctl(&["projects", "edit", "shop", "--remove", "gti"]));
    assert_eq!(stage.ctl(&["projects", "edit", "shop"]).code, 2);
}

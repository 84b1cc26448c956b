//! Toolsets, against a gateway: seen, made, changed, equipped.

mod files;

use insta::assert_snapshot;

use crate::online::{both, value};
use crate::samples::*;
use crate::stage::Stage;

pub(crate) const DETAIL: &str = r#"{"toolset":{"name":"dev","owner":"operator","fromFile":false,"description":"Every day","entries":3,"tools":2,"estimatedTokens":402,"equipped":false,"equippedBy":["default"]},
"entries":[{"namespacedName":"git.status","definitionHash":"sha256:5c1f"},{"namespacedName":"git.push"},{"namespacedName":"docs.*"}],
"tools":[{"namespacedName":"git.status","exposedName":"git_status","state":"registered","definition":"unchanged","estimatedTokens":92},
{"namespacedName":"git.push","exposedName":"git_push","state":"out-of-scope","reason":"outside of the project","definition":"breaking","changes":["`path` is required now","`all` is gone"],"estimatedTokens":310},
{"namespacedName":"docs.*","state":"missing","reason":"it fits no tool now","definition":"missing"}]}"#;

const OTHER: &str = r#"{"toolset":{"name":"web","owner":"operator","fromFile":true,"entries":1,"tools":2,"estimatedTokens":1949,"equipped":false},
"entries":[{"namespacedName":"git.*"}],
"tools":[{"namespacedName":"git.status","exposedName":"git_status","state":"registered","definition":"unchanged","estimatedTokens":92},
{"namespacedName":"git.log","exposedName":"git_log","state":"registered","definition":"unchanged","estimatedTokens":1857}]}"#;

pub(crate) const BUILT: &str = r#"{"toolset":{"name":"dev","owner":"operator","fromFile":false,"entries":2,"tools":12,"estimatedTokens":3100,"equipped":false},"replaced":false,"warnings":["`docs.*` fits no tool now"]}"#;

pub(crate) const TAKEN: &str = r#"{"error":{"code":"invalid","message":"the name `dev` is taken: there is a toolset of it","hint":"replace it with --replace, or choose another"}}"#;

const UNKNOWN_TOOL: &str = r#"{"error":{"code":"invalid","message":"1 of the names fit no tool:\n`git.statsu`: server `git` has no tool `statsu`; did you mean `git.status`?"}}"#;

const EQUIPPED: &str = r#"{"toolset":{"name":"dev","owner":"operator","fromFile":false,"entries":3,"tools":3,"estimatedTokens":402,"equipped":false,"equippedBy":["tk_7h2k9qmd"]},"principal":"tk_7h2k9qmd",
"tools":[{"name":"git_status","namespacedName":"git.status","signature":"path: string, short?: boolean","description":"Show the status."},{"name":"git_log","namespacedName":"git.log","signature":""}],
"skipped":[{"namespacedName":"docs.*","reason":"server `docs` is down: connection refused"}],"warnings":["`git.push` has changed since the toolset was made: `path` is required now"]}"#;

const EVERYBODY: &str = r#"{"toolset":{"name":"dev","owner":"operator","fromFile":false,"entries":1,"tools":1,"estimatedTokens":92,"equipped":false,"equippedBy":["default"]},"principal":"default","tools":[{"name":"git_status","namespacedName":"git.status","signature":"path: string"}]}"#;

const BUSY: &str = r#"{"error":{"code":"unavailable","message":"operation in progress"}}"#;

const DELETED: &str = r#"{"name":"dev","owner":"operator","fromFile":false,"entries":1,"tools":1,"estimatedTokens":92,"equipped":false,"equippedBy":["default"]}"#;

const IN_USE: &str = r#"{"error":{"code":"invalid","message":"toolset `dev` is equipped by default","hint":"unequip it first, or take it from them with --force"}}"#;

const ACTIVE: &str = r#"{"principal":"tk_7h2k9qmd","by":"equipped","toolset":{"toolset":{"name":"dev","owner":"tk_7h2k9qmd","fromFile":false,"entries":1,"tools":1,"estimatedTokens":92,"equipped":false,"equippedBy":["tk_7h2k9qmd"]},
"entries":[{"namespacedName":"git.status"}],"tools":[{"namespacedName":"git.status","exposedName":"git_status","state":"registered","definition":"compatible","changes":["`depth` is new and optional"],"estimatedTokens":92}]}}"#;

#[test]
fn set_04_toolsets_are_listed_with_what_they_cost() {
    let (people, scripts) = both("toolsets/list", TOOLSETS, &["toolsets", "ls"]);

    assert_snapshot!(people);
    assert_eq!(scripts.json(), value(TOOLSETS));
}

#[test]
fn set_04_no_toolsets_are_an_empty_table_and_a_note() {
    let stage = Stage::gateway(&[("toolsets/list", 200, r#"{"toolsets":[]}"#)]);

    assert_snapshot!(stage.ctl(&["toolset", "list"]));
}

#[test]
fn set_10_a_toolset_shows_how_the_definitions_of_its_tools_have_changed() {
    let (people, scripts) = both("toolsets/show", DETAIL, &["toolsets", "show", "dev"]);

    assert_snapshot!(people);
    assert_eq!(scripts.json(), value(DETAIL));
}

#[test]
fn set_04_the_toolset_of_a_client_is_shown_by_its_owner() {
    let stage = Stage::gateway(&[("toolsets/show", 200, DETAIL)]);

    stage.ctl(&["toolsets", "show", "dev", "--owner", "tk_7h2k9qmd"]);

    assert_eq!(
        stage.asked(),
        [r#"toolsets/show {"name":"dev","owner":"tk_7h2k9qmd"}"#]
    );
}

#[test]
fn set_04_a_toolset_is_made() {
    let stage = Stage::gateway(&[("toolsets/save", 200, BUILT)]);
    let words = ["toolsets", "create", "dev", "--tools", "git.status,docs.*"];

    assert_snapshot!(stage.ctl(&[&words[..], &["--description", "Every day"]].concat()));
    let scripts = stage.ctl(&[&words[..], &["--replace", "--force", "--json"]].concat());

    assert_eq!(scripts.json(), value(BUILT));
    assert_snapshot!(stage.asked().join("\n"));
}

#[test]
fn ctl_04_a_toolset_that_cannot_be_made_says_why() {
    for refusal in [TAKEN, UNKNOWN_TOOL] {
        let stage = Stage::gateway(&[("toolsets/save", 400, refusal)]);
        assert_snapshot!(stage.ctl(&["toolsets", "create", "dev", "--tools", "git.statsu"]));
    }
}

#[test]
fn set_04_a_change_keeps_the_hashes_of_what_stays() {
    let stage = Stage::gateway(&[("toolsets/show", 200, DETAIL), ("toolsets/save", 200, BUILT)]);

    let ran = stage.ctl(&[
        "toolsets",
        "edit",
        "dev",
        "--add",
        "git.log,git.status",
        "--remove",
        "docs.*",
        "--description",
        "",
    ]);
    stage.ctl(&["toolsets", "edit", "dev", "--remove", "git.push"]);

    assert_snapshot!(ran);
    assert_snapshot!(stage.asked().join("\n"));
}

#[test]
fn ctl_04_an_entry_that_is_not_there_cannot_be_removed() {
    let stage = Stage::gateway(&[("toolsets/show", 200, DETAIL)]);

    assert_snapshot!(stage.ctl(&["toolsets", "edit", "dev", "--remove", "git.statsu"]));
}

#[test]
fn set_04_a_toolset_is_deleted_by_force_if_somebody_has_it_equipped() {
    let (people, scripts) = both("toolsets/delete", DELETED, &["toolsets", "rm", "dev", "--force"]);
    assert_snapshot!(people);
    assert_eq!(scripts.json(), value(DELETED));

    let stage = Stage::gateway(&[("toolsets/delete", 400, IN_USE)]);
    assert_snapshot!(stage.ctl(&["toolsets", "rm", "dev"]));
    stage.ctl(&["toolsets", "rm", "dev", "--owner", "tk_7h2k9qmd", "--force"]);
    assert_eq!(
        stage.asked(),
        [
            r#"toolsets/delete {"name":"dev","force":false}"#,
            r#"toolsets/delete {"name":"dev","owner":"tk_7h2k9qmd","force":true}"#
        ]
    );
}

#[test]
fn set_05_a_toolset_is_equipped_for_the_holder_of_a_token_by_its_name() {
    let stage = Stage::gateway(&[("toolsets/equip", 200, EQUIPPED), ("tokens/list", 200, TOKENS)]);

    let words = ["toolsets", "equip", "dev", "--token", "laptop"];
    assert_snapshot!(stage.ctl(&words));
    assert_eq!(
        stage.ctl(&[&words[..], &["--json"]].concat()).json(),
        value(EQUIPPED)
    );
    assert_eq!(
        stage.asked()[1],
        r#"toolsets/equip {"name":"dev","principal":"tk_7h2k9qmd"}"#
    );
}

#[test]
fn set_05_without_a_token_the_default_of_the_gateway_is_meant() {
    let stage = Stage::gateway(&[
        ("toolsets/equip", 200, EVERYBODY),
        (
            "toolsets/unequip",
            200,
            r#"{"toolset":"dev","principal":"default"}"#,
        ),
        (
            "toolsets/active",
            200,
            r#"{"principal":"default","by":"built-ins"}"#,
        ),
    ]);

    assert_snapshot!(stage.ctl(&["toolsets", "equip", "dev"]));
    assert_snapshot!(stage.ctl(&["toolsets", "unequip"]));
    assert_snapshot!(stage.ctl(&["toolsets", "active"]));
    assert_snapshot!(stage.asked().join("\n"));
}

#[test]
fn set_05_any_principal_can_be_named_by_its_key() {
    let stage = Stage::gateway(&[
        ("toolsets/equip", 200, EVERYBODY),
        ("toolsets/unequip", 200, r#"{"principal":"stdio:5c1f"}"#),
    ]);

    stage.ctl(&["toolsets", "equip", "dev", "--principal", "local"]);
    assert_snapshot!(stage.ctl(&["toolsets", "unequip", "--principal", "stdio:5c1f"]));
    assert_eq!(
        stage.asked(),
        [
            r#"toolsets/equip {"name":"dev","principal":"local"}"#,
            r#"toolsets/unequip {"principal":"stdio:5c1f"}"#
        ]
    );
    let both = ["toolsets", "unequip", "--principal", "local", "--token", "laptop"];
    assert_eq!(stage.ctl(&both).code, 2);
}

#[test]
fn set_06_two_equips_at_once_are_told_apart() {
    let stage = Stage::gateway(&[("toolsets/equip", 503, BUSY)]);

    assert_snapshot!(stage.ctl(&["toolsets", "equip", "dev"]));
}

#[test]
fn ctl_04_a_token_that_is_not_there_or_was_revoked_equips_nothing() {
    let stage = Stage::gateway(&[("tokens/list", 200, TOKENS)]);

    assert_snapshot!(stage.ctl(&["toolsets", "equip", "dev", "--token", "laptpo"]));
    assert_snapshot!(stage.ctl(&["toolsets", "active", "--token", "ops"]));
}

#[test]
fn set_10_the_active_toolset_is_shown_with_what_decides() {
    let stage = Stage::gateway(&[("toolsets/active", 200, ACTIVE), ("tokens/list", 200, TOKENS)]);

    let words = ["toolsets", "active", "--token", "laptop"];
    assert_snapshot!(stage.ctl(&words));
    assert_eq!(
        stage.ctl(&[&words[..], &["--json"]].concat()).json(),
        value(ACTIVE)
    );
}

#[test]
fn set_04_two_toolsets_are_compared_by_their_tools() {
    let stage = Stage::gateway(&[
        ("toolsets/show dev", 200, DETAIL),
        ("toolsets/show web", 200, OTHER),
    ]);

    assert_snapshot!(stage.ctl(&["toolsets", "diff", "dev", "web"]));
    assert_snapshot!(stage.ctl(&["toolsets", "diff", "dev", "web", "--json"]));
    assert_snapshot!(stage.ctl(&["toolsets", "diff", "web", "web"]));
}

#[test]
fn set_10_definitions_of_today_are_accepted() {
    let (people, scripts) = both("toolsets/accept", OTHER, &["toolsets", "accept", "web"]);

    assert_snapshot!(people);
    assert_eq!(scripts.json(), value(OTHER));
}

#[test]
fn ctl_04_a_mistyped_toolset_is_recognised_by_every_command() {
    let stage = Stage::gateway(&[
        ("toolsets/show", 404, NO_TOOLSET),
        ("toolsets/delete", 404, NO_TOOLSET),
        ("toolsets/equip", 404, NO_TOOLSET),
        ("toolsets/accept", 404, NO_TOOLSET),
        ("toolsets/list", 200, TOOLSETS),
    ]);

    for words in [
        &["toolsets", "show", "dve"][..],
        &["toolsets", "edit", "dve", "--add", "a.b"],
        &["toolsets", "rm", "dve"],
        &["toolsets", "equip", "dve"],
        &["toolsets", "diff", "dve", "web"],
        &["toolsets", "accept", "dve"],
        &["toolsets", "export", "dve"],
    ] {
        let ran = stage.ctl(words);
        assert_eq!(ran.code, 3, "{ran}");
        assert!(ran.stderr.contains("did you mean `dev`?"), "{ran}");
    }
}

#[test]
fn ctl_04_wrong_usage_of_toolsets_ends_with_2() {
    let stage = Stage::new();

    for words in [
        &["toolsets", "create", "dev"][..],
        &["toolsets", "create", "dev", "--tools", "a.b", "--file", "f"],
        &["toolsets", "edit", "dev"],
        &["toolsets", "export"],
        &["toolsets", "export", "dev", "--all"],
        &["toolsets", "import"],
    ] {
        let ran = stage.ctl(words);
        assert_eq!(ran.code, 2, "{ran}");
    }
}

//! Toolsets out of files and into files.

use insta::assert_snapshot;

use super::{BUILT, DETAIL, TAKEN};
use crate::online::value;
use crate::samples::*;
use crate::stage::Stage;

const ALL_TOOLS: &str = r#"{"tools":[{"name":"git_status","server":"git","origin":"status"}]}"#;

/// A gateway with the toolset `dev`, which saves any other.
fn gateway() -> Stage {
    Stage::gateway(&[
        ("toolsets/list", 200, TOOLSETS),
        ("toolsets/show", 404, NO_TOOLSET),
        ("toolsets/show dev", 200, DETAIL),
        ("toolsets/save", 200, BUILT),
        ("tools/list", 200, ALL_TOOLS),
    ])
}

fn write(stage: &Stage, text: &str) {
    std::fs::write(stage.path("sets.json"), text).unwrap();
}

#[test]
fn set_04_a_toolset_is_exported_as_it_can_be_imported() {
    let stage = gateway();

    assert_snapshot!(stage.ctl(&["toolsets", "export", "dev"]));
    assert_snapshot!(stage.ctl(&["toolsets", "export", "dev", "--json", "--with-hashes"]));
    assert_snapshot!(stage.ctl(&["toolsets", "export", "dev", "dev", "--json"]));
}

#[test]
fn set_04_all_toolsets_of_an_owner_are_exported_as_a_list() {
    let one = r#"{"toolsets":[{"name":"dev","owner":"operator","fromFile":false,"entries":3,"equipped":false},
{"name":"mine","owner":"tk_7h2k9qmd","fromFile":false,"entries":3,"equipped":false}]}"#;
    let stage = Stage::gateway(&[("toolsets/list", 200, one), ("toolsets/show", 200, DETAIL)]);

    let list = stage.ctl(&["toolsets", "export", "--all", "--json"]).json();
    stage.ctl(&["toolsets", "export", "--all", "--owner", "tk_7h2k9qmd"]);

    assert_eq!(list.as_array().unwrap().len(), 1);
    assert_eq!(
        stage.asked()[3],
        r#"toolsets/show {"name":"mine","owner":"tk_7h2k9qmd"}"#
    );
}

#[test]
fn set_04_an_export_goes_to_a_file_when_one_is_named() {
    let stage = gateway();
    let words = ["toolsets", "export", "dev", "--output", "dev.json"];

    assert_snapshot!(stage.ctl(&words));
    assert_eq!(
        stage.ctl(&[&words[..], &["--json"]].concat()).json(),
        value(r#"{"file":"dev.json","toolsets":["dev"]}"#)
    );
    let written = std::fs::read_to_string(stage.path("dev.json")).unwrap();
    assert_eq!(value(&written)["name"], "dev");
    assert_eq!(
        stage
            .ctl(&["toolsets", "export", "dev", "-o", "no/such/folder"])
            .code,
        1
    );
}

#[test]
fn set_04_a_toolset_is_made_from_a_file_or_from_standard_input() {
    let stage = gateway();
    let text = r#"{"name":"other","description":"Every day","tools":[{"namespacedName":"git.status","definitionHash":"sha256:5c1f"}]}"#;
    write(&stage, text);

    stage.ctl(&["toolsets", "create", "mine", "--file", "sets.json"]);
    stage.ctl_reading(
        &[
            "toolsets",
            "create",
            "mine",
            "--file",
            "-",
            "--description",
            "Mine",
        ],
        text,
    );

    assert_snapshot!(stage.asked().join("\n"));
}

#[test]
fn ctl_04_a_file_that_holds_no_one_toolset_makes_none() {
    let stage = gateway();
    for text in [
        r#"[{"name":"a","tools":[]},{"name":"b","tools":[]}]"#,
        "5",
        "{",
        r#"{"name":"a","tool":[]}"#,
    ] {
        write(&stage, text);
        let ran = stage.ctl(&["toolsets", "create", "mine", "--file", "sets.json"]);
        assert_eq!(ran.code, 2, "{ran}");
        assert_snapshot!(ran);
    }
    assert_snapshot!(stage.ctl(&["toolsets", "create", "mine", "--file", "absent.json"]));
    assert!(stage.asked().is_empty());
}

#[test]
fn set_04_toolsets_are_imported_one_by_one_and_the_failed_are_told() {
    let stage = gateway();
    write(
        &stage,
        r#"[{"name":"new","tools":[{"namespacedName":"git.status"}]},{"name":"broken"},
           {"name":"new","tools":[{"namespacedName":"git.log"}]},{"tools":[]}]"#,
    );

    let people = stage.ctl(&["toolsets", "import", "sets.json"]);
    let scripts = stage.ctl(&["toolsets", "import", "sets.json", "--json"]);

    assert_snapshot!(people);
    assert_snapshot!(scripts);
}

#[test]
fn set_04_what_was_exported_is_imported_again_without_a_change() {
    let stage = gateway();
    let exported = stage.ctl(&["toolsets", "export", "dev", "--with-hashes"]);

    let ran = stage.ctl_reading(&["toolsets", "import", "-"], exported.out());

    assert_snapshot!(ran);
    assert!(!stage.asked().iter().any(|line| line.starts_with("toolsets/save")));
}

#[test]
fn set_04_toolsets_are_imported_as_the_configuration_file_has_them() {
    let stage = gateway();
    write(
        &stage,
        r#"{"toolsets":{"dev":{"tools":[{"namespacedName":"git.*"}]},"web":{"description":"The web","tools":[{"namespacedName":"docs.*"}]}}}"#,
    );

    let ran = stage.ctl(&["toolsets", "import", "sets.json", "--replace", "--force"]);

    assert_eq!(ran.code, 0, "{ran}");
    let saved: Vec<_> = stage
        .asked()
        .into_iter()
        .filter(|line| line.starts_with("toolsets/save"))
        .collect();
    assert_snapshot!(saved.join("\n"));
}

#[test]
fn set_04_a_dry_run_tells_what_would_be_done_and_does_nothing() {
    let stage = gateway();
    write(
        &stage,
        r#"[{"name":"new","tools":[{"namespacedName":"git.statsu"},{"namespacedName":"docs.*"}]},
           {"name":"dev","tools":[{"namespacedName":"git.status"}]}]"#,
    );

    assert_snapshot!(stage.ctl(&["toolsets", "import", "sets.json", "--dry-run"]));
    assert_snapshot!(stage.ctl(&[
        "toolsets",
        "import",
        "sets.json",
        "--dry-run",
        "--replace",
        "--json"
    ]));
    assert!(!stage.asked().iter().any(|line| line.starts_with("toolsets/save")));
}

#[test]
fn ctl_04_an_import_of_which_nothing_can_be_made_ends_with_1() {
    let stage = Stage::gateway(&[("toolsets/show", 404, NO_TOOLSET), ("toolsets/save", 400, TAKEN)]);
    write(
        &stage,
        r#"{"name":"dev","tools":[{"namespacedName":"git.status"}]}"#,
    );

    assert_snapshot!(stage.ctl(&["toolsets", "import", "sets.json"]));
    assert_eq!(stage.ctl(&["toolsets", "import", "absent.json"]).code, 2);
}

//! Toolsets, projects and switches without a running gateway.

use insta::assert_snapshot;

use crate::stage::Stage;

const CONFIG: &str = r#"{
  "mcpServers": {
    "git": { "command": "uvx", "mcpr": { "tags": ["vcs"] } },
    "git.hub": { "url": "https://example.com/mcp" },
    "docs": { "command": "docs", "disabled": true },
    "jira": { "type": "http" }
  },
  "mcpr": {
    "toolsets": { "web": { "description": "For the web", "tools": [{ "namespacedName": "git.*" }] } },
    "projects": { "shop": { "servers": ["git", "linear"], "toolset": "gone" } }
  }
}"#;

/// A home with a configuration file and no gateway.
fn home() -> Stage {
    let stage = Stage::new();
    std::fs::write(stage.path("mcpr.json"), CONFIG).unwrap();
    stage
}

/// Runs commands that must do what they say.
fn done(stage: &Stage, commands: &[&[&str]]) {
    for words in commands {
        let ran = stage.ctl(words);
        assert_eq!(ran.code, 0, "{ran}");
    }
}

#[test]
fn ctl_02_toolsets_are_kept_without_a_gateway() {
    let stage = home();

    assert_snapshot!(stage.ctl(&["toolsets", "create", "dev", "--tools", "git.status,docs.*"]));
    assert_snapshot!(stage.ctl(&["toolsets", "ls"]));
    assert_snapshot!(stage.ctl(&["toolsets", "show", "dev"]));
    assert_snapshot!(stage.ctl(&["toolsets", "diff", "dev", "web", "-q"]));
    let list = stage.ctl(&["toolsets", "ls", "--json"]).json();
    assert_eq!(list["toolsets"][0].get("tools"), None);
    done(
        &stage,
        &[
            &[
                "toolsets",
                "edit",
                "dev",
                "--add",
                "git.log",
                "--description",
                "Every day",
            ],
            &["toolsets", "create", "dev", "--tools", "git.log", "--replace"],
            &["toolsets", "rm", "dev"],
        ],
    );
    assert_eq!(stage.ctl(&["toolsets", "show", "dev"]).code, 3);
}

#[test]
fn ctl_02_what_is_in_a_file_is_changed_there() {
    let stage = home();

    for words in [
        &["toolsets", "create", "web", "--tools", "a.b", "--replace"][..],
        &["toolsets", "rm", "web"],
        &["projects", "create", "shop", "--replace"],
        &["projects", "rm", "shop"],
    ] {
        let ran = stage.ctl(words);
        assert_eq!(ran.code, 2, "{ran}");
        assert!(ran.stderr.contains("stands in a configuration file"), "{ran}");
    }
    assert_snapshot!(stage.ctl(&["toolsets", "rm", "web"]));
}

#[test]
fn ctl_02_looking_makes_no_database() {
    let stage = home();

    done(
        &stage,
        &[
            &["toolsets", "ls"],
            &["toolsets", "show", "web"],
            &["toolsets", "export", "--all"],
            &["toolsets", "active"],
            &["toolsets", "unequip"],
            &["projects", "ls"],
            &["projects", "show", "shop"],
        ],
    );
    assert_eq!(stage.ctl(&["toolsets", "rm", "dev"]).code, 3);
    assert!(!stage.path("mcpr.db").exists());
}

#[test]
fn set_04_an_export_is_imported_into_another_home() {
    let (one, other) = (home(), Stage::new());
    done(&one, &[&["toolsets", "create", "dev", "--tools", "git.status"]]);
    let exported = one.ctl(&["toolsets", "export", "--all"]);

    let ran = other.ctl_reading(&["toolsets", "import", "-"], exported.out());

    assert_snapshot!(ran);
    assert_eq!(other.ctl(&["toolsets", "export", "--all"]).out(), exported.out());
}

#[test]
fn set_05_a_toolset_is_equipped_without_a_gateway() {
    let stage = home();
    let created = stage
        .ctl(&["tokens", "create", "--name", "laptop", "--json"])
        .json();
    let id = created["id"].as_str().unwrap();

    done(&stage, &[&["toolsets", "equip", "web", "--token", "laptop"]]);
    assert_snapshot!(stage.ctl(&["toolsets", "equip", "web"]));
    let active = stage.ctl(&["toolsets", "active"]).to_string();
    assert_snapshot!(active.replace(id, "ID"));
    let active = stage.ctl(&["toolsets", "active", "--token", id, "--json"]).json();
    assert_eq!(
        (&active["by"], &active["principal"]),
        (&"equipped".into(), &id.into())
    );
    assert_snapshot!(stage.ctl(&["toolsets", "unequip"]));
    assert_snapshot!(stage.ctl(&["toolsets", "unequip"]));
    assert_eq!(stage.ctl(&["toolsets", "active", "--json"]).json()["by"], "all");
}

#[test]
fn set_05_what_decides_is_told_without_a_gateway_too() {
    let stage = home();
    done(
        &stage,
        &[
            &["toolsets", "create", "dev", "--tools", "git.status"],
            &[
                "projects",
                "create",
                "team",
                "--servers",
                "git",
                "--toolset",
                "dev",
            ],
            &["tokens", "create", "--name", "bound", "--toolset", "dev"],
            &["tokens", "create", "--name", "member", "--project", "team"],
            &["tokens", "create", "--name", "free"],
            &["toolsets", "equip", "web"],
        ],
    );

    for (name, by) in [("bound", "token"), ("member", "project"), ("free", "default")] {
        let ran = stage.ctl(&["toolsets", "active", "--token", name, "--json"]);
        assert_eq!(ran.json()["by"], by, "{ran}");
    }
}

#[test]
fn ctl_04_a_toolset_in_use_is_deleted_by_force_only() {
    let stage = home();
    done(
        &stage,
        &[
            &["toolsets", "create", "dev", "--tools", "git.status"],
            &["toolsets", "equip", "dev"],
        ],
    );

    assert_snapshot!(stage.ctl(&["toolsets", "rm", "dev"]));
    done(&stage, &[&["toolsets", "rm", "dev", "--force"]]);
    assert_eq!(stage.ctl(&["toolsets", "active", "--json"]).json()["by"], "all");
}

#[test]
fn prj_01_projects_are_kept_without_a_gateway() {
    let stage = home();

    assert_snapshot!(stage.ctl(&["projects", "create", "team", "--servers", "docs", "--tags", "vcs"]));
    assert_snapshot!(stage.ctl(&["projects", "ls"]));
    done(
        &stage,
        &[
            &["projects", "edit", "team", "--remove", "docs"],
            &["projects", "rm", "team"],
        ],
    );
    assert_snapshot!(stage.ctl(&["projects", "show", "shpo"]));
}

#[test]
fn agg_13_servers_are_switched_without_a_gateway() {
    let stage = home();

    assert_snapshot!(stage.ctl(&["servers", "enable", "docs", "jira"]));
    assert_snapshot!(stage.ctl(&["servers", "disable", "git", "gti"]));
    assert_snapshot!(stage.ctl(&["servers", "disable", "gti"]));
}

#[test]
fn agg_13_tools_are_switched_and_renamed_without_a_gateway() {
    let stage = home();

    assert_snapshot!(stage.ctl(&["tools", "disable", "git.status", "git.hub.search"]));
    assert_snapshot!(stage.ctl(&["tools", "rename", "git.status", "state"]));
    assert_snapshot!(stage.ctl(&["tools", "enable", "state"]));
    assert_snapshot!(stage.ctl(&["tools", "override", "git.status", "--reset", "--json"]));
    assert_snapshot!(stage.ctl(&["tools", "rename", "git.status", "a b"]));
    assert_snapshot!(stage.ctl(&["tools", "disable", "status"]));
}

#[test]
fn ctl_04_names_that_cannot_be_names_are_refused_without_a_gateway_too() {
    let stage = home();

    for words in [
        &["toolsets", "create", " a", "--tools", "a.b"][..],
        &["toolsets", "create", "a", "--tools", "a.b,"],
        &["projects", "create", "a/b"],
    ] {
        let ran = stage.ctl(words);
        assert_eq!(ran.code, 2, "{ran}");
        assert_snapshot!(ran);
    }
}

#[test]
fn ctl_02_a_broken_configuration_is_told_with_7() {
    let stage = Stage::new();
    std::fs::write(stage.path("mcpr.json"), "{").unwrap();

    let ran = stage.ctl(&["toolsets", "ls"]);

    assert_eq!(ran.code, 7, "{ran}");
    assert_eq!(stage.ctl(&["tokens", "ls"]).code, 0);
}

#[test]
fn ctl_04_what_only_a_gateway_knows_ends_with_5_without_one() {
    let stage = home();

    for words in [
        &["tools", "ls"][..],
        &["tools", "search", "x"],
        &["explain", "t"],
        &["servers", "show", "git"],
        &["servers", "restart", "git"],
        &["toolsets", "accept", "web"],
        &["reload"],
        &["drain"],
    ] {
        let ran = stage.ctl(words);
        assert_eq!(ran.code, 5, "{ran}");
        assert!(ran.stderr.contains("start one with `mcpr-gateway`"), "{ran}");
    }
}

#[test]
fn ctl_02_a_gateway_that_was_named_is_not_replaced_by_files() {
    let stage = home();
    let socket = stage.path("other.sock");

    for words in [
        &["toolsets", "ls"][..],
        &["projects", "create", "a"],
        &["servers", "disable", "git"],
    ] {
        let ran = stage.ctl(&[words, &["--socket", socket.to_str().unwrap()]].concat());
        assert_eq!(ran.code, 5, "{ran}");
    }
    assert!(!stage.path("mcpr.db").exists());
}

//! What helps: completions, man pages, errors of usage, the version.

use insta::assert_snapshot;
use serde_json::Value;

use crate::stage::Stage;

#[test]
fn every_shell_gets_its_completions() {
    let stage = Stage::new();

    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ran = stage.run(&["completions", shell]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran}");
        assert!(ran.stdout.contains("MCPR_COMPLETE"), "{ran}");
    }
    let asking = stage
        .set("MCPR_COMPLETE", "bash")
        .set("_CLAP_COMPLETE_INDEX", "1");
    let words = |typed| asking.run(&["--", "mcpr-gateway", typed]).stdout;
    assert_eq!(words("c"), "connect\ncheck\ncompletions");
    assert!(!words("").contains("__"));
    assert_eq!(
        words("--log"),
        "--log-level\n--log-format\n--log-file\n--log-memory"
    );
}

#[test]
fn every_command_has_a_man_page() {
    let stage = Stage::new();

    let ran = stage.run(&["man", "share/man1"]);

    assert_eq!(ran.code, 0, "{ran}");
    for page in [
        "mcpr-gateway.1",
        "mcpr-gateway-serve.1",
        "mcpr-gateway-completions.1",
    ] {
        let text = std::fs::read_to_string(stage.path("share/man1").join(page)).unwrap();
        assert!(
            text.contains(".SH NAME") && text.contains(".SH SYNOPSIS"),
            "{page}: {text}"
        );
    }
}

#[test]
fn a_command_line_that_makes_no_sense_says_why() {
    let stage = Stage::new();
    let ran = [
        &["serv"][..],
        &["--prot", "1"],
        &["--port", "99999"],
        &["--listen", "nowhere"],
        &["--log-level", "loud"],
        &["--no-auth", "--listen", "0.0.0.0"],
    ]
    .map(|words| stage.run(words));

    assert!(ran.iter().all(|ran| ran.code == 2));
    assert_snapshot!(ran.map(|ran| ran.to_string()).join("\n\n"));
}

#[test]
fn the_version_is_told_to_people_and_to_scripts() {
    let stage = Stage::new();

    let flag = stage.run(&["--version"]);
    let people = stage.run(&["version"]);
    let scripts: Value = serde_json::from_str(&stage.run(&["version", "--json"]).stdout).unwrap();

    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(flag.stdout, format!("mcpr-gateway {version}\n"));
    assert_eq!(people.stdout, flag.stdout);
    assert_eq!(scripts["version"], version);
    assert_eq!(scripts["protocols"][4], "2026-07-28");
}

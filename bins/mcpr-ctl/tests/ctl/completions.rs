//! What shells are told when somebody presses Tab, and the man pages.

use std::fs;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use insta::assert_snapshot;

use crate::samples::{PROJECTS, PROMPTS, SERVERS, TOKENS, TOOLS, TOOLSETS};
use crate::stage::Stage;

/// What can follow these words, the last of which is not complete.
fn completed(stage: Stage, words: &[&str]) -> String {
    let stage = stage
        .set("MCPR_COMPLETE", "bash")
        .set("_CLAP_COMPLETE_INDEX", words.len().to_string());
    let ran = stage.ctl(&[&["--", "mcpr-ctl"], words].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran}");
    let names: Vec<_> = ran.out().lines().filter(|name| !name.starts_with('-')).collect();
    names.join(" ")
}

fn running() -> Stage {
    Stage::gateway(&[
        ("servers/list", 200, SERVERS),
        ("tools/list", 200, TOOLS),
        ("prompts/list", 200, PROMPTS),
        ("toolsets/list", 200, TOOLSETS),
        ("projects/list", 200, PROJECTS),
        ("tokens/list", 200, TOKENS),
    ])
}

#[test]
fn ctl_04_names_are_those_of_the_running_gateway() {
    for (words, names) in [
        (&["servers", "restart", ""][..], "git docs"),
        (&["servers", "restart", "git", "d"], "docs"),
        (&["tools", "ls", "--server", "g"], "git"),
        (&["tools", "call", "git_"], "git_status git_push"),
        (
            &["toolsets", "create", "dev", "--tools", "git.status,d"],
            "git.status,docs.search",
        ),
        (&["prompts", "get", ""], "git_review"),
        (&["toolsets", "show", "d"], "dev"),
        (&["projects", "edit", "w"], "web"),
        (&["tokens", "revoke", "tk_7"], "tk_7h2k9qmd"),
        (&["tokens", "rotate", "tk_7"], "tk_7h2k9qmd"),
        (&["tokens", "create", "--servers", "g"], "git"),
        (&["tokens", "create", "--tools", "docs."], "docs.search"),
        (&["servers", "add", ""], ""),
        (&["clients", "print", "cl"], "claude-code claude-desktop cline"),
        (&["stat"], "status"),
    ] {
        assert_eq!(completed(running(), words), names, "{words:?}");
    }
}

#[test]
fn ctl_04_without_a_gateway_or_with_a_silent_one_there_are_no_names_and_no_complaints() {
    assert_eq!(completed(Stage::new(), &["servers", "show", ""]), "");

    let silent = Stage::new();
    let listener = UnixListener::bind(silent.path("ctl.sock")).unwrap();
    assert_eq!(completed(silent, &["servers", "show", ""]), "");
    drop(listener);
}

#[test]
fn ctl_04_the_gateway_that_is_typed_is_the_one_that_is_asked() {
    let elsewhere = running();
    let socket = elsewhere.path("ctl.sock");
    let socket = socket.to_str().unwrap();

    let after = completed(Stage::new(), &["--socket", socket, "servers", "show", ""]);
    let before = completed(Stage::new(), &["servers", "show", "--socket", socket, ""]);

    assert_eq!((&*after, &*before), ("git docs", "git docs"));
}

#[test]
fn ctl_04_shells_that_can_show_it_are_told_what_a_name_means() {
    let stage = running().set("MCPR_COMPLETE", "fish");

    let ran = stage.ctl(&["--", "mcpr-ctl", "tools", "call", "d"]);

    assert_eq!(ran.out(), "docs_search\tSearch[31m the docs\n");
}

#[test]
fn ctl_04_every_shell_gets_its_script() {
    let stage = Stage::new();

    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ran = stage.ctl(&["completions", shell]);
        assert_eq!(ran.code, 0, "{ran}");
        assert!(ran.out().contains("MCPR_COMPLETE"), "{ran}");
    }
    assert_snapshot!(stage.ctl(&["completions", "tcsh"]));
}

#[test]
fn ctl_04_bash_completes_with_its_script() {
    if !Path::new("/bin/bash").exists() {
        return;
    }
    let stage = running();
    let script = r#"
        source <(mcpr-ctl completions bash)
        COMP_WORDS=(mcpr-ctl servers show d) COMP_CWORD=3 COMP_TYPE=9
        _clap_complete_mcpr_ctl mcpr-ctl d show
        printf '[%s]' "${COMPREPLY[@]}""#;
    let folder = Path::new(env!("CARGO_BIN_EXE_mcpr-ctl")).parent().unwrap();

    let mut bash = Command::new("/bin/bash");
    bash.args(["--norc", "-c", script]).env_clear();
    bash.env("PATH", format!("{}:/usr/bin:/bin", folder.display()));
    let output = bash.env("MCPR_HOME", stage.path("")).output().unwrap();

    assert_eq!(String::from_utf8(output.stdout).unwrap(), "[docs]");
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

#[test]
fn ctl_04_every_command_has_a_man_page() {
    let stage = Stage::new();

    let ran = stage.ctl(&["man", "share/man1"]);

    let pages = fs::read_dir(stage.path("share/man1")).unwrap();
    let mut pages: Vec<_> = pages.map(|page| page.unwrap().path()).collect();
    pages.sort();
    for page in &pages {
        let text = fs::read_to_string(page).unwrap();
        assert!(
            text.contains(".SH NAME") && text.contains(".SH SYNOPSIS"),
            "{}",
            page.display()
        );
    }
    let names: Vec<_> = pages
        .iter()
        .map(|page| page.file_name().unwrap().to_str().unwrap())
        .collect();
    assert!(
        ["mcpr-ctl.1", "mcpr-ctl-servers-add.1"]
            .iter()
            .all(|name| names.contains(name)),
        "{names:?}"
    );
    assert!(!names.iter().any(|name| name.contains("guardian")), "{names:?}");
    assert_snapshot!(ran);
}

#[test]
fn ctl_04_man_pages_that_cannot_be_written_are_a_failure() {
    let stage = Stage::new();
    fs::write(stage.path("taken"), "").unwrap();

    assert_snapshot!(stage.ctl(&["man", "taken"]));
}

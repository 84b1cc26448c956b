//! Secrets: typed without being shown or piped in, kept encrypted, and listed without their values.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Stdio};

use insta::assert_snapshot;
use rustix::termios::{LocalModes, tcgetattr};
use serde_json::json;

use crate::online::value;
use crate::stage::Stage;
use crate::terminal::{shown_on, shown_until, terminal};

const SECRETS: &str = r#"{"secrets":[{"name":"github","state":"unset","usedBy":["github"]},{"name":"jira-token","state":"set","changed":"2027-01-15T08:00:00Z","usedBy":["jira","wiki"]},{"name":"old","state":"set","changed":"2027-01-15T08:00:00Z","usedBy":[]}]}"#;

const KEPT: &str =
    r#"{"name":"jira-token","state":"set","changed":"2027-01-15T08:00:00Z","usedBy":["jira","wiki"]}"#;

const GONE: &str = r#"{"name":"jira-token","state":"unset","usedBy":["jira","wiki"]}"#;

/// `secrets set` on a terminal, of which the other end is given, and the program's end again.
fn at_a_terminal(stage: &Stage) -> (Child, File, File) {
    let (terminal, end) = terminal();
    let end = File::from(end);
    let mut command = stage.command(&["secrets", "set", "jira-token"]);
    let shown = || Stdio::from(end.try_clone().unwrap());
    command.stdin(shown()).stderr(shown());
    (command.spawn().unwrap(), terminal.into(), end)
}

#[test]
fn cfg_03_what_is_piped_in_is_kept_by_the_gateway() {
    let stage = Stage::gateway(&[("secrets/set", 200, KEPT)]);

    let ran = stage.ctl_reading(&["secrets", "set", "jira-token"], "hunter2\n");

    assert_snapshot!(ran);
    assert_eq!(
        stage.asked(),
        [r#"secrets/set {"name":"jira-token","value":"hunter2"}"#]
    );
    let scripts = stage.ctl_reading(&["secret", "set", "jira-token", "--json"], "two\nlines\r\n");
    assert_eq!(scripts.json(), value(KEPT));
    assert!(stage.asked()[1].contains(r#""two\nlines""#));
}

#[test]
fn log_04_at_a_terminal_what_is_typed_is_not_shown() {
    let stage = Stage::gateway(&[("secrets/set", 200, KEPT)]);
    let (mut child, mut terminal, end) = at_a_terminal(&stage);
    let mut shown = shown_until(&mut terminal, "Value of jira-token (it is not shown):");
    assert!(!tcgetattr(&end).unwrap().local_modes.contains(LocalModes::ECHO));

    terminal.write_all(b"hunter2\n").unwrap();

    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(
        tcgetattr(&end)
            .unwrap()
            .local_modes
            .contains(LocalModes::ECHO | LocalModes::ISIG)
    );
    drop(end);
    shown += &shown_on(terminal.into());
    assert!(!shown.contains("hunter2"), "{shown}");
    assert_eq!(
        stage.asked(),
        [r#"secrets/set {"name":"jira-token","value":"hunter2"}"#]
    );
}

#[test]
fn ctl_01_ctrl_c_keeps_nothing_and_gives_the_terminal_back() {
    let stage = Stage::gateway(&[]);
    let (mut child, mut terminal, end) = at_a_terminal(&stage);
    shown_until(&mut terminal, "(it is not shown):");

    terminal.write_all(b"hunt\x03").unwrap();

    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(tcgetattr(&end).unwrap().local_modes.contains(LocalModes::ECHO));
    assert!(stage.asked().is_empty());
}

#[test]
fn log_04_a_value_on_the_command_line_is_refused_and_not_repeated() {
    let stage = Stage::new();

    let ran = stage.ctl(&["secrets", "set", "jira-token", "hunter2"]);

    assert_eq!(ran.code, 2, "{ran}");
    assert!(!ran.stderr.contains("hunter2"), "{ran}");
    assert!(ran.stderr.contains("not taken from the command line"), "{ran}");
    assert!(!stage.path("secrets.json").exists());
}

#[test]
fn ctl_04_what_cannot_be_a_secret_is_refused_before_anybody_is_asked() {
    let stage = Stage::gateway(&[]);
    let told = |name: &str, input: &str| stage.ctl_reading(&["secrets", "set", name], input);

    let refused = [
        told("../x", "v"),
        told("a", ""),
        told("a", "\n"),
        told("a", "a\0b"),
    ];

    assert!(refused.iter().all(|ran| ran.code == 2));
    let lines = refused.map(|ran| ran.stderr).concat();
    assert_snapshot!(lines);
    assert!(stage.asked().is_empty());
}

#[test]
fn ctl_01_secrets_are_listed_with_those_who_ask_for_them() {
    let stage = Stage::gateway(&[("secrets/list", 200, SECRETS)]);

    assert_snapshot!(stage.ctl(&["secrets", "ls"]));
    assert_eq!(stage.ctl(&["secrets", "ls", "--json"]).json(), value(SECRETS));
}

#[test]
fn ctl_01_a_secret_is_removed_and_who_lacks_it_then_is_told() {
    let stage = Stage::gateway(&[("secrets/remove", 200, GONE)]);

    assert_snapshot!(stage.ctl(&["secrets", "rm", "jira-token"]));
}

#[test]
fn cfg_03_without_a_gateway_secrets_are_kept_encrypted_for_the_next() {
    let stage = Stage::new();
    let config =
        json!({ "mcpServers": { "jira": { "command": "x", "env": { "T": "${secret:jira-token}" } } } });
    std::fs::write(stage.path("mcpr.json"), config.to_string()).unwrap();
    assert_eq!(
        stage.ctl(&["secrets", "ls", "--json"]).json()["secrets"][0]["state"],
        "unset"
    );

    let set = stage.ctl_reading(&["secrets", "set", "jira-token"], "hunter2");

    assert_snapshot!(set);
    for file in ["secrets.json", "secrets.key"] {
        let mode = std::fs::metadata(stage.path(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
        assert!(
            !std::fs::read_to_string(stage.path(file))
                .unwrap()
                .contains("hunter2")
        );
    }
    let listed = stage.ctl(&["secrets", "ls", "--json"]).json();
    assert_eq!(
        (&listed["secrets"][0]["state"], &listed["secrets"][0]["usedBy"]),
        (&json!("set"), &json!(["jira"]))
    );
    assert_eq!(
        stage.ctl(&["config", "check", "--json"]).json()["servers"][0]["state"],
        "not_found"
    );
    assert_snapshot!(stage.ctl(&["secrets", "rm", "jira"]));
    assert_eq!(stage.ctl(&["secrets", "rm", "jira-token"]).code, 0);
    assert_eq!(
        stage.ctl(&["secrets", "ls", "--json"]).json()["secrets"][0]["state"],
        "unset"
    );
}

#[test]
fn ctl_04_a_lost_key_is_told_and_costs_nothing_more() {
    let stage = Stage::new();
    stage.ctl_reading(&["secrets", "set", "a"], "hunter2");
    std::fs::remove_file(stage.path("secrets.key")).unwrap();

    let set = stage.ctl_reading(&["secrets", "set", "b"], "other");

    if cfg!(feature = "keyring") {
        // The key might be in a keyring, of which there is none here.
        assert!(
            set.stderr.contains("the keyring of the system") && set.code == 1,
            "{set}"
        );
    } else {
        assert_snapshot!(set);
    }
    assert_eq!(stage.ctl(&["secrets", "rm", "a"]).code, 0);
    assert_eq!(stage.ctl_reading(&["secrets", "set", "b"], "other").code, 0);
}

#[test]
fn ctl_01_the_doctor_names_secrets_that_are_not_set_or_not_used() {
    let stage = Stage::new();
    let config =
        json!({ "mcpServers": { "jira": { "command": "sh", "env": { "T": "${secret:jira-token}" } } } });
    std::fs::write(stage.path("mcpr.json"), config.to_string()).unwrap();
    stage.ctl_reading(&["secrets", "set", "old"], "hunter2");
    let told = |stage: &Stage| {
        let all = stage.ctl(&["doctor", "--json"]).json()["checks"].clone();
        let mine = all
            .as_array()
            .unwrap()
            .iter()
            .filter(|check| check["check"] == "secrets");
        mine.map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };

    assert_snapshot!(told(&stage));

    stage.ctl(&["secrets", "rm", "old"]);
    stage.ctl_reading(&["secrets", "set", "jira-token"], "hunter2");
    assert!(
        told(&stage).contains("1 secret that servers ask for can be read"),
        "{}",
        told(&stage)
    );
}

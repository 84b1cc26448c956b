//! `${secret:NAME}`, and what is known of secrets without their values.

use super::*;
use crate::{SecretPlace, SecretUse};

const ENTRY: &str = r#"{"command": "x", "args": ["${secret:t}"]}"#;

#[test]
fn cfg_03_a_secret_that_was_set_comes_after_a_credential_and_before_a_file() {
    let file = || Fixed::default().file("/home/ann/.config/mcpr/secrets/t", "file\n");
    let kept = || file().secret("t", "kept\nas it is\n");
    let credential = kept()
        .with("CREDENTIALS_DIRECTORY", "/run/cred")
        .file("/run/cred/t", "credential");

    assert_eq!(process(&server_in(file(), ENTRY)).args, ["file"]);
    assert_eq!(process(&server_in(kept(), ENTRY)).args, ["kept\nas it is\n"]);
    assert_eq!(process(&server_in(credential, ENTRY)).args, ["credential"]);
}

#[test]
fn log_04_a_secret_that_was_set_is_known_as_one_that_must_not_be_shown() {
    let entry = server_in(Fixed::default().secret("t", "hunter2hunter2"), ENTRY);

    assert_eq!(entry.shown, "x ${secret:t}");
    assert_eq!(entry.secrets[0].reveal(), "hunter2hunter2");
    assert!(!format!("{entry:?}").contains("hunter2"), "{entry:?}");
}

#[test]
fn cfg_03_a_secret_that_is_not_there_names_the_command_that_sets_it() {
    let told = reason(&server(ENTRY));

    assert!(told.contains("the secret `t`, which does not exist"), "{told}");
    assert!(told.contains("run `mcpr-ctl secrets set t`"), "{told}");
}

#[test]
fn ctl_01_what_is_kept_and_what_is_asked_for_is_known_with_the_servers_that_ask() {
    let text = r#"{"mcpServers": {
        "b": {"command": "x", "env": {"A": "${secret:one}", "B": "${secret:one}${input:two}"}},
        "a": {"type": "http", "url": "http://h/mcp", "headers": {"X": "Bearer ${secret:one}"}},
        "off": {"command": "x", "disabled": true, "args": ["${secret:file}"]}}}"#;
    let env = || {
        Fixed::default()
            .secret("one", "1")
            .secret("unused", "2")
            .file("/home/ann/.config/mcpr/secrets/file", "3")
    };
    let config = load_in(env(), text).unwrap();
    let locations = Locations::from_env(&[FILE.into()], &env()).unwrap();

    let all = SecretUse::all(&config.servers, &locations.secrets, &env()).unwrap();

    let told: Vec<_> = all
        .iter()
        .map(|uses| (uses.name.as_str(), uses.place, uses.used_by.join(" ")))
        .collect();
    assert_eq!(
        told,
        [
            ("file", Some(SecretPlace::File), "off".to_owned()),
            ("one", Some(SecretPlace::Kept), "b a".to_owned()),
            ("two", None, "b".to_owned()),
            ("unused", Some(SecretPlace::Kept), String::new()),
        ]
    );
}

#[test]
fn cfg_03_what_others_may_read_is_no_value_for_a_server_and_for_nobody_who_asks() {
    let env = || Fixed::default().shared_file("/home/ann/.config/mcpr/secrets/t", "open");
    let config = load_in(env(), &format!(r#"{{"mcpServers": {{"s": {ENTRY}}}}}"#)).unwrap();
    let locations = Locations::from_env(&[FILE.into()], &env()).unwrap();

    let all = SecretUse::all(&config.servers, &locations.secrets, &env()).unwrap();

    assert!(reason(&config.servers[0]).contains("others may read it"));
    let known = SecretUse::one(all, "t".to_owned());
    assert_eq!((known.place, known.used_by), (None, vec!["s".to_owned()]));
    assert_eq!(SecretUse::one(Vec::new(), "x".to_owned()).name, "x");
}

#[test]
fn cfg_05_a_secret_that_is_set_changes_what_the_places_hold() {
    let vault = "/home/ann/.local/share/mcpr/secrets.json";
    let env = |content: &str| {
        Fixed::default()
            .file("/base/mcpr.json", "{}")
            .file(vault, content)
    };
    let locations = Locations::from_env(&[FILE.into()], &env("1")).unwrap();
    let read = Config::load(&locations, &env("1")).unwrap().contents;

    assert_eq!(read.now(&env("1")), read);
    assert_ne!(read.now(&env("2")), read);
    assert_ne!(read.now(&Fixed::default().file("/base/mcpr.json", "{}")), read);
}

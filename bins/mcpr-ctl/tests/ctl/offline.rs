//! Tokens without a running gateway, and how every other command ends then.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::process::{Command, Stdio};

use insta::assert_snapshot;

use crate::stage::Stage;

/// Makes a token and gives its id.
fn create(stage: &Stage, words: &[&str]) -> String {
    let ran = stage.ctl(&[&["tokens", "create", "--json"], words].concat());
    assert_eq!(ran.code, 0, "{ran}");
    ran.json()["id"].as_str().unwrap().to_owned()
}

#[test]
fn http_03_a_token_is_made_without_a_gateway_and_only_its_text_is_data() {
    let stage = Stage::new();

    let ran = stage.ctl(&["tokens", "create", "--client", "claude-code"]);

    let secret = ran.out().trim_end();
    assert!(secret.starts_with("mcpr_pat_") && secret.len() == 47, "{ran}");
    for part in [
        "shown once",
        "id tk_",
        "name claude-code",
        "scopes read,call",
        "no gateway is running",
    ] {
        assert!(ran.stderr.contains(part), "{part}: {ran}");
    }
    assert!(!ran.stderr.contains(secret));
    assert_eq!(stage.ctl(&["tokens", "create", "--name", "a", "-q"]).stderr, "");
}

#[test]
fn http_03_what_is_known_of_a_token_is_listed_and_its_text_is_not() {
    let stage = Stage::new();
    let words = [
        "--name",
        "laptop",
        "--client",
        "cursor",
        "--scope",
        "read",
        "--expires",
        "90d",
    ];
    let id = create(&stage, &words);

    let list = stage.ctl(&["tokens", "ls", "--json"]).json();

    let token = &list["tokens"][0];
    assert_eq!(token["id"], id.as_str());
    let facts = ["name", "client", "kind", "state"].map(|fact| token[fact].as_str().unwrap());
    assert_eq!(facts, ["laptop", "cursor", "pat", "active"]);
    assert_eq!(token["scopes"], serde_json::json!(["read"]));
    assert!(token["expires"].as_str() > token["created"].as_str());
    assert_eq!(token.get("secret"), None);
}

#[test]
fn prj_02_a_token_is_limited_to_a_project_and_a_toolset() {
    let stage = Stage::new();

    let ran = stage.ctl(&[
        "tokens",
        "create",
        "--name",
        "a",
        "--project",
        "web",
        "--toolset",
        "dev",
    ]);

    assert_eq!(ran.code, 0, "{ran}");
    for absent in ["there is no project `web`", "there is no toolset `dev`"] {
        assert!(ran.stderr.contains(absent), "{ran}");
    }
    let token = &stage.ctl(&["tokens", "ls", "--json"]).json()["tokens"][0];
    assert_eq!(
        (&token["project"], &token["toolset"]),
        (&"web".into(), &"dev".into())
    );
}

#[test]
fn sec_02_an_operator_s_token_is_of_its_own_kind() {
    let stage = Stage::new();

    let made = stage
        .ctl(&["tokens", "create", "--name", "ops", "--scope", "admin", "--json"])
        .json();

    assert!(made["secret"].as_str().unwrap().starts_with("mcpr_adm_"));
    assert_eq!(made["kind"], "adm");
}

#[test]
fn sec_02_a_token_is_revoked_by_name_or_id_and_stays_listed() {
    let stage = Stage::new();
    let id = create(&stage, &["--name", "laptop"]);
    create(&stage, &["--name", "ci"]);

    let by_name = stage.ctl(&["tokens", "revoke", "ci"]);
    let by_id = stage.ctl(&["tokens", "revoke", &id, "--json"]);

    assert!(
        by_name.out().starts_with("revoked tk_") && by_name.out().ends_with(" (ci)\n"),
        "{by_name}"
    );
    assert_eq!(by_id.json()["state"], "revoked");
    let states = stage.ctl(&["tokens", "ls", "--json"]).json();
    assert!(
        states["tokens"]
            .as_array()
            .unwrap()
            .iter()
            .all(|token| token["state"] == "revoked")
    );
}

#[test]
fn sec_02_a_token_is_limited_and_rotated_without_a_gateway() {
    let stage = Stage::new();
    let words = ["--servers", "git,docs", "--tools", "git.*", "--rate", "10/s"];
    let id = create(&stage, &[&["--name", "ci"][..], &words].concat());

    let rotated = stage
        .ctl(&["tokens", "rotate", "ci", "--grace", "7d", "--json"])
        .json();
    let at_once = stage.ctl(&["tokens", "rotate", &id, "--grace", "0"]);

    assert_eq!(rotated["id"], id.as_str());
    assert_eq!(rotated["servers"], serde_json::json!(["git", "docs"]));
    assert_eq!(
        (&rotated["tools"][0], &rotated["rate"]),
        (&"git.*".into(), &"10/s".into())
    );
    assert!(rotated["retiring"]["until"].as_str() > rotated["rotated"].as_str());
    assert!(at_once.stderr.contains("is refused from now on"), "{at_once}");
    let list = stage.ctl(&["tokens", "ls", "--json"]).json();
    let [token] = &list["tokens"].as_array().unwrap()[..] else {
        panic!("{list}")
    };
    assert!(
        at_once.out().starts_with(token["prefix"].as_str().unwrap()),
        "{at_once}"
    );
    assert_eq!((token.get("retiring"), &token["state"]), (None, &"active".into()));
    stage.ctl(&["tokens", "revoke", "ci"]);
    assert_snapshot!(stage.ctl(&["tokens", "rotate", "cii"]));
    let over = stage.ctl(&["tokens", "rotate", "ci"]);
    assert_eq!(over.code, 2, "{over}");
    assert!(
        over.stderr.contains("is no longer accepted; make a new one"),
        "{over}"
    );
}

#[test]
fn sec_02_the_database_is_for_its_owner_s_eyes_only_and_holds_no_text() {
    let stage = Stage::new();
    let ran = stage.ctl(&["tokens", "create", "--name", "laptop"]);

    let mode = std::fs::metadata(stage.path("mcpr.db"))
        .unwrap()
        .permissions()
        .mode();
    let content = std::fs::read(stage.path("mcpr.db")).unwrap();

    let secret = &ran.out().as_bytes()[9..41];
    assert_eq!(mode & 0o777, 0o600);
    assert!(!content.windows(secret.len()).any(|bytes| bytes == secret));
}

#[test]
fn ctl_02_looking_for_tokens_makes_no_database() {
    let stage = Stage::new();

    assert_snapshot!(stage.ctl(&["tokens", "ls"]));
    assert_snapshot!(stage.ctl(&["tokens", "revoke", "laptop", "--json"]));
    assert!(!stage.path("mcpr.db").exists());
}

#[test]
fn ctl_04_a_name_that_two_tokens_have_revokes_neither() {
    let stage = Stage::new();
    let [one, two] = [
        create(&stage, &["--name", "ci"]),
        create(&stage, &["--name", "ci"]),
    ];

    let ran = stage.ctl(&["tokens", "revoke", "ci"]);

    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.stderr.contains(&one) && ran.stderr.contains(&two), "{ran}");
}

#[test]
fn ctl_04_a_database_that_is_none_is_explained() {
    let stage = Stage::new();
    std::fs::write(
        stage.path("mcpr.db"),
        "this is a text file and no database at all",
    )
    .unwrap();

    assert_snapshot!(stage.ctl(&["tokens", "create", "--name", "a"]));
}

#[test]
fn ctl_04_without_a_gateway_every_other_command_ends_with_5_and_says_how_to_start_one() {
    let stage = Stage::new();

    for words in [
        &["status"][..],
        &["servers", "ls"],
        &["tools", "ls"],
        &["tools", "show", "t"],
        &["tools", "call", "t"],
        &["resources", "ls"],
        &["resources", "read", "u"],
        &["prompts", "ls"],
        &["prompts", "get", "p"],
        &["stop"],
    ] {
        let ran = stage.ctl(words);
        assert_eq!(ran.code, 5, "{ran}");
        assert!(ran.stderr.contains("start one with `mcpr-gateway`"), "{ran}");
    }
    assert_snapshot!(stage.ctl(&["status"]));
    assert_snapshot!(stage.ctl(&["status", "--json"]));
}

#[test]
fn ctl_02_a_gateway_that_was_named_is_not_replaced_by_the_database() {
    let stage = Stage::new();
    let socket = stage.path("other.sock");

    assert_snapshot!(stage.ctl(&["tokens", "ls", "--socket", socket.to_str().unwrap()]));
    assert_eq!(
        stage
            .ctl(&[
                "tokens",
                "create",
                "--name",
                "a",
                "--gateway",
                "http://127.0.0.1:1"
            ])
            .code,
        5
    );
    assert!(!stage.path("mcpr.db").exists());
}

/// Has the home as a gateway has it that runs in this process, until the file is dropped.
fn claim(stage: &Stage) -> File {
    let mut lock = File::create(stage.path("mcpr.lock")).unwrap();
    lock.lock().unwrap();
    writeln!(lock, "{}", std::process::id()).unwrap();
    lock
}

#[test]
fn ctl_02_a_gateway_that_runs_without_its_socket_is_not_said_to_be_absent() {
    let stage = Stage::new();
    let lock = claim(&stage);
    let runs = format!(
        "a gateway runs (process {}) and cannot be reached at {}",
        std::process::id(),
        stage.path("ctl.sock").display()
    );

    let made = stage.ctl(&["tokens", "create", "--name", "ops", "--scope", "admin"]);
    let status = stage.ctl(&["status"]);

    assert!(
        made.code == 0 && made.stderr.contains(&format!("{runs}; used the database")),
        "{made}"
    );
    assert!(status.code == 5 && status.stderr.contains(&runs), "{status}");
    drop(lock);
    let alone = stage.ctl(&["tokens", "ls"]);
    assert!(
        alone.stderr.contains("no gateway is running; used the database"),
        "{alone}"
    );
}

#[test]
fn sec_01_a_token_is_revoked_even_if_the_gateway_hangs() {
    let stage = Stage::new();
    let id = create(&stage, &["--name", "leaked"]);
    let _lock = claim(&stage);
    // Takes connections and never answers, as a process does that was stopped.
    let _hangs = UnixListener::bind(stage.path("ctl.sock")).unwrap();

    let revoked = stage.ctl(&["tokens", "revoke", &id, "--timeout", "200ms"]);
    let list = stage.ctl(&["tokens", "ls", "--json", "--timeout", "200ms"]);
    let made = stage.ctl(&["tokens", "create", "--name", "a", "--timeout", "200ms"]);

    assert!(
        revoked.code == 0 && revoked.stderr.contains("a gateway runs"),
        "{revoked}"
    );
    assert_eq!(list.json()["tokens"][0]["state"], "revoked");
    assert!(made.code != 0 && made.stderr.contains("did not answer"), "{made}");
}

/// A home with a token that is leaked, of a gateway that takes connections and never answers.
fn hung(stage: &Stage) -> (File, UnixListener) {
    create(stage, &["--name", "leaked"]);
    let socket = UnixListener::bind(stage.path("ctl.sock")).unwrap();
    (claim(stage), socket)
}

#[test]
fn sec_02_what_a_gateway_that_hangs_may_still_do_is_not_said_to_have_failed() {
    let stage = Stage::new();
    let _gateway = hung(&stage);
    std::fs::write(stage.path("mcpr.db"), "no database ".repeat(100)).unwrap();

    let revoked = stage.ctl(&["tokens", "revoke", "leaked", "--timeout", "200ms"]);
    let listed = stage.ctl(&["tokens", "ls", "--timeout", "200ms"]);

    assert_eq!((revoked.code, listed.code), (1, 1), "{revoked} {listed}");
    let open = "the gateway did not answer and may still do it; on the disk it was not done: the database";
    assert!(revoked.stderr.contains(open), "{revoked}");
    assert!(revoked.stderr.contains("`mcpr-ctl tokens ls` shows"), "{revoked}");
    assert!(!listed.stderr.contains("may still do it"), "{listed}");
}

#[test]
fn sec_02_a_token_that_is_revoked_meanwhile_counts_as_revoked_though_nothing_can_be_written() {
    let stage = Stage::new();
    let _gateway = hung(&stage);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let path = stage.path("mcpr.db");
    let store = runtime.block_on(mcpr_store::open(path)).unwrap();
    let now = mcpr_auth::Timestamp::now();

    let before = stage.ctl_cramped(0, &["tokens", "revoke", "leaked", "--timeout", "200ms"]);
    runtime.block_on(store.revoke_token("leaked", now)).unwrap();
    let after = stage.ctl_cramped(0, &["tokens", "revoke", "leaked", "--timeout", "200ms"]);

    assert!(
        before.code == 1 && before.stderr.contains("may still do it"),
        "{before}"
    );
    assert!(
        after.code == 0 && after.out().starts_with("revoked tk_"),
        "{after}"
    );
}

#[test]
fn ctl_02_a_home_too_long_for_a_socket_is_looked_after_like_any_other() {
    let stage = Stage::new();
    let home = stage.path(&"h".repeat(200));
    let ran = |words: &[&str]| {
        let mut command = stage.command(words);
        let output = command
            .env("MCPR_HOME", &home)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        (
            output.status.code().unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };

    for words in [
        &["tokens", "create", "--name", "a"][..],
        &["tokens", "ls"],
        &["secrets", "ls"],
    ] {
        let (code, told) = ran(words);
        assert!(
            code == 0 && told.contains("no gateway is running; used"),
            "{words:?} {told}"
        );
    }
    let (code, told) = ran(&["status"]);
    assert!(code == 5 && told.contains("cannot be reached"), "{told}");
    let (code, _) = ran(&[
        "tokens",
        "ls",
        "--socket",
        home.join("ctl.sock").to_str().unwrap(),
    ]);
    assert_eq!(code, 5);
}

#[test]
fn ctl_02_a_pipe_in_the_place_of_the_lock_is_not_waited_for() {
    let stage = Stage::new();
    let made = Command::new("mkfifo").arg(stage.path("mcpr.lock")).status();
    assert!(made.unwrap().success());

    let listed = stage.ctl(&["tokens", "ls"]);

    assert!(
        listed.code == 0 && listed.stderr.contains("no gateway is running"),
        "{listed}"
    );
}

#[test]
fn ctl_02_a_secret_that_is_kept_beside_a_running_gateway_says_so() {
    let stage = Stage::new();
    let _lock = claim(&stage);

    let kept = stage.ctl(&["secrets", "ls"]);

    assert!(kept.stderr.contains("a gateway runs (process"), "{kept}");
}

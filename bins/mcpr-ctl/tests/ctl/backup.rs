//! Copies of what a gateway keeps.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;
use serde_json::json;

use crate::stage::Stage;

/// A home with a token and a secret.
fn kept() -> Stage {
    let stage = Stage::new();
    assert_eq!(stage.ctl(&["tokens", "create", "--name", "laptop"]).code, 0);
    assert_eq!(stage.ctl_reading(&["secrets", "set", "key"], "hunter2").code, 0);
    stage
}

#[test]
fn ctl_01_a_backup_is_for_its_owner_alone_and_brings_everything_back() {
    let stage = kept();

    let ran = stage.ctl(&["backup", "copy.db", "--json"]);

    assert_eq!(ran.code, 0, "{ran}");
    let copy = stage.path("copy.db");
    let size = fs::metadata(&copy).unwrap().len();
    let secrets = stage.path("copy.db.secrets.json");
    assert_eq!(
        ran.json(),
        json!({ "file": copy, "bytes": size, "secrets": secrets })
    );
    for file in [&copy, &secrets] {
        assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let restored = Stage::new();
    fs::copy(&copy, restored.path("mcpr.db")).unwrap();
    fs::copy(&secrets, restored.path("secrets.json")).unwrap();
    fs::copy(stage.path("secrets.key"), restored.path("secrets.key")).unwrap();
    let tokens = |stage: &Stage| stage.ctl(&["tokens", "ls", "--json"]).json();
    assert_eq!(tokens(&restored), tokens(&stage));
    assert_eq!(
        restored.ctl(&["secrets", "ls", "--json"]).json(),
        stage.ctl(&["secrets", "ls", "--json"]).json()
    );
}

#[test]
fn ctl_01_a_backup_says_where_it_is_and_what_is_not_in_it() {
    let stage = kept();

    let ran = stage.ctl(&["backup", "copy.db"]);

    let size = ran
        .out()
        .lines()
        .next()
        .unwrap()
        .rsplit("  ")
        .next()
        .unwrap()
        .to_owned();
    assert_snapshot!(ran.to_string().replace(&size, "SIZE"));
    let usual = stage.ctl(&["backup", "--json"]);
    let file = usual.json()["file"].as_str().unwrap().to_owned();
    let beginning = stage.path("mcpr-20").display().to_string();
    assert!(file.starts_with(&beginning) && file.ends_with("Z.db"), "{file}");
    assert!(fs::metadata(&file).unwrap().len() > 0);
}

#[test]
fn ctl_01_a_backup_speaks_of_the_file_of_the_key_only_where_there_is_one() {
    let stage = kept();
    let told = |ran: &crate::stage::Ran| ran.stderr.contains("keep a copy of");
    assert!(told(&stage.ctl(&["backup", "one.db"])));
    fs::remove_file(stage.path("secrets.key")).unwrap();

    let ran = stage.ctl(&["backup", "two.db"]);

    assert!(ran.code == 0 && !told(&ran), "{ran}");
    assert!(stage.path("two.db.secrets.json").exists());
}

#[test]
fn ctl_04_a_backup_replaces_a_file_only_when_that_is_said_and_never_what_it_copies() {
    let stage = kept();
    fs::write(stage.path("copy.db"), "a diary").unwrap();

    assert_snapshot!(stage.ctl(&["backup", "copy.db"]));
    assert_eq!(fs::read_to_string(stage.path("copy.db")).unwrap(), "a diary");
    assert_snapshot!(stage.ctl(&["backup", "mcpr.db", "--force"]));
    assert_eq!(stage.ctl(&["backup", "copy.db", "--force"]).code, 0);
    assert!(
        fs::read(stage.path("copy.db"))
            .unwrap()
            .starts_with(b"SQLite format 3\0")
    );
}

#[test]
fn ctl_04_nothing_is_written_into_a_file_of_mcpr_itself() {
    let stage = kept();
    fs::write(stage.path("mcpr.json"), "{}").unwrap();
    fs::create_dir(stage.path("secrets")).unwrap();
    fs::write(stage.path("secrets/x"), "hunter2").unwrap();
    let before = stage.ctl(&["tokens", "ls", "--json"]).json();
    for own in [
        "mcpr.db",
        "mcpr.db-wal",
        "mcpr.lock",
        "mcpr.json",
        "secrets.json",
        "secrets.key",
        "secrets/x",
        "./mcpr.db",
    ] {
        for words in [
            &["backup", own, "--force"][..],
            &["history", "export", "--output", own],
            &["toolsets", "export", "--all", "--output", own],
        ] {
            let ran = stage.ctl(words);
            assert!(
                ran.code == 2 && ran.to_string().contains("is a file of mcpr itself"),
                "{words:?} {ran}"
            );
        }
    }
    assert_eq!(stage.ctl(&["tokens", "ls", "--json"]).json(), before);
}

#[test]
fn ctl_04_without_a_database_or_for_a_gateway_elsewhere_there_is_no_backup() {
    let stage = Stage::new();

    assert_snapshot!(stage.ctl(&["backup", "copy.db"]));
    assert_snapshot!(stage.ctl(&["backup", "copy.db", "--gateway", "http://box:3282"]));
    assert!(!stage.path("copy.db").exists());
}

#[test]
fn ctl_04_a_backup_of_a_damaged_database_is_none() {
    let stage = Stage::new();
    fs::write(stage.path("mcpr.db"), "no database ".repeat(100)).unwrap();

    let ran = stage.ctl(&["backup", "copy.db"]);

    assert_eq!(ran.code, 1, "{ran}");
    assert!(
        ran.stderr.contains("mcpr.db` is damaged or not a database"),
        "{ran}"
    );
    assert_eq!(copies(&stage), 0);
}

#[test]
fn ctl_01_a_backup_that_its_disk_does_not_take_names_the_copy_and_leaves_nothing() {
    let stage = kept();
    assert!(fs::metadata(stage.path("mcpr.db")).unwrap().len() > 64 << 10);

    let ran = stage.ctl_cramped(64, &["backup", "copy.db"]);

    assert!(ran.stderr.contains("copy.db` cannot be read or written"), "{ran}");
    assert_eq!((ran.code, copies(&stage)), (1, 0));
}

/// How many files a backup to `copy.db` has left.
fn copies(stage: &Stage) -> usize {
    let files = fs::read_dir(stage.path("")).unwrap().flatten();
    let of_copy = files.filter(|file| file.file_name().to_string_lossy().starts_with("copy.db"));
    of_copy.count()
}

//! What a vault keeps, who can read it, and what becomes of it when something is wrong.
#![expect(clippy::unwrap_used, reason = "a story ends at its first surprise")]

use std::fs;
use std::path::Path;

use mcpr_secrets::{Kept, Vault, VaultError};
use tempfile::TempDir;

fn vault() -> (TempDir, Vault) {
    let folder = tempfile::tempdir().unwrap();
    let vault = Vault::at(folder.path().join("home/secrets.json"));
    (folder, vault)
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path).unwrap().permissions()) & 0o777
}

#[test]
fn cfg_03_a_secret_is_kept_replaced_listed_and_forgotten() {
    let (_folder, vault) = vault();
    assert_eq!(vault.reveal("a").unwrap(), None);
    assert!(vault.list().unwrap().is_empty() && !vault.remove("a").unwrap());

    assert!(!vault.set("b", "first", 1).unwrap());
    assert!(!vault.set("a", "other", 2).unwrap());
    assert!(vault.set("b", "second\nline", 3).unwrap());

    assert_eq!(vault.reveal("b").unwrap().as_deref(), Some("second\nline"));
    let kept = |name: &str, changed| Kept {
        name: name.into(),
        changed,
    };
    assert_eq!(vault.list().unwrap(), [kept("a", 2), kept("b", 3)]);
    assert!(vault.remove("b").unwrap());
    assert_eq!(vault.reveal("b").unwrap(), None);
}

#[cfg(unix)]
#[test]
fn log_04_what_is_on_the_disk_is_for_its_owner_alone_and_says_no_value() {
    let (_folder, vault) = vault();
    vault.set("TOKEN", "hunter2hunter2", 1).unwrap();

    let folder = vault.path().parent().unwrap();
    assert_eq!(mode(folder), 0o700);
    let files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    assert_eq!(files.len(), 3, "secrets, key and lock: {files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
        assert!(
            !fs::read_to_string(&file).unwrap().contains("hunter2"),
            "{}",
            file.display()
        );
    }
}

/// Where there may be a keyring that cannot be asked, the key may be there.
fn is_without_key(error: &VaultError) -> bool {
    #[cfg(feature = "keyring")]
    if matches!(error, VaultError::Keyring(_)) {
        return true;
    }
    matches!(error, VaultError::NoKey { .. })
}

#[test]
fn log_04_without_the_key_nothing_can_be_read_and_nothing_is_overwritten() {
    let (_folder, vault) = vault();
    vault.set("a", "hunter2", 1).unwrap();
    let key = fs::read(vault.key_path()).unwrap();
    fs::remove_file(vault.key_path()).unwrap();

    assert!(is_without_key(&vault.reveal("a").unwrap_err()));
    assert!(is_without_key(&vault.set("b", "new", 2).unwrap_err()));
    assert_eq!(vault.list().unwrap().len(), 1);

    fs::write(vault.key_path(), &key).unwrap();
    #[cfg(unix)]
    {
        assert!(matches!(vault.reveal("a"), Err(VaultError::SharedKey { .. })));
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        fs::set_permissions(vault.key_path(), private).unwrap();
    }
    assert_eq!(vault.reveal("a").unwrap().as_deref(), Some("hunter2"));
}

#[test]
fn log_04_a_key_of_another_vault_is_told_with_the_way_out() {
    let ((_one, vault), (_two, other)) = (vault(), vault());
    vault.set("a", "hunter2", 1).unwrap();
    other.set("a", "else", 1).unwrap();
    fs::copy(other.key_path(), vault.key_path()).unwrap();

    let said = vault.reveal("a").unwrap_err().to_string();

    assert!(said.contains("does not fit the secret `a`"), "{said}");
    assert!(said.contains("mcpr-ctl secrets set a"), "{said}");
}

#[test]
fn a_file_that_no_mcpr_wrote_or_a_newer_one_is_left_as_it_is() {
    let (_folder, vault) = vault();
    vault.set("a", "hunter2", 1).unwrap();
    for (text, newer) in [("half a fi", false), (r#"{"version":2,"vaults":[]}"#, true)] {
        fs::write(vault.path(), text).unwrap();

        let refused = vault.set("b", "x", 2).unwrap_err();

        let told = match newer {
            true => matches!(refused, VaultError::Newer { .. }),
            false => matches!(refused, VaultError::Damaged { .. }),
        };
        assert!(told, "{refused}");
        assert_eq!(fs::read_to_string(vault.path()).unwrap(), text);
    }
}

#[cfg(unix)]
#[test]
fn log_04_a_pipe_in_the_place_of_a_file_is_told_and_not_waited_for() {
    let (_folder, vault) = vault();
    vault.set("a", "hunter2", 1).unwrap();
    let lock = vault.path().with_extension("json.lock");
    let put_pipe = |place: &Path| {
        fs::remove_file(place).unwrap();
        let made = std::process::Command::new("mkfifo").arg(place).status();
        assert!(made.unwrap().success());
    };

    put_pipe(vault.key_path());
    let no_key = vault.reveal("a").unwrap_err();
    put_pipe(&lock);
    let no_turn = vault.set("b", "new", 2).unwrap_err();
    put_pipe(vault.path());
    let refused = [no_key, no_turn, vault.list().unwrap_err()];

    for error in refused {
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert_eq!(cause, "it is no file but a folder, a pipe or a device");
        assert!(error.to_string().contains("move away what has taken"), "{error}");
    }
}

#[test]
fn many_processes_may_set_secrets_at_once_and_none_is_lost() {
    let (_folder, vault) = vault();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let vault = Vault::at(vault.path());
            scope.spawn(move || {
                for number in 0..5 {
                    vault.set(&format!("s{writer}.{number}"), "value", 1).unwrap();
                }
            });
        }
    });

    let names = vault.list().unwrap();
    assert_eq!(names.len(), 20);
    assert!(
        names
            .iter()
            .all(|kept| vault.reveal(&kept.name).unwrap().is_some())
    );
}

#[test]
fn a_copy_has_the_secrets_and_not_the_key_and_is_for_its_owner_alone() {
    let (folder, vault) = vault();
    let copy = folder.path().join("copy.json");
    assert!(!vault.copy_to(&copy).unwrap() && !copy.exists());
    vault.set("a", "hunter2", 1).unwrap();
    fs::write(&copy, "another").unwrap();

    assert!(vault.copy_to(&copy).unwrap());

    assert_eq!(fs::read(&copy).unwrap(), fs::read(vault.path()).unwrap());
    assert!(!copy.with_extension("key").exists());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

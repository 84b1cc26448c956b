//! The key in a keyring that is only of this process.
#![cfg(feature = "keyring")]
#![expect(clippy::unwrap_used, reason = "a story ends at its first surprise")]

use std::path::Path;
use std::sync::Once;

use keyring_core::{Entry, Error, mock};
use mcpr_secrets::{Vault, VaultError};
use tempfile::TempDir;

/// A vault in a process with a keyring.
fn vault() -> (TempDir, Vault) {
    static CHOSEN: Once = Once::new();
    CHOSEN.call_once(|| keyring_core::set_default_store(mock::Store::new().unwrap()));
    let folder = tempfile::tempdir().unwrap();
    let vault = Vault::at(folder.path().join("secrets.json"));
    (folder, vault)
}

/// What the keyring has for the vault at a path.
fn entry(path: &Path) -> Entry {
    Entry::new("mcpr", path.to_str().unwrap()).unwrap()
}

/// Has the keyring refuse the next question about a vault.
fn lock_once(path: &Path) {
    let entry = entry(path);
    let kept: &mock::Cred = entry.as_any().downcast_ref().unwrap();
    kept.set_error(Error::NoStorageAccess("it is locked".into()));
}

#[test]
fn log_04_a_new_key_goes_to_the_keyring_and_opens_the_secrets_again() {
    let (_folder, vault) = vault();

    vault.set("a", "hunter2", 1).unwrap();
    vault.set("b", "more", 2).unwrap();

    assert!(!vault.key_path().exists(), "there is no file with the key");
    assert!(!entry(vault.path()).get_password().unwrap().is_empty());
    let again = Vault::at(vault.path());
    assert_eq!(again.reveal("a").unwrap().as_deref(), Some("hunter2"));
    assert_eq!(again.reveal("b").unwrap().as_deref(), Some("more"));
}

#[test]
fn log_04_a_locked_keyring_is_told_and_costs_no_secret() {
    let (_folder, vault) = vault();
    vault.set("a", "hunter2", 1).unwrap();

    lock_once(vault.path());
    let read = vault.reveal("a").unwrap_err();
    lock_once(vault.path());
    let written = vault.set("b", "more", 2).unwrap_err();

    for error in [read, written] {
        assert!(matches!(error, VaultError::Keyring(_)), "{error}");
    }
    assert!(!vault.key_path().exists());
    assert_eq!(vault.reveal("a").unwrap().as_deref(), Some("hunter2"));
    assert_eq!(vault.reveal("b").unwrap(), None);
}

#[test]
fn log_04_secrets_whose_key_has_left_the_keyring_are_not_written_over() {
    let (_folder, vault) = vault();
    vault.set("a", "hunter2", 1).unwrap();
    let before = std::fs::read(vault.path()).unwrap();

    entry(vault.path()).delete_credential().unwrap();

    assert!(matches!(vault.reveal("a"), Err(VaultError::NoKey { .. })));
    assert!(matches!(vault.set("b", "more", 2), Err(VaultError::NoKey { .. })));
    assert_eq!(std::fs::read(vault.path()).unwrap(), before);
}

#[test]
fn log_04_a_key_in_a_file_comes_before_the_keyring() {
    let (folder, vault) = vault();
    vault.set("a", "hunter2", 1).unwrap();
    let key = entry(vault.path()).get_password().unwrap();
    let elsewhere = folder.path().join("copy.json");
    std::fs::copy(vault.path(), &elsewhere).unwrap();
    let copy = Vault::at(&elsewhere);
    private(copy.key_path(), &key);

    assert_eq!(copy.reveal("a").unwrap().as_deref(), Some("hunter2"));
    assert!(entry(&elsewhere).get_password().is_err(), "nothing was put there");
}

/// Writes a file for its owner alone.
fn private(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
}

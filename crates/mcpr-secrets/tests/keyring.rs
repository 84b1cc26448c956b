//! The key in the keyring of the system. Where none can be asked, the key is a file, and that is all there is to see:
//!
//! ```sh
//! dbus-run-session -- sh -c 'echo | gnome-keyring-daemon --unlock --components=secrets && cargo test -p mcpr-secrets --features keyring'
//! ```
#![cfg(feature = "keyring")]

use mcpr_secrets::Vault;

#[test]
fn log_04_a_new_key_goes_to_the_keyring_where_there_is_one_and_to_a_file_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let vault = Vault::at(folder.path().join("secrets.json"));

    vault.set("a", "hunter2", 1).unwrap();

    let session = std::env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some();
    assert_eq!(
        vault.key_path().exists(),
        !session,
        "a file where there is no keyring"
    );
    assert_eq!(
        Vault::at(vault.path()).reveal("a").unwrap().as_deref(),
        Some("hunter2")
    );
    vault.set("b", "more", 2).unwrap();
    assert_eq!(vault.reveal("a").unwrap().as_deref(), Some("hunter2"));
}

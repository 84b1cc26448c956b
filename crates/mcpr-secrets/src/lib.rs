//! Keeps named secrets in a file, encrypted, for `${secret:NAME}` in a configuration.
//!
//! A [`Vault`] is two files: `secrets.json` holds each secret under its name, sealed with
//! XChaCha20-Poly1305, and `secrets.key` beside it holds the key; with the feature `keyring` a new key goes
//! to the keyring of the system instead, where there is one. Whoever has the first without the second (a backup, a synchronised folder) has the names and nothing else. Both are for their owner
//! alone, and a change replaces the whole file, so that nobody ever reads half of one.
//!
//! Everything here blocks for as long as the disk takes.

mod disk;
mod error;
mod key;
mod name;
mod ring;
mod seal;
mod vault;

pub use error::VaultError;
pub use name::{InvalidName, InvalidValue, check_name, check_value, is_name};
pub use vault::{Kept, Vault};

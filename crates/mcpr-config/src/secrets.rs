//! The secrets that a configuration asks for, and those that are there.

use std::collections::BTreeMap;

use mcpr_secrets::VaultError;

use crate::entry::ServerEntry;
use crate::environment::Environment;
use crate::locations::SecretFolders;

/// What is known of a secret; its value is not.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SecretUse {
    /// Its name.
    pub name: String,
    /// Where its value comes from; nothing if there is none.
    pub place: Option<SecretPlace>,
    /// When it was set, in seconds since 1970; for [`SecretPlace::Kept`].
    pub changed: Option<i64>,
    /// The servers whose entries ask for it, in the order of the files.
    pub used_by: Vec<String>,
}

/// Where the value of a secret comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SecretPlace {
    /// The credentials that systemd hands to a service.
    Credential,
    /// What `mcpr-ctl secrets set` keeps.
    Kept,
    /// A file in the folder `secrets`.
    File,
}

/// Whether this can be kept under this name, or a sentence that says why not; it does not show the value.
///
/// # Errors
///
/// The sentence.
pub fn check_secret(name: &str, value: &str) -> Result<(), String> {
    let told = |error: &dyn std::error::Error| error.to_string();
    mcpr_secrets::check_name(name).map_err(|error| told(&error))?;
    mcpr_secrets::check_value(value).map_err(|error| told(&error))
}

impl SecretUse {
    /// All secrets that are kept or asked for by these servers, by name. One that is kept and comes from
    /// elsewhere first has its place there, and the time at which it was set.
    ///
    /// # Errors
    ///
    /// When what is kept cannot be read.
    pub fn all<'e>(
        servers: impl IntoIterator<Item = &'e ServerEntry>,
        folders: &SecretFolders,
        env: &dyn Environment,
    ) -> Result<Vec<Self>, VaultError> {
        let mut all: BTreeMap<String, Self> = BTreeMap::new();
        let kept = folders.vault.as_ref().map(|vault| env.kept_secrets(vault));
        for kept in kept.transpose()?.into_iter().flatten() {
            all.entry(kept.name).or_default().changed = Some(kept.changed);
        }
        for entry in servers {
            for name in &entry.wants {
                let uses = all.entry(name.clone()).or_default();
                uses.used_by.push(entry.name.to_string());
            }
        }
        let known = |(name, uses): (String, Self)| Self {
            place: place(&name, uses.changed.is_some(), folders, env),
            name,
            ..uses
        };
        Ok(all.into_iter().map(known).collect())
    }
}

/// Where a reference finds its value.
fn place(name: &str, kept: bool, folders: &SecretFolders, env: &dyn Environment) -> Option<SecretPlace> {
    let there = |folder: &Option<std::path::PathBuf>| {
        let file = folder.as_ref().map(|folder| folder.join(name));
        file.is_some_and(|file| env.read(&file).is_ok())
    };
    if there(&folders.credentials) {
        return Some(SecretPlace::Credential);
    }
    if kept {
        return Some(SecretPlace::Kept);
    }
    there(&folders.own).then_some(SecretPlace::File)
}

//! The secrets that a configuration asks for, and those that are there.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

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

/// A file that is there for a secret, and its content.
pub(crate) type Lookup = (PathBuf, io::Result<Vec<u8>>);

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

    /// The one of this name among [all](Self::all); one that is neither kept nor asked for has no value.
    pub fn one(all: Vec<Self>, name: String) -> Self {
        let known = all.into_iter().find(|known| known.name == name);
        known.unwrap_or(Self {
            name,
            ..Self::default()
        })
    }
}

/// What systemd hands over under this name; nothing if that is nothing.
pub(crate) fn credential(name: &str, folders: &SecretFolders, env: &dyn Environment) -> Option<Lookup> {
    let path = folders.credentials.as_ref()?.join(name);
    found(env.read(&path), path)
}

/// What the file of this name has, if there is one. Others must not be able to read it.
pub(crate) fn own_file(name: &str, folders: &SecretFolders, env: &dyn Environment) -> Option<Lookup> {
    let path = folders.own.as_ref()?.join(name);
    found(env.read_private(&path), path)
}

fn found(read: io::Result<Vec<u8>>, path: PathBuf) -> Option<Lookup> {
    match read {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        read => Some((path, read)),
    }
}

/// Where a reference finds its value. What is there and cannot be read is none, and nothing behind it is asked.
fn place(name: &str, kept: bool, folders: &SecretFolders, env: &dyn Environment) -> Option<SecretPlace> {
    if let Some((_, read)) = credential(name, folders, env) {
        return read.is_ok().then_some(SecretPlace::Credential);
    }
    if kept {
        return Some(SecretPlace::Kept);
    }
    let (_, read) = own_file(name, folders, env)?;
    read.is_ok().then_some(SecretPlace::File)
}

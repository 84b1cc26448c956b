//! The file of secrets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::key::KeyPlace;
use crate::{VaultError, disk};

/// The version of the file.
const VERSION: u32 = 1;

/// Keeps named secrets in a file, sealed with a key that is kept apart.
#[derive(Clone, Debug)]
pub struct Vault {
    path: PathBuf,
    key: KeyPlace,
}

/// What is known of a secret without its key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kept {
    /// Its name.
    pub name: String,
    /// When it was set, in seconds since 1970.
    pub changed: i64,
}

#[derive(Serialize, Deserialize)]
struct Contents {
    version: u32,
    secrets: BTreeMap<String, Sealed>,
}

#[derive(Serialize, Deserialize)]
struct Sealed {
    changed: i64,
    sealed: String,
}

/// Enough of any version to tell which one it is.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

impl Vault {
    /// The vault at `path`, with its key beside it; nothing is read or made yet.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let key = KeyPlace::of(&path);
        Self { path, key }
    }

    /// The file of the secrets.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file of the key.
    pub fn key_path(&self) -> &Path {
        self.key.path()
    }

    /// The value of a secret; nothing if none is kept under this name.
    ///
    /// # Errors
    ///
    /// When the file or its key cannot be used.
    pub fn reveal(&self, name: &str) -> Result<Option<String>, VaultError> {
        let mut contents = self.read()?;
        let Some(Sealed { sealed, .. }) = contents.secrets.remove(name) else {
            return Ok(None);
        };
        let key = self.key.read()?.ok_or_else(|| self.key.absent())?;
        let value = key.open(name, &sealed).ok_or_else(|| VaultError::WrongKey {
            path: self.key_path().to_owned(),
            name: name.to_owned(),
        })?;
        Ok(Some(value))
    }

    /// What is kept, by name. Needs no key.
    ///
    /// # Errors
    ///
    /// When the file cannot be used.
    pub fn list(&self) -> Result<Vec<Kept>, VaultError> {
        let kept = |(name, sealed): (String, Sealed)| Kept {
            name,
            changed: sealed.changed,
        };
        Ok(self.read()?.secrets.into_iter().map(kept).collect())
    }

    /// Keeps a value under a name since `now`; whether another was there before. It is on the disk when this returns.
    ///
    /// # Errors
    ///
    /// When the file or its key cannot be used; then nothing has changed.
    pub fn set(&self, name: &str, value: &str, now: i64) -> Result<bool, VaultError> {
        let _turn = disk::turn(&self.path)?;
        let mut contents = self.read()?;
        let key = match self.key.read() {
            Ok(Some(key)) => key,
            // With another key the secrets that are there could never be read again.
            Ok(None) if !contents.secrets.is_empty() => return Err(self.key.absent()),
            Ok(None) => self.key.make()?,
            // Nothing can be lost yet, and a file is as good where no keyring can be asked.
            #[cfg(feature = "keyring")]
            Err(VaultError::Keyring(_)) if contents.secrets.is_empty() => self.key.make()?,
            Err(error) => return Err(error),
        };
        let sealed = Sealed {
            changed: now,
            sealed: key.seal(name, value)?,
        };
        let replaced = contents.secrets.insert(name.to_owned(), sealed).is_some();
        self.write(&contents)?;
        Ok(replaced)
    }

    /// Forgets a secret; whether there was one. Needs no key.
    ///
    /// # Errors
    ///
    /// When the file cannot be used; then nothing has changed.
    pub fn remove(&self, name: &str) -> Result<bool, VaultError> {
        if !self.path.exists() {
            return Ok(false);
        }
        let _turn = disk::turn(&self.path)?;
        let mut contents = self.read()?;
        let removed = contents.secrets.remove(name).is_some();
        if removed {
            self.write(&contents)?;
        }
        Ok(removed)
    }

    /// Copies the file of the secrets, as it is at one moment, into the place of `to`; whether there is one. The
    /// key is not copied. The copy is for its owner alone and is on the disk when this returns.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or the copy not written; then what was at `to` is unchanged.
    pub fn copy_to(&self, to: &Path) -> Result<bool, VaultError> {
        let Some(content) = disk::read(&self.path)? else {
            return Ok(false);
        };
        disk::replace(to, &content)?;
        Ok(true)
    }

    fn read(&self) -> Result<Contents, VaultError> {
        let Some(text) = disk::read(&self.path)? else {
            return Ok(Contents::empty());
        };
        let damaged = || VaultError::Damaged {
            path: self.path.clone(),
        };
        let Versioned { version } = serde_json::from_slice(&text).map_err(|_| damaged())?;
        if version > VERSION {
            return Err(VaultError::Newer {
                path: self.path.clone(),
            });
        }
        serde_json::from_slice(&text).map_err(|_| damaged())
    }

    fn write(&self, contents: &Contents) -> Result<(), VaultError> {
        let mut text = serde_json::to_vec_pretty(contents).expect("names and texts are JSON");
        text.push(b'\n');
        disk::replace(&self.path, &text)
    }
}

impl Contents {
    fn empty() -> Self {
        Self {
            version: VERSION,
            secrets: BTreeMap::new(),
        }
    }
}

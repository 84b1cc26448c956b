//! Where the key is.

use std::path::{Path, PathBuf};

use crate::ring::Ring;
use crate::seal::Key;
use crate::{VaultError, disk};

/// The place of a vault's key: a file for its owner alone, or the keyring of the system where this
/// program can reach one. A file that is there comes first, so that it can be taken along.
#[derive(Clone, Debug)]
pub(crate) struct KeyPlace {
    file: PathBuf,
    ring: Ring,
}

impl KeyPlace {
    /// That of the vault at `path`.
    pub(crate) fn of(path: &Path) -> Self {
        Self {
            file: path.with_extension("key"),
            ring: Ring::of(path),
        }
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.file
    }

    /// The key, if there is one.
    pub(crate) fn read(&self) -> Result<Option<Key>, VaultError> {
        let Some(content) = disk::read(&self.file)? else {
            return Ok(self.ring.read()?.as_deref().and_then(Key::from_text));
        };
        if disk::is_shared(&self.file) {
            return Err(VaultError::SharedKey {
                path: self.file.clone(),
            });
        }
        let key = std::str::from_utf8(&content).ok().and_then(Key::from_text);
        key.map(Some).ok_or_else(|| VaultError::Damaged {
            path: self.file.clone(),
        })
    }

    /// Draws a key and keeps it.
    pub(crate) fn make(&self) -> Result<Key, VaultError> {
        let key = Key::draw()?;
        if self.ring.keep(&key.to_text()) {
            return Ok(key);
        }
        match disk::create(&self.file, format!("{}\n", key.to_text()).as_bytes())? {
            true => Ok(key),
            false => self.read()?.ok_or_else(|| self.absent()),
        }
    }

    /// Why nothing can be read without it.
    pub(crate) fn absent(&self) -> VaultError {
        VaultError::NoKey {
            path: self.file.clone(),
        }
    }
}

//! The keyring of the system: only with the feature `keyring`, since servers have none.

use std::path::Path;

use crate::VaultError;

/// The entry of one vault's key.
#[derive(Clone, Debug)]
pub(crate) struct Ring {
    /// What the entry is called: the path of the vault, so that each home has its own.
    #[cfg_attr(
        not(feature = "keyring"),
        expect(dead_code, reason = "there is no keyring to name it in")
    )]
    name: String,
}

impl Ring {
    /// That of the vault at `path`.
    pub(crate) fn of(path: &Path) -> Self {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        Self {
            name: path.display().to_string(),
        }
    }

    /// What is kept there; nothing without a keyring.
    #[cfg(not(feature = "keyring"))]
    pub(crate) fn read(&self) -> Result<Option<String>, VaultError> {
        Ok(None)
    }

    /// Keeps a text; whether that was possible.
    #[cfg(not(feature = "keyring"))]
    pub(crate) fn keep(&self, _text: &str) -> bool {
        false
    }

    /// What is kept there; nothing if there is no such entry.
    #[cfg(feature = "keyring")]
    pub(crate) fn read(&self) -> Result<Option<String>, VaultError> {
        match self.entry().and_then(|entry| entry.get_password()) {
            Ok(text) => Ok(Some(text)),
            Err(keyring_core::Error::NoEntry) => Ok(None),
            Err(error) => Err(VaultError::Keyring(error)),
        }
    }

    /// Keeps a text; whether that was possible: a machine may have no keyring, or nobody who unlocks it.
    #[cfg(feature = "keyring")]
    pub(crate) fn keep(&self, text: &str) -> bool {
        let kept = self.entry().and_then(|entry| entry.set_password(text));
        kept.is_ok() && self.read().is_ok_and(|kept| kept.as_deref() == Some(text))
    }

    /// The entry, in the store that the program has chosen, else in that of the system.
    #[cfg(feature = "keyring")]
    fn entry(&self) -> keyring_core::Result<keyring_core::Entry> {
        if keyring_core::get_default_store().is_none() {
            let _ = keyring::v1::Entry::store_status(); // Chooses it, if there is one.
        }
        keyring_core::Entry::new("mcpr", &self.name)
    }
}

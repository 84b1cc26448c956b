//! Seals a secret under its name.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};

use crate::VaultError;

/// Random bytes at the start of a sealed secret: enough that they never have to be counted.
const NONCE: usize = 24;

/// What sets these apart from whatever else a key may ever seal.
const DOMAIN: &[u8] = b"mcpr secret 1 ";

/// What secrets are sealed with. `Debug` is blank.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Key([u8; 32]);

impl Key {
    /// Draws a new key.
    pub(crate) fn draw() -> Result<Self, VaultError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(VaultError::NoRandomness)?;
        Ok(Self(bytes))
    }

    /// As it stands in a file.
    pub(crate) fn to_text(&self) -> String {
        STANDARD.encode(self.0)
    }

    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let bytes = STANDARD.decode(text.trim_ascii()).ok()?;
        Some(Self(bytes.try_into().ok()?))
    }

    /// Seals a value: nobody without the key can read or alter it, or put it under another name.
    pub(crate) fn seal(&self, name: &str, value: &str) -> Result<String, VaultError> {
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).map_err(VaultError::NoRandomness)?;
        let aad = [DOMAIN, name.as_bytes()].concat();
        let payload = Payload {
            msg: value.as_bytes(),
            aad: &aad,
        };
        let sealed = self.cipher().encrypt(&XNonce::from(nonce), payload);
        let sealed = sealed.expect("a secret is far shorter than what the cipher can take");
        Ok(STANDARD.encode([&nonce[..], &sealed].concat()))
    }

    /// The value that was sealed under this name with this key.
    pub(crate) fn open(&self, name: &str, sealed: &str) -> Option<String> {
        let bytes = STANDARD.decode(sealed).ok()?;
        let (nonce, sealed) = bytes.split_first_chunk::<NONCE>()?;
        let aad = [DOMAIN, name.as_bytes()].concat();
        let payload = Payload {
            msg: sealed,
            aad: &aad,
        };
        let opened = self.cipher().decrypt(&XNonce::from(*nonce), payload).ok()?;
        String::from_utf8(opened).ok()
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(&self.0.into())
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sec_03_a_sealed_secret_is_good_under_its_name_and_with_its_key_alone() {
        let (key, other) = (Key::draw().unwrap(), Key::draw().unwrap());
        let sealed = key.seal("a", "hunter2").unwrap();
        let mut altered = sealed.clone().into_bytes();
        altered[40] ^= 1;

        assert_eq!(key.open("a", &sealed).as_deref(), Some("hunter2"));
        assert_eq!(key.open("b", &sealed), None);
        assert_eq!(other.open("a", &sealed), None);
        assert_eq!(key.open("a", std::str::from_utf8(&altered).unwrap()), None);
        assert_ne!(key.seal("a", "hunter2").unwrap(), sealed);
    }

    #[test]
    fn a_key_is_read_as_it_was_written_and_does_not_show() {
        let key = Key::draw().unwrap();

        assert_eq!(Key::from_text(&format!("{}\n", key.to_text())), Some(key.clone()));
        assert_eq!(Key::from_text("c2hvcnQ="), None);
        assert_eq!(format!("{key:?}"), "Key(..)");
    }
}

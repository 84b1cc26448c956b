//! The plain records that are stored beside the tokens.

use std::fmt;

use mcpr_auth::Timestamp;

use crate::StoreError;

/// The exposed name that was given to a thing of a server, so that it keeps it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Assignment {
    /// The kind of thing, such as `tool`.
    pub kind: String,
    /// The server it belongs to.
    pub server: String,
    /// Its name there.
    pub origin: String,
    /// Its name here.
    pub exposed: String,
}

/// The last good listing of a server, as bytes that only its writer understands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedListing {
    /// The server.
    pub server: String,
    /// The version of the bytes' format.
    pub format: u32,
    /// When the server gave it.
    pub at: Timestamp,
    /// The listing.
    pub body: Vec<u8>,
}

/// What was found out about the era of a server, by a key that names the way it is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// A digest of everything the verdict depends on.
    pub key: String,
    /// The verdict, a small JSON text.
    pub body: String,
    /// When it was found out.
    pub at: Timestamp,
}

/// The keys of what clients carry for the gateway.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SealingKeys {
    /// The one that seals.
    pub newest: SealingKey,
    /// When it was drawn.
    pub drawn: Timestamp,
    /// The one before it, whose seals are still around.
    pub former: Option<SealingKey>,
}

/// One of them. `Debug` is blank.
#[derive(Clone, PartialEq, Eq)]
pub struct SealingKey([u8; 32]);

impl SealingKey {
    /// Draws a new key.
    fn draw() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// The key with these bytes, as they were stored.
    #[cfg(feature = "sqlite")]
    pub(crate) fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The key's bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl SealingKeys {
    /// Those that are known while the newest of them can stay, else with one that is drawn now; whether one was.
    pub(crate) fn current(
        known: Option<Self>,
        now: Timestamp,
        oldest: Timestamp,
    ) -> Result<(Self, bool), StoreError> {
        match known {
            Some(known) if known.is_fresh(now, oldest) => Ok((known, false)),
            known => {
                let drawn = Self {
                    newest: SealingKey::draw().map_err(StoreError::NoRandomness)?,
                    drawn: now,
                    former: known.map(|known| known.newest),
                };
                Ok((drawn, true))
            }
        }
    }

    /// Whether the newest can stay: it was drawn at `oldest` or later, and not by a clock that was far ahead.
    pub(crate) fn is_fresh(&self, now: Timestamp, oldest: Timestamp) -> bool {
        const SLACK: i64 = 24 * 60 * 60;
        self.drawn >= oldest && self.drawn.unix() <= now.unix().saturating_add(SLACK)
    }
}

impl fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealingKey(..)")
    }
}

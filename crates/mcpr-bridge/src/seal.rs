//! Handles that only mcpr can have made: request states, cursors, task ids (SEC-03).

use std::fmt;
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};

/// Random bytes at the start of a handle: enough that they never have to be counted.
const NONCE: usize = 24;

/// The moment of expiry, in seconds since 1970, before the payload.
const EXPIRY: usize = 8;

/// What sets these handles apart from whatever else a key may ever seal.
const DOMAIN: &[u8] = b"mcpr handle 1";

/// What a handle is for; one is never good for another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// The `requestState` of a request that waits for its client.
    RequestState,
    /// The place where a list goes on.
    Cursor,
    /// A task at a server.
    Task,
}

/// Makes handles and opens them again.
pub struct Sealer(RwLock<Keys>);

/// The newest key, and the one before it, whose handles are still around.
struct Keys {
    newest: XChaCha20Poly1305,
    /// From when on handles are made with the newest.
    since: SystemTime,
    former: Option<XChaCha20Poly1305>,
}

/// The text is no handle of ours that is still good here.
///
/// Why is nobody's business: an altered handle, somebody else's, one for another purpose and one
/// that is too old all read the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("it is unknown or has expired")]
pub struct SealError;

impl Sealer {
    /// Takes the key; whoever has it can make handles.
    pub fn new(key: &[u8; 32]) -> Self {
        Self(RwLock::new(Keys {
            newest: XChaCha20Poly1305::new(key.into()),
            since: SystemTime::UNIX_EPOCH,
            former: None,
        }))
    }

    /// Takes a new key in the place of `former`, whose handles stay good. Handles are made with the former one until
    /// `since`, when everybody else who opens them has the new one too.
    pub fn renew(&self, newest: &[u8; 32], former: &[u8; 32], since: SystemTime) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Keys {
            newest: XChaCha20Poly1305::new(newest.into()),
            since,
            former: Some(XChaCha20Poly1305::new(former.into())),
        };
    }

    /// Makes a handle that stands for `payload` until `expires`.
    ///
    /// Nobody without the key can read or alter the payload. The handle is good only where
    /// `bound_to` (the principal, the method, …) is the same, in the same order. It is safe in a
    /// URL and in a header.
    ///
    /// # Panics
    ///
    /// When the system has no randomness.
    pub fn seal(&self, purpose: Purpose, bound_to: &[&str], expires: SystemTime, payload: &[u8]) -> String {
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).expect("the system has randomness");
        let mut plain = seconds(expires).to_be_bytes().to_vec();
        plain.extend_from_slice(payload);
        let keys = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let sealed = keys.sealing(SystemTime::now()).encrypt(
            &XNonce::from(nonce),
            Payload {
                msg: &plain,
                aad: &binding(purpose, bound_to),
            },
        );
        let sealed = sealed.expect("a handle is far shorter than what the cipher can take");
        URL_SAFE_NO_PAD.encode([&nonce[..], &sealed].concat())
    }

    /// The payload of a handle.
    ///
    /// # Errors
    ///
    /// [`SealError`] where the text is not a handle of ours for this purpose and this binding, or
    /// `now` is later than it was meant for.
    pub fn open(
        &self,
        purpose: Purpose,
        bound_to: &[&str],
        text: &str,
        now: SystemTime,
    ) -> Result<Vec<u8>, SealError> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| SealError)?;
        let (nonce, sealed) = bytes.split_first_chunk::<NONCE>().ok_or(SealError)?;
        let aad = binding(purpose, bound_to);
        let nonce = XNonce::from(*nonce);
        let keys = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let opened = [Some(&keys.newest), keys.former.as_ref()]
            .into_iter()
            .flatten()
            .find_map(|key| {
                let sealed = Payload {
                    msg: sealed,
                    aad: &aad,
                };
                key.decrypt(&nonce, sealed).ok()
            });
        let mut plain = opened.ok_or(SealError)?;
        let expiry = plain.first_chunk::<EXPIRY>().ok_or(SealError)?;
        if seconds(now) > u64::from_be_bytes(*expiry) {
            return Err(SealError);
        }
        plain.drain(..EXPIRY);
        Ok(plain)
    }
}

impl Keys {
    /// The key that handles are made with at this moment.
    fn sealing(&self, now: SystemTime) -> &XChaCha20Poly1305 {
        let former = self.former.as_ref().filter(|_| now < self.since);
        former.unwrap_or(&self.newest)
    }
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sealer(..)")
    }
}

impl Purpose {
    fn tag(self) -> u8 {
        match self {
            Self::RequestState => 1,
            Self::Cursor => 2,
            Self::Task => 3,
        }
    }
}

/// The data that a handle is authenticated with. Lengths come first, so that no two bindings read
/// as the same bytes.
fn binding(purpose: Purpose, bound_to: &[&str]) -> Vec<u8> {
    let mut bytes = DOMAIN.to_vec();
    bytes.push(purpose.tag());
    for part in bound_to {
        bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
        bytes.extend_from_slice(part.as_bytes());
    }
    bytes
}

fn seconds(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or(Duration::ZERO).as_secs()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    fn sealer() -> Sealer {
        Sealer::new(&[7; 32])
    }

    #[test]
    fn sec_03_a_handle_is_good_only_for_what_it_was_made_for() {
        let handle = sealer().seal(Purpose::Cursor, &["anna", "tools/list"], at(100), b"payload");
        let open = |purpose, bound: &[&str], now| sealer().open(purpose, bound, &handle, at(now));

        assert_eq!(
            open(Purpose::Cursor, &["anna", "tools/list"], 100).unwrap(),
            b"payload"
        );
        let refused = [
            open(Purpose::Cursor, &["anna", "tools/list"], 101),
            open(Purpose::Task, &["anna", "tools/list"], 1),
            open(Purpose::Cursor, &["bert", "tools/list"], 1),
            open(Purpose::Cursor, &["anna"], 1),
            open(Purpose::Cursor, &["annatools/list", ""], 1),
            Sealer::new(&[8; 32]).open(Purpose::Cursor, &["anna", "tools/list"], &handle, at(1)),
        ];
        assert_eq!(refused, std::array::from_fn(|_| Err(SealError)));
    }

    #[test]
    fn sec_03_a_new_key_opens_what_the_former_has_sealed_and_seals_once_all_know_it() {
        let opens = |sealer: &Sealer, handle: &str| sealer.open(Purpose::Task, &[], handle, at(1)).is_ok();
        let seal = |sealer: &Sealer| sealer.seal(Purpose::Task, &[], at(100), b"x");
        let [former, newest] = [[7; 32], [8; 32]];
        let (behind, ahead) = (Sealer::new(&former), Sealer::new(&newest));
        let before = seal(&behind);

        let sealer = Sealer::new(&former);
        sealer.renew(&newest, &former, SystemTime::now() + Duration::from_secs(3600));
        let at_first = seal(&sealer);
        assert!(opens(&sealer, &before) && opens(&sealer, &at_first));
        assert!(opens(&behind, &at_first), "who has not heard of the new key");
        sealer.renew(&newest, &former, SystemTime::now());
        let later = seal(&sealer);
        assert!(opens(&sealer, &before) && opens(&ahead, &later) && !opens(&behind, &later));
        sealer.renew(&[9; 32], &newest, SystemTime::now());
        assert!(
            opens(&sealer, &later) && !opens(&sealer, &before),
            "the one before that is gone"
        );
    }

    #[test]
    fn sec_03_a_handle_says_nothing_and_never_repeats() {
        let seal = || sealer().seal(Purpose::Task, &[], at(100), b"the server's own id");
        assert_ne!(seal(), seal());
        let bytes = URL_SAFE_NO_PAD.decode(seal()).unwrap();
        assert!(memchr::memmem::find(&bytes, b"server").is_none());
        assert_eq!(format!("{:?}", sealer()), "Sealer(..)");
    }

    proptest! {
        #[test]
        fn sec_03_whatever_is_altered_is_refused(payload: Vec<u8>, place: prop::sample::Index, other in 0_u8..64) {
            let mut handle = sealer().seal(Purpose::RequestState, &["anna"], at(100), &payload).into_bytes();
            let index = place.index(handle.len());
            let letter = URL_SAFE_NO_PAD.encode([other << 2]).into_bytes()[0];
            prop_assume!(handle[index] != letter);
            handle[index] = letter;
            let text = String::from_utf8(handle).unwrap();
            prop_assert_eq!(sealer().open(Purpose::RequestState, &["anna"], &text, at(1)), Err(SealError));
        }

        #[test]
        fn sec_03_any_text_is_no_handle_and_a_shorter_one_neither(text in "[A-Za-z0-9_-]{0,80}|\\PC{0,20}", cut in 1_usize..60) {
            prop_assert_eq!(sealer().open(Purpose::Task, &[], &text, at(1)), Err(SealError));
            let handle = sealer().seal(Purpose::Task, &[], at(100), b"x");
            let short = &handle[..handle.len().saturating_sub(cut)];
            prop_assert_eq!(sealer().open(Purpose::Task, &[], short, at(1)), Err(SealError));
        }

        #[test]
        fn a_payload_comes_back_as_it_was(payload: Vec<u8>, bound in prop::collection::vec("\\PC{0,8}", 0..4)) {
            let bound: Vec<&str> = bound.iter().map(String::as_str).collect();
            let handle = sealer().seal(Purpose::Cursor, &bound, at(100), &payload);
            prop_assert_eq!(sealer().open(Purpose::Cursor, &bound, &handle, at(99)), Ok(payload));
        }
    }
}

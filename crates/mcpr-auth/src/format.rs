//! The text of a token: `mcpr_pat_`, 32 random letters, and 6 letters of CRC-32 over all before.
//!
//! The checksum lets a scanner and a person tell a mistyped token from an unknown one without any
//! database. It is no protection: that is what the 190 random bits are for.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::random::{BASE62, draw};
use crate::{Secret, TokenKind};

/// Random letters in a token: 32 of 62 are 190 bits.
const RANDOM: usize = 32;
/// Letters of the checksum: 62^6 is more than 2^32.
const CHECKSUM: usize = 6;
/// How much of a token may be shown: the kind and three letters.
const SHOWN: usize = 12;

/// What a presented text looks like, before anybody asks whether it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presented {
    /// The text does not begin like a token of mcpr.
    NotAToken,
    /// It begins like one, but the length or the checksum is wrong.
    BadChecksum,
    /// It is what [`mint`](crate::mint) could have made.
    WellFormed(TokenKind),
}

/// The SHA-256 of a token's text: what is stored in place of the text.
///
/// A plain fast hash is right for 190 random bits, and comparing two hashes tells nothing about the
/// texts by its timing, so equality is the ordinary one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TokenHash([u8; 32]);

impl TokenHash {
    /// The hash of a token's text.
    pub fn of(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }

    /// The hash with these bytes, as they were stored.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes to store.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenHash(..)")
    }
}

/// Tells from the text alone whether it can be a token.
pub fn inspect(text: &str) -> Presented {
    let Some((kind, letters)) = split_kind(text) else {
        return Presented::NotAToken;
    };
    let well_formed = letters.len() == RANDOM + CHECKSUM
        && letters.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && text[text.len() - CHECKSUM..] == checksum(&text[..text.len() - CHECKSUM]);
    if well_formed {
        Presented::WellFormed(kind)
    } else {
        Presented::BadChecksum
    }
}

/// Makes the text of a new token.
pub(crate) fn compose(kind: TokenKind) -> Result<Secret, getrandom::Error> {
    let body = format!("mcpr_{kind}_{}", draw(BASE62, RANDOM)?);
    let checksum = checksum(&body);
    Ok(Secret::new(body + &checksum))
}

/// The part of a token that may be shown, without anything that could not be in one.
pub(crate) fn shown_prefix(text: &str) -> String {
    text.chars()
        .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
        .take(SHOWN)
        .collect()
}

/// Splits `mcpr_pat_abc` into the kind and `abc`.
fn split_kind(text: &str) -> Option<(TokenKind, &str)> {
    let (kind, letters) = text.strip_prefix("mcpr_")?.split_once('_')?;
    Some((kind.parse().ok()?, letters))
}

/// The CRC-32 of `body` in base 62, most significant letter first.
fn checksum(body: &str) -> String {
    let crc = crc32fast::hash(body.as_bytes());
    let digit = |place: u32| (u64::from(crc) / 62_u64.pow(place) % 62) as usize;
    (0..CHECKSUM as u32)
        .rev()
        .map(|place| char::from(BASE62[digit(place)]))
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What another implementation of the format (Python's `zlib.crc32`) makes of the same letters.
    const KNOWN: &str = "mcpr_pat_0123456789ABCDEFGHIJKLMNOPQRSTUV1Olbed";

    fn kinds() -> impl Strategy<Value = TokenKind> {
        prop::sample::select(TokenKind::ALL.to_vec())
    }

    fn texts() -> impl Strategy<Value = String> {
        (kinds(), "[0-9A-Za-z]{32}").prop_map(|(kind, letters)| {
            let body = format!("mcpr_{kind}_{letters}");
            let checksum = checksum(&body);
            body + &checksum
        })
    }

    #[test]
    fn sec_02_the_format_is_fixed() {
        assert_eq!(inspect(KNOWN), Presented::WellFormed(TokenKind::Pat));
    }

    #[test]
    fn http_03_what_is_no_token_and_what_is_mistyped_are_told_apart() {
        for text in [
            "",
            "hello",
            "ghp_abc",
            "mcpr_",
            "mcpr_pat",
            "mcpr_xyz_abc",
            "MCPR_PAT_abc",
        ] {
            assert_eq!(inspect(text), Presented::NotAToken, "{text}");
        }
        let cut = &KNOWN[..KNOWN.len() - 1];
        let other_kind = KNOWN.replace("pat", "adm");
        let accented = KNOWN.replace("01", "é");
        for text in ["mcpr_pat_", cut, &other_kind, &accented] {
            assert_eq!(inspect(text), Presented::BadChecksum, "{text}");
        }
    }

    #[test]
    fn sec_02_only_the_beginning_of_a_token_is_shown() {
        assert_eq!(shown_prefix(KNOWN), "mcpr_pat_012");
        assert_eq!(shown_prefix("mcpr_pat_a\u{1b}[31m"), "mcpr_pat_a");
    }

    #[test]
    fn sec_02_a_hash_is_sha_256_and_blank_in_debug() {
        let hash = TokenHash::of("abc");

        assert_eq!(hash.as_bytes()[..4], [0xba, 0x78, 0x16, 0xbf]);
        assert_eq!(format!("{hash:?}"), "TokenHash(..)");
    }

    proptest! {
        #[test]
        fn sec_02_a_composed_token_is_well_formed(kind in kinds()) {
            let secret = compose(kind).unwrap();

            prop_assert_eq!(inspect(secret.reveal()), Presented::WellFormed(kind));
            prop_assert_eq!(secret.reveal().len(), 9 + RANDOM + CHECKSUM);
        }

        #[test]
        fn sec_02_one_wrong_letter_is_noticed(text in texts(), at in 9_usize..47, letter in "[0-9A-Za-z]") {
            let mut typo = text.clone();
            typo.replace_range(at..=at, &letter);

            prop_assert_eq!(inspect(&typo) == inspect(&text), typo == text);
        }

        #[test]
        fn sec_02_two_swapped_letters_are_noticed(text in texts(), at in 9_usize..46) {
            let mut bytes = text.clone().into_bytes();
            bytes.swap(at, at + 1);
            let typo = String::from_utf8(bytes).unwrap();

            prop_assert_eq!(inspect(&typo) == inspect(&text), typo == text);
        }

        #[test]
        fn no_text_makes_inspect_panic(text in "(mcpr_(pat|adm|svc)_)?.{0,60}") {
            inspect(&text);
        }
    }
}

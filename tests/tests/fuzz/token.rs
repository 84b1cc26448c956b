//! Tokens: what is taken for one is what was made, to the letter, and what is refused is not repeated.

use std::sync::LazyLock;

use mcpr_auth::{
    Minted, NewToken, Presented, Timestamp, TokenKind, TokenStore, Tokens, bearer, inspect, mint,
};
use mcpr_tests::fuzz::{Dice, Target, Verdict};
use proptest::{prop_assert, prop_assert_eq};

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM: usize = 32;
const CHECKSUM: usize = 6;
/// How much of a token may be repeated.
const SHOWN: usize = 12;

const WORDS: &[&str] = &[
    "mcpr_pat_",
    "mcpr_svc_",
    "mcpr_adm_",
    "mcpr_",
    "Bearer ",
    "bearer  ",
    "Basic ",
    "_",
    "0123456789ABCDEF",
    "\u{e9}",
    "\u{1b}[31m",
    "mcpr_pat_0123456789ABCDEFGHIJKLMNOPQRSTUV1Olbed",
];

/// A table with one token.
static KNOWN: LazyLock<(Tokens, Minted)> = LazyLock::new(|| {
    let minted = mint(NewToken::new(TokenKind::Pat, "known"), now()).unwrap();
    let tokens = Tokens::default();
    tokens.insert(&minted.token, minted.hash);
    (tokens, minted)
});

fn now() -> Timestamp {
    Timestamp::from_unix(1_800_000_000)
}

/// The checksum of a text, one bit after the other (CRC-32 as in Ethernet and zip).
fn checksum(text: &str) -> String {
    let bit = |crc: u32| {
        if crc & 1 == 1 {
            (crc >> 1) ^ 0xedb8_8320
        } else {
            crc >> 1
        }
    };
    let byte = |crc: u32, byte: u8| (0..8).fold(crc ^ u32::from(byte), |crc, _| bit(crc));
    let mut rest = !text.bytes().fold(u32::MAX, byte);
    let mut letters = [b'0'; CHECKSUM];
    for letter in letters.iter_mut().rev() {
        *letter = BASE62[(rest % 62) as usize];
        rest /= 62;
    }
    String::from_utf8(letters.to_vec()).unwrap()
}

/// Whether a text can have been made here.
fn well_formed(text: &str) -> bool {
    let Some((kind, letters)) = text.strip_prefix("mcpr_").and_then(|rest| rest.split_once('_')) else {
        return false;
    };
    ["pat", "svc", "adm"].contains(&kind)
        && letters.len() == RANDOM + CHECKSUM
        && letters.bytes().all(|byte| BASE62.contains(&byte))
        && text.ends_with(&checksum(&text[..text.len() - CHECKSUM]))
}

/// The text with one letter changed.
fn with_another_letter(text: &str, dice: &mut Dice) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    let place = dice.below(letters.len());
    let other = *dice.pick(BASE62) as char;
    letters[place] = if letters[place] == other { '-' } else { other };
    letters.into_iter().collect()
}

/// Whether a table lets in who has its token and nobody else, and repeats no more than the beginning of any other.
fn is_judged(text: &str) -> Verdict {
    let (tokens, minted) = &*KNOWN;
    match tokens.verify(text, now()) {
        Ok(_) => prop_assert_eq!(text, minted.secret.reveal()),
        Err(denied) => {
            prop_assert!(text != minted.secret.reveal());
            let told = format!("{denied} {denied:?} {}", denied.next_step());
            let rest: String = text.chars().skip(SHOWN).collect();
            prop_assert!(rest.len() < 16 || !told.contains(&rest), "{}", told);
            prop_assert!(!told.contains('\u{1b}'), "{told:?}");
        }
    }
    Ok(())
}

fn property(bytes: &[u8], mut dice: Dice) -> Verdict {
    let text = String::from_utf8_lossy(bytes);
    prop_assert_eq!(
        matches!(inspect(&text), Presented::WellFormed(_)),
        well_formed(&text)
    );
    is_judged(&text)?;
    if let Ok(token) = bearer(Some(bytes)) {
        prop_assert!(text.trim().to_ascii_lowercase().starts_with("bearer "));
        prop_assert!(text.trim().ends_with(token) && token.trim() == token);
        is_judged(token)?;
    }
    let known = KNOWN.1.secret.reveal();
    prop_assert!(KNOWN.0.verify(known, now()).is_ok());
    let changed = with_another_letter(known, &mut dice);
    prop_assert!(
        !matches!(inspect(&changed), Presented::WellFormed(_)),
        "{}",
        changed
    );
    is_judged(&changed)
}

#[test]
fn sec_02_no_text_but_the_token_itself_is_let_in_and_none_is_repeated() {
    Target::new("token").words(WORDS).holds(property);
}

//! Redaction: a secret is taken out of any text, however often it was quoted there and in whichever way.

use std::fmt::Write;

use mcpr_telemetry::Secrets;
use mcpr_tests::fuzz::{Dice, Target, Verdict};
use proptest::prop_assert;

/// What secrets are made of. None of it looks like an escape where it is not one.
const PARTS: &[&str] = &[
    "Q",
    "7k",
    "Zz",
    "\"",
    "'",
    "<",
    ">",
    "/",
    "+",
    "=",
    " ",
    "&Q",
    "%Q",
    "\\Q",
    "\u{df}",
    "\u{20ac}",
    "\u{1f600}",
];

const WORDS: &[&str] = &[
    "\\", "%", "&", "\\u00", "\\\"", "%5C", "%25", "&amp;", "&#x", "Bearer ", "token=", "://", "@",
    "password", "\u{20ac}",
];

/// What is escaped although it need not be: of a kind of characters all, as programs do it.
const KINDS: [fn(char) -> bool; 4] = [
    |_| false,
    |c| !c.is_ascii(),
    |c| !c.is_ascii_alphanumeric(),
    |_| true,
];

/// One way of quoting: it must escape what would end or change the text, and may escape anything else.
#[derive(Clone, Copy)]
enum Quoting {
    Json,
    Url,
    Html,
}

impl Quoting {
    const ALL: [Self; 3] = [Self::Json, Self::Url, Self::Html];

    fn quote(self, text: &str, dice: &mut Dice) -> String {
        let mut quoted = String::new();
        let may = dice.pick(&KINDS);
        for c in text.chars() {
            let must = match self {
                Self::Json => matches!(c, '"' | '\\'),
                Self::Url => matches!(c, '%' | ' '),
                Self::Html => c == '&',
            };
            match must || may(c) {
                true => self.escape(c, dice, &mut quoted),
                false => quoted.push(c),
            }
        }
        quoted
    }

    fn escape(self, c: char, dice: &mut Dice, quoted: &mut String) {
        let number = u32::from(c);
        match self {
            Self::Json if matches!(c, '"' | '\\' | '/') && dice.one_in(2) => quoted.extend(['\\', c]),
            Self::Json => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    write!(quoted, "\\u{unit:04x}").unwrap();
                }
            }
            Self::Url => {
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    match dice.one_in(2) {
                        true => write!(quoted, "%{byte:02X}").unwrap(),
                        false => write!(quoted, "%{byte:02x}").unwrap(),
                    }
                }
            }
            Self::Html => match (c, dice.below(3)) {
                ('&', 0) => quoted.push_str("&amp;"),
                ('<', 0) => quoted.push_str("&lt;"),
                ('"', 0) => quoted.push_str("&quot;"),
                (_, 1) => write!(quoted, "&#{number};").unwrap(),
                _ => write!(quoted, "&#x{number:x};").unwrap(),
            },
        }
    }
}

/// A secret that is long enough to be one, without a blank at its ends.
fn secret(dice: &mut Dice) -> String {
    let middle: String = (0..6 + dice.below(8)).map(|_| *dice.pick(PARTS)).collect();
    format!("S{middle}3")
}

/// The text with the secret in it, apart from what is beside it.
fn with(secret: &str, text: &str, dice: &mut Dice) -> String {
    let places: Vec<usize> = text
        .char_indices()
        .map(|(at, _)| at)
        .chain([text.len()])
        .collect();
    let (before, behind) = text.split_at(*dice.pick(&places));
    format!("{before} {secret} {behind}")
}

fn property(bytes: &[u8], mut dice: Dice) -> Verdict {
    let text = String::from_utf8_lossy(bytes);
    let secret = secret(&mut dice);
    let secrets = Secrets::default();
    secrets.add(&secret);
    let mut spelled = secret.clone();
    for _ in 0..dice.below(4) {
        let quoting = *dice.pick(&Quoting::ALL);
        spelled = quoting.quote(&spelled, &mut dice);
    }
    let said = with(&spelled, &text, &mut dice);

    let told = secrets.scrub(&said);

    prop_assert!(
        !told.contains(&spelled),
        "{secret:?} as {spelled:?} is in {told:?}"
    );
    prop_assert!(!told.contains(&secret), "{secret:?} is in {told:?}");
    let max = dice.below(said.len());
    let cut = secrets.scrub_within(&said, max);
    prop_assert!(
        cut.len() <= max + "[redacted]… (000000 bytes more)".len(),
        "{max}: {cut:?}"
    );
    prop_assert!(!cut.contains(&spelled), "{secret:?} as {spelled:?} is in {cut:?}");
    Ok(())
}

#[test]
fn log_04_a_secret_is_taken_out_of_any_text_however_it_is_quoted() {
    Target::new("redaction").words(WORDS).holds(property);
}

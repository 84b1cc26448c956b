//! Text that must not be seen.

use std::fmt;
use std::hint::black_box;

/// A token's text, which is shown once and never again.
///
/// There is no `Display` and no `Serialize`, and `Debug` is blank, so that the text can only leave
/// through [`Secret::reveal`].
pub struct Secret(Box<str>);

impl Secret {
    /// Wraps a text that must not be seen.
    pub fn new(text: impl Into<Box<str>>) -> Self {
        Self(text.into())
    }

    /// The text itself, for the one place that shows or sends it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether `text` is this secret, in a time that depends only on the two lengths.
    pub fn matches(&self, text: &str) -> bool {
        let (own, other) = (self.0.as_bytes(), text.as_bytes());
        let difference = own
            .iter()
            .zip(other)
            .fold(0, |seen, (a, b)| black_box(seen | (a ^ b)));
        own.len() == other.len() && difference == 0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn sec_02_a_secret_does_not_show_in_debug() {
        let secret = Secret::new("mcpr_pat_x");

        assert_eq!(format!("{secret:?}"), "Secret(..)");
        assert_eq!(secret.reveal(), "mcpr_pat_x");
    }

    #[test]
    fn sec_02_a_secret_is_compared_in_a_time_that_does_not_tell_where_a_text_differs() {
        let text = "x".repeat(1 << 16);
        let (early, late) = (format!("y{}", &text[1..]), format!("{}y", &text[1..]));
        let secret = Secret::new(text);
        // Of many rounds the quickest is the one that nothing else got in the way of.
        let time = |other: &str| {
            let rounds = (0..50).map(|_| {
                let begun = Instant::now();
                assert!(!black_box(&secret).matches(black_box(other)));
                begun.elapsed()
            });
            rounds.min().unwrap()
        };

        let (early, late) = (time(&early), time(&late));

        assert!(late < 10 * early, "{early:?}, {late:?}");
    }

    #[test]
    fn a_secret_matches_itself_only() {
        let secret = Secret::new("abc");

        assert!(secret.matches("abc"));
        for other in ["", "ab", "abd", "abcd", "Abc"] {
            assert!(!secret.matches(other), "{other}");
        }
    }
}

//! Random text in which every letter is equally likely.

/// The 62 letters and digits, in the order of their ASCII codes.
pub(crate) const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// 32 letters and digits that are not easily taken for one another.
pub(crate) const BASE32: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Draws `count` letters of `alphabet` from the operating system's random source.
pub(crate) fn draw(alphabet: &[u8], count: usize) -> Result<String, getrandom::Error> {
    let mut text = String::with_capacity(count);
    let mut bytes = [0; 64];
    while text.len() < count {
        getrandom::fill(&mut bytes)?;
        text.extend(letters(alphabet, &bytes).take(count - text.len()));
    }
    Ok(text)
}

/// One letter for each byte; the few bytes that would make some letters likelier are skipped.
fn letters<'a>(alphabet: &'a [u8], bytes: &'a [u8]) -> impl Iterator<Item = char> + 'a {
    let fair = 256 / alphabet.len() * alphabet.len();
    let bytes = bytes.iter().map(|&byte| usize::from(byte));
    bytes
        .filter(move |&byte| byte < fair)
        .map(|byte| char::from(alphabet[byte % alphabet.len()]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sec_02_every_letter_is_equally_likely() {
        let all_bytes: Vec<u8> = (0..=255).collect();
        for (alphabet, times) in [(&BASE62[..], 4), (&BASE32[..], 8)] {
            let drawn: Vec<char> = letters(alphabet, &all_bytes).collect();
            for &letter in alphabet {
                let seen = drawn.iter().filter(|&&c| c == char::from(letter)).count();
                assert_eq!(seen, times, "{}", char::from(letter));
            }
        }
    }

    #[test]
    fn a_drawn_text_has_the_length_asked_for() {
        for count in [0, 1, 32, 200] {
            assert_eq!(draw(BASE62, count).unwrap().len(), count);
        }
    }
}

//! How far a string goes on before something happens in it.

/// How many bytes are looked at together.
const WORD: usize = 8;

/// So many words are read before it is worth to begin with what is faster in long strings.
const WORDS: usize = 4;

/// Each byte of a word is this one.
const fn each(byte: u8) -> u64 {
    u64::from_le_bytes([byte; WORD])
}

/// How many bytes there are before the first quote, backslash or control character, and whether all of
/// these are ASCII.
#[inline]
pub(crate) fn plain(text: &[u8]) -> (usize, bool) {
    // Most names and many values end within the first word.
    match text.first_chunk::<WORD>().map(|word| u64::from_le_bytes(*word)) {
        Some(word) if ends(word) != 0 => {
            let before = ends(word).trailing_zeros() / 8;
            let kept = word & !(u64::MAX << (8 * before));
            (before as usize, kept & each(0x80) == 0)
        }
        _ => further(text),
    }
}

/// The same for a string that is not over with the first word.
fn further(text: &[u8]) -> (usize, bool) {
    let mut all = 0;
    for (index, word) in text.as_chunks::<WORD>().0.iter().take(WORDS).enumerate() {
        let word = u64::from_le_bytes(*word);
        let ends = ends(word);
        if ends != 0 {
            let before = ends.trailing_zeros() / 8;
            all |= word & !(u64::MAX << (8 * before));
            return (index * WORD + before as usize, all & each(0x80) == 0);
        }
        all |= word;
    }
    let read = text.len().min(WORDS * WORD) / WORD * WORD;
    let (rest, ascii) = long(&text[read..]);
    (read + rest, ascii && all & each(0x80) == 0)
}

/// The same for a string that is long, or nearly over.
fn long(text: &[u8]) -> (usize, bool) {
    let end = memchr::memchr2(b'"', b'\\', text).unwrap_or(text.len());
    let (mut least, mut all) = (u8::MAX, 0);
    for &byte in &text[..end] {
        least = least.min(byte);
        all |= byte;
    }
    match least < b' ' {
        false => (end, all.is_ascii()),
        true => few(text),
    }
}

/// The same byte by byte.
fn few(text: &[u8]) -> (usize, bool) {
    let count = text.iter().take_while(|byte| !is_end(**byte)).count();
    (count, text[..count].is_ascii())
}

/// How many bytes there are before the first quote or backslash, in a text that is known to be JSON: of
/// any other the answer means nothing.
pub(crate) fn unquoted(text: &[u8]) -> usize {
    for (index, word) in text.as_chunks::<WORD>().0.iter().take(WORDS).enumerate() {
        let ends = ends(u64::from_le_bytes(*word));
        if ends != 0 {
            return index * WORD + (ends.trailing_zeros() / 8) as usize;
        }
    }
    let read = text.len().min(WORDS * WORD) / WORD * WORD;
    let rest = &text[read..];
    read + memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len())
}

const fn is_end(byte: u8) -> bool {
    (byte == b'"') | (byte == b'\\') | (byte < b' ')
}

/// Marks bytes of a word that end a string; only the first mark counts.
///
/// What is subtracted from each byte borrows from the next one where it is larger, so bytes behind the first mark may
/// have a false one (Hacker's Delight, 6-1).
const fn ends(word: u64) -> u64 {
    let (quote, slash) = (word ^ each(b'"'), word ^ each(b'\\'));
    let quotes = quote.wrapping_sub(each(1)) & !quote;
    let slashes = slash.wrapping_sub(each(1)) & !slash;
    let controls = word.wrapping_sub(each(b' ')) & !word;
    (quotes | slashes | controls) & each(0x80)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_as_if_each_byte_was_looked_at(
            text in prop::collection::vec(prop_oneof![9 => 0x1f_u8..=0x80, 1 => any::<u8>()], 0..120),
            calm: bool,
        ) {
            let mut text = text;
            if calm {
                text.iter_mut().for_each(|byte| *byte = if is_end(*byte) { b'x' } else { *byte });
                text.push(b'"');
            }
            prop_assert_eq!(plain(&text), few(&text));
            let calm = !text.iter().any(|byte| *byte < b' ');
            prop_assert!(!calm || unquoted(&text) == few(&text).0);
        }
    }
}

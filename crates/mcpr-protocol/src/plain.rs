//! How far a string goes on before something happens in it.

/// How many bytes are looked at together: first a word, in long strings a block.
const WORD: usize = 8;
const BLOCK: usize = 32;

/// So many words are read before blocks are worth their beginning.
const WORDS: usize = 4;

/// Each byte of a word is this one.
const fn each(byte: u8) -> u64 {
    u64::from_le_bytes([byte; WORD])
}

/// How many bytes there are before the first quote, backslash or control character, and whether all of
/// these are ASCII.
pub(crate) fn plain(text: &[u8]) -> (usize, bool) {
    let (mut at, mut all) = (0, 0);
    let (words, _) = text.as_chunks::<WORD>();
    for (index, word) in words.iter().enumerate() {
        if index == WORDS {
            let (blocks, ascii) = plain_blocks(&text[at..]);
            let (rest, rest_ascii) = few(&text[at + blocks..]);
            return (at + blocks + rest, all & each(0x80) == 0 && ascii && rest_ascii);
        }
        let word = u64::from_le_bytes(*word);
        let ends = ends(word);
        if ends != 0 {
            let before = ends.trailing_zeros() / 8;
            all |= word & !(u64::MAX << (8 * before));
            return (at + before as usize, all & each(0x80) == 0);
        }
        all |= word;
        at += WORD;
    }
    let (rest, ascii) = few(&text[at..]);
    (at + rest, all & each(0x80) == 0 && ascii)
}

/// The same for whole blocks.
fn plain_blocks(text: &[u8]) -> (usize, bool) {
    let (mut at, mut ascii) = (0, true);
    for block in text.as_chunks::<BLOCK>().0 {
        let (mut ends, mut all) = (0, 0);
        for &byte in block {
            ends |= u8::from(is_end(byte));
            all |= byte;
        }
        if ends != 0 {
            break;
        }
        ascii &= all.is_ascii();
        at += BLOCK;
    }
    (at, ascii)
}

/// The same byte by byte.
fn few(text: &[u8]) -> (usize, bool) {
    let count = text.iter().take_while(|byte| !is_end(**byte)).count();
    (count, text[..count].is_ascii())
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
        }
    }
}

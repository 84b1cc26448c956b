//! One walk over a JSON text: is it one, and where are its members?
//!
//! serde_json reads strings byte by byte, and this is the way of each message through the gateway.
//! It stays the judge of what this walk does not take, and words every refusal.

use std::ops::Range;

use crate::plain::plain;
use crate::word::Marks;

/// The text is not what was expected; where and why, serde_json tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Unexpected;

/// A place in a text.
pub(crate) struct Walk<'a> {
    text: &'a [u8],
    at: usize,
    /// Whether all strings so far are ASCII.
    ascii: bool,
    deepest: usize,
    marks: Marks,
}

/// What a walk has seen of a whole text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Seen {
    /// How deep it is nested.
    pub(crate) depth: usize,
    pub(crate) marks: Marks,
}

/// Which of the structures around a place are objects: a bit for each level.
#[derive(Default)]
struct Levels {
    bits: smallvec::SmallVec<[u64; 4]>,
    count: usize,
}

type Step<T> = Result<T, Unexpected>;

/// How deep a text is nested that is an object.
pub(crate) fn depth(text: &[u8]) -> usize {
    Walk::object(text, |_, _| Ok(())).map_or(usize::MAX, |seen| seen.depth)
}

impl<'a> Walk<'a> {
    /// Walks over a whole text that is an object; `member` gets the name, in its quotes, and the
    /// place of each value.
    pub(crate) fn object(
        text: &'a [u8],
        mut member: impl FnMut(&'a [u8], Range<usize>) -> Step<()>,
    ) -> Step<Seen> {
        let mut walk = Self {
            text,
            at: 0,
            ascii: true,
            deepest: 0,
            marks: Marks::default(),
        };
        walk.white();
        walk.take(b'{')?;
        walk.white();
        if !walk.has_taken(b'}') {
            walk.members(&mut member)?;
        }
        walk.white();
        let whole = walk.at == text.len();
        let sound = whole && (walk.ascii || std::str::from_utf8(text).is_ok());
        let seen = Seen {
            depth: walk.deepest + 1,
            marks: walk.marks,
        };
        sound.then_some(seen).ok_or(Unexpected)
    }

    fn members(&mut self, member: &mut impl FnMut(&'a [u8], Range<usize>) -> Step<()>) -> Step<()> {
        loop {
            let name = self.name()?;
            self.white();
            let start = self.at;
            self.value()?;
            member(name, start..self.at)?;
            self.white();
            match self.next()? {
                b',' => self.white(),
                b'}' => return Ok(()),
                _ => return Err(Unexpected),
            }
        }
    }

    /// Passes over the name of a member and its colon.
    fn name(&mut self) -> Step<&'a [u8]> {
        let start = self.at;
        self.take(b'"')?;
        self.string()?;
        let name = &self.text[start..self.at];
        self.white();
        self.take(b':')?;
        Ok(name)
    }

    /// Passes over one value, however deep it is.
    fn value(&mut self) -> Step<()> {
        if self.has_taken(b'"') {
            return self.string(); // As most are.
        }
        let mut levels = Levels::default();
        loop {
            self.white();
            match self.next()? {
                b'"' => self.string()?,
                b'{' if self.opens(b'}', &mut levels, true) => {
                    self.name()?;
                    continue;
                }
                b'[' if self.opens(b']', &mut levels, false) => continue,
                b'{' | b'[' => {}
                b't' => self.word(b"rue")?,
                b'f' => self.word(b"alse")?,
                b'n' => self.word(b"ull")?,
                first => self.number(first)?,
            }
            if !self.goes_on(&mut levels)? {
                return Ok(());
            }
        }
    }

    /// Whether a structure that has just begun has something in it.
    fn opens(&mut self, end: u8, levels: &mut Levels, object: bool) -> bool {
        self.deepest = self.deepest.max(levels.count + 1);
        self.white();
        let filled = !self.has_taken(end);
        if filled {
            levels.push(object);
        }
        filled
    }

    /// Goes from the end of a value to the next one beside or around it, if there is any.
    fn goes_on(&mut self, levels: &mut Levels) -> Step<bool> {
        while let Some(object) = levels.last() {
            self.white();
            match (self.next()?, object) {
                (b',', true) => {
                    self.white();
                    return self.name().map(|_| true);
                }
                (b',', false) => return Ok(true),
                (b'}', true) | (b']', false) => levels.count -= 1,
                _ => return Err(Unexpected),
            }
        }
        Ok(false)
    }

    /// Passes over a string whose quote has been read.
    fn string(&mut self) -> Step<()> {
        self.marks.note(&self.text[self.at..]);
        loop {
            let (length, ascii) = plain(&self.text[self.at..]);
            self.at += length;
            self.ascii &= ascii;
            match self.next()? {
                b'"' => return Ok(()),
                b'\\' => self.escape()?,
                _ => return Err(Unexpected),
            }
        }
    }

    fn escape(&mut self) -> Step<()> {
        match self.next()? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Ok(()),
            b'u' => {
                let digits = self.text.get(self.at..self.at + 4).ok_or(Unexpected)?;
                self.at += 4;
                let hex = digits.iter().all(u8::is_ascii_hexdigit);
                hex.then_some(()).ok_or(Unexpected)
            }
            _ => Err(Unexpected),
        }
    }

    fn number(&mut self, first: u8) -> Step<()> {
        let first = if first == b'-' { self.next()? } else { first };
        match first {
            b'0' => {}
            b'1'..=b'9' => _ = self.digits(),
            _ => return Err(Unexpected),
        }
        if self.has_taken(b'.') {
            self.some_digits()?;
        }
        if self.has_taken(b'e') || self.has_taken(b'E') {
            _ = self.has_taken(b'+') || self.has_taken(b'-');
            self.some_digits()?;
        }
        Ok(())
    }

    fn some_digits(&mut self) -> Step<()> {
        (self.digits() > 0).then_some(()).ok_or(Unexpected)
    }

    fn digits(&mut self) -> usize {
        let rest = &self.text[self.at..];
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        count
    }

    fn word(&mut self, rest: &[u8]) -> Step<()> {
        let fits = self.text[self.at..].starts_with(rest);
        self.at += rest.len();
        fits.then_some(()).ok_or(Unexpected)
    }

    fn white(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.text.get(self.at) {
            self.at += 1;
        }
    }

    fn next(&mut self) -> Step<u8> {
        let byte = self.text.get(self.at).copied().ok_or(Unexpected)?;
        self.at += 1;
        Ok(byte)
    }

    fn take(&mut self, wanted: u8) -> Step<()> {
        self.has_taken(wanted).then_some(()).ok_or(Unexpected)
    }

    fn has_taken(&mut self, wanted: u8) -> bool {
        let is_there = self.text.get(self.at) == Some(&wanted);
        self.at += usize::from(is_there);
        is_there
    }
}

impl Levels {
    fn push(&mut self, object: bool) {
        let (index, bit) = (self.count / 64, self.count % 64);
        if index == self.bits.len() {
            self.bits.push(0);
        }
        self.bits[index] = self.bits[index] & !(1 << bit) | u64::from(object) << bit;
        self.count += 1;
    }

    fn last(&self) -> Option<bool> {
        let last = self.count.checked_sub(1)?;
        Some(self.bits[last / 64] >> (last % 64) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    use super::*;
    use crate::Mark;

    fn depth(text: &[u8]) -> Option<usize> {
        Walk::object(text, |_, _| Ok(())).ok().map(|seen| seen.depth)
    }

    /// What serde_json says of a text that begins as an object.
    fn is_object(text: &[u8]) -> bool {
        let object = text.trim_ascii_start().starts_with(b"{");
        object && serde_json::from_slice::<&RawValue>(text).is_ok()
    }

    #[test]
    fn members_are_told_with_their_names_and_places() {
        let text = br#" { "a" : [1, {"b":"]}"}] ,"c\n":-1.5E+7,"d":"\u00e9\"" } "#;
        let mut seen = Vec::new();
        let deep = Walk::object(text, |name, place| {
            seen.push((name, &text[place]));
            Ok(())
        });
        let expected: [(&[u8], &[u8]); 3] = [
            (br#""a""#, br#"[1, {"b":"]}"}]"#),
            (br#""c\n""#, b"-1.5E+7"),
            (br#""d""#, br#""\u00e9\"""#),
        ];
        assert_eq!((seen, deep.map(|seen| seen.depth)), (expected.to_vec(), Ok(3)));
    }

    #[test]
    fn sec_05_levels_are_counted_and_take_no_stack() {
        for levels in [0, 1, 2, 63, 64, 65, 500_000] {
            let nested = |open: &str, close: &str| {
                format!(r#"{{"a":{}7{}}}"#, open.repeat(levels), close.repeat(levels))
            };
            assert_eq!(depth(nested("[", "]").as_bytes()), Some(levels + 1));
            assert_eq!(depth(nested("{\"x\":", "}").as_bytes()), Some(levels + 1));
        }
        assert_eq!(depth(br#"{"a":"[[[[","b":[[],{},[]]}"#), Some(3));
        assert_eq!(depth(br#"{"a":[{]}}"#), None);
    }

    #[test]
    fn words_that_begin_a_string_are_noted_and_no_others() {
        let marks = |text: &str| Walk::object(text.as_bytes(), |_, _| Ok(())).unwrap().marks;
        let seen = marks(r#"{"a":[{"type":"resource_link"},{"isError" : true}],"b":"\"audio\" uri"}"#);
        let all = [
            Mark::Resource,
            Mark::Failure,
            Mark::Audio,
            Mark::Uri,
            Mark::TaskId,
        ];
        assert_eq!(all.map(|mark| seen.has(mark)), [true, true, false, false, false]);
    }

    #[test]
    fn what_is_no_json_is_not_taken() {
        let texts: [&[u8]; 20] = [
            b"",
            b"{",
            b"[]",
            b"{} 7",
            b"{,}",
            br#"{"a":1,}"#,
            br#"{"a" 1}"#,
            br#"{"a":01}"#,
            br#"{"a":1.}"#,
            br#"{"a":-}"#,
            br#"{"a":1e}"#,
            br#"{"a":tru}"#,
            br#"{"a":"\x"}"#,
            br#"{"a":"\u12g4"}"#,
            b"{\"a\":\"\n\"}",
            b"{\"a\":\"\xff\"}",
            br#"{"a":[1,]}"#,
            br#"{a:1}"#,
            br#"{"a":"x}"#,
            b"\xef\xbb\xbf{}",
        ];
        for text in texts {
            assert_eq!(depth(text), None, "{}", text.escape_ascii());
            assert!(!is_object(text), "{}", text.escape_ascii());
        }
    }

    #[test]
    fn the_ends_of_strings_are_found_wherever_blocks_end() {
        for length in 0..100 {
            for end in ["\"", "\\\"\"", "é\"", "\\u0041\""] {
                let text = format!("{{\"a\":\"{}{end}}}", "x".repeat(length));
                assert_eq!(depth(text.as_bytes()), Some(1), "{text}");
                assert_eq!(
                    depth(text.replace("x\"}", "\u{1}\"}").as_bytes()).is_some(),
                    is_object(text.replace("x\"}", "\u{1}\"}").as_bytes())
                );
            }
        }
    }

    proptest! {
        #[test]
        fn serde_json_says_the_same_of_any_bytes(
            text in prop::collection::vec(prop::sample::select(b"{}[]\"\\:, 0123.eE+-tfnulrsa\n\xc3\xa9u".to_vec()), 0..40),
            pad in 0..40_usize,
        ) {
            let text = [b"{\"k\":\"", &vec![b'x'; pad][..], b"\",\"a\":", &text, b"}"].concat();
            prop_assert_eq!(depth(&text).is_some(), is_object(&text), "{}", text.escape_ascii());
        }

        #[test]
        fn a_byte_that_is_changed_is_judged_as_serde_json_does(
            at in 0..200_usize, byte: u8,
        ) {
            let mut text = br#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"\"caf\u00e9\" and a line that is longer than a block \\n"}],"n":[-0.5e-7,true,null,[[]]]}}"#.to_vec();
            let at = at % text.len();
            text[at] = byte;
            prop_assert_eq!(depth(&text).is_some(), is_object(&text), "{}", text.escape_ascii());
        }
    }
}

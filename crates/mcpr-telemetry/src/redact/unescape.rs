//! What a text means that another one quotes: an escape of JSON, of a program's string, of a URL or of HTML is one
//! character. A secret is looked for in that too, as it can be spelled in more ways than could be listed.

use memchr::memchr3;

/// How deep texts may be quoted in one another.
pub(super) const DEPTH: usize = 3;

/// The names of characters in HTML that are escaped there by usual libraries.
const NAMED: [(&str, u8); 5] = [
    ("amp;", b'&'),
    ("lt;", b'<'),
    ("gt;", b'>'),
    ("quot;", b'"'),
    ("apos;", b'\''),
];

/// Which escapes are read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Those of JSON, URLs and HTML, of all at once.
    Usual,
    /// Those behind a backslash alone, but there also octal numbers and whatever a shell writes so: `\&` is one
    /// character to a shell, and the beginning of `\&amp;` to others.
    Program,
}

/// A text with one character in place of each escape.
pub(super) struct Plain {
    pub(super) text: String,
    /// Where each of its bytes, and its end, was in the text that it was made of.
    places: Vec<u32>,
}

impl Plain {
    /// The text as it is.
    pub(super) fn of(text: &str) -> Option<Self> {
        let length = u32::try_from(text.len()).ok().filter(|_| has_escapes(text))?;
        Some(Self {
            text: text.to_owned(),
            places: (0..=length).collect(),
        })
    }

    /// The same with what its escapes mean; none if there are none.
    pub(super) fn unescaped(&self, kind: Kind) -> Option<Self> {
        let text = self.text.as_bytes();
        let (mut bytes, mut places) = (Vec::with_capacity(text.len()), Vec::with_capacity(text.len() + 1));
        let mut at = 0;
        while at < text.len() {
            let (meant, length) = match text[at] {
                b'\\' | b'%' | b'&' => read(&text[at..], kind).unwrap_or((Meant::Byte(text[at]), 1)),
                byte => (Meant::Byte(byte), 1),
            };
            let before = bytes.len();
            meant.push(&mut bytes);
            places.extend(std::iter::repeat_n(self.places[at], bytes.len() - before));
            at += length;
        }
        places.push(self.places[text.len()]);
        (bytes.len() < text.len()).then(|| Self {
            text: valid(bytes),
            places,
        })
    }

    /// Where a part of it was.
    pub(super) fn place(&self, part: std::ops::Range<usize>) -> std::ops::Range<usize> {
        self.places[part.start] as usize..self.places[part.end] as usize
    }
}

/// What an escape stands for.
enum Meant {
    Byte(u8),
    Char(char),
}

impl Meant {
    fn push(self, bytes: &mut Vec<u8>) {
        match self {
            Self::Byte(byte) => bytes.push(byte),
            Self::Char(c) => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}

fn has_escapes(text: &str) -> bool {
    memchr3(b'\\', b'%', b'&', text.as_bytes()).is_some()
}

/// Whether there is something to read that only a program writes so.
pub(super) fn is_of_program(text: &str) -> bool {
    let text = text.as_bytes();
    memchr::memchr_iter(b'\\', text).any(|at| of_program(&text[at..]).is_some())
}

/// What the escape means that begins here, and how long it is.
fn read(text: &[u8], kind: Kind) -> Option<(Meant, usize)> {
    match kind {
        Kind::Usual => escape(text),
        Kind::Program if text[0] != b'\\' => None,
        Kind::Program => of_program(text).or_else(|| escape(text)),
    }
}

fn of_program(text: &[u8]) -> Option<(Meant, usize)> {
    match text {
        [
            b'\\',
            high @ b'0'..=b'3',
            middle @ b'0'..=b'7',
            low @ b'0'..=b'7',
            ..,
        ] => {
            let digits = [high, middle, low].into_iter();
            Some((
                Meant::Byte(digits.fold(0, |byte, digit| byte << 3 | digit & 7)),
                4,
            ))
        }
        [b'\\', c, ..] if letter(*c).is_none() && (*c == b' ' || c.is_ascii_punctuation()) => {
            Some((Meant::Byte(*c), 2))
        }
        _ => None,
    }
}

fn escape(text: &[u8]) -> Option<(Meant, usize)> {
    match text {
        [b'%', rest @ ..] => Some((Meant::Byte(u8::try_from(number(rest, 2)?).ok()?), 3)),
        [b'&', b'#', b'x' | b'X', rest @ ..] => entity(rest, 16).map(|(c, length)| (c, length + 3)),
        [b'&', b'#', rest @ ..] => entity(rest, 10).map(|(c, length)| (c, length + 2)),
        [b'&', rest @ ..] => {
            let (name, byte) = NAMED.iter().find(|(name, _)| rest.starts_with(name.as_bytes()))?;
            Some((Meant::Byte(*byte), name.len() + 1))
        }
        [b'\\', b'u', b'{', rest @ ..] => {
            let digits = rest
                .iter()
                .take(6)
                .take_while(|digit| digit.is_ascii_hexdigit())
                .count();
            let c = char::from_u32(number(rest, digits)?)?;
            (rest.get(digits) == Some(&b'}')).then_some((Meant::Char(c), digits + 4))
        }
        [b'\\', b'u', rest @ ..] => unit(rest),
        [b'\\', b'U', rest @ ..] => Some((Meant::Char(char::from_u32(number(rest, 8)?)?), 10)),
        [b'\\', b'x', rest @ ..] => Some((Meant::Byte(u8::try_from(number(rest, 2)?).ok()?), 4)),
        [b'\\', c, ..] => Some((Meant::Byte(letter(*c)?), 2)),
        _ => None,
    }
}

/// A unit of UTF-16, or two that are one character.
fn unit(rest: &[u8]) -> Option<(Meant, usize)> {
    let first = number(rest, 4)?;
    if let Some(c) = char::from_u32(first) {
        return Some((Meant::Char(c), 6));
    }
    let second = number(rest.get(4..)?.strip_prefix(b"\\u")?, 4)?;
    let both = [u16::try_from(first).ok()?, u16::try_from(second).ok()?];
    let c = char::decode_utf16(both).next()?.ok()?;
    Some((Meant::Char(c), 12))
}

fn letter(c: u8) -> Option<u8> {
    match c {
        b'"' | b'\'' | b'\\' | b'/' | b'`' | b'$' => Some(c),
        b'n' => Some(b'\n'),
        b'r' => Some(b'\r'),
        b't' => Some(b'\t'),
        _ => None,
    }
}

/// The character of that number, up to its `;`.
fn entity(rest: &[u8], radix: u32) -> Option<(Meant, usize)> {
    let digits = rest.iter().take(8).position(|&byte| byte == b';')?;
    let text = std::str::from_utf8(&rest[..digits]).ok()?;
    let c = char::from_u32(u32::from_str_radix(text, radix).ok()?)?;
    Some((Meant::Char(c), digits + 1))
}

/// So many hexadecimal digits.
fn number(text: &[u8], digits: usize) -> Option<u32> {
    let text = text
        .get(..digits)
        .filter(|text| text.iter().all(u8::is_ascii_hexdigit))?;
    u32::from_str_radix(std::str::from_utf8(text).ok()?, 16).ok()
}

/// As a text of as many bytes: what is no UTF-8 means nothing here.
fn valid(bytes: Vec<u8>) -> String {
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => return text,
        Err(error) => error.into_bytes(),
    };
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(std::iter::repeat_n('?', chunk.invalid().len()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(text: &str) -> String {
        meant_by(Kind::Usual, text)
    }

    fn meant_by(kind: Kind, text: &str) -> String {
        let plain = Plain::of(text).and_then(|plain| plain.unescaped(kind));
        plain.map_or_else(|| text.to_owned(), |plain| plain.text)
    }

    #[test]
    fn log_04_escapes_of_every_usual_kind_are_read() {
        for (text, expected) in [
            (
                r"a\u0022b\u003c\u{df}\U0001F600\ud83d\ude00",
                "a\"b<\u{df}\u{1f600}\u{1f600}",
            ),
            (r#"\"\\\/\n\t\x41\'"#, "\"\\/\n\tA'"),
            ("%41%c3%9f%2F", "A\u{df}/"),
            ("&lt;&#65;&#x42;&quot;&amp;lt;", "<AB\"&lt;"),
            (
                r"\q \07 \400 \u12 \ud800 %4 %zz & &#; &#x110000; 100%",
                r"\q \07 \400 \u12 \ud800 %4 %zz & &#; &#x110000; 100%",
            ),
            ("%ff%41%e2%82", "?A??"),
        ] {
            assert_eq!(meant(text), expected, "{text}");
        }
    }

    #[test]
    fn log_04_what_only_a_program_escapes_is_read_apart() {
        let text = r"a\&b\ c\=\.\303\237\075\n%41&lt;";
        assert!(is_of_program(text) && !is_of_program(r#"\"\n\u0041\400\"#));
        assert_eq!(meant_by(Kind::Program, text), "a&b c=.\u{df}=\n%41&lt;");
        assert_eq!(meant(text), r"a\&b\ c\=\.\303\237\075".to_owned() + "\nA<");
    }

    #[test]
    fn sec_05_bytes_that_are_no_text_are_looked_at_once() {
        // In a moment; all was looked at again for each of them.
        let text = "%ff".repeat(1_000_000);
        assert_eq!(meant(&text).len(), 1_000_000);
    }

    #[test]
    fn log_04_a_part_is_found_again_where_it_was() {
        let text = r"x %5Cu0041%42 y";
        let once = Plain::of(text).unwrap().unescaped(Kind::Usual).unwrap();
        assert_eq!(once.text, r"x \u0041B y");
        let twice = once.unescaped(Kind::Usual).unwrap();
        assert_eq!(twice.text, "x AB y");
        assert_eq!(&text[twice.place(2..4)], "%5Cu0041%42");
        assert!(twice.unescaped(Kind::Usual).is_none());
    }
}

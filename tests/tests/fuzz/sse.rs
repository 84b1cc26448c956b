//! The reader of event streams: wherever the stream is cut, it gives what the HTML standard says.

use std::time::Duration;

use bytes::Bytes;
use mcpr_tests::fuzz::{Dice, Target, Verdict};
use mcpr_transport::sse::{Event, Parser};
use proptest::{prop_assert, prop_assert_eq};

/// The longest event.
const LIMIT: usize = 96;

const WORDS: &[&str] = &[
    "data:",
    "data: {}",
    "data",
    "event: message",
    "event:",
    "id: 1",
    "id:",
    "id: \0",
    "retry: 10",
    "retry: x",
    ":",
    ": comment",
    "\n",
    "\r",
    "\r\n",
    "\n\n",
    "\r\r",
    "\u{feff}",
    "unknown: field",
];

/// What a stream comes to.
#[derive(Debug, Default, PartialEq, Eq)]
struct Heard {
    events: Vec<Event>,
    last_id: Option<Bytes>,
    retry: Option<Duration>,
    too_long: bool,
}

fn heard<P: IntoIterator<Item = Bytes>>(pieces: P, limit: usize) -> Heard {
    let (mut parser, mut heard) = (Parser::new(limit), Heard::default());
    for piece in pieces {
        parser.push(piece);
        loop {
            match parser.next() {
                Ok(Some(event)) => heard.events.push(event),
                Ok(None) => break,
                Err(_) => {
                    return Heard {
                        too_long: true,
                        ..heard
                    };
                }
            }
        }
    }
    heard.last_id = parser.last_id().cloned();
    heard.retry = parser.retry();
    heard
}

/// The lines of a stream that have ended.
fn lines(stream: &[u8]) -> Vec<&[u8]> {
    let (mut lines, mut rest) = (Vec::new(), stream.strip_prefix(b"\xef\xbb\xbf").unwrap_or(stream));
    while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
        lines.push(&rest[..end]);
        rest = rest[end..].strip_prefix(b"\r\n").unwrap_or(&rest[end + 1..]);
    }
    lines
}

/// The steps of the HTML standard, section 9.2.6, in their own words.
fn by_the_standard(stream: &[u8]) -> Heard {
    let mut all = Heard::default();
    let (mut data, mut name, mut id) = (Vec::new(), String::new(), None);
    for line in lines(stream) {
        if line.is_empty() {
            let text = data.strip_suffix(b"\n").unwrap_or(&data);
            let name = std::mem::take(&mut name);
            if let Some(id) = id.take() {
                all.last_id = Some(id).filter(|id: &Bytes| !id.is_empty());
            }
            if !text.is_empty() {
                let name = Some(name.into_boxed_str()).filter(|name| !name.is_empty());
                all.events.push(Event {
                    name,
                    data: Bytes::copy_from_slice(text),
                });
            }
            data.clear();
            continue;
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (field, value) = line.split_at(colon.unwrap_or(line.len()));
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => data.extend([value, b"\n"].concat()),
            b"event" => name = String::from_utf8_lossy(value).into_owned(),
            b"id" if !value.contains(&0) => id = Some(Bytes::copy_from_slice(value)),
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                let text = String::from_utf8_lossy(value);
                all.retry = text.parse().ok().map(Duration::from_millis).or(all.retry);
            }
            _ => {}
        }
    }
    all
}

fn property(bytes: &[u8], mut dice: Dice) -> Verdict {
    let whole = || [Bytes::copy_from_slice(bytes)];
    prop_assert_eq!(heard(whole(), usize::MAX), by_the_standard(bytes));
    let limited = heard(whole(), LIMIT);
    prop_assert!(limited.events.iter().all(|event| event.data.len() <= LIMIT));
    for longest in [1, 3, 40] {
        let pieces = dice.pieces(bytes, longest);
        prop_assert_eq!(&heard(pieces.clone(), LIMIT), &limited, "in {:?}", pieces);
        prop_assert_eq!(heard(pieces, usize::MAX), by_the_standard(bytes));
    }
    Ok(())
}

#[test]
fn b85_a_stream_says_the_same_wherever_it_is_cut_and_what_the_standard_says() {
    Target::new("sse").words(WORDS).holds(property);
}

//! Calls that are written together, and their text.

use std::ops::Range;

use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};

use crate::CallRow;

/// How many calls one text has at the most: what is read of it is read whole.
const MOST: usize = 256;
/// How many members of a call are often those of the call before.
const TEXTS: usize = 8;

/// Calls on their way into a store.
///
/// Each is written into a text when it is added, so that it takes no memory of its own and there is little left
/// to do for who keeps them.
#[derive(Clone, Debug, Default)]
pub struct CallBatch {
    pieces: Vec<Piece>,
}

/// Some of the calls, as one text: a JSON array of the calls, each an array of its members in the order in which
/// [`CallRow`] has them. A text that stands in the place that it had last is a `0`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Piece {
    /// The least and the greatest id.
    pub(crate) first: String,
    pub(crate) last: String,
    /// When the call began that began first.
    pub(crate) oldest_ms: i64,
    pub(crate) calls: usize,
    /// The text, in UTF-8.
    pub(crate) text: Vec<u8>,
    /// Where each text stands that was written last in its place.
    latest: [Range<usize>; TEXTS],
    /// Whether the ids did not come in their order.
    shuffled: bool,
}

/// A call as it is read.
type Read = (
    String,
    i64,
    u64,
    String,
    Text,
    Text,
    Option<Text>,
    Option<Text>,
    Text,
    Option<i64>,
    Option<String>,
    Text,
    Option<Text>,
    Option<Text>,
    Option<String>,
);

/// A text, or that it is the one of before.
enum Text {
    New(String),
    Same,
}

impl CallBatch {
    /// Adds a call.
    pub fn push(&mut self, call: &CallRow<&str>) {
        match self.pieces.last_mut() {
            Some(piece) if piece.calls < MOST => piece.add(call),
            _ => {
                let mut piece = Piece::default();
                piece.add(call);
                self.pieces.push(piece);
            }
        }
    }

    /// How many calls there are.
    pub fn len(&self) -> usize {
        self.pieces.iter().map(|piece| piece.calls).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// How many bytes they take.
    pub fn bytes(&self) -> u64 {
        self.pieces.iter().map(Piece::bytes).sum()
    }

    /// The calls, as they were added.
    pub fn calls(&self) -> impl Iterator<Item = CallRow> {
        self.pieces.iter().flat_map(Piece::calls)
    }

    /// Calls in the order of their ids; of two with one id the first stays.
    pub(crate) fn merged(mut calls: Vec<CallRow>) -> Self {
        calls.sort_by(|one, other| one.id.cmp(&other.id));
        calls.dedup_by(|later, earlier| later.id == earlier.id);
        calls.into_iter().collect()
    }

    pub(crate) fn into_pieces(self) -> Vec<Piece> {
        self.pieces
    }

    #[cfg(any(test, feature = "sqlite"))]
    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Whether each id is greater than the one before.
    pub(crate) fn is_in_order(&self) -> bool {
        self.pieces.iter().all(|piece| !piece.shuffled)
            && self.pieces.windows(2).all(|two| two[0].last < two[1].first)
    }

    /// The least and the greatest id.
    pub(crate) fn ends(&self) -> Option<(&str, &str)> {
        let first = self.pieces.iter().map(|piece| piece.first.as_str()).min()?;
        let last = self.pieces.iter().map(|piece| piece.last.as_str()).max()?;
        Some((first, last))
    }
}

impl FromIterator<CallRow> for CallBatch {
    fn from_iter<I: IntoIterator<Item = CallRow>>(calls: I) -> Self {
        let mut batch = Self::default();
        calls.into_iter().for_each(|call| batch.push(&call.as_ref()));
        batch
    }
}

impl<const N: usize> From<[CallRow; N]> for CallBatch {
    fn from(calls: [CallRow; N]) -> Self {
        calls.into_iter().collect()
    }
}

impl Piece {
    /// The calls, as they were added.
    pub(crate) fn calls(&self) -> Vec<CallRow> {
        read(&self.text).expect("what was written can be read")
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.text.len() as u64
    }

    fn add(&mut self, call: &CallRow<&str>) {
        self.note(call);
        // The bracket behind the calls.
        match self.text.pop() {
            None => self.text.extend_from_slice(b"[["),
            Some(_) => self.text.extend_from_slice(b",["),
        }
        self.string(Some(call.id));
        self.number(call.at_ms);
        self.number(call.duration_us);
        self.string(Some(call.request_id));
        self.text(0, Some(call.correlation_id));
        self.text(1, Some(call.method));
        self.text(2, call.server);
        self.text(3, call.tool);
        self.text(4, Some(call.status));
        match call.code {
            Some(code) => self.number(code),
            None => self.string(None),
        }
        self.string(call.error);
        self.text(5, Some(call.principal));
        self.text(6, call.client);
        self.text(7, call.project);
        self.string(call.arguments);
        // The last comma.
        self.text.pop();
        self.text.extend_from_slice(b"]]");
        self.calls += 1;
    }

    /// Keeps what is to be known of the calls without reading them.
    fn note(&mut self, call: &CallRow<&str>) {
        let set = |text: &mut String| {
            text.clear();
            text.push_str(call.id);
        };
        if self.calls == 0 {
            self.oldest_ms = call.at_ms;
            set(&mut self.first);
        } else if call.id <= self.last.as_str() {
            self.shuffled = true;
        }
        self.oldest_ms = self.oldest_ms.min(call.at_ms);
        if call.id < self.first.as_str() {
            set(&mut self.first);
        }
        if call.id > self.last.as_str() {
            set(&mut self.last);
        }
    }

    fn number(&mut self, number: impl itoa::Integer) {
        let mut digits = itoa::Buffer::new();
        self.text.extend_from_slice(digits.format(number).as_bytes());
        self.text.push(b',');
    }

    fn string(&mut self, text: Option<&str>) {
        match text {
            Some(text) => serde_json::to_writer(&mut self.text, text).expect("a text is JSON"),
            None => self.text.extend_from_slice(b"null"),
        }
        self.text.push(b',');
    }

    fn text(&mut self, place: usize, text: Option<&str>) {
        let start = self.text.len();
        match text {
            Some(text) if self.is_latest(place, text) => self.text.extend_from_slice(b"0,"),
            Some(text) => {
                self.string(Some(text));
                let written = start..self.text.len() - 1;
                // Another text could read as this one does with its escapes.
                let plain = written.len() == text.len() + 2;
                self.latest[place] = if plain { written } else { 0..0 };
            }
            None => self.string(None),
        }
    }

    /// Whether it is the text that was written last in this place, and without an escape.
    fn is_latest(&self, place: usize, text: &str) -> bool {
        let quoted = &self.text[self.latest[place].clone()];
        quoted.len() == text.len() + 2 && quoted[1..quoted.len() - 1] == *text.as_bytes()
    }
}

/// Reads the text of calls.
pub(crate) fn read(text: &[u8]) -> Result<Vec<CallRow>, serde_json::Error> {
    let calls: Vec<Read> = serde_json::from_slice(text)?;
    let mut latest = [const { String::new() }; TEXTS];
    Ok(calls.into_iter().map(|call| row(call, &mut latest)).collect())
}

fn row(read: Read, latest: &mut [String; TEXTS]) -> CallRow {
    let mut text = |place: usize, text: Text| match text {
        Text::New(text) => {
            latest[place].clone_from(&text);
            text
        }
        Text::Same => latest[place].clone(),
    };
    CallRow {
        id: read.0,
        at_ms: read.1,
        duration_us: read.2,
        request_id: read.3,
        correlation_id: text(0, read.4),
        method: text(1, read.5),
        server: read.6.map(|server| text(2, server)),
        tool: read.7.map(|tool| text(3, tool)),
        status: text(4, read.8),
        code: read.9,
        error: read.10,
        principal: text(5, read.11),
        client: read.12.map(|client| text(6, client)),
        project: read.13.map(|project| text(7, project)),
        arguments: read.14,
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl Visitor<'_> for Either {
            type Value = Text;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a text, or 0 for the one before")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Text, E> {
                Ok(Text::New(text.to_owned()))
            }

            fn visit_string<E: Error>(self, text: String) -> Result<Text, E> {
                Ok(Text::New(text))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Text, E> {
                match number {
                    0 => Ok(Text::Same),
                    _ => Err(E::custom("a text of calls refers to what it does not have")),
                }
            }
        }

        deserializer.deserialize_any(Either)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(number: usize) -> CallRow {
        CallRow {
            id: format!("h_{number:04}"),
            at_ms: 9 - number as i64,
            method: "tools/call".into(),
            server: number.is_multiple_of(2).then(|| "git".into()),
            tool: Some(format!("a\"{}", number / 2)),
            status: "ok".into(),
            ..CallRow::default()
        }
    }

    fn text(batch: &CallBatch) -> String {
        let texts = batch.pieces().iter().map(|piece| piece.text.clone());
        texts.map(|text| String::from_utf8(text).unwrap()).collect()
    }

    #[test]
    fn log_06_what_is_as_before_is_not_written_again() {
        let batch = CallBatch::from([call(0), call(1), call(2)]);

        let lines = text(&batch).replace("],", "],\n");

        insta::assert_snapshot!(lines, @r#"
        [["h_0000",9,0,"","","tools/call","git","a\"0","ok",null,null,"",null,null,null],
        ["h_0001",8,0,"",0,0,null,"a\"0",0,null,null,0,null,null,null],
        ["h_0002",7,0,"",0,0,0,"a\"1",0,null,null,0,null,null,null]]
        "#);
        assert_eq!(batch.calls().collect::<Vec<_>>(), [call(0), call(1), call(2)]);
    }

    #[test]
    fn log_06_a_text_is_not_taken_for_one_that_is_escaped_to_it() {
        let calls = ["a\"b", r#"a\"b"#, "a\"b", "n\nl", r"n\nl", "", "é", r"\u00e9"].map(|server| CallRow {
            server: Some(server.into()),
            client: Some(server.into()),
            ..call(1)
        });
        let batch: CallBatch = calls.iter().cloned().collect();
        assert_eq!(batch.calls().collect::<Vec<_>>(), calls);
    }

    #[test]
    fn log_06_a_batch_knows_its_ends_and_whether_it_is_in_order() {
        let facts = |numbers: &[usize]| {
            let batch: CallBatch = numbers.iter().map(|number| call(*number)).collect();
            let ends = batch.ends().map(|(first, last)| [first, last].map(str::to_owned));
            (ends, batch.is_in_order())
        };
        let ends = |first: &str, last: &str| Some([first.to_owned(), last.to_owned()]);
        assert_eq!(facts(&[]), (None, true));
        assert_eq!(facts(&[1, 2, 3]), (ends("h_0001", "h_0003"), true));
        assert_eq!(facts(&[2, 1, 3]), (ends("h_0001", "h_0003"), false));
        assert_eq!(facts(&[1, 1]), (ends("h_0001", "h_0001"), false));
    }

    #[test]
    fn log_06_many_calls_are_several_texts() {
        let calls: Vec<_> = (0..600).map(call).collect();

        let batch: CallBatch = calls.iter().cloned().collect();

        let counts: Vec<_> = batch.pieces().iter().map(|piece| piece.calls).collect();
        assert_eq!((counts, batch.len()), (vec![256, 256, 88], 600));
        assert!(batch.is_in_order());
        assert_eq!(batch.calls().collect::<Vec<_>>(), calls);
        let shuffled: CallBatch = (0..256).map(|number| call(number + 1)).chain([call(0)]).collect();
        assert!(!shuffled.is_in_order());
    }
}

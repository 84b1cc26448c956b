//! Which requests a text answers that cannot be read: its form is wrong, but its ids are legible.
//!
//! Such a text may break every rule of JSON, so nothing is taken for granted but quotes and brackets.
//! Servers also print what is no message at all, among it what they have received and are about to
//! send; only what stands on a line of its own, as a message does, counts.

use memchr::memmem;

/// What the members at the top of an object make of it.
#[derive(Default)]
struct Gist {
    /// The numbers that its `id`s are.
    ids: Vec<u64>,
    /// It says that it is JSON-RPC.
    jsonrpc: bool,
    /// It asks for something: its id is one of the server's own.
    asks: bool,
    /// It has a result or an error.
    answers: bool,
    /// It has what no message has, as a line of a log does.
    strange: bool,
    /// It has an end.
    closed: bool,
}

/// The objects at the top of a text, or in the array that it is.
struct Objects<'t> {
    rest: &'t [u8],
}

/// More than any number of ours takes, in bytes, with what may stand around it.
const LONGEST_ID: usize = 64;

/// The ids of the requests that a text answers, object by object; one of two minds answers none.
pub(crate) fn answered(text: &[u8]) -> impl Iterator<Item = u64> {
    Objects::of(text).filter_map(|gist| gist.answered())
}

/// The same for a text of which only the first and the last bytes are there.
pub(crate) fn answered_by_ends(head: &[u8], tail: &[u8]) -> Option<u64> {
    let gist = Objects::of(head).next()?;
    if gist.asks {
        return None;
    }
    gist.answered().or_else(|| last_id(tail))
}

impl Gist {
    fn answered(&self) -> Option<u64> {
        let looks_like_one = self.jsonrpc || (self.answers && !self.strange);
        let is_whole = self.closed || self.answers;
        match self.ids[..] {
            [id] if looks_like_one && is_whole && !self.asks => Some(id),
            _ => None,
        }
    }

    fn member(&mut self, name: &[u8], value: &[u8]) {
        match name {
            b"jsonrpc" => self.jsonrpc = true,
            b"method" => self.asks = true,
            b"result" | b"error" => self.answers = true,
            b"id" => {
                let value = &value[..value.len().min(LONGEST_ID)];
                let ended = value.iter().position(|byte| b",}]".contains(byte));
                let id = ended.and_then(|end| number(&value[..end]));
                // Two are as many as it takes to be of two minds.
                self.ids
                    .extend(id.filter(|id| self.ids.len() < 2 && !self.ids.contains(id)));
            }
            _ => self.strange = true,
        }
    }
}

impl<'t> Objects<'t> {
    fn of(text: &'t [u8]) -> Self {
        let text = text.trim_ascii_start();
        let first = text.strip_prefix(b"[").unwrap_or(text).trim_ascii_start();
        Self {
            rest: if first.starts_with(b"{") { first } else { b"" },
        }
    }

    /// The text up to the next quote that ends it.
    fn quoted(&mut self) -> &'t [u8] {
        let text = self.rest;
        let mut at = 0;
        while let Some(byte) = text.get(at) {
            match byte {
                b'"' => break,
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
        let end = at.min(text.len());
        self.rest = text.get(end + 1..).unwrap_or_default();
        &text[..end]
    }
}

impl Iterator for Objects<'_> {
    type Item = Gist;

    fn next(&mut self) -> Option<Gist> {
        let (mut gist, mut depth) = (Gist::default(), 0_usize);
        while let Some((byte, rest)) = self.rest.split_first() {
            self.rest = rest;
            match byte {
                b'"' => {
                    let text = self.quoted();
                    let value = self.rest.trim_ascii_start().strip_prefix(b":");
                    if let Some(value) = value.filter(|_| depth == 1) {
                        gist.member(text, value);
                    }
                }
                b'{' => depth += 1,
                b'[' if depth > 0 => depth += 1,
                b'}' | b']' if depth == 1 => return Some(Gist { closed: true, ..gist }),
                b'}' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        (depth > 0).then_some(gist)
    }
}

/// The id with which an object ends, as some libraries write it: `…},"jsonrpc":"2.0","id":7}`.
fn last_id(tail: &[u8]) -> Option<u64> {
    let at = memmem::rfind(tail, br#""id""#)? + 4;
    let value = tail[at..].trim_ascii().strip_prefix(b":")?.strip_suffix(b"}")?;
    let mut members = value.split(|byte| *byte == b',');
    let id = number(members.next()?)?;
    let is_the_end = members.all(|member| member.trim_ascii().starts_with(br#""jsonrpc""#));
    is_the_end.then_some(id)
}

/// One of our numbers, as we write it: what only looks like it answers nothing.
fn number(text: &[u8]) -> Option<u64> {
    let text = text.trim_ascii();
    let digits = text.iter().all(u8::is_ascii_digit).then_some(text)?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(text: &[u8]) -> Vec<u64> {
        answered(text).collect()
    }

    #[test]
    fn b90_the_id_of_an_answer_is_found_whatever_is_wrong_with_the_rest() {
        for text in [
            &br#"{"jsonrpc":"2.0","id":7,"result":{},"error":{"code":1}}"#[..],
            br#"{"jsonrpc":"2.0","id":7}"#,
            br#"{"id": 7, "result": {"id": 9, "a": ["}", "\"", {"id": 8}]}}"#,
            br#"{"id":7,"error":{"code":1,"message":"m"}}"#,
            br#"{"jsonrpc":"1.0","id":7,"result":{}}"#,
            br#"{"jsonrpc":"2.0","id":7,"id":7,"result":1,"result":2}"#,
            br#" [ {"jsonrpc":"2.0","id":7,"result":{}} ]"#,
            br#"{"result":NaN,"jsonrpc":"2.0","id":7}"#,
            b"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"t\":\"\xff\"}}",
            br#"{"jsonrpc":"2.0","id":7,"result":{"broken":"off"#,
        ] {
            assert_eq!(ids(text), [7], "{}", String::from_utf8_lossy(text));
        }
        let two = br#"{"jsonrpc":"2.0","id":7,"result":{}}{"jsonrpc":"2.0","id":8,"result":{}}"#;
        assert_eq!(ids(two), [7, 8]);
    }

    #[test]
    fn sec_05_a_text_of_nothing_but_ids_is_read_once() {
        let numbers: String = (0..200_000).map(|id| format!("\"id\":{id},")).collect();
        for text in [format!("{{{numbers}"), format!("{{{}", "\"id\":".repeat(1 << 20))] {
            assert_eq!(ids(text.as_bytes()), [0; 0]);
        }
    }

    #[test]
    fn b03_what_servers_print_is_no_answer() {
        for text in [
            &br#"sent {"jsonrpc":"2.0","id":7,"result":{}}"#[..],
            br#"[INFO] sent {"jsonrpc":"2.0","id":7,"result":{}}"#,
            br#"{"jsonrpc":"2.0","id":7,"method":"roots/list","params":[]}"#,
            br#"{"level":30,"id":7,"msg":"done"}"#,
            br#"{"level":50,"id":7,"error":"no luck","msg":"failed"}"#,
            br#"{"sent":{"jsonrpc":"2.0","id":7,"result":{}}}"#,
            br#"{"jsonrpc":"2.0","id":"7","result":{},"error":{}}"#,
            br#"{"jsonrpc":"2.0","id":7.0,"result":{},"error":{}}"#,
            br#"{"jsonrpc":"2.0","id":+7,"result":{},"error":{}}"#,
            br#"{"jsonrpc":"2.0","id":7,"id":8,"result":{}}"#,
            br#"{"jsonrpc":"2.0","id":7,"#,
            br#"{'jsonrpc': '2.0', 'id': 7, 'result': {}}"#,
            b"[1]",
            b"{}",
            b"",
        ] {
            assert_eq!(ids(text), [0_u64; 0], "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn b89_the_id_of_a_line_that_was_thrown_away_is_at_one_of_its_ends() {
        let result = br#"{"result":{"content":[{"id":5,"text":"xxx"#;
        for (head, tail, id) in [
            (
                &br#"{"jsonrpc":"2.0","id": 17,"result":{"#[..],
                &b"xxx"[..],
                Some(17),
            ),
            (result, br#"xxx"}]},"id":8}"#, Some(8)),
            (result, br#"xxx"}]},"jsonrpc":"2.0", "id": 8 }"#, Some(8)),
            (result, br#"xxx"}]},"id":8,"jsonrpc":"2.0"}"#, Some(8)),
            (result, br#"xxx","id":8}]}}"#, None),
            (br#"{"method":"ping","params":{"#, br#"},"id":8}"#, None),
            (br#"{"jsonrpc":"2.0","id":1,"method":"#, br#"},"id":8}"#, None),
            (br#"{"jsonrpc":"2.0","id":"text","result":"#, b"}}", None),
            (b"xxxxxxxx", br#"},"id":8}"#, None),
        ] {
            assert_eq!(
                answered_by_ends(head, tail),
                id,
                "{}",
                String::from_utf8_lossy(tail)
            );
        }
    }
}

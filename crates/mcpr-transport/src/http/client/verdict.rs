//! What an HTTP answer that carries no result means.

use std::fmt;

use bytes::Bytes;
use http::{HeaderMap, header};
use mcpr_protocol::{ErrorObject, Id, Message, Response, code};

use super::answer::{Answer, Coding};
use super::link::{Link, Place};
use super::target::Target;
use crate::excerpt::{LOOKED_AT, excerpt};
use crate::{Failed, FailedKind, Sent, intake, spellings};

/// How much of a content type an error shows.
const MEDIA: usize = 100;

/// An answer without a result, with what is needed to judge it.
#[derive(Debug)]
pub(super) struct Refusal<'a> {
    pub(super) place: Place<'a>,
    pub(super) mask: &'a Mask,
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) text: &'a Bytes,
    /// Whether the message named a session.
    pub(super) in_session: bool,
}

/// The configured secrets, which a server may repeat in an error and an error must not show.
pub(crate) struct Mask(Vec<String>);

impl Link {
    /// What is needed to judge an answer without a result.
    pub(super) fn refusal<'a>(
        &'a self,
        answer: &'a Answer,
        text: &'a Bytes,
        in_session: bool,
    ) -> Refusal<'a> {
        Refusal {
            place: self.place(),
            mask: self.mask(),
            status: answer.status.as_u16(),
            headers: answer.headers(),
            text,
            in_session,
        }
    }

    /// Whether the server took a message that has no response: any 2xx says so, whatever is in it.
    pub(crate) async fn accepted(&self, mut answer: Answer, in_session: bool) -> Result<(), Failed> {
        if answer.status.is_success() {
            answer.release();
            return Ok(());
        }
        let text = answer.next().await.transpose()?.unwrap_or_default();
        Err(self.refusal(&answer, &text, in_session).failed())
    }

    /// What is wrong with an answer that is not what was asked for, outside of any session.
    pub(crate) async fn refused(&self, mut answer: Answer) -> Failed {
        let text = answer.next().await.and_then(Result::ok).unwrap_or_default();
        self.refusal(&answer, &text, false).failed()
    }
}

impl Refusal<'_> {
    /// The error response for request `id` if that is what the answer is, else what went wrong.
    pub(super) fn judge(&self, id: u64) -> Result<Response, Failed> {
        let error = self.error(id);
        let unknown_method = error
            .as_ref()
            .is_some_and(|error| is_unknown_method(error) && error.id.is_some());
        match error {
            Some(error) if !self.is_lost_session(unknown_method) && !self.is_unauthorized() => Ok(Response {
                id: Some(Id::number(id)),
                ..error
            }),
            _ => Err(self.failed()),
        }
    }

    /// What went wrong with a message that has no response.
    pub(super) fn failed(&self) -> Failed {
        let (kind, sent) = match self.status {
            _ if self.is_lost_session(false) => (FailedKind::SessionExpired, Sent::No),
            status @ (401 | 403) => (FailedKind::Unauthorized(status), Sent::No),
            200..300 => (FailedKind::Malformed, Sent::Maybe),
            status if is_refused_unread(status) => (FailedKind::Status(status), Sent::No),
            status => (FailedKind::Status(status), Sent::Maybe),
        };
        Failed {
            sent,
            kind,
            detail: self.detail(),
            said: None,
        }
        .saying(self.said())
    }

    /// A 404 says so by itself, unless it speaks of the method; other statuses say so in words.
    fn is_lost_session(&self, unknown_method: bool) -> bool {
        self.in_session
            && match self.status {
                404 => !unknown_method,
                400 | 401 => speaks_of_lost_session(self.text),
                _ => false,
            }
    }

    fn is_unauthorized(&self) -> bool {
        matches!(self.status, 401 | 403)
    }

    fn error(&self, id: u64) -> Option<Response> {
        let Ok(Message::Response(response)) = intake::read(self.text) else {
            return None;
        };
        let ours = response
            .id
            .as_ref()
            .is_none_or(|theirs| theirs.as_number() == Some(id));
        Some(response).filter(|response| ours && response.outcome.is_err())
    }

    fn detail(&self) -> String {
        let (place, status) = (self.place, self.status);
        let media = self.headers.get(header::CONTENT_TYPE);
        let media = media.map_or("no content type".into(), |media| {
            String::from_utf8_lossy(media.as_bytes())
        });
        if let Some(coding) = Coding::of(&self.headers) {
            return format!(
                "{place} answers {status} in the coding `{coding}`, which was not asked for and is not read; \
                 turn compression off there"
            );
        }
        let media: String = media.chars().take(MEDIA).collect();
        match (self.text.is_empty(), status) {
            (true, 200..300) => format!("{place} answers {status} without the response to the request"),
            (true, _) => format!("{place} answers {status} with an empty body"),
            (false, _) => format!("{place} answers {status} ({media})"),
        }
    }

    /// What it says instead, unless it is packed.
    fn said(&self) -> String {
        match Coding::of(&self.headers) {
            Some(_) => String::new(),
            None => self.mask.excerpt(self.text),
        }
    }
}

fn is_unknown_method(error: &Response) -> bool {
    let object = error
        .outcome
        .as_ref()
        .err()
        .and_then(|error| error.read::<ErrorObject>().ok());
    object.is_some_and(|object| object.code == code::METHOD_NOT_FOUND)
}

/// Statuses by which a server says that it did not even look at the message.
fn is_refused_unread(status: u16) -> bool {
    matches!(
        status,
        404 | 405 | 406 | 411 | 413 | 414 | 415 | 421 | 426 | 429 | 431
    )
}

/// What servers say instead of 404 (the reference SDKs among them).
fn speaks_of_lost_session(text: &[u8]) -> bool {
    const LOST: [&str; 8] = [
        "not found",
        "no valid",
        "invalid",
        "expired",
        "unknown",
        "terminated",
        "not exist",
        "not initialized",
    ];
    let text = String::from_utf8_lossy(&text[..text.len().min(1024)]).to_lowercase();
    let about_it = text.contains("session") || text.contains("server not initialized");
    about_it && LOST.iter().any(|lost| text.contains(lost))
}

impl Mask {
    /// The values of the configured headers and of the URL's query, and their words, in each way in which they are likely
    /// to be quoted; a value may hold another one, so the longest goes first.
    pub(super) fn new(target: &Target) -> Self {
        let plain = [header::HOST, header::USER_AGENT];
        let headers = target.headers().iter().filter(|(name, _)| !plain.contains(name));
        let headers = headers.filter_map(|(_, value)| std::str::from_utf8(value.as_bytes()).ok());
        let path = target.path();
        let query = path.query().unwrap_or_default();
        // A value that was written plainly may hold an `&` itself.
        let values = query.match_indices('=').map(|(at, _)| &query[at + 1..]);
        let values = values.flat_map(|rest| [rest, rest.split('&').next().unwrap_or_default()]);
        let texts = headers.chain(values);
        let words = texts.flat_map(|text| text.split_ascii_whitespace().chain([text]));
        let words = words.filter(|word| word.len() >= 4 && !is_scheme(word));
        let mut words: Vec<String> = words.flat_map(spellings::of).collect();
        words.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        words.dedup();
        Self(words)
    }

    /// The beginning of a text on one line, without secrets.
    pub(crate) fn excerpt(&self, text: &[u8]) -> String {
        excerpt(&self.masked_beginning(text))
    }
}

impl Mask {
    /// More than is ever shown of a text, without secrets, nor the half of one that stands where it is cut.
    fn masked_beginning(&self, text: &[u8]) -> String {
        let longest = self.0.iter().map(String::len).max().unwrap_or(0);
        let cut = text.len().min(LOOKED_AT + longest);
        let begin = String::from_utf8_lossy(&text[..cut]).into_owned();
        let mut masked = self
            .0
            .iter()
            .fold(begin, |text, secret| text.replace(secret, "***"));
        if cut < text.len() {
            let end = masked.len().saturating_sub(longest);
            let end = (0..=end).rev().find(|at| masked.is_char_boundary(*at));
            masked.truncate(end.unwrap_or(0));
        }
        masked
    }
}

fn is_scheme(word: &str) -> bool {
    ["bearer", "basic", "token", "digest"]
        .iter()
        .any(|scheme| word.eq_ignore_ascii_case(scheme))
}

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mask(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::excerpt::SHOWN;

    const OWN_ERROR: &str = r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32020,"message":"m"}}"#;
    const OWN_UNKNOWN: &str = r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"m"}}"#;
    const IDLESS: &str = r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"m"}}"#;
    const FOREIGN: &str = r#"{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"m"}}"#;

    #[test]
    fn sec_04_sec_05_of_a_long_text_the_beginning_is_read_and_no_secret_is_cut_in_half() {
        let mask = Mask(vec!["s3cret-word".into()]);
        let many = "a ".repeat(8 << 20);
        assert_eq!(mask.excerpt(many.as_bytes()).chars().count(), SHOWN + 1);
        assert_eq!(mask.excerpt(b" it is\ts3cret-word "), "it is ***");
        for place in LOOKED_AT..LOOKED_AT + 12 {
            let text = "é".repeat(place / 2) + "s3cret-word and more of it, longer than that";
            let begin = mask.masked_beginning(text.as_bytes());
            assert!(begin.contains("***") || !begin.contains('s'), "{place}");
        }
    }

    #[test]
    fn sec_04_a_value_that_holds_another_is_taken_out_whole() {
        let target = Target::new(
            "http://h/mcp?key=alpha1&bravo2&c3c3c&x=delta4",
            [("X-User", "acme"), ("X-Pass", "acme-S3CRETpart99")],
        );
        let mask = Mask::new(&target.unwrap());
        let said =
            mask.excerpt(b"user=acme pass=acme-S3CRETpart99 all=alpha1&bravo2&c3c3c&x=delta4 x=delta4");
        assert_eq!(said, "user=*** pass=*** all=*** x=***");
    }

    fn place(target: &Target) -> Place<'_> {
        Place {
            origin: target.origin(),
            through: None,
        }
    }

    fn judge(status: u16, in_session: bool, text: &str) -> Result<(), (FailedKind, Sent)> {
        let target = Target::new("https://h/mcp", []).unwrap();
        let refusal = Refusal {
            place: place(&target),
            mask: &Mask::new(&target),
            status,
            headers: HeaderMap::new(),
            text: &Bytes::copy_from_slice(text.as_bytes()),
            in_session,
        };
        let judged = refusal.judge(7);
        if let Ok(response) = &judged {
            assert_eq!(response.id, Some(Id::number(7)));
        }
        judged.map(drop).map_err(|failed| (failed.kind, failed.sent))
    }

    #[test]
    fn an_error_body_about_our_request_is_its_response_whatever_the_status() {
        for (status, text) in [
            (400, OWN_ERROR),
            (404, OWN_UNKNOWN),
            (400, IDLESS),
            (500, OWN_ERROR),
            (200, IDLESS),
        ] {
            assert_eq!(judge(status, false, text), Ok(()), "{status}");
        }
        assert_eq!(
            judge(404, true, OWN_UNKNOWN),
            Ok(()),
            "the method is unknown, not the session"
        );
        assert_eq!(
            judge(400, false, FOREIGN),
            Err((FailedKind::Status(400), Sent::Maybe))
        );
    }

    #[test]
    fn b02_a_lost_session_is_told_by_404_or_by_words_and_proves_the_message_unsent() {
        let lost = Err((FailedKind::SessionExpired, Sent::No));
        let not_found =
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}"#;
        let no_valid = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}"#;
        for (status, text) in [
            (404, ""),
            (404, not_found),
            (404, FOREIGN),
            (400, no_valid),
            (401, "Session expired"),
        ] {
            assert_eq!(judge(status, true, text), lost, "{status} {text}");
            assert_ne!(judge(status, false, text), lost, "nothing to lose");
        }
        assert_eq!(judge(400, true, "Bad Request: Server not initialized"), lost);
    }

    #[test]
    fn statuses_say_whether_the_message_was_looked_at() {
        assert_eq!(
            judge(401, false, OWN_ERROR),
            Err((FailedKind::Unauthorized(401), Sent::No))
        );
        assert_eq!(
            judge(403, true, "invalid session"),
            Err((FailedKind::Unauthorized(403), Sent::No))
        );
        assert_eq!(
            judge(404, false, "<html>"),
            Err((FailedKind::Status(404), Sent::No))
        );
        assert_eq!(
            judge(502, true, "<html>"),
            Err((FailedKind::Status(502), Sent::Maybe))
        );
        assert_eq!(judge(202, true, ""), Err((FailedKind::Malformed, Sent::Maybe)));
    }

    #[test]
    fn b32_an_error_shows_status_type_and_beginning_but_no_secret() {
        let headers = [("Authorization", "Bearer s3cr3t"), ("X-Key", "k3yk3y")];
        let target = Target::new("https://h/mcp?key=qu3ry", headers).unwrap();
        let mut head = HeaderMap::new();
        head.insert(header::CONTENT_TYPE, "text/html".parse().unwrap());
        let text = format!("<html>\n s3cr3t, k3yk3y,qu3ry Bearer {}", "é".repeat(200));
        let refusal = Refusal {
            place: place(&target),
            mask: &Mask::new(&target),
            status: 500,
            headers: head,
            text: &text.into(),
            in_session: false,
        };
        let failed = refusal.failed();
        assert_eq!(failed.to_string(), "https://h answers 500 (text/html)");
        let detail = failed.whole();
        assert!(
            detail.starts_with("https://h answers 500 (text/html): <html> ***, ***,*** Bearer éé"),
            "{detail}"
        );
        assert!(detail.chars().count() < 250 && detail.ends_with('…'), "{detail}");
    }
}

//! Takes out what looks like a credential, whoever it belongs to.

use std::borrow::Cow;
use std::ops::Range;

use super::issued;
use super::pairs::Pairs;
use super::{MARK, marked};

/// So many characters after `mcpr_pat_` name a token in lists and error texts; they are no secret.
const PUBLIC_BEGINNING: usize = 4;
/// What follows `Bearer ` in prose and in challenges.
const NOT_CREDENTIALS: [&str; 11] = [
    "token",
    "tokens",
    "tokens.",
    "token.",
    "auth",
    "authentication",
    "authorization",
    "credentials",
    "scheme",
    "header",
    "realm=",
];
const TOKEN_PREFIXES: [&str; 3] = ["mcpr_pat_", "mcpr_adm_", "mcpr_svc_"];
/// Fields of HTTP beside `Authorization` that hold a credential and nothing else.
const FIELDS: [&str; 3] = ["x-api-key", "x-auth-token", "x-access-token"];
const WEB_SCHEMES: [&str; 4] = ["http", "https", "ws", "wss"];

static BEGINS: Pairs = begins();

/// One walk over a text.
struct Walk<'t> {
    text: &'t str,
    /// Where the web address ends in which the walk is, or was.
    url_end: usize,
    /// Before this there begins no JSON Web Token that was not seen.
    no_jwt: usize,
}

/// The text with a mark in the place of every credential.
pub(super) fn scrub(text: &str) -> Cow<'_, str> {
    marked(text, gaps(text))
}

/// Where credentials stand, in their order and apart from each other.
pub(super) fn gaps(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut walk = Walk {
        text,
        url_end: 0,
        no_jwt: 0,
    };
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let at = BEGINS.find(text.as_bytes(), from)?;
            let found = walk.credential_at(at);
            from = found.as_ref().map_or(at + 1, |found| found.end);
            if found.is_some() {
                return found;
            }
        }
    })
}

impl Walk<'_> {
    /// The range to take out because of what begins at `at`.
    fn credential_at(&mut self, at: usize) -> Option<Range<usize>> {
        let found = match self.text.as_bytes()[at] {
            b'm' => token(&self.text[at..]),
            b'b' | b'B' => bearer(&self.text[at..]),
            b':' => self.enter_url(at),
            b'?' | b'#' => self.query(at),
            b'x' | b'X' => header(&self.text[at..]).or_else(|| issued::at(self.text, at, &mut self.no_jwt)),
            _ => authorization(&self.text[at..]).or_else(|| issued::at(self.text, at, &mut self.no_jwt)),
        };
        found
            .filter(|found| !found.is_empty())
            .map(|found| at + found.start..at + found.end)
    }

    /// At a `://`: remembers how far the address goes, if it is one of the web; the user in it is taken out. Of
    /// other addresses, such as those of databases, users with a password are.
    fn enter_url(&mut self, at: usize) -> Option<Range<usize>> {
        let before = &self.text[..at];
        before
            .ends_with(|c: char| c.is_ascii_alphanumeric())
            .then_some(())?;
        let scheme = before.rsplit(|c: char| !c.is_ascii_alphabetic()).next()?;
        let rest = self.text[at..].strip_prefix("://")?;
        let is_web = WEB_SCHEMES.iter().any(|known| known.eq_ignore_ascii_case(scheme));
        // An address in another one ends with it: each text is looked through once.
        if is_web && at >= self.url_end {
            self.url_end = at + "://".len() + end_of_url(rest);
        }
        let host = &rest[..rest.find(ends_host).unwrap_or(rest.len())];
        let user = &host[..host.rfind('@')?];
        let is_secret = user != MARK && (is_web || user.contains(':'));
        is_secret.then(|| "://".len().."://".len() + user.len())
    }

    /// At a `?` or `#`: the rest of the address goes, if this is one.
    fn query(&self, at: usize) -> Option<Range<usize>> {
        let query = self.text.get(at + 1..self.url_end)?;
        (query != MARK).then(|| 1..1 + query.len())
    }
}

fn token(text: &str) -> Option<Range<usize>> {
    let prefix = TOKEN_PREFIXES.iter().find(|prefix| text.starts_with(**prefix))?;
    let body = text[prefix.len()..]
        .bytes()
        .take_while(u8::is_ascii_alphanumeric)
        .count();
    (body > PUBLIC_BEGINNING).then_some(0..prefix.len() + body)
}

fn bearer(text: &str) -> Option<Range<usize>> {
    let rest = after_word(text, "bearer")?;
    let credentials = rest.trim_start_matches([' ', '\t']);
    // Asked first: what follows may be long, and begin with the word again.
    if credentials.len() == rest.len() {
        return None;
    }
    let start = text.len() - credentials.len();
    let length = credentials.bytes().take_while(|byte| is_token68(*byte)).count();
    let told = NOT_CREDENTIALS.contains(&&credentials[..length]);
    (!told).then_some(start..start + length)
}

/// The value of the header, as HTTP, JSON or a debug print writes it.
fn authorization(text: &str) -> Option<Range<usize>> {
    field(text, after_word(text, "authorization")?)
}

/// The same of other fields that hold a credential.
fn header(text: &str) -> Option<Range<usize>> {
    let rest = FIELDS.iter().find_map(|name| after_word(text, name))?;
    field(text, rest)
}

/// The value of a field whose name ends before `rest`.
fn field(text: &str, rest: &str) -> Option<Range<usize>> {
    let quoted = rest.trim_start_matches('\\').starts_with(['"', '\'']);
    let rest = rest.trim_start_matches(['\\', '"', '\'', ' ']);
    // Python shows the fields of a request as pairs of texts, or of bytes.
    let pair = rest.strip_prefix(',').filter(|_| quoted);
    let rest = pair.or_else(|| rest.strip_prefix([':', '=']))?;
    let value = rest.trim_start_matches([' ', '\t', '\\']);
    let bytes = value
        .strip_prefix('b')
        .filter(|text| text.starts_with(['"', '\'']));
    let value = bytes.unwrap_or(value);
    // Some print the values of a header as a list of texts.
    let listed = value.strip_prefix('[').map(|list| list.trim_start_matches('\\'));
    let value = listed
        .filter(|list| list.starts_with(['"', '\'']))
        .unwrap_or(value);
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
    let value = quote.map_or(value, |quote| value.trim_start_matches(quote));
    let end = value.find(|c| quote.map_or(matches!(c, '\n' | '\r' | '"'), |quote| c == quote));
    let value = value[..end.unwrap_or(value.len())].trim_end_matches('\\');
    let start = value.as_ptr() as usize - text.as_ptr() as usize;
    (value != MARK).then(|| start..start + value.len())
}

/// What follows the word, in whatever case it is written.
fn after_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let (head, rest) = text.split_at_checked(word.len())?;
    head.eq_ignore_ascii_case(word).then_some(rest)
}

fn end_of_url(text: &str) -> usize {
    text.find(ends_url).unwrap_or(text.len())
}

fn ends_url(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '"' | '\'' | '<' | '>' | '`')
}

fn ends_host(c: char) -> bool {
    matches!(c, '/' | '?' | '#') || ends_url(c)
}

/// The characters of credentials after a scheme, RFC 9110 section 11.2.
fn is_token68(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/' | b'=')
}

const fn begins() -> Pairs {
    let mut pairs = Pairs::none();
    pairs.insert(*b"mc");
    pairs.insert(*b"be");
    pairs.insert(*b"Be");
    pairs.insert(*b"bE");
    pairs.insert(*b"BE");
    pairs.insert(*b"au");
    pairs.insert(*b"Au");
    pairs.insert(*b"aU");
    pairs.insert(*b"AU");
    pairs.insert(*b"x-");
    pairs.insert(*b"X-");
    pairs.insert(*b":/");
    let mut kind = 0;
    while kind < issued::KINDS.len() {
        let prefix = issued::KINDS[kind].prefix.as_bytes();
        pairs.insert([prefix[0], prefix[1]]);
        kind += 1;
    }
    let mut next = 0;
    while next < 256 {
        pairs.insert([b'?', next as u8]);
        pairs.insert([b'#', next as u8]);
        next += 1;
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b26_tokens_of_mcpr_are_taken_out_but_not_their_public_beginning() {
        let text = "mcpr_pat_x7Qa0TnZZ, mcpr_adm_11111), mcpr_svc_22222; it starts with mcpr_pat_x7Qa";
        assert_eq!(
            scrub(text),
            "[redacted], [redacted]), [redacted]; it starts with mcpr_pat_x7Qa"
        );
    }

    #[test]
    fn b26_the_authorization_header_is_taken_out_in_every_dress() {
        let told = [
            "Authorization: Bearer S3CRET4\r\nAccept: */*",
            r#"{"authorization": "Basic S3CRET4==", "accept": "*/*"}"#,
            r#""{\"Authorization\":\"Digest u=\"}"#,
            "proxy-authorization=token S3CRET4",
            r#"{"Authorization":["Basic S3CRET4=="],"Accept":["*/*"]}"#,
            "[(b'authorization', b'Basic S3CRET4=='), (b'accept', b'*/*')]",
            "X-Api-Key: S3CRET4\r\nAccept: */*",
            "no authorization, x-api-keys",
        ]
        .map(scrub);
        let expected = [
            "Authorization: [redacted]\r\nAccept: */*",
            r#"{"authorization": "[redacted]", "accept": "*/*"}"#,
            r#""{\"Authorization\":\"[redacted]\"}"#,
            "proxy-authorization=[redacted]",
            r#"{"Authorization":["[redacted]"],"Accept":["*/*"]}"#,
            "[(b'authorization', b'[redacted]'), (b'accept', b'*/*')]",
            "X-Api-Key: [redacted]\r\nAccept: */*",
            "no authorization, x-api-keys",
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn b26_bearer_credentials_are_taken_out_and_prose_stays() {
        let told = [
            "got BEARER  S3.CRET-4=, no",
            "no bearer token",
            "Bearer realm=\"mcpr\"",
        ]
        .map(scrub);
        assert_eq!(
            told,
            [
                "got BEARER  [redacted], no",
                "no bearer token",
                "Bearer realm=\"mcpr\""
            ]
        );
    }

    #[test]
    fn b26_passwords_in_the_addresses_of_databases_are_taken_out() {
        let told = [
            "could not connect to postgresql://me:S3CRET5@127.0.0.1:5/db?x=1",
            "mongodb+srv://me:S3CR@ET5@h, redis://:S3CRET5@h:6379/0",
            "ssh://git@h/p, file:///a@b, a :// b:c@d",
        ]
        .map(scrub);
        let expected = [
            "could not connect to postgresql://[redacted]@127.0.0.1:5/db?x=1",
            "mongodb+srv://[redacted]@h, redis://[redacted]@h:6379/0",
            "ssh://git@h/p, file:///a@b, a :// b:c@d",
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn b26_queries_and_users_of_web_addresses_are_taken_out() {
        let told = [
            "GET https://h/p?key=S3CRET3 failed? yes",
            "HTTPS://me:S3CRET3@h/p#S3CRET3\"",
            "kb://a?b=c and http://h/p? and what?no",
        ]
        .map(scrub);
        let expected = [
            "GET https://h/p?[redacted] failed? yes",
            "HTTPS://[redacted]@h/p#[redacted]\"",
            "kb://a?b=c and http://h/p? and what?no",
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn sec_05_what_only_begins_like_a_credential_costs_no_more_than_others() {
        // Each is looked through once: in a second, or in many minutes if it was once for each beginning.
        for text in [
            "http://".repeat(60_000),
            "a://".repeat(100_000),
            "-----BEGIN ".repeat(60_000),
            "bearer".repeat(100_000),
            "glpat-.".repeat(100_000),
            "sk-".repeat(100_000),
            "eyJ.".repeat(100_000),
            "eyJ_".repeat(100_000),
            "eyJ.".to_owned() + &"eyJ_".repeat(100_000),
            "authorization:\"".repeat(50_000),
        ] {
            assert!(scrub(&text).len() > text.len() / 2);
        }
    }

    #[test]
    fn clean_text_is_not_copied() {
        assert!(matches!(scrub("maybe authored by mcpr: a://b"), Cow::Borrowed(_)));
    }
}

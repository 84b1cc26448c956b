//! Credentials that can be told by how their issuers write them.

use std::ops::Range;

use super::floor;

/// So much of a word is looked at to see whether it is one: it may begin again and again.
const BEGINNING: usize = 256;
/// So long is the first line of a key at most (RFC 7468, 2).
const LINE: usize = 64;

/// How the frames of private keys end, the second of those of PGP (RFC 9580, 6.2).
const FRAMES: [&str; 2] = ["PRIVATE KEY-----", "PRIVATE KEY BLOCK-----"];

/// How one kind of credential is written.
pub(super) struct Kind {
    pub(super) prefix: &'static str,
    /// So many characters follow at the least.
    least: usize,
    body: Body,
}

/// What follows the prefix.
enum Body {
    /// Letters and digits, and these marks.
    Word(&'static str),
    /// The same with a long part without marks, which names of somebody's do not have.
    Key(&'static str),
    /// Three parts of base64url with dots between them (RFC 7519).
    Jwt,
    /// A private key with its frame (RFC 7468).
    Pem,
}

const fn word(prefix: &'static str, least: usize, marks: &'static str) -> Kind {
    Kind {
        prefix,
        least,
        body: Body::Word(marks),
    }
}

pub(super) const KINDS: [Kind; 25] = [
    // GitHub.
    word("ghp_", 20, ""),
    word("gho_", 20, ""),
    word("ghu_", 20, ""),
    word("ghs_", 20, ""),
    word("ghr_", 20, ""),
    word("github_pat_", 20, "_"),
    // GitLab.
    word("glpat-", 16, "-_."),
    // OpenAI, Anthropic and others.
    Kind {
        prefix: "sk-",
        least: 20,
        body: Body::Key("-_"),
    },
    // Stripe.
    word("sk_live_", 16, ""),
    word("sk_test_", 16, ""),
    word("rk_live_", 16, ""),
    // Slack.
    word("xoxa-", 10, "-"),
    word("xoxb-", 10, "-"),
    word("xoxe-", 10, "-"),
    word("xoxp-", 10, "-"),
    word("xoxr-", 10, "-"),
    word("xoxs-", 10, "-"),
    word("xapp-", 10, "-"),
    // Amazon.
    word("AKIA", 16, ""),
    word("ASIA", 16, ""),
    // Google.
    word("AIza", 35, "-_"),
    // npm and Hugging Face.
    word("npm_", 30, ""),
    word("hf_", 30, ""),
    Kind {
        prefix: "eyJ",
        least: 10,
        body: Body::Jwt,
    },
    Kind {
        prefix: "-----BEGIN ",
        least: 0,
        body: Body::Pem,
    },
];

/// The credential that begins at `at`, counted from there. It does not begin within a word. No JSON Web Token is looked
/// for before `passed`, which is where the last that was none had been looked at: its word may begin like one again and
/// again.
pub(super) fn at(text: &str, at: usize, passed: &mut usize) -> Option<Range<usize>> {
    let mut before = text[..at].chars().rev();
    let is_part = |c: char| c.is_alphanumeric() || c == '-';
    // The letter of an escape, as in `\n`, is none.
    match (before.next(), before.next()) {
        (Some('n' | 'r' | 't'), Some('\\')) => {}
        (Some(c), _) if is_part(c) => return None,
        _ => {}
    }
    let text = &text[at..];
    KINDS.iter().find_map(|kind| {
        let rest = text.strip_prefix(kind.prefix)?;
        let length = match kind.body {
            Body::Word(marks) => told_word(rest, marks, 1),
            Body::Key(marks) => told_word(rest, marks, 12),
            Body::Jwt if at < *passed => None,
            Body::Jwt => {
                let looked_at = |length| *passed = at + kind.prefix.len() + length;
                jwt(rest).map_err(looked_at).ok()
            }
            Body::Pem => private_key(rest),
        }?;
        (length >= kind.least).then_some(0..kind.prefix.len() + length)
    })
}

/// A part of so many letters and digits must stand at its beginning somewhere, with a digit in it.
fn told_word(rest: &str, marks: &str, part: usize) -> Option<usize> {
    let fits = |c: char| c.is_ascii_alphanumeric() || marks.contains(c);
    let ends = |text: &str| text.find(|c| !fits(c)).unwrap_or(text.len());
    let head = &rest[..floor(rest, BEGINNING)];
    let mut parts = head[..ends(head)].split(|c: char| marks.contains(c));
    let tells = |text: &str| text.len() >= part && text.contains(|c: char| c.is_ascii_digit());
    parts.any(tells).then(|| ends(rest))
}

/// How long it is; else how much of it has been looked at, in which no other begins.
fn jwt(rest: &str) -> Result<usize, usize> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let part = |from: usize| from + rest[from..].find(|c| !is_part(c)).unwrap_or(rest.len() - from);
    let header = part(0);
    if !rest[header..].starts_with(".eyJ") {
        return Err(header);
    }
    let claims = part(header + 1);
    match rest[claims..].starts_with('.') {
        true => Ok(part(claims + 1)),
        false => Err(claims),
    }
}

/// Up to the end of its frame, or of the text.
fn private_key(rest: &str) -> Option<usize> {
    let line = &rest[..floor(rest, LINE)];
    let line = &line[..line.find(['\n', '\r', '\\']).unwrap_or(line.len())];
    FRAMES.iter().find_map(|frame| {
        let begun = line.find(frame)? + frame.len();
        let end = rest[begun..].find(frame).map(|end| begun + end + frame.len());
        Some(end.unwrap_or(rest.len()))
    })
}

#[cfg(test)]
mod tests {
    use crate::redact::Secrets;

    fn told(text: &str) -> String {
        Secrets::default().scrub(text).into_owned()
    }

    #[test]
    fn log_04_credentials_of_well_known_issuers_are_taken_out() {
        for text in [
            "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
            "github_pat_11ABCDE0Y0abcdefghij_klmnop",
            "glpat-abcdef-1234567890",
            "sk-proj-abcdefghijklmnop1234",
            "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
            "xoxb-17653672481-19874698323",
            "AKIAIOSFODNN7EXAMPLE",
            "AIzaSyA1234567890abcdefghijklmnopqrstuv",
            "npm_abcdefghijklmnopqrstuvwxyz0123456789",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0",
        ] {
            for (before, after) in [
                ("", ""),
                ("got ", " as key"),
                ("{\"a\":\"", "\"}"),
                ("K=", "\n"),
                ("a\\n", ""),
                ("TOKEN_", ""),
                (r#"{\u0022t\u0022:\u0022"#, r#"\u0022}"#),
                ("token%3D", "%26a"),
            ] {
                assert_eq!(
                    told(&format!("{before}{text}{after}")),
                    format!("{before}[redacted]{after}")
                );
            }
        }
    }

    #[test]
    fn log_04_a_private_key_goes_with_its_frame() {
        let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIE+/==\nAb\n-----END RSA PRIVATE KEY-----";
        let escaped = key.replace('\n', "\\n");
        assert_eq!(told(&format!("read {key}\nthen")), "read [redacted]\nthen");
        assert_eq!(told(&format!("\"{escaped}\"")), "\"[redacted]\"");
        assert_eq!(told(&key[..50]), "[redacted]");
    }

    #[test]
    fn log_04_what_only_begins_like_one_stays() {
        for text in [
            "task-1234567890123456789012345",
            "sk-learn-pipeline-with-many-steps",
            "sk-H17-fix-1234-long-name-of-branch",
            "ghp_short1, npm_config_cache, AKIA, eyJhbGciOiJIUzI1NiJ9, eyJ.eyJ",
            "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
            "x-sk-abcdefghijklmnop12345678",
        ] {
            assert_eq!(told(text), text);
        }
    }
}

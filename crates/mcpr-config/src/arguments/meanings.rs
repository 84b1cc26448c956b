//! What parts of texts mean, which are quoted there.

use base64::Engine;
use base64::prelude::BASE64_STANDARD_NO_PAD;

/// What a part of a text may mean where it was quoted as URLs, JSON or a shell are: programs tell that and not the part.
pub(crate) fn meanings(part: &str) -> impl Iterator<Item = String> {
    let decoded = percent_decoded(part);
    let unescaped = part
        .contains('\\')
        .then(|| serde_json::from_str(&format!("\"{part}\"")).ok());
    decoded
        .into_iter()
        .chain(unescaped.flatten())
        .chain(basic(part))
        .chain(without_quotes(part))
}

/// What a shell makes of it, with what it needs no quotes for behind it, such as `;`.
fn without_quotes(part: &str) -> Option<String> {
    let ends = |c: char| matches!(c, ';' | '&' | '|' | ')');
    let quotes = |c: &char| matches!(c, '\'' | '"' | '\\');
    let plain = part.trim_end_matches(ends).chars();
    let plain: String = plain.filter(|c| !quotes(c)).collect();
    (plain != part).then_some(plain)
}

/// The user with the password, and the password, of credentials as RFC 7617 spells them.
fn basic(part: &str) -> Vec<String> {
    let spelled = part
        .trim()
        .split_once(' ')
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("basic"));
    let bytes = spelled.and_then(|(_, spelled)| {
        BASE64_STANDARD_NO_PAD
            .decode(spelled.trim().trim_end_matches('='))
            .ok()
    });
    let pair = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    let Some(pair) = pair else {
        return Vec::new();
    };
    let password = pair.split_once(':').map(|(_, password)| password.to_owned());
    password.into_iter().chain([pair]).collect()
}

/// What the escapes of a URL mean (RFC 3986, section 2.1), if there are any.
fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        let escaped = behind.get(..2).filter(|_| *first == b'%');
        let byte = escaped
            .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &behind[2..] } else { behind };
    }
    let decoded = String::from_utf8(bytes).ok()?;
    (decoded != text).then_some(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_04_a_part_that_is_quoted_is_known_by_what_it_means_too() {
        let of = |part| meanings(part).collect::<Vec<_>>();
        assert_eq!(of("p%40ss%C3%9f"), ["p@ss\u{df}"]);
        assert_eq!(of(r"a\/b\u0041"), ["a/bA", "a/bu0041"]);
        assert_eq!(of("'a'\"b\""), ["ab"]);
        assert_eq!(of("a;b&&;"), ["a;b"]);
        assert_eq!(of("100%, %4, %zz, %+f"), Vec::<String>::new());
        assert_eq!(of("basic bWU6cEBzcw"), ["p@ss", "me:p@ss"]);
    }
}

//! How programs write a text into another one: as JSON (RFC 8259, 7) in the ways of several languages, as a part of a URL
//! (RFC 3986, 2.1) and of a form.

/// The text in each of these ways.
pub(super) fn of(text: &str) -> Vec<String> {
    let json = json(text);
    // PHP's way.
    let slashed = json.replace('/', r"\/");
    let strict = percent(text, "");
    let mut all = quoted(text);
    all.extend(misread(text));
    all.extend([
        // Python's.
        numbered(&json, "", false),
        numbered(&slashed, "", false),
        // .NET writes what means something to HTML as numbers too.
        numbered(&json, "+&<>'`", true),
        percent(text, "!'()*"), // JavaScript's `encodeURIComponent`.
        strict.to_lowercase(),
        strict.replace("%20", "+"),
        strict,
        slashed,
        repr(text),
        json,
    ]);
    all
}

/// The ways in which quotes end no text that stands between such: of SQL, YAML and CSV twice, of a shell behind
/// others.
fn quoted(text: &str) -> Vec<String> {
    let ways = [('\'', "''"), ('\'', r"'\''"), ('\'', r#"'"'"'"#), ('"', r#""""#)];
    let fitting = ways.into_iter().filter(|(quote, _)| text.contains(*quote));
    fitting.map(|(quote, way)| text.replace(quote, way)).collect()
}

/// As Python shows a text: between single quotes, unless there are only single ones in it.
fn repr(text: &str) -> String {
    let escapes_quotes = text.contains('\'') && text.contains('"');
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\'' if escapes_quotes => out.push_str("\\'"),
            '\'' | '"' => out.push(c),
            _ => out.extend(c.escape_debug()),
        }
    }
    out
}

/// As programs read the bytes of a header that is not ASCII: each for a character (ISO 8859-1).
fn misread(text: &str) -> Option<String> {
    (!text.is_ascii()).then(|| text.bytes().map(char::from).collect())
}

fn json(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len() + 2);
    crate::escape::json(&mut out, text);
    let quoted = String::from_utf8_lossy(&out);
    quoted[1..quoted.len() - 1].to_owned()
}

/// A JSON text with what is not ASCII, and some characters more, by their numbers.
fn numbered(json: &str, more: &str, large: bool) -> String {
    let mut units = [0; 2];
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_ascii() && !more.contains(c) {
            text.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut units) {
            text.push_str(&match large {
                true => format!("\\u{unit:04X}"),
                false => format!("\\u{unit:04x}"),
            });
        }
    }
    text
}

/// The text with all but unreserved characters, and some more, as bytes behind `%`.
fn percent(text: &str, more: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        let c = char::from(byte);
        match c.is_ascii_alphanumeric() || "-._~".contains(c) || byte.is_ascii() && more.contains(c) {
            true => out.push(c),
            false => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

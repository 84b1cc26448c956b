//! What of a command line is secret by what stands before it.

mod meanings;
mod words;

use std::ops::Range;

use jsonc_parser::ast::Value;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use mcpr_telemetry::Secrets;

pub(crate) use self::meanings::meanings;
use self::words::Word;
use crate::veil::{self, is_written_out, looks_secret};

/// How deep command lines may be quoted in one another.
const NESTED: usize = 3;

/// The arguments as they may be shown where these secrets are known.
pub(crate) fn shown(args: &[&str], known: &Secrets) -> Vec<String> {
    let parts = secret_parts(args).into_iter().zip(args);
    parts.map(|(parts, arg)| hide(arg, &parts, known)).collect()
}

fn hide(arg: &str, parts: &[Range<usize>], known: &Secrets) -> String {
    let mut shown = String::new();
    let mut copied = 0;
    for part in parts {
        shown.push_str(&arg[copied..part.start]);
        shown.push_str(&veil::closed_text(&arg[part.clone()]));
        copied = part.end;
    }
    shown.push_str(&arg[copied..]);
    match is_written_out(arg) && (parts.is_empty() || arg.contains(['?', '#'])) {
        true => known.scrub(&shown).into_owned(),
        false => shown,
    }
}

/// A part of an argument that is secret: where it stands, and what its program gets of it.
#[derive(Clone)]
struct Found {
    place: Range<usize>,
    text: String,
}

/// Of each argument the parts that are secret: the values of options, variables and headers with telling names, and
/// passwords in addresses.
pub fn secret_parts(args: &[&str]) -> Vec<Vec<Range<usize>>> {
    found_within(args, NESTED).map(places).collect()
}

/// The same of a text that may be a whole command line, with the words of which it is made.
pub fn secret_words(line: &str) -> Vec<Range<usize>> {
    places([found_in_option(line), found_in_words(line, NESTED)].concat())
}

/// What is secret of the arguments, as programs get it, each by itself: one may be a part of another.
pub(crate) fn secret_texts(args: &[&str]) -> impl Iterator<Item = String> {
    found_within(args, NESTED).flatten().map(|found| found.text)
}

fn places(found: Vec<Found>) -> Vec<Range<usize>> {
    apart(found.into_iter().map(|found| found.place).collect())
}

fn found_within<'a>(args: &[&'a str], nested: usize) -> impl Iterator<Item = Vec<Found>> + use<'a> {
    let before = std::iter::once("").chain(args.iter().copied());
    let pairs: Vec<_> = before.zip(args.iter().copied()).collect();
    pairs
        .into_iter()
        .map(move |(before, arg)| found_behind(before, arg, nested))
}

fn found_behind(before: &str, arg: &str, nested: usize) -> Vec<Found> {
    let whole = |value: &str| vec![Found::of(arg, arg.len() - value.len()..arg.len())];
    if arg.is_empty() {
        return Vec::new();
    }
    if before.starts_with('-') && tells(before) && !arg.starts_with('-') {
        return whole(arg);
    }
    let behind_colon = match before {
        "-u" | "--user" => arg.split_once(':').filter(|(_, told)| !told.is_empty()),
        _ if names_header(before) => arg.split_once(':').filter(|(name, _)| tells(name)),
        _ => None,
    };
    if let Some((_, told)) = behind_colon.filter(|(_, told)| !told.trim().is_empty()) {
        return whole(told.trim_start());
    }
    // To a shell `A=b c` gives `A` no more than `b`.
    let is_field = |value: &&str| arg[..arg.len() - value.len()].trim_end().ends_with(':');
    let told = told_value(arg).filter(|value| !takes_script(before) || is_field(value));
    let told = told.map_or_else(|| found_in_option(arg), whole);
    [told, found_in_words(arg, nested)].concat()
}

/// Whether a command line follows that somebody else takes apart, such as a shell.
fn takes_script(option: &str) -> bool {
    let is_short = |letters: &str| letters.len() < 5 && letters.bytes().all(|c| c.is_ascii_lowercase());
    let is_c = option
        .strip_prefix('-')
        .is_some_and(|letters| letters.ends_with('c') && is_short(letters));
    is_c || ["/c", "-command"]
        .iter()
        .any(|known| known.eq_ignore_ascii_case(option))
}

/// What is secret of the value of an option, or of an argument that is none.
fn found_in_option(arg: &str) -> Vec<Found> {
    let option = arg.split_once('=').filter(|(name, _)| is_name(name));
    let of_value = option.map(|(_, value)| moved(parts_of(value), arg.len() - value.len()));
    let parts = [parts_of(arg), of_value.unwrap_or_default()].concat();
    parts.into_iter().map(|part| Found::of(arg, part)).collect()
}

/// What is secret of its words, if it has several.
fn found_in_words(line: &str, nested: usize) -> Vec<Found> {
    if nested == 0 || !line.contains(char::is_whitespace) {
        return Vec::new();
    }
    let words = words::of(line);
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let all = found_within(&texts, nested - 1).zip(&words);
    let of_line = |found: Found, word: &Word| Found {
        place: word.place(found.place),
        text: found.text,
    };
    all.flat_map(|(all, word)| all.into_iter().map(move |found| of_line(found, word)))
        .collect()
}

impl Found {
    fn of(arg: &str, place: Range<usize>) -> Self {
        Self {
            text: arg[place.clone()].to_owned(),
            place,
        }
    }
}

/// Where a part of a text stands in it.
fn place(text: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr() as usize - text.as_ptr() as usize;
    start..start + part.len()
}

fn moved(parts: Vec<Range<usize>>, by: usize) -> Vec<Range<usize>> {
    let moved = parts.into_iter().map(|part| part.start + by..part.end + by);
    moved.collect()
}

/// The parts of a value that are secret by themselves, such as the password in an address of a database, in their
/// order and apart from each other.
pub(crate) fn parts_of(value: &str) -> Vec<Range<usize>> {
    apart(match value.trim_start().starts_with(['{', '[']) {
        true => parts_of_json(value),
        false => parts_of_text(value),
    })
}

/// What begins inside another part only makes that longer.
fn apart(mut parts: Vec<Range<usize>>) -> Vec<Range<usize>> {
    parts.sort_by_key(|part| part.start);
    parts.dedup_by(|later, earlier| {
        let overlaps = later.start < earlier.end;
        if overlaps {
            earlier.end = earlier.end.max(later.end);
        }
        overlaps
    });
    parts
}

fn parts_of_text(value: &str) -> Vec<Range<usize>> {
    let mut parts: Vec<_> = password(value).into_iter().chain(dialled(value)).collect();
    let separated = value.contains("://") || value.contains(';');
    // As libpq has it: `host=h password=p`.
    let in_words = !separated && value.split_whitespace().all(|word| word.contains('='));
    if separated || in_words {
        let ends = |c: char| matches!(c, '?' | '&' | ';' | '#') || in_words && c.is_whitespace();
        for piece in value.split(ends) {
            if let Some((name, told)) = piece.split_once('=')
                && tells(name.trim())
                && !told.is_empty()
            {
                parts.push(place(value, told));
            }
        }
    }
    parts
}

/// The texts and numbers under telling names in JSON.
fn parts_of_json(json: &str) -> Vec<Range<usize>> {
    let parsed = parse_to_ast(json, &CollectOptions::default(), &ParseOptions::default());
    let mut parts = Vec::new();
    if let Some(value) = parsed.ok().and_then(|parsed| parsed.value) {
        collect(&value, false, &mut parts);
    }
    parts.retain(|part| !part.is_empty());
    parts
}

fn collect(value: &Value<'_>, told: bool, parts: &mut Vec<Range<usize>>) {
    match value {
        Value::StringLit(text) if told => parts.push(text.range.start + 1..text.range.end - 1),
        Value::NumberLit(number) if told => parts.push(number.range.start..number.range.end),
        Value::Array(array) => array.elements.iter().for_each(|item| collect(item, told, parts)),
        Value::Object(object) => object
            .properties
            .iter()
            .for_each(|member| collect(&member.value, told || tells(member.name.as_str()), parts)),
        _ => {}
    }
}

/// The value behind a telling name, as in `--token=…`, `--env=TOKEN=…` and `X-Api-Key: …`.
fn told_value(arg: &str) -> Option<&str> {
    let mut rest = arg;
    loop {
        let (name, value) = first_pair(rest)?;
        match tells(name) {
            true => return (!value.is_empty()).then_some(value),
            false if names_header(name) => {
                let field = value.split_once(':');
                let field = field.filter(|(name, told)| tells(name) && !told.trim().is_empty());
                return field.map(|(_, told)| told.trim_start());
            }
            // There may be as many as there are bytes.
            false if is_name(name) => rest = value,
            false => return None,
        }
    }
}

/// What stands before and behind the first `=` or `: `.
fn first_pair(text: &str) -> Option<(&str, &str)> {
    let mut marks = text.match_indices(['=', ':']);
    marks.find_map(|(at, mark)| {
        let (name, behind) = (&text[..at], &text[at + mark.len()..]);
        match mark {
            "=" => Some((name, behind)),
            _ => Some((name, behind.strip_prefix(' ')?)),
        }
    })
}

/// Whether an option is followed by a field of HTTP.
fn names_header(option: &str) -> bool {
    ["-H", "--header", "--headers"].contains(&option)
}

/// Whether an option or a variable of this name holds a secret, and not where one is or how many there are.
fn tells(name: &str) -> bool {
    let small = name.to_ascii_lowercase();
    let about_it = ["file", "path", "dir", "url", "env"]
        .iter()
        .any(|end| small.ends_with(end));
    is_name(name) && looks_secret(name) && !about_it && !small.contains("max")
}

fn is_name(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    text.bytes().all(fits)
}

/// The password in an address as Go's drivers have it: `me:p@tcp(h)/db`.
fn dialled(arg: &str) -> Option<Range<usize>> {
    let (user, address) = arg.rsplit_once('@')?;
    let (net, _) = address.split_once('(')?;
    let colon = user.find(':')?;
    let is_it = !net.is_empty() && is_name(net) && is_name(&user[..colon]);
    (is_it && colon + 1 < user.len()).then(|| colon + 1..user.len())
}

/// The password in an address (RFC 3986, section 3.2.1).
fn password(arg: &str) -> Option<Range<usize>> {
    let start = arg.find("://")? + "://".len();
    let rest = &arg[start..];
    let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    let user = &authority[..authority.rfind('@')?];
    let colon = user.find(':')?;
    (colon + 1 < user.len()).then(|| start + colon + 1..start + user.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets<'a>(args: &[&'a str]) -> Vec<&'a str> {
        let parts = secret_parts(args).into_iter().zip(args);
        let texts = parts.flat_map(|(parts, arg)| parts.into_iter().map(|part| &arg[part]));
        texts.filter(|text| is_written_out(text)).collect()
    }

    #[test]
    fn log_04_values_of_telling_names_and_passwords_in_addresses_are_secret() {
        let args = [
            "run",
            "--api-key",
            "k1",
            "--token=t2",
            "-e",
            "GITHUB_TOKEN=g3",
            "--env",
            "LEVEL=info",
            "postgresql://me:p4@h:5/db?x=y",
            "--password",
            "p5",
            "--env=GITHUB_TOKEN=g6",
            "-eDB_PASSWORD=p7=",
            "--header=X-Api-Key: k8",
            "X-Auth-Token: t9",
            "-p",
            "DB_PWD=p10",
            "--userPass",
            "p11",
        ];
        let found = [
            "k1", "t2", "g3", "p4", "p5", "g6", "p7=", "k8", "t9", "p10", "p11",
        ];
        assert_eq!(secrets(&args), found);
    }

    #[test]
    fn log_04_a_known_secret_is_hidden_wherever_it_is_repeated() {
        let known = Secrets::default();
        known.add("S3CRET1");
        let args = ["--key-id", "S3CRET1", "${S3CRET1}", "--token=abc"];
        let expected = ["--key-id", "[redacted]", "${S3CRET1}", "--token=•••"];
        assert_eq!(shown(&args, &known), expected);
        let args = [
            "--token",
            "${A:-abc}",
            "--api-key=${A}abc",
            "https://me:p@h/p?key=abc",
        ];
        let expected = [
            "--token",
            "${A:-•••}",
            "--api-key=${A}•••",
            "https://[redacted]@h/p?[redacted]",
        ];
        assert_eq!(shown(&args, &known), expected);
    }

    #[test]
    fn log_04_parts_that_overlap_are_one() {
        let json = r#"{"token":["b\\","a\"b\\"],"c":1}"#;
        for (arg, expected) in [
            ("https://u:a;token=b@h;token=c", "https://u:•••;token=•••"),
            (json, r#"{"token":["•••","•••"],"c":1}"#),
        ] {
            assert_eq!(shown(&[arg], &Secrets::default()), [expected]);
        }
    }

    #[test]
    fn log_04_secrets_are_found_in_values_of_every_usual_form() {
        for (args, found) in [
            (&["host=h password=p1 user=me"][..], &["p1"][..]),
            (&["root:p2@tcp(h:3306)/db"], &["p2"]),
            (&[r#"[{"token":"t3","n":1},{"pin":456}]"#], &["t3", "456"]),
            (&[r#"--config={"token":"a\/b"}"#], &[r"a\/b"]),
            (
                &["--header=X-Api-Key:k4", "-H", "Authorization:b5"],
                &["k4", "b5"],
            ),
            (&["-u", "bob:p6", "--user", "bob"], &["p6"]),
            (
                &["-c", "exec srv --token t7 --url postgres://a:p8@h"],
                &["t7", "p8"],
            ),
            (&["srv --api-key=k9 --level info"], &["k9"]),
            (&["-lc", "API_KEY=k14 exec srv --token 't 15'"], &["k14", "t 15"]),
            (
                &["-c", "srv -H 'X-Api-Key: k16' \"--pin=\\\"17\""],
                &["k16", "\"17"],
            ),
            (&["/C", "set DB_PWD=p18&& srv"], &["p18&&"]),
            (&["sh -c 'export TOKEN=t19; srv'"], &["t19;"]),
            (&["-c", "http.extraHeader=X-Api-Key: k20 x"], &["k20 x"]),
            (&["--db=postgres://me:p10@h/db"], &["p10"]),
            (&["host=h\u{3000}password=p\u{df}11\u{a0}user=me"], &["p\u{df}11"]),
            (
                &["-c", "srv\u{3000}--token\u{2003}t\u{df}12\u{a0}-v"],
                &["t\u{df}12"],
            ),
            (
                &["{\"\u{df}\":\"\u{3000}\",\"token\":\"t\u{df}13\"}"],
                &["t\u{df}13"],
            ),
        ] {
            assert_eq!(secrets(args), found, "{args:?}");
        }
    }

    #[test]
    fn log_04_what_a_script_gives_its_programs_is_known_by_itself() {
        let script = r"D=1; A_TOKEN=a1 exec srv --api-key 'b '\''2' --header 'Authorization: Bearer c3'";
        let known: Vec<_> = secret_texts(&["-c", script]).collect();
        for told in ["a1", "b '2", "Bearer c3"] {
            assert!(known.iter().any(|text| text == told), "{told} in {known:?}");
        }
    }

    #[test]
    fn sec_05_many_names_in_one_argument_are_looked_at_once() {
        // In a moment, and on no stack; it was once for each of them, in a call for each.
        for (arg, found) in [
            ("=".repeat(1_000_000), vec![]),
            ("a=".repeat(500_000) + "token=t", vec!["t"]),
            ("a: ".repeat(300_000), vec![]),
            ("a:".repeat(500_000), vec![]),
        ] {
            assert_eq!(secrets(&[&arg]), found);
        }
    }

    #[test]
    fn sec_05_many_texts_in_one_value_are_looked_at_once() {
        let json = format!("[{}1]", r#"{"token":"t"},"#.repeat(50_000));
        assert_eq!(parts_of(&json).len(), 50_000);
    }

    #[test]
    fn log_04_everything_else_is_not() {
        let args = [
            "--token-file",
            "/run/token",
            "--max-tokens",
            "4096",
            "--password",
            "--verbose",
            "--token=${TOKEN}",
            "https://h/a?b=c@d:e",
            "ssh://git@h",
            "--secret",
            "",
            "a b=password: c",
            "--label=app=web",
            "token-server:latest",
            "--auth-type=bearer",
            "a@b(c)",
            "x=1 y=2",
            "say hello - to me",
            "PWD=/home/me",
            "--compass",
            "north",
        ];
        assert_eq!(secrets(&args), Vec::<&str>::new());
    }
}

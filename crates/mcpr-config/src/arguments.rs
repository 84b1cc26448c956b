//! What of a command line is secret by what stands before it.

use std::ops::Range;

use mcpr_telemetry::Secrets;

use crate::veil::{VEIL, is_written_out, looks_secret};

/// The arguments as they may be shown where these secrets are known.
pub(crate) fn shown(args: &[&str], known: &Secrets) -> Vec<String> {
    let parts = secret_parts(args).into_iter().zip(args);
    let shown = parts.map(|(part, arg)| match part {
        Some(part) => arg[..part.start].to_owned() + VEIL + &arg[part.end..],
        None if is_written_out(arg) => known.scrub(arg).into_owned(),
        None => (*arg).to_owned(),
    });
    shown.collect()
}

/// Of each argument the part that is secret: the value of an option or a variable with a telling name, and the
/// password in an address. What is filled in from elsewhere is known to be secret anyway.
pub(crate) fn secret_parts(args: &[&str]) -> Vec<Option<Range<usize>>> {
    let before = std::iter::once("").chain(args.iter().copied());
    let pairs = before.zip(args.iter().copied());
    pairs.map(|(before, arg)| secret_part(before, arg)).collect()
}

fn secret_part(before: &str, arg: &str) -> Option<Range<usize>> {
    if arg.is_empty() || !is_written_out(arg) {
        return None;
    }
    if before.starts_with('-') && tells(before) && !arg.starts_with('-') {
        return Some(0..arg.len());
    }
    match told_value(arg) {
        Some(value) => Some(arg.len() - value.len()..arg.len()),
        None => password(arg),
    }
}

/// The value behind a telling name, as in `--token=…`, `--env=TOKEN=…` and `X-Api-Key: …`.
fn told_value(arg: &str) -> Option<&str> {
    let (name, value) = match (arg.split_once('='), arg.split_once(": ")) {
        (Some(pair), Some(other)) if other.0.len() < pair.0.len() => other,
        (Some(pair), _) | (None, Some(pair)) => pair,
        (None, None) => return None,
    };
    match tells(name) {
        true => (!value.is_empty()).then_some(value),
        false if is_name(name) => told_value(value),
        false => None,
    }
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
        parts.filter_map(|(part, arg)| Some(&arg[part?])).collect()
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
            "PWD=/home/me",
            "--compass",
            "north",
        ];
        assert_eq!(secrets(&args), Vec::<&str>::new());
    }
}

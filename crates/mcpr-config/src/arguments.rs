//! What of a command line is secret by what stands before it.

use std::ops::Range;

use crate::veil::{VEIL, is_written_out, looks_secret, veiled};

/// The arguments as they may be shown.
pub(crate) fn shown(args: &[&str]) -> Vec<String> {
    let parts = secret_parts(args).into_iter().zip(args);
    let shown = parts.map(|(part, arg)| match part {
        Some(part) => arg[..part.start].to_owned() + VEIL + &arg[part.end..],
        None => veiled(&["args"], arg),
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
    match arg.split_once('=') {
        Some((name, value)) if tells(name) && !value.is_empty() => Some(name.len() + 1..arg.len()),
        _ => password(arg),
    }
}

/// Whether an option or a variable of this name holds a secret, and not where one is or how many there are.
fn tells(name: &str) -> bool {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let name = name.to_ascii_lowercase();
    let about_it = ["file", "path", "dir", "url", "env"]
        .iter()
        .any(|end| name.ends_with(end));
    name.bytes().all(is_name) && looks_secret(&name) && !about_it && !name.contains("max")
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
        ];
        assert_eq!(secrets(&args), ["k1", "t2", "g3", "p4", "p5"]);
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
        ];
        assert_eq!(secrets(&args), Vec::<&str>::new());
    }
}

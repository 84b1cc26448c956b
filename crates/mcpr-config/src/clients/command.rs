//! The commands with which clients add an entry themselves.

use super::entry::{Link, NAME, Source, Words};
use super::{ClientApp, Value};

impl ClientApp {
    /// The command that adds the entry, for a shell; none if the client has none that can.
    pub(super) fn command(self, link: &Link, entry: &Value, words: Option<&Words>) -> Option<String> {
        let command = match self {
            Self::ClaudeCode => claude(link, words),
            Self::Codex => codex(link, words)?,
            Self::Gemini => gemini(link, words),
            Self::VsCode => vs_code(entry, words),
            _ => return None,
        };
        Some(
            command
                .iter()
                .map(|word| shell_word(word))
                .collect::<Vec<_>>()
                .join(" "),
        )
    }
}

/// The name comes first: options that take several values would swallow it.
fn claude(link: &Link, words: Option<&Words>) -> Vec<String> {
    let add = ["claude", "mcp", "add"];
    match link {
        Link::Http { url, .. } => {
            let mut command = owned(add);
            command.extend(owned(["--transport", "http", "--scope", "user", NAME, url]));
            command.extend(
                headers(link, words)
                    .into_iter()
                    .flat_map(|header| ["--header".to_owned(), header]),
            );
            command
        }
        Link::Stdio { command, args, .. } => {
            let env = variables(link, words);
            let env = env.into_iter().flat_map(|pair| ["--env".to_owned(), pair]);
            let head = owned(add).into_iter().chain(owned([NAME, "--scope", "user"]));
            program(head.chain(env).chain(owned(["--"])), command, args)
        }
    }
}

/// It has no option for headers, and none for a variable that has another name.
fn codex(link: &Link, words: Option<&Words>) -> Option<Vec<String>> {
    let add = owned(["codex", "mcp", "add", NAME]);
    match link {
        Link::Http { url, headers, .. } => {
            let variable = words.and_then(Words::variable).filter(|_| headers.is_empty())?;
            let rest = owned(["--url", url, "--bearer-token-env-var", variable]);
            Some(add.into_iter().chain(rest).collect())
        }
        Link::Stdio {
            command, args, token, ..
        } => {
            let by_name = words.is_some_and(|words| words.source != Source::Given);
            if token.is_some() && by_name {
                return None;
            }
            let env = variables(link, words).into_iter();
            let env = env.flat_map(|pair| ["--env".to_owned(), pair]);
            Some(program(
                add.into_iter().chain(env).chain(owned(["--"])),
                command,
                args,
            ))
        }
    }
}

fn gemini(link: &Link, words: Option<&Words>) -> Vec<String> {
    let add = owned(["gemini", "mcp", "add", "-s", "user"]).into_iter();
    match link {
        Link::Http { url, .. } => {
            let headers = headers(link, words).into_iter();
            let headers = headers.flat_map(|header| ["-H".to_owned(), header]);
            add.chain(owned(["--transport", "http"]))
                .chain(headers)
                .chain(owned([NAME, url]))
                .collect()
        }
        Link::Stdio { command, args, .. } => {
            let env = variables(link, words).into_iter();
            let env = env.flat_map(|pair| ["-e".to_owned(), pair]);
            // Behind `--` it reads no options of its own.
            let head = add.chain(env).chain(owned([NAME, command, "--"]));
            head.chain(args.iter().cloned()).collect()
        }
    }
}

/// It takes the entry itself, with its name and with what it has to ask for.
fn vs_code(entry: &Value, words: Option<&Words>) -> Vec<String> {
    let mut named = Value::object().with("name", NAME);
    for (key, value) in entry.members() {
        named.put(key, value.clone());
    }
    let named = named.with_some("inputs", words.and_then(Words::inputs));
    owned(["code", "--add-mcp", &named.json_line()])
}

fn headers(link: &Link, words: Option<&Words>) -> Vec<String> {
    let Link::Http { headers, .. } = link else {
        return Vec::new();
    };
    let bearer = words.map(|words| format!("Authorization: Bearer {}", words.text));
    let more = headers.iter().map(|(name, value)| format!("{name}: {value}"));
    bearer.into_iter().chain(more).collect()
}

fn variables(link: &Link, words: Option<&Words>) -> Vec<String> {
    let Link::Stdio { env, .. } = link else {
        return Vec::new();
    };
    let token = words.map(|words| format!("MCPR_TOKEN={}", words.text));
    let own = env.iter().map(|(name, value)| format!("{name}={value}"));
    own.chain(token).collect()
}

fn program(head: impl Iterator<Item = String>, command: &str, args: &[String]) -> Vec<String> {
    let program = std::iter::once(command.to_owned()).chain(args.iter().cloned());
    head.chain(program).collect()
}

fn owned<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).into()
}

/// A word as a shell has to read it, so that it arrives as it is.
///
/// ```
/// use mcpr_config::clients::shell_word;
///
/// assert_eq!(shell_word("git"), "git");
/// assert_eq!(shell_word("my git"), "\"my git\"");
/// ```
pub fn shell_word(word: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    let harmless = |c: char| !matches!(c, '$' | '`' | '"' | '\\' | '!');
    if !word.is_empty() && word.chars().all(bare) {
        word.to_owned()
    } else if word.chars().all(harmless) {
        format!("\"{word}\"")
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_hands_each_word_on_as_it_is() {
        assert_eq!(
            shell_word("http://127.0.0.1:3282/mcp"),
            "http://127.0.0.1:3282/mcp"
        );
        assert_eq!(shell_word("X-MCPR-Project: web"), "\"X-MCPR-Project: web\"");
        assert_eq!(shell_word("Bearer ${MCPR_TOKEN}"), "'Bearer ${MCPR_TOKEN}'");
        assert_eq!(shell_word("it's $1"), r"'it'\''s $1'");
        assert_eq!(shell_word(""), "\"\"");
        assert_eq!(shell_word("http://h/mcp?a=1&b"), "\"http://h/mcp?a=1&b\"");
    }
}

//! The entry that points a client at a gateway.

use super::table::{Profile, Unit, Variables};
use super::{ClientApp, Format, Value};

/// The name of the entry. It is short, since clients put it before each tool's name, and has no `_`,
/// where some of them cut.
pub(super) const NAME: &str = "mcpr";

/// How long a call may take: as long as mcpr itself lets it (HTTP-05).
const CALL_SECONDS: u64 = 3600;

/// The variable that usually holds a token.
const VARIABLE: &str = "MCPR_TOKEN";

/// What stands for the token in a file that cannot name a variable.
const PLACEHOLDER: &str = "YOUR_MCPR_TOKEN";

/// What VS Code calls the token that it asks for.
const INPUT: &str = "mcpr-token";

/// How a client shall reach a gateway. Its `Debug` is derived: a token's text is in [`Token`] alone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Link {
    /// By its URL.
    Http {
        /// The URL of the endpoint.
        url: String,
        /// What lets the client in.
        token: Token,
        /// More headers, such as the one that names a project.
        headers: Vec<(String, String)>,
    },
    /// By a program that the client starts.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its variables.
        env: Vec<(String, String)>,
        /// What lets it in; it expects that in the variable `MCPR_TOKEN`.
        token: Option<Token>,
    },
}

/// Where a client gets its token from.
#[derive(Clone, PartialEq, Eq)]
pub enum Token {
    /// From wherever suits the client best: VS Code asks for it, most take it from `MCPR_TOKEN`.
    Usual,
    /// From this variable, where the client can do that.
    Variable(String),
    /// From the entry itself, in this text.
    Text(String),
}

/// An entry, ready for a client's file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Snippet {
    /// Its language.
    pub format: Format,
    /// The entry with all that is around it in a file that holds nothing else.
    pub text: String,
    /// The command of the client that adds it, if it has one that can.
    pub command: Option<String>,
    /// What to know and what to do.
    pub notes: Vec<String>,
}

/// A token in the words of one client.
pub(super) struct Words {
    /// What stands in the place of the token's text.
    pub(super) text: String,
    pub(super) source: Source,
}

/// Where the text of a token comes from in the end.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Source {
    Variable(String),
    Input,
    Placeholder,
    Given,
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Usual => f.write_str("Usual"),
            Self::Variable(name) => f.debug_tuple("Variable").field(name).finish(),
            Self::Text(_) => f.write_str("Text(..)"),
        }
    }
}

impl ClientApp {
    /// The entry that points this client at a gateway.
    pub fn snippet(self, link: &Link) -> Snippet {
        let words = link.token().map(|token| self.words(token));
        let entry = self.entry(link, words.as_ref());
        Snippet {
            format: self.format(),
            text: self.file(&entry, words.as_ref()),
            command: self.command(link, &entry, words.as_ref()),
            notes: self.notes(words.as_ref()),
        }
    }

    /// The same as one line of JSON, for a place where lines are dear.
    pub fn snippet_line(self, link: &Link) -> String {
        let words = link.token().map(|token| self.words(token));
        self.whole(&self.entry(link, words.as_ref()), words.as_ref())
            .json_line()
    }

    fn words(self, token: &Token) -> Words {
        let name = match token {
            Token::Text(text) => return Words::new(text, Source::Given),
            Token::Usual if self == Self::VsCode => {
                return Words::new(format!("${{input:{INPUT}}}"), Source::Input);
            }
            Token::Usual => VARIABLE,
            Token::Variable(name) => name,
        };
        let source = Source::Variable(name.to_owned());
        match self.profile().variables {
            Variables::None => Words::new(PLACEHOLDER, Source::Placeholder),
            Variables::Braces | Variables::Shell | Variables::Keys => {
                Words::new(format!("${{{name}}}"), source)
            }
            Variables::Env => Words::new(format!("${{env:{name}}}"), source),
        }
    }

    /// The entry itself, without what is around it.
    fn entry(self, link: &Link, words: Option<&Words>) -> Value {
        let entry = match link {
            Link::Http { url, headers, .. } => self.remote(url, headers, words),
            Link::Stdio {
                command, args, env, ..
            } => self.program(command, args, env, words),
        };
        self.with_treatment(entry)
    }

    fn remote(self, url: &str, headers: &[(String, String)], words: Option<&Words>) -> Value {
        let profile = self.profile();
        let http = profile.http.as_ref();
        let entry = self
            .begun()
            .with_some("type", http.and_then(|http| http.kind))
            .with(http.map_or("url", |http| http.url), url);
        if self == Self::Codex {
            return codex_remote(entry, headers, words);
        }
        let bearer = words.map(|words| ("Authorization".to_owned(), format!("Bearer {}", words.text)));
        let headers: Value = bearer.into_iter().chain(headers.iter().cloned()).collect();
        entry
            .with_some("headers", filled(headers))
            .with_some("env_keys", self.keyring(words))
    }

    fn program(
        self,
        command: &str,
        args: &[String],
        env: &[(String, String)],
        words: Option<&Words>,
    ) -> Value {
        let words_here = &self.profile().stdio;
        // Codex and Goose hand a variable on by its name.
        let by_name = self.profile().variables == Variables::Keys;
        let token = words
            .filter(|words| !by_name || words.source == Source::Given)
            .map(|words| (VARIABLE.to_owned(), words.text.clone()));
        let env: Value = env.iter().cloned().chain(token).collect();
        self.begun()
            .with_some("type", words_here.kind)
            .with(words_here.command, command)
            .with("args", args.to_vec())
            .with_some(words_here.env, filled(env))
            .with_some("env_keys", self.keyring(words))
            .with_some("env_vars", self.handed_on(words))
    }

    /// What Goose wants to have said of each.
    fn begun(self) -> Value {
        match self {
            Self::Goose => Value::object()
                .with("enabled", true)
                .with("name", NAME)
                .with("description", "All servers behind mcpr"),
            _ => Value::object(),
        }
    }

    fn with_treatment(self, entry: Value) -> Value {
        let limit = self.profile().timeout.as_ref().map(|timeout| {
            let number = match timeout.unit {
                Unit::Milliseconds => CALL_SECONDS * 1000,
                Unit::Seconds => CALL_SECONDS,
            };
            (timeout.key, number)
        });
        let entry = match limit {
            Some((key, number)) => entry.with(key, number),
            None => entry,
        };
        entry.with_some("disabled", (self == Self::Cline).then_some(false))
    }

    /// The variables that Goose shall look up, in its environment and then in its keyring.
    fn keyring(self, words: Option<&Words>) -> Option<Vec<String>> {
        let variable = words.and_then(Words::variable).filter(|_| self == Self::Goose);
        variable.map(|name| vec![name.to_owned()])
    }

    /// The variables that Codex hands on to a program.
    fn handed_on(self, words: Option<&Words>) -> Option<Vec<String>> {
        let variable = words.and_then(Words::variable).filter(|_| self == Self::Codex);
        variable.map(|name| vec![name.to_owned()])
    }

    /// The entry in a file of its own.
    fn file(self, entry: &Value, words: Option<&Words>) -> String {
        let Profile { root, .. } = self.profile();
        match self.format() {
            Format::Json => self.whole(entry, words).json(),
            Format::Toml => entry.toml_table(&format!("{root}.{NAME}")),
            Format::Yaml => self.whole(entry, words).yaml(),
        }
    }

    fn whole(self, entry: &Value, words: Option<&Words>) -> Value {
        let servers = Value::object().with(NAME, entry.clone());
        Value::object()
            .with_some("inputs", words.and_then(Words::inputs))
            .with(self.profile().root, servers)
    }

    fn notes(self, words: Option<&Words>) -> Vec<String> {
        let token = words.and_then(|words| self.where_from(&words.source));
        let limits = self.profile().notes.iter().map(|note| (*note).to_owned());
        token.into_iter().chain(limits).collect()
    }

    /// What to do so that the client has a token.
    fn where_from(self, source: &Source) -> Option<String> {
        let make = format!("`mcpr-ctl tokens create --client {}`", self.id());
        match source {
            Source::Variable(name) => Some(format!(
                "it takes the token from the variable {name} of its own environment; {make} makes one"
            )),
            Source::Input => Some(format!(
                "it asks for the token once and keeps it; {make} makes one"
            )),
            Source::Placeholder => Some(format!(
                "it cannot take the token from a variable: put one in the place of {PLACEHOLDER}; {make} makes one"
            )),
            Source::Given => None,
        }
    }
}

/// Codex names the variable, and keeps other headers apart.
fn codex_remote(entry: Value, headers: &[(String, String)], words: Option<&Words>) -> Value {
    let variable = words.and_then(Words::variable);
    let given = words
        .filter(|words| words.source == Source::Given)
        .map(|words| ("Authorization".to_owned(), format!("Bearer {}", words.text)));
    let headers: Value = given.into_iter().chain(headers.iter().cloned()).collect();
    entry
        .with_some("bearer_token_env_var", variable)
        .with_some("http_headers", filled(headers))
}

fn filled(object: Value) -> Option<Value> {
    (!object.members().is_empty()).then_some(object)
}

impl Link {
    fn token(&self) -> Option<&Token> {
        match self {
            Self::Http { token, .. } => Some(token),
            Self::Stdio { token, .. } => token.as_ref(),
        }
    }
}

impl Words {
    fn new(text: impl Into<String>, source: Source) -> Self {
        Self {
            text: text.into(),
            source,
        }
    }

    /// The variable that the client looks up.
    pub(super) fn variable(&self) -> Option<&str> {
        match &self.source {
            Source::Variable(name) => Some(name),
            _ => None,
        }
    }

    /// What VS Code has to ask for.
    pub(super) fn inputs(&self) -> Option<Vec<Value>> {
        let input = || {
            Value::object()
                .with("type", "promptString")
                .with("id", INPUT)
                .with("description", "Token for mcpr")
                .with("password", true)
        };
        (self.source == Source::Input).then(|| vec![input()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn http(token: Token, headers: &[(&str, &str)]) -> Link {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Link::Http {
            url: "http://127.0.0.1:3282/mcp".into(),
            token,
            headers: headers.iter().map(own).collect(),
        }
    }

    fn stdio(token: Option<Token>) -> Link {
        Link::Stdio {
            command: "/usr/bin/mcpr-gateway".into(),
            args: vec!["connect".into(), "--project".into(), "my web".into()],
            env: vec![("MCPR_HOME".into(), "/srv/mcpr".into())],
            token,
        }
    }

    fn all(link: &Link) -> String {
        let one = |app: ClientApp| {
            let Snippet { text, command, .. } = app.snippet(link);
            format!("--- {app}\n{text}{}\n", command.unwrap_or_default())
        };
        ClientApp::ALL
            .into_iter()
            .filter(|app| app.takes_urls() || matches!(link, Link::Stdio { .. }))
            .map(one)
            .collect()
    }

    #[test]
    fn ctl_01_every_client_is_told_a_url_in_its_own_words() {
        insta::assert_snapshot!(all(&http(Token::Usual, &[])));
    }

    #[test]
    fn ctl_01_every_client_is_told_a_project_and_another_variable() {
        let headers = [("X-MCPR-Project", "it's $web"), ("X-MCPR-Toolset", "dev")];
        insta::assert_snapshot!(all(&http(Token::Variable("TEAM".into()), &headers)));
    }

    #[test]
    fn ctl_01_every_client_is_told_a_program_in_its_own_words() {
        insta::assert_snapshot!(all(&stdio(None)));
    }

    #[test]
    fn ctl_01_a_program_gets_its_token_as_each_client_can_hand_it_on() {
        insta::assert_snapshot!(all(&stdio(Some(Token::Usual))));
    }

    #[test]
    fn ctl_01_a_given_token_stands_in_the_entry() {
        insta::assert_snapshot!(all(&http(Token::Text("mcpr_pat_x".into()), &[])));
        assert!(!format!("{:?}", http(Token::Text("mcpr_pat_x".into()), &[])).contains("pat"));
    }

    #[test]
    fn ctl_04_what_a_client_cannot_do_is_said() {
        let notes = |app: ClientApp| app.snippet(&http(Token::Usual, &[])).notes.join("\n  ");
        let all = ClientApp::ALL.map(|app| format!("{app}:\n  {}", notes(app)));
        insta::assert_snapshot!(all.join("\n"));
    }
}

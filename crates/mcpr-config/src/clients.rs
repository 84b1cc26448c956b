//! The programs that speak MCP as clients: where their files lie, how a gateway is entered in them,
//! and, with the feature `import`, which servers stand in them.
//!
//! What differs between them stands in one table; both programs of mcpr read it. Nothing here
//! writes a file of a client.
//!
//! ```
//! use mcpr_config::clients::{ClientApp, Link, Token};
//!
//! let link = Link::Http {
//!     url: "http://127.0.0.1:3282/mcp".into(),
//!     token: Token::Variable("MCPR_TOKEN".into()),
//!     headers: Vec::new(),
//! };
//! let snippet = ClientApp::Cursor.snippet(&link);
//! assert!(snippet.text.contains(r#""Authorization": "Bearer ${env:MCPR_TOKEN}""#));
//! ```

mod command;
mod entry;
mod files;
#[cfg(feature = "import")]
mod import;
mod table;
mod value;
mod write;

use mcpr_registry::nearest;
use std::fmt;
use std::net::SocketAddr;

pub use command::shell_word;
pub use entry::{Link, Snippet, Token};
pub use files::System;
#[cfg(feature = "import")]
pub use import::{Found, Known, Plan, Server, Skipped, Taken, read};
pub use value::Value;

use table::Profile;

/// Where the endpoint of a gateway is below its address.
const PATH: &str = "/mcp";

/// A program that speaks MCP as a client.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ClientApp {
    /// Anthropic's command line.
    ClaudeCode,
    /// Anthropic's desktop app.
    ClaudeDesktop,
    /// The editor Cursor.
    Cursor,
    /// Visual Studio Code.
    VsCode,
    /// OpenAI's command line.
    Codex,
    /// Google's command line.
    Gemini,
    /// The editor Windsurf.
    Windsurf,
    /// The editor Zed.
    Zed,
    /// The agent Cline, in editors and on the command line.
    Cline,
    /// The agent Goose.
    Goose,
}

/// The language of a client's file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// JSON, in some clients with comments.
    Json,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}

/// A text that names no client.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("mcpr knows no client of that name; {}", advice(*meant))]
pub struct UnknownClient {
    /// The client that was probably meant.
    pub meant: Option<ClientApp>,
}

impl ClientApp {
    /// Every client, in the order in which they are listed.
    pub const ALL: [Self; 10] = [
        Self::ClaudeCode,
        Self::ClaudeDesktop,
        Self::Cursor,
        Self::VsCode,
        Self::Codex,
        Self::Gemini,
        Self::Windsurf,
        Self::Zed,
        Self::Cline,
        Self::Goose,
    ];

    /// Its name for programs, such as `claude-code`.
    pub fn id(self) -> &'static str {
        self.profile().id
    }

    /// Its name for people, such as `Claude Code`.
    pub fn title(self) -> &'static str {
        self.profile().title
    }

    /// The language of its file.
    pub fn format(self) -> Format {
        self.profile().format
    }

    /// The commands that start it; none if they could be somebody else's too.
    pub fn programs(self) -> &'static [&'static str] {
        self.profile().programs
    }

    /// Whether it can be given a URL; else it only starts programs.
    pub fn takes_urls(self) -> bool {
        self.profile().http.is_some()
    }

    fn profile(self) -> &'static Profile {
        table::of(self)
    }

    fn spellings(self) -> impl Iterator<Item = &'static str> {
        let Profile {
            id, title, spellings, ..
        } = self.profile();
        [*id, *title].into_iter().chain(spellings.iter().copied())
    }
}

impl std::str::FromStr for ClientApp {
    type Err = UnknownClient;

    /// Takes any usual spelling: `claude-code`, `claude_code`, `Claude Code`, `vscode`, `code`.
    fn from_str(typed: &str) -> Result<Self, UnknownClient> {
        let wanted = plain(typed);
        let is_it = |app: &Self| app.spellings().any(|spelling| plain(spelling) == wanted);
        let found = Self::ALL.into_iter().find(is_it);
        found.ok_or_else(|| UnknownClient { meant: meant(typed) })
    }
}

fn advice(meant: Option<ClientApp>) -> String {
    match meant {
        Some(app) => format!("did you mean `{}`?", app.id()),
        None => format!("it knows {}", ClientApp::ALL.map(ClientApp::id).join(", ")),
    }
}

/// The client that was probably meant.
fn meant(typed: &str) -> Option<ClientApp> {
    let spelling = nearest(typed, ClientApp::ALL.into_iter().flat_map(ClientApp::spellings))?;
    ClientApp::ALL
        .into_iter()
        .find(|app| app.spellings().any(|known| known == spelling))
}

/// The URL of the endpoint, for clients of the same machine: the address of a gateway alone stands
/// for it, and one for all addresses is reached by loopback.
///
/// ```
/// use mcpr_config::clients::endpoint;
///
/// assert_eq!(endpoint("http://127.0.0.1:3282/"), "http://127.0.0.1:3282/mcp");
/// assert_eq!(endpoint("http://0.0.0.0:3282/mcp"), "http://127.0.0.1:3282/mcp");
/// assert_eq!(endpoint("https://box/tools/mcp"), "https://box/tools/mcp");
/// ```
pub fn endpoint(url: &str) -> String {
    let reached = url
        .replacen("://0.0.0.0", "://127.0.0.1", 1)
        .replacen("://[::]", "://[::1]", 1);
    let rest = reached.split_once("://").map_or(&*reached, |(_, rest)| rest);
    match rest.trim_end_matches('/').contains('/') {
        true => reached,
        false => format!("{}{PATH}", reached.trim_end_matches('/')),
    }
}

/// The URL at which clients of the same machine reach a gateway that listens here.
///
/// ```
/// use mcpr_config::clients::endpoint_of;
///
/// assert_eq!(endpoint_of("0.0.0.0:3282".parse().unwrap()), "http://127.0.0.1:3282/mcp");
/// assert_eq!(endpoint_of("[::1]:80".parse().unwrap()), "http://[::1]:80/mcp");
/// ```
pub fn endpoint_of(listen: SocketAddr) -> String {
    endpoint(&format!("http://{listen}"))
}

/// Habits of spelling do not count.
fn plain(text: &str) -> String {
    let letters = text.chars().filter(|c| !matches!(c, '-' | '_' | ' ' | '.'));
    letters.flat_map(char::to_lowercase).collect()
}

impl fmt::Display for ClientApp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.title())
    }
}

impl Format {
    /// The name for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Toml => "toml",
            Self::Yaml => "yaml",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ctl_04_a_client_is_named_as_people_spell_it() {
        let named = |typed: &str| typed.parse::<ClientApp>().unwrap();

        for typed in [
            "claude-code",
            "claude_code",
            "Claude Code",
            "claudecode",
            "claude",
        ] {
            assert_eq!(named(typed), ClientApp::ClaudeCode, "{typed}");
        }
        for typed in ["vscode", "vs-code", "code", "VS Code"] {
            assert_eq!(named(typed), ClientApp::VsCode, "{typed}");
        }
        for app in ClientApp::ALL {
            assert_eq!((named(app.id()), named(app.title())), (app, app));
        }
    }

    #[test]
    fn ctl_04_a_mistyped_client_is_recognised() {
        let meant = |typed: &str| typed.parse::<ClientApp>().unwrap_err().meant;

        assert_eq!(meant("cusor"), Some(ClientApp::Cursor));
        assert_eq!(meant("claud-code"), Some(ClientApp::ClaudeCode));
        assert_eq!(meant("emacs"), None);
    }

    #[test]
    fn a_gateway_is_named_as_people_have_it_at_hand() {
        for url in [
            "http://127.0.0.1:3282",
            "http://127.0.0.1:3282/",
            "http://127.0.0.1:3282/mcp",
        ] {
            assert_eq!(endpoint(url), "http://127.0.0.1:3282/mcp");
        }
        assert_eq!(endpoint("https://box/tools/mcp/"), "https://box/tools/mcp/");
    }
}

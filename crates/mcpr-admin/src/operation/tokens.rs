//! The tokens with which clients come in.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Secret;
use crate::words::words;

/// Makes a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CreateToken {
    /// Its name, 1 to 64 printable characters.
    pub name: String,
    /// The client app it is for, such as `claude-code`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The project it shall not leave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The toolset its calls shall be limited to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub toolset: Option<String>,
    /// What it shall allow; `read` and `call` unless said otherwise.
    #[serde(default = "usual_scopes")]
    pub scopes: Vec<Scope>,
    /// The only servers it shall reach; all unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servers: Option<Vec<String>>,
    /// The only tools it shall reach, as `server.tool` in which `*` stands for anything; all unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// How many requests may come with it, such as `10/s`, `600/m` or `5000/h`; as the configuration says
    /// unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<String>,
    /// From when on it shall be refused, as RFC 3339; never unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
}

/// A new token, or one with a new text; the text is shown this once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreatedToken {
    /// The text to send as `Authorization: Bearer …`.
    pub secret: Secret,
    /// What is kept of it.
    #[serde(flatten)]
    pub token: TokenReport,
}

/// Asks for all tokens, revoked and expired ones included.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListTokens {}

/// All tokens, the oldest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenList {
    /// The tokens.
    pub tokens: Vec<TokenReport>,
}

/// Gives a token a new text: it stays the same token, with its limits, its toolset and its sessions. The
/// text it had is accepted for a while yet, so that clients can be told the new one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RotateToken {
    /// Its id, its name, or the beginning of its id.
    pub which: String,
    /// For how many seconds the text it had is accepted; an hour unless said, and 0 refuses it at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grace_seconds: Option<u64>,
}

/// Revokes a token and ends its sessions; the output is its [`TokenReport`]. One that was revoked
/// before stays as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RevokeToken {
    /// Its id, its name, or the beginning of its id.
    pub which: String,
}

/// What is known of a token after its text has been shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenReport {
    /// How logs, metadata and commands name it.
    pub id: String,
    /// Whom it is for.
    pub kind: TokenKind,
    /// The name its owner gave it; not necessarily unique.
    pub name: String,
    /// The beginning of its text, for telling it from others.
    pub prefix: String,
    /// Whether it is accepted.
    pub state: TokenState,
    /// The client app it was made for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The project it cannot leave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The toolset its calls are limited to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub toolset: Option<String>,
    /// What it allows.
    pub scopes: Vec<Scope>,
    /// The only servers it reaches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servers: Option<Vec<String>>,
    /// The only tools it reaches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// How many requests may come with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<String>,
    /// When it was made, as RFC 3339, like the other times.
    pub created: String,
    /// From when on it is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
    /// When it was last accepted, to the minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used: Option<String>,
    /// When it was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked: Option<String>,
    /// When it last got a new text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotated: Option<String>,
    /// The text it had before, while that is still accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retiring: Option<RetiringText>,
}

/// The text that a token had before, and that is accepted for a while yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetiringText {
    /// Its beginning.
    pub prefix: String,
    /// From when on it is refused.
    pub until: String,
}

/// One thing a caller may be allowed to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// List what there is and read the status.
    Read,
    /// Also call tools, read resources and get prompts.
    Call,
    /// Everything, the operator's commands included.
    Admin,
}

/// Whom a token is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A person's client.
    Pat,
    /// An operator.
    Adm,
    /// Another program.
    Svc,
}

/// Whether a token is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenState {
    /// It is.
    Active,
    /// Its time is over.
    Expired,
    /// It was revoked.
    Revoked,
}

words!(Scope { Read = "read", Call = "call", Admin = "admin" });
words!(TokenKind { Pat = "pat", Adm = "adm", Svc = "svc" });
words!(TokenState { Active = "active", Expired = "expired", Revoked = "revoked" });

impl CreateToken {
    /// A token without limits that reads and calls.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            client: None,
            project: None,
            toolset: None,
            scopes: usual_scopes(),
            servers: None,
            tools: None,
            rate: None,
            expires: None,
        }
    }

    /// The kind of token to make: an operator's if it may do everything, else a client's.
    pub fn kind(&self) -> TokenKind {
        if self.scopes.contains(&Scope::Admin) {
            TokenKind::Adm
        } else {
            TokenKind::Pat
        }
    }
}

impl RotateToken {
    /// For how long the text it had is accepted.
    pub fn grace(&self) -> Duration {
        self.grace_seconds.map_or(USUAL_GRACE, Duration::from_secs)
    }
}

/// For how long the old text of a rotated token is accepted unless said otherwise.
const USUAL_GRACE: Duration = Duration::from_secs(3600);

fn usual_scopes() -> Vec<Scope> {
    vec![Scope::Read, Scope::Call]
}

//! The stored record of a token: everything but the secret.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::random::{BASE32, draw};
use crate::{Names, Rate, Scopes, Timestamp, TokenHash};

/// What is known of a token after its text has been shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Token {
    /// How logs, metadata and commands name it.
    pub id: TokenId,
    /// Whom it is for.
    pub kind: TokenKind,
    /// The name its owner gave it; not necessarily unique.
    pub name: String,
    /// The beginning of its text, for telling it from others.
    pub prefix: String,
    /// The client app it was made for, such as `claude-code`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The project it cannot leave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The toolset its calls are limited to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub toolset: Option<String>,
    /// What it allows.
    pub scopes: Scopes,
    /// The only servers it reaches; all without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servers: Option<Names>,
    /// The only tools it reaches, as `server.tool` in which `*` stands for anything; all without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Names>,
    /// How many requests may come with it; as the gateway says without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// When it was made.
    pub created: Timestamp,
    /// From when on it is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
    /// When it was last accepted, to the minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used: Option<Timestamp>,
    /// When it was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked: Option<Timestamp>,
    /// When its text was last replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotated: Option<Timestamp>,
    /// The text before that, which is still accepted for a while.
    #[serde(skip)]
    pub retiring: Option<Retiring>,
    /// The hashes of the texts before that, the newest last: whoever comes with one is told what became of it.
    #[serde(skip)]
    pub spent: Vec<TokenHash>,
}

/// The text of a token that was replaced, and is accepted until its time is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retiring {
    /// Its hash.
    pub hash: TokenHash,
    /// Its beginning, for telling it from others.
    pub prefix: String,
    /// From when on it is refused.
    pub until: Timestamp,
}

/// The public name of a token: `tk_` and eight letters. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct TokenId(Arc<str>);

/// Whom a token is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TokenKind {
    /// `pat`: a person's client.
    Pat,
    /// `adm`: an operator.
    Adm,
    /// `svc`: another program.
    Svc,
}

/// A text that is no token id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a token id; they look like tk_7h2k9qmd and `mcpr-ctl tokens ls` shows them")]
pub struct InvalidTokenId(String);

/// A text that is no token kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no token kind `{0}`; choose from `pat`, `svc` and `adm`")]
pub struct InvalidKind(String);

impl Token {
    /// Whether the token is accepted at `now`.
    pub fn is_active(&self, now: Timestamp) -> bool {
        self.revoked.is_none() && self.expires.is_none_or(|end| now < end)
    }
}

impl TokenId {
    const LETTERS: usize = 8;

    /// Draws a new id.
    pub(crate) fn draw() -> Result<Self, getrandom::Error> {
        Ok(Self(format!("tk_{}", draw(BASE32, Self::LETTERS)?).into()))
    }

    /// The id of somebody whose tokens another store has, by a name of that store: `ext:NAME`.
    pub fn external(name: &str) -> Self {
        Self(format!("ext:{name}").into())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for TokenId {
    type Err = InvalidTokenId;

    fn from_str(text: &str) -> Result<Self, InvalidTokenId> {
        let letters = text.strip_prefix("tk_").map(str::as_bytes);
        match letters {
            Some(l) if l.len() == Self::LETTERS && l.iter().all(|c| BASE32.contains(c)) => {
                Ok(Self(text.into()))
            }
            _ => Err(InvalidTokenId(text.to_owned())),
        }
    }
}

impl fmt::Display for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl From<TokenId> for String {
    fn from(id: TokenId) -> Self {
        id.0.as_ref().to_owned()
    }
}

impl TryFrom<String> for TokenId {
    type Error = InvalidTokenId;

    fn try_from(text: String) -> Result<Self, InvalidTokenId> {
        text.parse()
    }
}

impl TokenKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Pat, Self::Adm, Self::Svc];

    /// The kind as it is written inside a token.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pat => "pat",
            Self::Adm => "adm",
            Self::Svc => "svc",
        }
    }
}

impl FromStr for TokenKind {
    type Err = InvalidKind;

    fn from_str(text: &str) -> Result<Self, InvalidKind> {
        let known = Self::ALL.into_iter().find(|kind| kind.as_str() == text);
        known.ok_or_else(|| InvalidKind(text.to_owned()))
    }
}

impl fmt::Display for TokenKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NewToken, mint};

    #[test]
    fn an_id_reads_back_and_nothing_else_is_one() {
        let id = TokenId::draw().unwrap();

        assert_eq!(id.as_str().parse(), Ok(id));
        for text in [
            "",
            "tk_",
            "tk_short",
            "tk_0123456u",
            "tk_012345678",
            "xx_01234567",
        ] {
            assert_eq!(text.parse::<TokenId>(), Err(InvalidTokenId(text.to_owned())));
        }
    }

    #[test]
    fn a_record_reads_back_from_json_with_readable_times() {
        let mut token = mint(
            NewToken::new(TokenKind::Pat, "laptop"),
            Timestamp::from_unix(1_800_000_000),
        )
        .unwrap()
        .token;
        token.last_used = Some(token.created);

        let json = serde_json::to_value(&token).unwrap();

        assert_eq!(json["lastUsed"], "2027-01-15T08:00:00Z");
        assert_eq!(json["scopes"], "read call");
        assert_eq!(json.get("revoked"), None);
        assert_eq!(serde_json::from_value::<Token>(json).unwrap(), token);
    }
}

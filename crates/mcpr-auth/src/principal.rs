//! Whoever a request acts for.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::{Names, Rate, Scope, Scopes, Timestamp, Token, TokenHash, TokenId, TokenKind};

/// Whoever a request acts for: equipped toolsets, sessions and stored state belong to a principal.
///
/// Cheap to clone. Two principals are equal when their [keys](Principal::key) are.
#[derive(Clone, Debug)]
pub struct Principal(Kind);

/// What a verified token tells of its holder.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Grant {
    /// The token's id.
    pub id: TokenId,
    /// Whom the token is for.
    pub kind: TokenKind,
    /// The token's name.
    pub name: String,
    /// The client app the token was made for.
    pub client: Option<String>,
    /// The project the holder cannot leave.
    pub project: Option<String>,
    /// The toolset the holder's calls are limited to.
    pub toolset: Option<String>,
    /// What the holder may do.
    pub scopes: Scopes,
    /// The only servers the holder reaches.
    pub servers: Option<Names>,
    /// The only tools the holder reaches.
    pub tools: Option<Names>,
    /// How many requests the holder may send.
    pub rate: Option<Rate>,
    /// From when on the token is refused.
    pub expires: Option<Timestamp>,
    /// The text that the holder came with; none for who is only spoken of.
    pub text: Option<TokenHash>,
}

#[derive(Clone, Debug)]
enum Kind {
    Token(Arc<Grant>),
    Anonymous,
    Local,
    Stdio(Arc<str>),
}

impl Principal {
    /// Anybody, when the gateway runs with `--no-auth`.
    pub fn anonymous() -> Self {
        Self(Kind::Anonymous)
    }

    /// The operator, through the control socket.
    pub fn local() -> Self {
        Self(Kind::Local)
    }

    /// The user of a stdio front whose config path has this digest.
    pub fn stdio(digest: &str) -> Self {
        Self(Kind::Stdio(format!("stdio:{digest}").into()))
    }

    /// The holder of a token who came with the text of this hash.
    pub fn with_text(token: &Token, text: TokenHash) -> Self {
        Self(Kind::Token(Arc::new(Grant {
            text: Some(text),
            ..Grant::from(token)
        })))
    }

    /// The stable text that names this principal in the database:
    /// `tk_…`, `ext:…`, `anonymous`, `local` or `stdio:<digest>`.
    pub fn key(&self) -> &str {
        match &self.0 {
            Kind::Token(grant) => grant.id.as_str(),
            Kind::Anonymous => "anonymous",
            Kind::Local => "local",
            Kind::Stdio(key) => key,
        }
    }

    /// What the token tells, for a principal that came with one.
    pub fn grant(&self) -> Option<&Grant> {
        match &self.0 {
            Kind::Token(grant) => Some(grant),
            Kind::Anonymous | Kind::Local | Kind::Stdio(_) => None,
        }
    }

    /// What this principal may do; only a token and the control socket can be an operator's.
    pub fn scopes(&self) -> Scopes {
        match &self.0 {
            Kind::Token(grant) => grant.scopes,
            Kind::Local => Scopes::of(&[Scope::Admin]),
            Kind::Anonymous | Kind::Stdio(_) => Scopes::default(),
        }
    }

    /// Whether this principal may do what `scope` stands for.
    pub fn allows(&self, scope: Scope) -> bool {
        self.scopes().allows(scope)
    }

    /// The project this principal cannot leave.
    pub fn project(&self) -> Option<&str> {
        self.grant()?.project.as_deref()
    }

    /// The toolset this principal's calls are limited to.
    pub fn toolset(&self) -> Option<&str> {
        self.grant()?.toolset.as_deref()
    }

    /// The only servers this principal reaches; all without any.
    pub fn servers(&self) -> Option<&Names> {
        self.grant()?.servers.as_ref()
    }

    /// The only tools this principal reaches; all without any.
    pub fn tools(&self) -> Option<&Names> {
        self.grant()?.tools.as_ref()
    }

    /// How many requests this principal may send, if its token says so.
    pub fn rate(&self) -> Option<Rate> {
        self.grant()?.rate
    }

    /// The client app this principal is said to use.
    pub fn client(&self) -> Option<&str> {
        self.grant()?.client.as_deref()
    }

    /// From when on this principal is refused.
    pub fn expires(&self) -> Option<Timestamp> {
        self.grant()?.expires
    }
}

impl PartialEq for Principal {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Principal {}

impl Hash for Principal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl Grant {
    /// What a token without limits tells, whose kind's usual scopes are `read call`.
    pub fn new(id: TokenId, name: impl Into<String>) -> Self {
        Self {
            id,
            kind: TokenKind::Pat,
            name: name.into(),
            client: None,
            project: None,
            toolset: None,
            scopes: Scopes::default(),
            servers: None,
            tools: None,
            rate: None,
            expires: None,
            text: None,
        }
    }
}

impl From<Grant> for Principal {
    fn from(grant: Grant) -> Self {
        Self(Kind::Token(Arc::new(grant)))
    }
}

impl From<&Token> for Principal {
    fn from(token: &Token) -> Self {
        Self(Kind::Token(Arc::new(token.into())))
    }
}

impl From<&Token> for Grant {
    fn from(token: &Token) -> Self {
        Self {
            kind: token.kind,
            client: token.client.clone(),
            project: token.project.clone(),
            toolset: token.toolset.clone(),
            scopes: token.scopes,
            servers: token.servers.clone(),
            tools: token.tools.clone(),
            rate: token.rate,
            expires: token.expires,
            ..Self::new(token.id.clone(), token.name.clone())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NewToken, mint};

    #[test]
    fn set_05_every_principal_has_a_stable_key() {
        let token = mint(NewToken::new(TokenKind::Pat, "laptop"), Timestamp::from_unix(0))
            .unwrap()
            .token;

        assert_eq!(Principal::from(&token).key(), token.id.as_str());
        assert_eq!(Principal::anonymous().key(), "anonymous");
        assert_eq!(Principal::local().key(), "local");
        assert_eq!(Principal::stdio("ab12").key(), "stdio:ab12");
        let ann = Grant::new(TokenId::external("ann"), "Ann");
        assert_eq!(Principal::from(ann).key(), "ext:ann");
    }

    #[test]
    fn only_the_control_socket_is_an_operator_without_a_token() {
        assert!(Principal::local().allows(Scope::Admin));
        for principal in [Principal::anonymous(), Principal::stdio("ab12")] {
            assert!(principal.allows(Scope::Call) && !principal.allows(Scope::Admin));
        }
    }
}

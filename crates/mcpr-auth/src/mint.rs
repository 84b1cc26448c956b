//! Making a token.

use std::time::Duration;

use crate::format::{compose, shown_prefix};
use crate::{Names, Rate, Retiring, Scope, Scopes, Secret, Timestamp, Token, TokenHash, TokenId, TokenKind};

/// What is asked of a token before there is one.
#[derive(Clone, Debug)]
pub struct NewToken {
    /// Whom it is for.
    pub kind: TokenKind,
    /// Its name, 1 to 64 printable characters.
    pub name: String,
    /// The client app it is for.
    pub client: Option<String>,
    /// The project it shall not leave.
    pub project: Option<String>,
    /// The toolset its calls shall be limited to.
    pub toolset: Option<String>,
    /// What it shall allow.
    pub scopes: Scopes,
    /// The only servers it shall reach.
    pub servers: Option<Names>,
    /// The only tools it shall reach, as `server.tool` in which `*` stands for anything.
    pub tools: Option<Names>,
    /// How many requests may come with it.
    pub rate: Option<Rate>,
    /// From when on it shall be refused.
    pub expires: Option<Timestamp>,
}

/// A new token in its three parts.
#[derive(Debug)]
pub struct Minted {
    /// The record to store and to list.
    pub token: Token,
    /// The text to show once.
    pub secret: Secret,
    /// What to store in place of the text.
    pub hash: TokenHash,
}

/// Why a token could not be made.
#[derive(Debug, thiserror::Error)]
pub enum MintError {
    /// One of the texts is empty, too long, or holds characters that cannot be shown.
    #[error("the token's {0} must be 1 to 64 printable characters; choose another one")]
    Label(&'static str),
    /// The names it is limited to cannot be names, or are too many.
    #[error(
        "the token's {0} must be 1 to {MOST} names of printable characters without blanks at their ends; leave them out \
         for a token without that limit"
    )]
    Names(&'static str),
    /// It would allow nothing.
    #[error("the token would allow nothing; give it at least one of the scopes read, call and admin")]
    NoScope,
    /// It is no longer accepted, so there is nothing to replace.
    #[error("the token {0} is no longer accepted; make a new one")]
    Over(TokenId),
    /// It would be over before it begins.
    #[error("the token would expire at {0}, which is past; choose a later time")]
    Past(Timestamp),
    /// The operating system gave no random bytes.
    #[error("the operating system gave no random bytes, so no safe token can be made; try again later")]
    NoRandomness(#[source] getrandom::Error),
}

impl NewToken {
    /// A token without limits and with its kind's usual scopes: `admin` for an operator's, else `read call`.
    pub fn new(kind: TokenKind, name: impl Into<String>) -> Self {
        let scopes = match kind {
            TokenKind::Adm => Scopes::of(&[Scope::Admin]),
            TokenKind::Pat | TokenKind::Svc => Scopes::default(),
        };
        let name = name.into();
        Self {
            kind,
            name,
            client: None,
            project: None,
            toolset: None,
            scopes,
            servers: None,
            tools: None,
            rate: None,
            expires: None,
        }
    }

    fn check(&self) -> Result<(), MintError> {
        let labels = [
            ("name", Some(&self.name)),
            ("client", self.client.as_ref()),
            ("project", self.project.as_ref()),
            ("toolset", self.toolset.as_ref()),
        ];
        let bad = labels
            .into_iter()
            .find(|(_, text)| text.is_some_and(|text| !is_label(text)));
        if let Some((what, _)) = bad {
            return Err(MintError::Label(what));
        }
        let lists = [("servers", &self.servers), ("tools", &self.tools)];
        let bad = lists
            .into_iter()
            .find(|(_, names)| names.as_ref().is_some_and(|names| !are_names(names)));
        bad.map_or(Ok(()), |(what, _)| Err(MintError::Names(what)))
    }
}

/// Makes a token: 190 random bits, to be shown once and stored as a hash.
///
/// # Errors
///
/// [`MintError::Label`] if one of the texts cannot be shown in a table, [`MintError::NoScope`] if it would
/// allow nothing, and so on.
pub fn mint(new: NewToken, now: Timestamp) -> Result<Minted, MintError> {
    new.check()?;
    if new.scopes.iter().next().is_none() {
        return Err(MintError::NoScope);
    }
    if let Some(end) = new.expires.filter(|end| *end <= now) {
        return Err(MintError::Past(end));
    }
    let id = TokenId::draw().map_err(MintError::NoRandomness)?;
    let secret = compose(new.kind).map_err(MintError::NoRandomness)?;
    let hash = TokenHash::of(secret.reveal());
    let token = Token {
        id,
        kind: new.kind,
        name: new.name,
        prefix: shown_prefix(secret.reveal()),
        client: new.client,
        project: new.project,
        toolset: new.toolset,
        scopes: new.scopes,
        servers: new.servers,
        tools: new.tools,
        rate: new.rate,
        created: now,
        expires: new.expires,
        last_used: None,
        revoked: None,
        rotated: None,
        retiring: None,
        spent: Vec::new(),
    };
    Ok(Minted { token, secret, hash })
}

/// Gives a token another text. It stays the same token: its id, its limits, and all that belongs to its
/// principal. The text it had, whose hash is `hash`, is accepted for as long as `grace`.
///
/// # Errors
///
/// [`MintError::Over`] if the token is revoked or expired.
pub fn rotate(token: &Token, hash: TokenHash, grace: Duration, now: Timestamp) -> Result<Minted, MintError> {
    if !token.is_active(now) {
        return Err(MintError::Over(token.id.clone()));
    }
    let secret = compose(token.kind).map_err(MintError::NoRandomness)?;
    let retiring = Retiring {
        hash,
        prefix: token.prefix.clone(),
        until: now.after(grace),
    };
    let token = Token {
        prefix: shown_prefix(secret.reveal()),
        rotated: Some(now),
        retiring: Some(retiring),
        spent: spent(token),
        ..token.clone()
    };
    let hash = TokenHash::of(secret.reveal());
    Ok(Minted { token, secret, hash })
}

/// How many texts that a token had are remembered, beside the one before the last.
const SPENT: usize = 16;

/// The texts that are of no use any more once it has another one.
fn spent(token: &Token) -> Vec<TokenHash> {
    let last = token.retiring.as_ref().map(|retiring| retiring.hash);
    let all: Vec<_> = token.spent.iter().copied().chain(last).collect();
    all[all.len().saturating_sub(SPENT)..].to_vec()
}

/// How many names a token can be limited to.
const MOST: usize = 256;

/// The longest of them; the name of a tool holds that of its server.
const LONGEST: usize = 256;

fn are_names(names: &[Box<str>]) -> bool {
    let is_name = |name: &str| {
        let printable = !name.chars().any(char::is_control) && name.trim() == name;
        printable && (1..=LONGEST).contains(&name.chars().count())
    };
    (1..=MOST).contains(&names.len()) && names.iter().all(|name| is_name(name))
}

fn is_label(text: &str) -> bool {
    (1..=64).contains(&text.chars().count()) && !text.chars().any(char::is_control) && text.trim() == text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Presented, inspect};

    const NOW: i64 = 1_800_000_000;

    fn minted(new: NewToken) -> Result<Minted, MintError> {
        mint(new, Timestamp::from_unix(NOW))
    }

    #[test]
    fn sec_02_a_minted_token_is_kept_as_a_hash_and_a_prefix() {
        let Minted { token, secret, hash } = minted(NewToken::new(TokenKind::Svc, "ci")).unwrap();

        assert_eq!(inspect(secret.reveal()), Presented::WellFormed(TokenKind::Svc));
        assert_eq!(hash, TokenHash::of(secret.reveal()));
        assert!(secret.reveal().starts_with(&token.prefix) && token.prefix.len() == 12);
        assert!(!format!("{token:?}").contains(secret.reveal()));
        assert_eq!(token.created.unix(), NOW);
    }

    #[test]
    fn sec_02_no_two_tokens_are_alike() {
        let [one, two] = ["a", "a"].map(|name| minted(NewToken::new(TokenKind::Pat, name)).unwrap());

        assert_ne!(one.hash, two.hash);
        assert_ne!(one.token.id, two.token.id);
    }

    #[test]
    fn sec_02_no_token_is_made_that_is_over_already() {
        let until = |seconds| NewToken {
            expires: Some(Timestamp::from_unix(NOW + seconds)),
            ..NewToken::new(TokenKind::Pat, "x")
        };
        assert!(matches!(minted(until(0)), Err(MintError::Past(end)) if end.unix() == NOW));
        assert!(minted(until(1)).is_ok());
    }

    #[test]
    fn sec_02_no_token_is_made_that_allows_nothing() {
        let new = NewToken {
            scopes: Scopes::of(&[]),
            ..NewToken::new(TokenKind::Pat, "x")
        };
        assert!(matches!(minted(new), Err(MintError::NoScope)));
    }

    #[test]
    fn the_usual_scopes_follow_the_kind() {
        let scopes = TokenKind::ALL.map(|kind| NewToken::new(kind, "x").scopes.to_string());

        assert_eq!(scopes, ["read call", "admin", "read call"]);
    }

    #[test]
    fn sec_02_a_rotated_token_is_the_same_with_another_text() {
        let mut new = NewToken::new(TokenKind::Pat, "laptop");
        new.project = Some("web".into());
        new.scopes = Scopes::of(&[Scope::Read]);
        let old = minted(new).unwrap();
        let now = Timestamp::from_unix(NOW + 60);

        let rotated = rotate(&old.token, old.hash, Duration::from_secs(3600), now).unwrap();

        assert_ne!(rotated.hash, old.hash);
        let retiring = Retiring {
            hash: old.hash,
            prefix: old.token.prefix.clone(),
            until: Timestamp::from_unix(NOW + 3660),
        };
        let same = Token {
            prefix: rotated.token.prefix.clone(),
            rotated: Some(now),
            retiring: Some(retiring),
            ..old.token.clone()
        };
        assert_eq!(rotated.token, same);
    }

    #[test]
    fn sec_02_what_is_no_longer_accepted_is_not_rotated() {
        let mut old = minted(NewToken::new(TokenKind::Pat, "laptop")).unwrap();
        old.token.expires = Some(Timestamp::from_unix(NOW + 1));
        let rotate = |now| rotate(&old.token, old.hash, Duration::ZERO, Timestamp::from_unix(now));

        assert!(rotate(NOW).is_ok());
        assert!(matches!(rotate(NOW + 1), Err(MintError::Over(id)) if id == old.token.id));
    }

    #[test]
    fn names_that_cannot_be_are_refused() {
        let with = |names: &[&str]| NewToken {
            tools: Some(names.iter().copied().collect()),
            ..NewToken::new(TokenKind::Pat, "laptop")
        };
        assert!(minted(with(&["git.status", "docs.*"])).is_ok());
        for names in [&[][..], &[""], &["a\nb"], &[" a"], &["x"; 257]] {
            assert!(
                matches!(minted(with(names)), Err(MintError::Names("tools"))),
                "{names:?}"
            );
        }
    }

    #[test]
    fn texts_that_cannot_be_shown_are_refused() {
        for name in ["", " ", " laptop", "a\nb", &"x".repeat(65)] {
            let error = minted(NewToken::new(TokenKind::Pat, name)).unwrap_err();
            assert!(matches!(error, MintError::Label("name")), "{name:?}");
        }
        let mut new = NewToken::new(TokenKind::Pat, "laptop");
        new.project = Some(String::new());
        assert!(matches!(minted(new), Err(MintError::Label("project"))));
    }
}

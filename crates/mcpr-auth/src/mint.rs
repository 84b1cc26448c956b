//! Making a token.

use crate::format::{compose, shown_prefix};
use crate::{Scope, Scopes, Secret, Timestamp, Token, TokenHash, TokenId, TokenKind};

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
            expires: None,
        }
    }

    /// A token that can take the place of `old`: alike in all but its end.
    pub fn in_place_of(old: &Token) -> Self {
        Self {
            kind: old.kind,
            name: old.name.clone(),
            client: old.client.clone(),
            project: old.project.clone(),
            toolset: old.toolset.clone(),
            scopes: old.scopes,
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
        bad.map_or(Ok(()), |(what, _)| Err(MintError::Label(what)))
    }
}

/// Makes a token: 190 random bits, to be shown once and stored as a hash.
///
/// # Errors
///
/// [`MintError::Label`] if one of the texts cannot be shown in a table.
pub fn mint(new: NewToken, now: Timestamp) -> Result<Minted, MintError> {
    new.check()?;
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
        created: now,
        expires: new.expires,
        last_used: None,
        revoked: None,
    };
    Ok(Minted { token, secret, hash })
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
    fn the_usual_scopes_follow_the_kind() {
        let scopes = TokenKind::ALL.map(|kind| NewToken::new(kind, "x").scopes.to_string());

        assert_eq!(scopes, ["read call", "admin", "read call"]);
    }

    #[test]
    fn sec_02_a_rotated_token_allows_what_the_old_one_did() {
        let mut new = NewToken::new(TokenKind::Pat, "laptop");
        new.project = Some("web".into());
        new.scopes = Scopes::of(&[Scope::Read]);
        let old = minted(new).unwrap().token;

        let rotated = minted(NewToken::in_place_of(&old)).unwrap().token;

        let alike = Token {
            id: rotated.id.clone(),
            prefix: rotated.prefix.clone(),
            ..old
        };
        assert_eq!(rotated, alike);
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

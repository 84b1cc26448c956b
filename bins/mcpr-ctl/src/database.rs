//! Stands in for the gateway when tokens are wanted and none is running.

use std::path::Path;
use std::sync::Arc;

use mcpr_admin::{
    CreateToken, CreatedToken, ErrorCode, Execute, Failure, ListTokens, RevokeToken, Scope, Secret,
    TokenKind, TokenList, TokenReport, TokenState,
};
use mcpr_auth::{MintError, NewToken, Timestamp, Token, mint};
use mcpr_store::{Memory, Store, StoreError};

use crate::problem::chain;

/// The database itself, without a gateway. One that starts or runs later finds what was changed.
#[derive(Debug)]
pub(crate) struct Database(Arc<dyn Store>);

/// Whoever may write the file may do everything.
#[derive(Debug)]
pub(crate) struct Owner;

impl Database {
    /// Opens the file, and makes it if it is not there.
    pub(crate) async fn make(path: &Path) -> Result<Self, Failure> {
        mcpr_store::open(path).await.map(Self).map_err(failure)
    }

    /// Opens the file; one that is not there counts as empty and is not made.
    pub(crate) async fn look_into(path: &Path) -> Result<Self, Failure> {
        if path.exists() {
            Self::make(path).await
        } else {
            Ok(Self(Arc::new(Memory::default())))
        }
    }

    /// Finishes all changes.
    pub(crate) async fn close(self) {
        self.0.close().await;
    }
}

impl Execute<CreateToken, Owner> for Database {
    async fn execute(&self, _: &Owner, wanted: CreateToken) -> Result<CreatedToken, Failure> {
        wanted.check_limits()?;
        let now = Timestamp::now();
        let minted = mint(new_token(wanted)?, now).map_err(|error| no_token(&error))?;
        self.0
            .insert_token(minted.token.clone(), minted.hash)
            .await
            .map_err(failure)?;
        let secret = Secret::new(minted.secret.reveal());
        Ok(CreatedToken {
            secret,
            token: report(minted.token, now),
        })
    }
}

impl Execute<ListTokens, Owner> for Database {
    async fn execute(&self, _: &Owner, _: ListTokens) -> Result<TokenList, Failure> {
        let now = Timestamp::now();
        let tokens = self.0.tokens().await.map_err(failure)?;
        Ok(TokenList {
            tokens: tokens.into_iter().map(|(token, _)| report(token, now)).collect(),
        })
    }
}

impl Execute<RevokeToken, Owner> for Database {
    async fn execute(&self, _: &Owner, operation: RevokeToken) -> Result<TokenReport, Failure> {
        let now = Timestamp::now();
        let token = self
            .0
            .revoke_token(&operation.which, now)
            .await
            .map_err(failure)?;
        Ok(report(token, now))
    }
}

fn new_token(wanted: CreateToken) -> Result<NewToken, Failure> {
    let kind = match wanted.kind() {
        TokenKind::Pat => mcpr_auth::TokenKind::Pat,
        TokenKind::Adm => mcpr_auth::TokenKind::Adm,
        TokenKind::Svc => mcpr_auth::TokenKind::Svc,
    };
    let scopes: Vec<_> = wanted.scopes.into_iter().map(allowed).collect();
    let expires = wanted.expires.map(|text| text.parse()).transpose();
    Ok(NewToken {
        client: wanted.client,
        project: wanted.project,
        toolset: wanted.toolset,
        scopes: mcpr_auth::Scopes::of(&scopes),
        expires: expires.map_err(|error: mcpr_auth::InvalidTimestamp| invalid(&error))?,
        ..NewToken::new(kind, wanted.name)
    })
}

fn allowed(scope: Scope) -> mcpr_auth::Scope {
    match scope {
        Scope::Read => mcpr_auth::Scope::Read,
        Scope::Call => mcpr_auth::Scope::Call,
        Scope::Admin => mcpr_auth::Scope::Admin,
    }
}

fn report(token: Token, now: Timestamp) -> TokenReport {
    let text = |time: Timestamp| time.to_string();
    TokenReport {
        state: state(&token, now),
        id: token.id.to_string(),
        kind: kind(token.kind),
        name: token.name,
        prefix: token.prefix,
        client: token.client,
        project: token.project,
        toolset: token.toolset,
        scopes: token.scopes.iter().map(scope).collect(),
        created: token.created.to_string(),
        expires: token.expires.map(text),
        last_used: token.last_used.map(text),
        revoked: token.revoked.map(text),
    }
}

fn state(token: &Token, now: Timestamp) -> TokenState {
    match (token.revoked, token.is_active(now)) {
        (Some(_), _) => TokenState::Revoked,
        (None, true) => TokenState::Active,
        (None, false) => TokenState::Expired,
    }
}

fn kind(kind: mcpr_auth::TokenKind) -> TokenKind {
    match kind {
        mcpr_auth::TokenKind::Pat => TokenKind::Pat,
        mcpr_auth::TokenKind::Adm => TokenKind::Adm,
        mcpr_auth::TokenKind::Svc => TokenKind::Svc,
    }
}

fn scope(scope: mcpr_auth::Scope) -> Scope {
    match scope {
        mcpr_auth::Scope::Read => Scope::Read,
        mcpr_auth::Scope::Call => Scope::Call,
        mcpr_auth::Scope::Admin => Scope::Admin,
    }
}

fn no_token(error: &MintError) -> Failure {
    match error {
        MintError::Label(_) => invalid(error),
        MintError::NoRandomness(_) => Failure::new(ErrorCode::Failed, chain(error)),
    }
}

fn invalid(error: &dyn std::error::Error) -> Failure {
    Failure::new(ErrorCode::Invalid, chain(error))
}

fn failure(error: StoreError) -> Failure {
    let code = match error {
        StoreError::NoToken(_) => ErrorCode::NotFound,
        StoreError::Ambiguous { .. } => ErrorCode::Invalid,
        _ => ErrorCode::Failed,
    };
    Failure::new(code, chain(&error))
}

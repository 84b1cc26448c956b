//! The tokens of clients.

use mcpr_admin::{
    CreateToken, CreatedToken, ErrorCode, Execute, Failure, ListTokens, RevokeToken, Scope as ScopeName,
    Secret, TokenKind as KindName, TokenList, TokenReport, TokenState,
};
use mcpr_auth::{NewToken, Principal, Scope, Scopes, Timestamp, Token, TokenKind};
use mcpr_store::StoreError;

use super::Operator;
use crate::doorkeeper::TokenError;

impl Execute<CreateToken, Principal> for Operator {
    async fn execute(&self, _: &Principal, asked: CreateToken) -> Result<CreatedToken, Failure> {
        let expires = asked.expires.map(|text| text.parse::<Timestamp>()).transpose();
        let expires = expires.map_err(|error| Failure::new(ErrorCode::Invalid, error.to_string()))?;
        let new = NewToken {
            client: asked.client,
            project: asked.project,
            toolset: asked.toolset,
            scopes: Scopes::of(
                &asked
                    .scopes
                    .iter()
                    .map(|scope| scope_of(*scope))
                    .collect::<Vec<_>>(),
            ),
            expires,
            ..NewToken::new(TokenKind::Pat, asked.name)
        };
        let minted = self
            .gateway
            .doorkeeper
            .create(&*self.gateway.store, new)
            .await
            .map_err(|error| failed(&error))?;
        let secret = Secret::new(minted.secret.reveal());
        Ok(CreatedToken {
            secret,
            token: report(&minted.token),
        })
    }
}

impl Execute<ListTokens, Principal> for Operator {
    async fn execute(&self, _: &Principal, _: ListTokens) -> Result<TokenList, Failure> {
        self.gateway.doorkeeper.save_uses(&*self.gateway.store).await;
        let tokens = self
            .gateway
            .store
            .tokens()
            .await
            .map_err(|error| failed(&error.into()))?;
        Ok(TokenList {
            tokens: tokens.iter().map(|(token, _)| report(token)).collect(),
        })
    }
}

impl Execute<RevokeToken, Principal> for Operator {
    async fn execute(&self, _: &Principal, asked: RevokeToken) -> Result<TokenReport, Failure> {
        let revoked = self
            .gateway
            .doorkeeper
            .revoke(&*self.gateway.store, &asked.which)
            .await;
        revoked
            .map(|token| report(&token))
            .map_err(|error| failed(&error))
    }
}

fn failed(error: &TokenError) -> Failure {
    let code = match error {
        TokenError::Store(StoreError::NoToken(_)) => ErrorCode::NotFound,
        TokenError::Store(StoreError::Ambiguous { .. }) | TokenError::Mint(_) => ErrorCode::Invalid,
        TokenError::Store(_) => ErrorCode::Failed,
    };
    Failure::new(code, error.to_string())
}

fn report(token: &Token) -> TokenReport {
    let time = |time: Option<Timestamp>| time.map(|time| time.to_string());
    TokenReport {
        id: token.id.to_string(),
        kind: match token.kind {
            TokenKind::Pat => KindName::Pat,
            TokenKind::Adm => KindName::Adm,
            TokenKind::Svc => KindName::Svc,
        },
        name: token.name.clone(),
        prefix: token.prefix.clone(),
        state: state(token),
        client: token.client.clone(),
        project: token.project.clone(),
        toolset: token.toolset.clone(),
        scopes: token.scopes.iter().map(name_of).collect(),
        created: token.created.to_string(),
        expires: time(token.expires),
        last_used: time(token.last_used),
        revoked: time(token.revoked),
    }
}

fn state(token: &Token) -> TokenState {
    match token.revoked {
        Some(_) => TokenState::Revoked,
        None if token.is_active(Timestamp::now()) => TokenState::Active,
        None => TokenState::Expired,
    }
}

fn scope_of(name: ScopeName) -> Scope {
    match name {
        ScopeName::Read => Scope::Read,
        ScopeName::Call => Scope::Call,
        ScopeName::Admin => Scope::Admin,
    }
}

fn name_of(scope: Scope) -> ScopeName {
    match scope {
        Scope::Read => ScopeName::Read,
        Scope::Call => ScopeName::Call,
        Scope::Admin => ScopeName::Admin,
    }
}

//! The tokens of clients.

use mcpr_admin::{
    CreateToken, CreatedToken, ErrorCode, Execute, Failure, ListTokens, RetiringText, RevokeToken,
    RotateToken, Scope as ScopeName, Secret, TokenKind as KindName, TokenList, TokenReport, TokenState,
};
use mcpr_auth::{
    InvalidRate, InvalidTimestamp, MintError, Minted, Names, NewToken, Principal, Scope, Scopes, Timestamp,
    Token, TokenKind,
};
use mcpr_store::StoreError;

use super::Operator;
use crate::doorkeeper::TokenError;

impl Execute<CreateToken, Principal> for Operator {
    async fn execute(&self, _: &Principal, asked: CreateToken) -> Result<CreatedToken, Failure> {
        let new = new_token(asked)?;
        let gateway = &self.gateway;
        let minted = gateway.doorkeeper.create(&*gateway.store, new).await;
        minted.map(created).map_err(|error| failed(&error))
    }
}

impl Execute<RotateToken, Principal> for Operator {
    async fn execute(&self, _: &Principal, asked: RotateToken) -> Result<CreatedToken, Failure> {
        let gateway = &self.gateway;
        let keeper = &gateway.doorkeeper;
        let minted = keeper.rotate(&*gateway.store, &asked.which, asked.grace()).await;
        minted.map(created).map_err(|error| failed(&error))
    }
}

impl Execute<ListTokens, Principal> for Operator {
    async fn execute(&self, _: &Principal, _: ListTokens) -> Result<TokenList, Failure> {
        let keeper = &self.gateway.doorkeeper;
        keeper.has_tokens().map_err(|error| failed(&error))?;
        keeper.save_uses(&*self.gateway.store).await;
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

fn new_token(asked: CreateToken) -> Result<NewToken, Failure> {
    let invalid = |error: &dyn std::error::Error| Failure::new(ErrorCode::Invalid, error.to_string());
    let kind = kind_of(asked.kind());
    let scopes: Vec<_> = asked.scopes.iter().map(|scope| scope_of(*scope)).collect();
    let rate = asked.rate.map(|text| text.parse()).transpose();
    let expires = asked.expires.map(|text| text.parse()).transpose();
    Ok(NewToken {
        client: asked.client,
        project: asked.project,
        toolset: asked.toolset,
        scopes: Scopes::of(&scopes),
        servers: asked.servers.map(Names::from),
        tools: asked.tools.map(Names::from),
        rate: rate.map_err(|error: InvalidRate| invalid(&error))?,
        expires: expires.map_err(|error: InvalidTimestamp| invalid(&error))?,
        ..NewToken::new(kind, asked.name)
    })
}

fn created(minted: Minted) -> CreatedToken {
    CreatedToken {
        secret: Secret::new(minted.secret.reveal()),
        token: report(&minted.token),
    }
}

fn failed(error: &TokenError) -> Failure {
    let code = match error {
        TokenError::NotHere => ErrorCode::Invalid,
        TokenError::Store(StoreError::NoToken(_)) => ErrorCode::NotFound,
        TokenError::Mint(MintError::NoRandomness(_)) => ErrorCode::Failed,
        TokenError::Store(StoreError::Ambiguous { .. }) | TokenError::Mint(_) => ErrorCode::Invalid,
        TokenError::Store(_) => ErrorCode::Failed,
    };
    Failure::new(code, error.to_string())
}

fn report(token: &Token) -> TokenReport {
    let time = |time: Option<Timestamp>| time.map(|time| time.to_string());
    TokenReport {
        id: token.id.to_string(),
        kind: kind_name(token.kind),
        name: token.name.clone(),
        prefix: token.prefix.clone(),
        state: state(token),
        client: token.client.clone(),
        project: token.project.clone(),
        toolset: token.toolset.clone(),
        scopes: token.scopes.iter().map(name_of).collect(),
        servers: token.servers.clone().map(Into::into),
        tools: token.tools.clone().map(Into::into),
        rate: token.rate.map(|rate| rate.to_string()),
        created: token.created.to_string(),
        expires: time(token.expires),
        last_used: time(token.last_used),
        revoked: time(token.revoked),
        rotated: time(token.rotated),
        retiring: retiring(token),
    }
}

fn retiring(token: &Token) -> Option<RetiringText> {
    let now = Timestamp::now();
    let text = token.retiring.as_ref();
    let text = text.filter(|text| token.is_active(now) && now < text.until)?;
    Some(RetiringText {
        prefix: text.prefix.clone(),
        until: text.until.to_string(),
    })
}

fn state(token: &Token) -> TokenState {
    match token.revoked {
        Some(_) => TokenState::Revoked,
        None if token.is_active(Timestamp::now()) => TokenState::Active,
        None => TokenState::Expired,
    }
}

fn kind_of(name: KindName) -> TokenKind {
    match name {
        KindName::Pat => TokenKind::Pat,
        KindName::Adm => TokenKind::Adm,
        KindName::Svc => TokenKind::Svc,
    }
}

fn kind_name(kind: TokenKind) -> KindName {
    match kind {
        TokenKind::Pat => KindName::Pat,
        TokenKind::Adm => KindName::Adm,
        TokenKind::Svc => KindName::Svc,
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

//! Tokens, without a gateway.

use mcpr_admin::{
    CreateToken, CreatedToken, ListTokens, RetiringText, RevokeToken, RotateToken, Scope, Secret, TokenKind,
    TokenList, TokenReport, TokenState,
};
use mcpr_auth::{
    InvalidRate, InvalidTimestamp, MintError, Minted, Names, NewToken, Timestamp, Token, mint, rotate,
};

use super::{Absent, Database, Offline};
use crate::problem::{Problem, chain};

impl Offline<CreateToken> for Database {
    const ABSENT: Absent = Absent::Make;

    async fn carry_out(&self, wanted: CreateToken) -> Result<CreatedToken, Problem> {
        let now = Timestamp::now();
        let minted = mint(new_token(wanted)?, now).map_err(|error| no_token(&error))?;
        self.store.insert_token(minted.token.clone(), minted.hash).await?;
        Ok(created(minted, now))
    }
}

impl Offline<RotateToken> for Database {
    const ABSENT: Absent = Absent::CountAsEmpty;

    async fn carry_out(&self, wanted: RotateToken) -> Result<CreatedToken, Problem> {
        let now = Timestamp::now();
        let (token, from) = self.store.token(&wanted.which).await?;
        let minted = rotate(&token, from, wanted.grace(), now).map_err(|error| no_token(&error))?;
        let rotated = self.store.rotate_token(minted.token.clone(), from, minted.hash);
        rotated.await?;
        Ok(created(minted, now))
    }
}

impl Offline<ListTokens> for Database {
    const ABSENT: Absent = Absent::CountAsEmpty;
    const REPEATABLE: bool = true;

    async fn carry_out(&self, _: ListTokens) -> Result<TokenList, Problem> {
        let now = Timestamp::now();
        let tokens = self.store.tokens().await?;
        Ok(TokenList {
            tokens: tokens.into_iter().map(|(token, _)| report(token, now)).collect(),
        })
    }
}

impl Offline<RevokeToken> for Database {
    const ABSENT: Absent = Absent::CountAsEmpty;
    const REPEATABLE: bool = true;
    const SEEN_LATER: Option<&'static str> = Some("`mcpr-ctl tokens ls` shows what became of it");

    async fn carry_out(&self, operation: RevokeToken) -> Result<TokenReport, Problem> {
        let now = Timestamp::now();
        let token = match self.store.revoke_token(&operation.which, now).await {
            Ok(token) => token,
            // What kept the file may have been a gateway that has done it meanwhile.
            Err(error) => match self.store.token(&operation.which).await {
                Ok((token, _)) if token.revoked.is_some() => token,
                _ => return Err(error.into()),
            },
        };
        Ok(report(token, now))
    }
}

fn new_token(wanted: CreateToken) -> Result<NewToken, Problem> {
    let kind = match wanted.kind() {
        TokenKind::Pat => mcpr_auth::TokenKind::Pat,
        TokenKind::Adm => mcpr_auth::TokenKind::Adm,
        TokenKind::Svc => mcpr_auth::TokenKind::Svc,
    };
    let scopes: Vec<_> = wanted.scopes.into_iter().map(allowed).collect();
    let rate = wanted.rate.map(|text| text.parse()).transpose();
    let expires = wanted.expires.map(|text| text.parse()).transpose();
    Ok(NewToken {
        client: wanted.client,
        project: wanted.project,
        toolset: wanted.toolset,
        scopes: mcpr_auth::Scopes::of(&scopes),
        servers: wanted.servers.map(Names::from),
        tools: wanted.tools.map(Names::from),
        rate: rate.map_err(|error: InvalidRate| invalid(&error))?,
        expires: expires.map_err(|error: InvalidTimestamp| invalid(&error))?,
        ..NewToken::new(kind, wanted.name)
    })
}

fn created(minted: Minted, now: Timestamp) -> CreatedToken {
    CreatedToken {
        secret: Secret::new(minted.secret.reveal()),
        token: report(minted.token, now),
    }
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
        retiring: retiring(&token, now),
        id: token.id.to_string(),
        kind: kind(token.kind),
        name: token.name,
        prefix: token.prefix,
        client: token.client,
        project: token.project,
        toolset: token.toolset,
        scopes: token.scopes.iter().map(scope).collect(),
        servers: token.servers.map(Into::into),
        tools: token.tools.map(Into::into),
        rate: token.rate.map(|rate| rate.to_string()),
        created: token.created.to_string(),
        expires: token.expires.map(text),
        last_used: token.last_used.map(text),
        revoked: token.revoked.map(text),
        rotated: token.rotated.map(text),
    }
}

fn retiring(token: &Token, now: Timestamp) -> Option<RetiringText> {
    let text = token.retiring.as_ref();
    let text = text.filter(|text| token.is_active(now) && now < text.until)?;
    Some(RetiringText {
        prefix: text.prefix.clone(),
        until: text.until.to_string(),
    })
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

fn no_token(error: &MintError) -> Problem {
    match error {
        MintError::NoRandomness(_) => Problem::failed(chain(error)),
        _ => invalid(error),
    }
}

fn invalid(error: &dyn std::error::Error) -> Problem {
    Problem::usage(chain(error))
}

//! The table of tokens.

use std::error::Error;
use std::str::FromStr;

use mcpr_auth::{Names, Retiring, Timestamp, Token, TokenHash, TokenId};
use rusqlite::types::Type;
use rusqlite::{Connection, Row, Transaction, named_params};

use super::fault::Fault;
use super::{change, change_durably};
use crate::StoreError;
use crate::select::choose;

pub(super) fn insert(db: &mut Connection, token: &Token, hash: TokenHash) -> Result<(), Fault> {
    change_durably(db, |tx| match insert_row(tx, token, hash) {
        Err(fault) if fault.is_duplicate() => Err(StoreError::TokenExists(token.id.clone()).into()),
        outcome => outcome,
    })
}

pub(super) fn all(db: &Connection) -> Result<Vec<(Token, TokenHash)>, Fault> {
    let mut query = db.prepare_cached("SELECT * FROM tokens ORDER BY created, id")?;
    let rows = query.query_map([], |row| {
        Ok((token(row)?, TokenHash::from_bytes(row.get("hash")?)))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn revoke(db: &mut Connection, which: &str, at: Timestamp) -> Result<Token, Fault> {
    const REVOKE: &str = "UPDATE tokens SET revoked = coalesce(revoked, :at) WHERE id = :id RETURNING *";
    change_durably(db, |tx| update(tx, REVOKE, which, at))
}

pub(super) fn rotate(
    db: &mut Connection,
    token: &Token,
    from: TokenHash,
    to: TokenHash,
) -> Result<(), Fault> {
    const ROTATE: &str =
        "UPDATE tokens SET hash = :to, prefix = :prefix, rotated = :rotated, old_hash = :old_hash,
                                            old_prefix = :old_prefix, old_until = :old_until, spent = :spent
                          WHERE id = :id AND hash = :from AND revoked IS NULL";
    let old = token.retiring.as_ref();
    let changed = change_durably(db, |tx| {
        Ok(tx.execute(
            ROTATE,
            named_params! {
                ":id": token.id.as_str(),
                ":from": from.as_bytes(),
                ":to": to.as_bytes(),
                ":prefix": token.prefix,
                ":rotated": token.rotated.map(Timestamp::unix),
                ":old_hash": old.map(|old| *old.hash.as_bytes()),
                ":old_prefix": old.map(|old| &old.prefix),
                ":old_until": old.map(|old| old.until.unix()),
                ":spent": token.spent.iter().flat_map(|hash| *hash.as_bytes()).collect::<Vec<u8>>(),
            },
        )?)
    })?;
    match changed {
        0 => Err(StoreError::TokenChanged(token.id.clone()).into()),
        _ => Ok(()),
    }
}

pub(super) fn touch(db: &mut Connection, used: &[(TokenId, Timestamp)]) -> Result<(), Fault> {
    const TOUCH: &str = "UPDATE tokens SET last_used = max(coalesce(last_used, 0), :at) WHERE id = :id";
    change(db, |tx| {
        let mut touch = tx.prepare_cached(TOUCH)?;
        for (id, at) in used {
            touch.execute(named_params! { ":id": id.as_str(), ":at": at.unix() })?;
        }
        Ok(())
    })
}

fn update(tx: &Transaction<'_>, statement: &str, which: &str, at: Timestamp) -> Result<Token, Fault> {
    let tokens: Vec<Token> = all(tx)?.into_iter().map(|(token, _)| token).collect();
    let id = &choose(&tokens, which)?.id;
    Ok(tx.query_row(
        statement,
        named_params! { ":id": id.as_str(), ":at": at.unix() },
        token,
    )?)
}

fn insert_row(tx: &Transaction<'_>, token: &Token, hash: TokenHash) -> Result<(), Fault> {
    tx.execute(
        "INSERT INTO tokens (id, hash, kind, name, prefix, client, project, toolset, scopes, servers, tools,
                             rate, created, expires, last_used, revoked)
         VALUES (:id, :hash, :kind, :name, :prefix, :client, :project, :toolset, :scopes, :servers, :tools,
                 :rate, :created, :expires, :last_used, :revoked)",
        named_params! {
            ":id": token.id.as_str(),
            ":hash": hash.as_bytes(),
            ":kind": token.kind.as_str(),
            ":name": token.name,
            ":prefix": token.prefix,
            ":client": token.client,
            ":project": token.project,
            ":toolset": token.toolset,
            ":scopes": token.scopes.to_string(),
            ":servers": token.servers.as_ref().map(list),
            ":tools": token.tools.as_ref().map(list),
            ":rate": token.rate.map(|rate| rate.to_string()),
            ":created": token.created.unix(),
            ":expires": token.expires.map(Timestamp::unix),
            ":last_used": token.last_used.map(Timestamp::unix),
            ":revoked": token.revoked.map(Timestamp::unix),
        },
    )?;
    Ok(())
}

fn token(row: &Row<'_>) -> rusqlite::Result<Token> {
    let time = |column: &str| -> rusqlite::Result<Option<Timestamp>> {
        Ok(row.get::<_, Option<i64>>(column)?.map(Timestamp::from_unix))
    };
    Ok(Token {
        id: parsed(row, "id")?,
        kind: parsed(row, "kind")?,
        name: row.get("name")?,
        prefix: row.get("prefix")?,
        client: row.get("client")?,
        project: row.get("project")?,
        toolset: row.get("toolset")?,
        scopes: parsed(row, "scopes")?,
        servers: names(row, "servers")?,
        tools: names(row, "tools")?,
        rate: optional(row, "rate", str::parse)?,
        created: Timestamp::from_unix(row.get("created")?),
        expires: time("expires")?,
        last_used: time("last_used")?,
        revoked: time("revoked")?,
        rotated: time("rotated")?,
        retiring: retiring(row)?,
        spent: spent(row)?,
    })
}

fn spent(row: &Row<'_>) -> rusqlite::Result<Vec<TokenHash>> {
    let bytes = row.get::<_, Option<Vec<u8>>>("spent")?.unwrap_or_default();
    let hashes = bytes.chunks_exact(32).filter_map(|hash| hash.try_into().ok());
    Ok(hashes.map(TokenHash::from_bytes).collect())
}

fn retiring(row: &Row<'_>) -> rusqlite::Result<Option<Retiring>> {
    let Some(hash) = row.get::<_, Option<[u8; 32]>>("old_hash")? else {
        return Ok(None);
    };
    Ok(Some(Retiring {
        hash: TokenHash::from_bytes(hash),
        prefix: row.get("old_prefix")?,
        until: Timestamp::from_unix(row.get("old_until")?),
    }))
}

fn list(names: &Names) -> String {
    serde_json::to_string(names).expect("lists of texts are JSON")
}

fn names(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<Names>> {
    optional(row, column, |text| serde_json::from_str(text))
}

fn parsed<T>(row: &Row<'_>, column: &str) -> rusqlite::Result<T>
where
    T: FromStr<Err: Error + Send + Sync + 'static>,
{
    let text: String = row.get(column)?;
    text.parse().map_err(|error| unreadable(row, column, error))
}

fn optional<T, E>(
    row: &Row<'_>,
    column: &str,
    read: impl FnOnce(&str) -> Result<T, E>,
) -> rusqlite::Result<Option<T>>
where
    E: Error + Send + Sync + 'static,
{
    let text: Option<String> = row.get(column)?;
    let read = text.map(|text| read(&text)).transpose();
    read.map_err(|error| unreadable(row, column, error))
}

fn unreadable(row: &Row<'_>, column: &str, error: impl Error + Send + Sync + 'static) -> rusqlite::Error {
    let index = row.as_ref().column_index(column).unwrap_or_default();
    rusqlite::Error::FromSqlConversionFailure(index, Type::Text, Box::new(error))
}

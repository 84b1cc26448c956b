//! Files, and what is put into them.

use std::fs;
use std::path::{Path, PathBuf};

use mcpr_auth::{Minted, NewToken, Timestamp, TokenKind, mint};
use mcpr_store::{DatabaseFault, SavedListing, Store, StoreError, open};
use tempfile::TempDir;

const NOW: i64 = 1_800_000_000;

pub(crate) fn now() -> Timestamp {
    Timestamp::from_unix(NOW)
}

pub(crate) fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state").join("mcpr.db");
    (folder, path)
}

pub(crate) fn minted(name: &str) -> Minted {
    mint(NewToken::new(TokenKind::Pat, name), now()).unwrap()
}

pub(crate) async fn add(store: &dyn Store, name: &str) {
    let Minted { token, hash, .. } = minted(name);
    store.insert_token(token, hash).await.unwrap();
}

pub(crate) fn listing(body: Vec<u8>) -> SavedListing {
    SavedListing {
        server: "git".into(),
        format: 1,
        at: now(),
        body,
    }
}

/// Runs statements on the file behind mcpr's back.
pub(crate) fn meddle(path: &Path, statements: &str) {
    rusqlite::Connection::open(path)
        .unwrap()
        .execute_batch(statements)
        .unwrap();
}

pub(crate) async fn fault_of(path: &Path) -> (DatabaseFault, String) {
    match open(path).await {
        Err(StoreError::Database(error)) => (error.fault(), error.to_string()),
        other => panic!("{other:?}"),
    }
}

/// What made each schema out of the one before, and what a mcpr of that schema may have written.
pub(crate) const STEPS: [[&str; 2]; 7] = [
    [
        include_str!("../../src/sqlite/schema/1.sql"),
        "INSERT INTO tokens (id, hash, kind, name, prefix, scopes, created)
         VALUES ('tk_aaaaaaaa', zeroblob(32), 'pat', 'laptop', 'mcpr_pat_x7Q', 'read,call', 1800000000);
         INSERT INTO listings VALUES ('git', 1, 1800000000, CAST('[]' AS BLOB));",
    ],
    [
        include_str!("../../src/sqlite/schema/2.sql"),
        "INSERT INTO calls (id, at_ms, duration_us, request_id, correlation_id, method, status, principal, bytes)
         VALUES ('h_0', 1800000000000, 1, '', '', '', '', '', 1000);",
    ],
    [include_str!("../../src/sqlite/schema/3.sql"), ""],
    [
        include_str!("../../src/sqlite/schema/4.sql"),
        "INSERT INTO pins VALUES ('git', '', '', 1800000000), ('git', 'push', '{}', 1800000000);",
    ],
    [include_str!("../../src/sqlite/schema/5.sql"), ""],
    [include_str!("../../src/sqlite/schema/6.sql"), ""],
    [include_str!("../../src/sqlite/schema/7.sql"), ""],
];

/// A file as a mcpr of an earlier schema made it, with a token, a listing, a call and a pin as far as it knew them.
pub(crate) fn earlier(path: &Path, schema: usize) {
    fs::create_dir(path.parent().unwrap()).unwrap();
    let steps = STEPS[..schema].as_flattened().concat();
    let marks = format!("PRAGMA application_id = 0x6d637072; PRAGMA user_version = {schema};");
    meddle(path, &format!("BEGIN; {steps} {marks} COMMIT;"));
}

/// How many calls there are, and whether their bytes are counted right.
pub(crate) fn counted(path: &Path) -> (u32, bool) {
    let db = rusqlite::Connection::open(path).unwrap();
    let right = "(SELECT bytes FROM calls_size) = coalesce(sum(bytes), 0)";
    let both = format!("SELECT coalesce(sum(json_array_length(calls)), 0), {right} FROM call_batches");
    db.query_row(&both, [], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
}

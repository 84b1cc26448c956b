//! What only a file can do: stay, be shared, be hidden, and be broken.
#![cfg(feature = "sqlite")]
#![expect(clippy::unwrap_used, reason = "a story ends at its first surprise")]

use std::collections::HashSet;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcpr_auth::{Minted, NewToken, Timestamp, TokenKind, mint};
use mcpr_store::{CallQuery, CallRow, DatabaseFault, SavedListing, Store, StoreError, backup, inspect, open};
use tempfile::TempDir;
use tokio::sync::watch;

const NOW: i64 = 1_800_000_000;

fn now() -> Timestamp {
    Timestamp::from_unix(NOW)
}

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state").join("mcpr.db");
    (folder, path)
}

fn minted(name: &str) -> Minted {
    mint(NewToken::new(TokenKind::Pat, name), now()).unwrap()
}

async fn add(store: &dyn Store, name: &str) {
    let Minted { token, hash, .. } = minted(name);
    store.insert_token(token, hash).await.unwrap();
}

fn listing(body: Vec<u8>) -> SavedListing {
    SavedListing {
        server: "git".into(),
        format: 1,
        at: now(),
        body,
    }
}

/// Runs statements on the file behind mcpr's back.
fn meddle(path: &Path, statements: &str) {
    rusqlite::Connection::open(path)
        .unwrap()
        .execute_batch(statements)
        .unwrap();
}

async fn fault_of(path: &Path) -> (DatabaseFault, String) {
    match open(path).await {
        Err(StoreError::Database(error)) => (error.fault(), error.to_string()),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn sec_02_tokens_and_keys_outlive_the_process() {
    let (_folder, path) = place();
    let Minted { token, hash, .. } = minted("laptop");
    let store = open(&path).await.unwrap();
    store.insert_token(token.clone(), hash).await.unwrap();
    store.put_listing(listing(b"[]".to_vec())).await.unwrap();
    let key = store.sealing_key().await.unwrap();
    store.close().await;

    let store = open(&path).await.unwrap();

    assert_eq!(store.tokens().await.unwrap(), [(token, hash)]);
    assert_eq!(store.listings().await.unwrap(), [listing(b"[]".to_vec())]);
    assert_eq!(store.sealing_key().await.unwrap(), key);
}

#[tokio::test]
async fn sec_02_the_secret_itself_is_nowhere_in_the_file() {
    let (folder, path) = place();
    let Minted { token, secret, hash } = minted("laptop");
    let store = open(&path).await.unwrap();
    store.insert_token(token, hash).await.unwrap();

    let letters = &secret.reveal().as_bytes()[12..];
    for file in fs::read_dir(folder.path().join("state")).unwrap() {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(letters.len()).any(|window| window == letters));
    }
}

#[tokio::test]
async fn what_was_asked_for_is_done_though_nobody_waits_for_it() {
    let (_folder, path) = place();
    let store = open(&path).await.unwrap();
    let added = add(&*store, "laptop");
    {
        let mut added = std::pin::pin!(added);
        let mut polled_once = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(added.as_mut().poll(&mut polled_once).is_pending());
    }
    store.close().await;

    assert_eq!(open(&path).await.unwrap().tokens().await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_may_use_the_file_at_once() {
    let (_folder, path) = place();
    let stores = [open(&path).await.unwrap(), open(&path).await.unwrap()];
    let writers = stores.clone().map(|store| {
        tokio::spawn(async move {
            for number in 0..50 {
                add(&*store, &format!("token {number}")).await;
            }
        })
    });
    for writer in writers {
        writer.await.unwrap();
    }

    let [one, other] = stores;
    let tokens = one.tokens().await.unwrap();
    assert_eq!(tokens.len(), 100);
    assert_eq!(other.tokens().await.unwrap(), tokens);
    assert_eq!(
        one.sealing_key().await.unwrap(),
        other.sealing_key().await.unwrap()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn many_processes_may_make_the_file_at_once() {
    let (_folder, path) = place();
    let openings: Vec<_> = (0..8).map(|_| tokio::spawn(open(path.clone()))).collect();

    let mut keys = Vec::new();
    for opening in openings {
        let store: Arc<dyn Store> = opening.await.unwrap().unwrap();
        keys.push(store.sealing_key().await.unwrap());
    }

    assert!(keys.iter().all(|key| *key == keys[0]));
}

#[tokio::test]
async fn sec_02_a_running_gateway_notices_a_token_revoked_by_another_process() {
    let (_folder, path) = place();
    let [gateway, command] = [open(&path).await.unwrap(), open(&path).await.unwrap()];
    add(&*gateway, "laptop").await;
    let before = gateway.changes_by_others().await.unwrap();

    command.revoke_token("laptop", now()).await.unwrap();

    assert_ne!(gateway.changes_by_others().await.unwrap(), before);
    assert_eq!(gateway.tokens().await.unwrap()[0].0.revoked, Some(now()));
}

#[cfg(unix)]
#[tokio::test]
async fn the_file_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let (_folder, path) = place();
    let store = open(&path).await.unwrap();
    add(&*store, "laptop").await;

    assert_eq!(mode(path.parent().unwrap()), 0o700);
    for file in fs::read_dir(path.parent().unwrap()).unwrap() {
        let file = file.unwrap().path();
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }

    store.close().await;
    fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
    let _store = open(&path).await.unwrap();
    assert_eq!(mode(&path), 0o600, "an older file is hidden again");
}

/// What made each schema out of the one before, and what a mcpr of that schema may have written.
const STEPS: [[&str; 2]; 7] = [
    [
        include_str!("../src/sqlite/schema/1.sql"),
        "INSERT INTO tokens (id, hash, kind, name, prefix, scopes, created)
         VALUES ('tk_aaaaaaaa', zeroblob(32), 'pat', 'laptop', 'mcpr_pat_x7Q', 'read,call', 1800000000);
         INSERT INTO listings VALUES ('git', 1, 1800000000, CAST('[]' AS BLOB));",
    ],
    [
        include_str!("../src/sqlite/schema/2.sql"),
        "INSERT INTO calls (id, at_ms, duration_us, request_id, correlation_id, method, status, principal, bytes)
         VALUES ('h_0', 1800000000000, 1, '', '', '', '', '', 1000);",
    ],
    [include_str!("../src/sqlite/schema/3.sql"), ""],
    [
        include_str!("../src/sqlite/schema/4.sql"),
        "INSERT INTO pins VALUES ('git', '', '', 1800000000), ('git', 'push', '{}', 1800000000);",
    ],
    [include_str!("../src/sqlite/schema/5.sql"), ""],
    [include_str!("../src/sqlite/schema/6.sql"), ""],
    [include_str!("../src/sqlite/schema/7.sql"), ""],
];

/// A file as a mcpr of an earlier schema made it, with a token, a listing, a call and a pin as far as it knew them.
fn earlier(path: &Path, schema: usize) {
    fs::create_dir(path.parent().unwrap()).unwrap();
    let steps = STEPS[..schema].as_flattened().concat();
    let marks = format!("PRAGMA application_id = 0x6d637072; PRAGMA user_version = {schema};");
    meddle(path, &format!("BEGIN; {steps} {marks} COMMIT;"));
}

/// A file as the first mcpr made it.
fn first_schema(path: &Path) {
    earlier(path, 1);
}

#[tokio::test]
async fn a_file_of_each_older_mcpr_is_brought_up_to_date_and_loses_nothing() {
    for schema in 1..=STEPS.len() {
        let (_folder, path) = place();
        earlier(&path, schema);
        let known = inspect(&path).unwrap().unwrap();
        assert_eq!(known.is_current(), schema == STEPS.len(), "{schema}");

        let store = open(&path).await.unwrap();

        let tokens = store.tokens().await.unwrap();
        assert_eq!((tokens[0].0.name.as_str(), tokens.len()), ("laptop", 1));
        assert_eq!(store.listings().await.unwrap(), [listing(b"[]".to_vec())]);
        assert!(store.toolsets().await.unwrap().is_empty());
        let pins = store.pins().await.unwrap();
        assert_eq!(pins.first().map(|of| of.tools.len()), (schema >= 4).then_some(1));
        let calls = store.calls(CallQuery::default()).await.unwrap();
        assert_eq!(calls.len(), usize::from(schema >= 2));
        assert!(inspect(&path).unwrap().unwrap().is_current());
    }
}

/// How many calls there are, and whether their bytes are counted right.
fn counted(path: &Path) -> (u32, bool) {
    let db = rusqlite::Connection::open(path).unwrap();
    let right = "(SELECT bytes FROM calls_size) = coalesce(sum(bytes), 0)";
    let both = format!("SELECT coalesce(sum(json_array_length(calls)), 0), {right} FROM call_batches");
    db.query_row(&both, [], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
}

#[tokio::test]
async fn log_06_the_size_of_the_history_is_that_of_its_calls_whatever_failed_meanwhile() {
    let (_folder, path) = place();
    earlier(&path, 2);
    let store = open(&path).await.unwrap();
    let call = |id: &str| CallRow {
        id: id.to_owned(),
        ..CallRow::default()
    };
    // One that the table refuses takes the whole batch with it.
    meddle(
        &path,
        "CREATE TRIGGER refuse BEFORE INSERT ON call_batches WHEN new.last = 'h_x' BEGIN SELECT RAISE(ABORT, 'no'); END;",
    );

    store.put_calls([call("h_1"), call("h_0")].into()).await.unwrap();
    assert_eq!(counted(&path), (2, true), "one was there");
    store
        .put_calls([call("h_2"), call("h_x")].into())
        .await
        .unwrap_err();
    assert_eq!(counted(&path), (2, true));

    assert_eq!(store.delete_calls(CallQuery::default()).await.unwrap(), 2);
    assert_eq!(counted(&path), (0, true));
}

/// How many bytes each row of calls has.
fn sizes(path: &Path) -> Vec<u64> {
    let db = rusqlite::Connection::open(path).unwrap();
    let mut select = db
        .prepare("SELECT bytes FROM call_batches ORDER BY last")
        .unwrap();
    let sizes = select.query_map([], |row| row.get::<_, i64>(0)).unwrap();
    sizes.map(|size| size.unwrap().cast_unsigned()).collect()
}

/// A file as mcpr made it when each call had a row of its own.
fn schema_with_calls(path: &Path) {
    earlier(path, 4);
    meddle(
        path,
        r#"DELETE FROM calls;
        WITH RECURSIVE numbers(n) AS (SELECT 1000 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1599)
        INSERT INTO calls SELECT 'h_' || n, n, 7, n, 'c', 'tools/call', 'git', NULL, 'ok', NULL, NULL, 'local', NULL,
                                 NULL, '{"a":"\u0000"}', 109 FROM numbers;"#,
    );
}

#[tokio::test]
async fn log_06_calls_of_an_older_mcpr_are_still_there_in_their_order() {
    let (_folder, path) = place();
    schema_with_calls(&path);

    let store = open(&path).await.unwrap();

    let calls = store.calls(CallQuery::default()).await.unwrap();
    let numbers: Vec<i64> = calls.iter().map(|call| call.at_ms).collect();
    assert_eq!(numbers, (1000..1600).rev().collect::<Vec<_>>());
    let first = store.call("h_1000").await.unwrap().unwrap();
    assert_eq!((first.server.as_deref(), first.tool), (Some("git"), None));
    assert_eq!(first.arguments.as_deref(), Some(r#"{"a":"\u0000"}"#));
    assert_eq!(store.prune_calls(None, 65_350).await.unwrap(), 1);
    let [first, second, third] = sizes(&path)[..] else {
        panic!("{:?}", sizes(&path))
    };
    assert_eq!(store.prune_calls(None, second + third).await.unwrap(), 255);
    assert_eq!(store.prune_calls(None, third - 1).await.unwrap(), 256 + 1);
    assert_eq!(store.calls(CallQuery::default()).await.unwrap().len(), 87);
    assert!(first > 0 && counted(&path) == (87, true));
}

#[tokio::test]
async fn an_older_file_that_two_processes_open_at_once_is_brought_up_to_date_once() {
    let (_folder, path) = place();
    first_schema(&path);

    let (one, other) = tokio::join!(open(&path), open(&path));

    for store in [one.unwrap(), other.unwrap()] {
        assert_eq!(store.tokens().await.unwrap().len(), 1);
        store.put_calls([CallRow::default()].into()).await.unwrap();
    }
}

#[tokio::test]
async fn log_06_past_calls_outlive_the_process_and_their_size_is_known() {
    let (_folder, path) = place();
    let calls = (0..3).map(|number| CallRow {
        id: format!("h_{number}"),
        arguments: Some("x".repeat(1000)),
        ..CallRow::default()
    });
    let store = open(&path).await.unwrap();
    store.put_calls(calls.collect()).await.unwrap();
    store.close().await;

    let store = open(&path).await.unwrap();

    assert_eq!(store.calls(CallQuery::default()).await.unwrap().len(), 3);
    assert_eq!(store.prune_calls(None, 2500).await.unwrap(), 1);
}

#[tokio::test]
async fn a_file_of_a_newer_mcpr_is_refused_and_left_as_it_was() {
    let (_folder, path) = place();
    open(&path).await.unwrap().close().await;
    meddle(&path, "PRAGMA user_version = 99");
    let before = fs::read(&path).unwrap();

    let (fault, said) = fault_of(&path).await;

    assert_eq!(fault, DatabaseFault::Newer { found: 99, known: 7 });
    assert!(
        said.contains("written by a newer mcpr (its schema is 99, this mcpr knows 7)"),
        "{said}"
    );
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[tokio::test]
async fn a_database_of_another_program_is_refused_and_left_as_it_was() {
    let (_folder, path) = place();
    fs::create_dir(path.parent().unwrap()).unwrap();
    meddle(&path, "CREATE TABLE bookmarks (url TEXT)");
    let before = fs::read(&path).unwrap();

    assert_eq!(fault_of(&path).await.0, DatabaseFault::Foreign);
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[tokio::test]
async fn a_file_that_is_no_database_is_named_with_the_way_out() {
    let (_folder, path) = place();
    fs::create_dir(path.parent().unwrap()).unwrap();
    fs::write(&path, "this is a diary, not a database, ".repeat(100)).unwrap();

    let (fault, said) = fault_of(&path).await;

    assert_eq!(fault, DatabaseFault::Damaged);
    assert!(
        said.starts_with(&format!("the database `{}` is damaged", path.display())),
        "{said}"
    );
    assert!(
        said.contains("move the file and the -wal and -shm beside it away"),
        "{said}"
    );
}

#[tokio::test]
async fn a_page_that_was_overwritten_is_noticed_when_it_is_read() {
    let (_folder, path) = place();
    let store = open(&path).await.unwrap();
    store.put_listing(listing(vec![b'x'; 100_000])).await.unwrap();
    add(&*store, "laptop").await;
    store.close().await;
    let mut bytes = fs::read(&path).unwrap();
    // Its last pages hold the listing; those before, what every opening reads.
    let last = bytes.len() - 40_960;
    bytes[last..].fill(0xaa);
    fs::write(&path, bytes).unwrap();

    let error = open(&path).await.unwrap().listings().await.unwrap_err();

    assert!(matches!(&error, StoreError::Database(error) if error.fault() == DatabaseFault::Damaged));
    assert!(error.source().is_some());
}

#[tokio::test]
async fn a_row_that_no_mcpr_wrote_is_noticed() {
    let (_folder, path) = place();
    let store = open(&path).await.unwrap();
    add(&*store, "laptop").await;
    meddle(&path, "UPDATE tokens SET scopes = 'everything'");

    let error = store.tokens().await.unwrap_err();

    assert!(matches!(error, StoreError::Database(error) if error.fault() == DatabaseFault::Damaged));
}

#[tokio::test]
async fn a_path_that_cannot_be_written_is_named() {
    let (folder, path) = place();
    fs::write(folder.path().join("state"), "a file where the folder should be").unwrap();

    let (fault, said) = fault_of(&path).await;

    assert_eq!(fault, DatabaseFault::Unwritable);
    assert!(said.contains(&path.display().to_string()), "{said}");
}

#[cfg(unix)]
#[tokio::test]
async fn ctl_04_a_pipe_in_the_place_of_a_database_is_refused_and_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mcpr.db");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());

    let refused = [
        backup(&path, &folder.path().join("copy.db")).unwrap_err(),
        inspect(&path).unwrap_err(),
        open(&path).await.unwrap_err(),
    ];

    for error in refused {
        assert!(
            error.to_string().contains("is no file but a folder, a pipe"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn ctl_02_a_look_at_a_database_changes_nothing() {
    let (_folder, path) = place();
    assert_eq!(inspect(&path).unwrap(), None);
    assert!(!path.exists());

    open(&path).await.unwrap().close().await;
    let found = inspect(&path).unwrap().unwrap();

    assert!(found.is_current() && found.bytes > 0, "{found:?}");
    meddle(&path, "PRAGMA user_version = 999");
    let newer = inspect(&path).unwrap_err().to_string();
    assert!(newer.contains("written by a newer mcpr"), "{newer}");
    fs::write(
        &path,
        "no database at all, but long enough to be looked at as one",
    )
    .unwrap();
    assert!(
        matches!(inspect(&path), Err(StoreError::Database(error)) if error.fault() == DatabaseFault::Damaged)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn ctl_01_a_backup_has_what_was_acknowledged_before_while_others_go_on_writing() {
    let (folder, path) = place();
    let copy = folder.path().join("copy.db");
    let store = open(&path).await.unwrap();
    add(&*store, "before").await;
    let key = store.sealing_key().await.unwrap();
    let (acknowledged, mut count) = watch::channel(0);
    let writing = tokio::spawn({
        let store = store.clone();
        async move {
            for number in 1.. {
                add(&*store, &format!("token {number}")).await;
                if acknowledged.send(number).is_err() {
                    return; // The copy is made.
                }
            }
        }
    });
    let before = *count.wait_for(|count| *count > 2).await.unwrap();

    let bytes = backup(&path, &copy).unwrap().unwrap();

    drop(count);
    writing.await.unwrap();
    assert_eq!(fs::metadata(&copy).unwrap().len(), bytes);
    assert!(inspect(&copy).unwrap().unwrap().is_current());
    let restored = open(&copy).await.unwrap();
    let tokens = restored.tokens().await.unwrap();
    let names: HashSet<_> = tokens.into_iter().map(|(token, _)| token.name).collect();
    // All until one moment, which was not before the copy began.
    let copied = names.len() - 1;
    let expected = (1..=copied).map(|number| format!("token {number}"));
    assert!(copied >= before, "{copied} of {before}");
    assert_eq!(names, expected.chain(["before".to_owned()]).collect());
    assert_eq!(restored.sealing_key().await.unwrap(), key);
}

#[tokio::test]
async fn ctl_01_a_backup_of_an_older_mcpr_stays_old_and_one_of_nothing_is_nothing() {
    let (folder, path) = place();
    let copy = folder.path().join("copy.db");
    assert_eq!(backup(&path, &copy).unwrap(), None);
    assert!(!path.exists() && !copy.exists());
    first_schema(&path);

    backup(&path, &copy).unwrap().unwrap();

    assert_eq!(inspect(&copy).unwrap().unwrap().schema, 1);
    assert_eq!(open(&copy).await.unwrap().tokens().await.unwrap().len(), 1);
}

#[tokio::test]
async fn ctl_04_a_backup_of_a_newer_database_is_none() {
    let (folder, path) = place();
    let copy = folder.path().join("copy.db");
    open(&path).await.unwrap().close().await;
    meddle(&path, "PRAGMA user_version = 999");

    let error = backup(&path, &copy).unwrap_err().to_string();

    assert!(error.contains("written by a newer mcpr"), "{error}");
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().flatten().collect();
    assert!(left.len() == 1 && !copy.exists(), "{left:?}");
}

#[tokio::test]
async fn ctl_04_a_backup_that_cannot_be_written_names_the_copy_and_not_the_database() {
    let (folder, path) = place();
    open(&path).await.unwrap().close().await;

    let error = backup(&path, &folder.path().join("absent/copy.db")).unwrap_err();

    let StoreError::Database(error) = error else {
        panic!("{error}")
    };
    assert_eq!(error.fault(), DatabaseFault::Unwritable);
    assert!(error.path().ends_with("absent/copy.db"), "{error}");
}

/// Whether the secret of these tests stands in the database, or in the file beside it that ends so.
fn holds_secret(database: &Path, end: &str) -> bool {
    let mut file = database.as_os_str().to_owned();
    file.push(end);
    let bytes = fs::read(file).unwrap_or_default();
    bytes.windows(7).any(|window| window == b"S3CRET1")
}

#[tokio::test]
async fn log_06_what_is_forgotten_on_purpose_is_not_in_the_file_any_more() {
    let (_folder, path) = place();
    let store = open(&path).await.unwrap();
    let calls = (0..50).map(|number| CallRow {
        id: format!("h_{number:02}"),
        arguments: Some("S3CRET1".repeat(1000)),
        ..CallRow::default()
    });
    store.put_calls(calls.collect()).await.unwrap();
    let one = CallQuery {
        after: Some("h_00".into()),
        ..CallQuery::default()
    };

    assert_eq!(store.delete_calls(one).await.unwrap(), 49);
    assert_eq!(store.delete_calls(CallQuery::default()).await.unwrap(), 1);

    assert!(!holds_secret(&path, "") && !holds_secret(&path, "-wal"));
}

#[tokio::test]
async fn log_06_nothing_is_left_of_rows_that_were_written_anew_before() {
    let (_folder, path) = place();
    let store = open(&path).await.unwrap();
    let calls = (0..400).map(|number| CallRow {
        id: format!("h_{number:03}"),
        arguments: Some(format!("S3CRET1{}", "x".repeat(200))),
        ..CallRow::default()
    });
    for call in calls {
        store.put_calls([call].into()).await.unwrap();
        store.prune_calls(None, 20_000).await.unwrap();
    }

    store.delete_calls(CallQuery::default()).await.unwrap();

    assert!(!holds_secret(&path, ""));
}

#[tokio::test]
async fn log_06_many_rows_are_searched_and_forgotten_step_by_step() {
    let (_folder, path) = place();
    let store = open(&path).await.unwrap();
    for number in 0..300 {
        let call = CallRow {
            id: format!("h_{number:03}"),
            tool: Some(if number % 2 == 0 { "even" } else { "odd" }.to_owned()),
            ..CallRow::default()
        };
        store.put_calls([call].into()).await.unwrap();
    }
    let even = |limit| CallQuery {
        tool: Some("even".into()),
        limit,
        ..CallQuery::default()
    };

    let ids = |calls: Vec<CallRow>| calls.into_iter().map(|call| call.id).collect::<Vec<_>>();
    let all: Vec<_> = (0..300)
        .rev()
        .filter(|n| n % 2 == 0)
        .map(|n| format!("h_{n:03}"))
        .collect();
    assert_eq!(ids(store.calls(even(0)).await.unwrap()), all);
    assert_eq!(ids(store.calls(even(100)).await.unwrap()), all[..100]);
    assert_eq!(store.delete_calls(even(0)).await.unwrap(), 150);
    assert_eq!(store.calls(CallQuery::default()).await.unwrap().len(), 150);
    assert_eq!(counted(&path), (150, true));
}

#[tokio::test]
async fn log_06_a_damaged_row_of_an_older_mcpr_does_not_keep_it_from_being_brought_up_to_date() {
    let (_folder, path) = place();
    earlier(&path, 6);
    meddle(
        &path,
        "INSERT INTO call_batches VALUES ('h_9', 'h_9', 0, 9, '[[\"h_9\",');",
    );

    let store = open(&path).await.unwrap();

    let calls = store.calls(CallQuery::default()).await.unwrap();
    assert_eq!(
        calls.iter().map(|call| call.id.as_str()).collect::<Vec<_>>(),
        ["h_0"]
    );
}

#[tokio::test]
async fn log_06_a_row_that_cannot_be_read_hides_no_other() {
    let (_folder, path) = place();
    let store = open(&path).await.unwrap();
    let call = |id: &str| CallRow {
        id: id.to_owned(),
        ..CallRow::default()
    };
    for id in ["h_1", "h_2", "h_3"] {
        store.put_calls([call(id)].into()).await.unwrap();
    }
    meddle(&path, "UPDATE call_batches SET calls = '[[' WHERE last = 'h_2'");

    let found = store.calls(CallQuery::default()).await.unwrap();

    assert_eq!(found, [call("h_3"), call("h_1")]);
    assert_eq!(store.delete_calls(CallQuery::default()).await.unwrap(), 2);
    assert_eq!(counted(&path), (0, true));
}

#[tokio::test]
async fn log_06_rows_that_cannot_be_read_do_not_keep_older_calls_from_being_dropped() {
    for (older_than_ms, max_bytes) in [(Some(1_000), u64::MAX), (None, 0)] {
        let (_folder, path) = place();
        let store = open(&path).await.unwrap();
        for n in 0..100 {
            let call = CallRow {
                id: format!("h_{n:03}"),
                at_ms: n,
                ..CallRow::default()
            };
            store.put_calls([call].into()).await.unwrap();
        }
        meddle(&path, "UPDATE call_batches SET calls = '[[' WHERE last < 'h_099'");

        let gone = store.prune_calls(older_than_ms, max_bytes).await.unwrap();

        assert!(gone > 0);
        assert_eq!(counted(&path), (0, true));
    }
}

#[tokio::test]
async fn ctl_02_a_look_at_a_database_finds_a_page_that_is_damaged() {
    let (_folder, path) = place();
    let store = open(&path).await.unwrap();
    let call = |n: u32| CallRow {
        id: format!("h_{n:03}"),
        arguments: Some("x".repeat(9_000)),
        ..CallRow::default()
    };
    store.put_calls((0..50).map(call).collect()).await.unwrap();
    store.close().await;
    assert!(inspect(&path).is_ok());
    let mut bytes = fs::read(&path).unwrap();
    let page = bytes.len() / 2 / 4096 * 4096;
    bytes[page..page + 4096].fill(0xff);
    fs::write(&path, bytes).unwrap();

    let found = inspect(&path);

    assert!(
        matches!(&found, Err(StoreError::Database(error)) if error.fault() == DatabaseFault::Damaged),
        "{found:?}"
    );
}

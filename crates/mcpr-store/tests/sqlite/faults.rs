//! Files that cannot be used, and a look at one.

use std::error::Error;
use std::fs;

use mcpr_store::{CallRow, DatabaseFault, StoreError, backup, inspect, inspect_pages, open};

use crate::stage::{add, fault_of, listing, meddle, place};

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

#[tokio::test]
async fn ctl_02_a_look_at_the_pages_of_a_database_finds_a_page_that_is_damaged() {
    let (_folder, path) = place();
    let store = open(&path).await.unwrap();
    let call = |n: u32| CallRow {
        id: format!("h_{n:03}"),
        arguments: Some("x".repeat(9_000)),
        ..CallRow::default()
    };
    store.put_calls((0..50).map(call).collect()).await.unwrap();
    store.close().await;
    assert!(inspect_pages(&path).unwrap().is_some());
    let mut bytes = fs::read(&path).unwrap();
    let page = bytes.len() / 2 / 4096 * 4096;
    bytes[page..page + 4096].fill(0xff);
    fs::write(&path, bytes).unwrap();

    let found = inspect_pages(&path);

    assert!(
        matches!(&found, Err(StoreError::Database(error)) if error.fault() == DatabaseFault::Damaged),
        "{found:?}"
    );
}

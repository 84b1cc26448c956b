//! Copies of the file.

use std::collections::HashSet;
use std::fs;

use mcpr_store::{DatabaseFault, StoreError, backup, inspect, open};
use tokio::sync::watch;

use crate::stage::{add, earlier, meddle, now, place};

#[tokio::test(flavor = "multi_thread")]
async fn ctl_01_a_backup_has_what_was_acknowledged_before_while_others_go_on_writing() {
    let (folder, path) = place();
    let copy = folder.path().join("copy.db");
    let store = open(&path).await.unwrap();
    add(&*store, "before").await;
    let key = store.sealing_keys(now(), now()).await.unwrap();
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
    assert_eq!(restored.sealing_keys(now(), now()).await.unwrap(), key);
}

#[tokio::test]
async fn ctl_01_a_backup_of_an_older_mcpr_stays_old_and_one_of_nothing_is_nothing() {
    let (folder, path) = place();
    let copy = folder.path().join("copy.db");
    assert_eq!(backup(&path, &copy).unwrap(), None);
    assert!(!path.exists() && !copy.exists());
    earlier(&path, 1);

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

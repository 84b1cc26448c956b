//! Past calls in a file.

use std::fs;
use std::path::Path;

use mcpr_store::{CallQuery, CallRow, open};

use crate::stage::{counted, earlier, meddle, place};

fn call(id: &str) -> CallRow {
    CallRow {
        id: id.to_owned(),
        ..CallRow::default()
    }
}

#[tokio::test]
async fn log_06_the_size_of_the_history_is_that_of_its_calls_whatever_failed_meanwhile() {
    let (_folder, path) = place();
    earlier(&path, 2);
    let store = open(&path).await.unwrap();
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
            tool: Some(if number % 2 == 0 { "even" } else { "odd" }.to_owned()),
            ..call(&format!("h_{number:03}"))
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
async fn log_06_a_row_that_cannot_be_read_hides_no_other() {
    let (_folder, path) = place();
    let store = open(&path).await.unwrap();
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
                at_ms: n,
                ..call(&format!("h_{n:03}"))
            };
            store.put_calls([call].into()).await.unwrap();
        }
        meddle(&path, "UPDATE call_batches SET calls = '[[' WHERE last < 'h_099'");

        let gone = store.prune_calls(older_than_ms, max_bytes).await.unwrap();

        assert!(gone > 0);
        assert_eq!(counted(&path), (0, true));
    }
}

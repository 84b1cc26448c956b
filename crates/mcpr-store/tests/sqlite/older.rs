//! Files of an older mcpr.

use std::path::Path;

use mcpr_store::{CallQuery, CallRow, inspect, open};

use crate::stage::{STEPS, counted, earlier, listing, meddle, place};

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
    earlier(&path, 1);

    let (one, other) = tokio::join!(open(&path), open(&path));

    for store in [one.unwrap(), other.unwrap()] {
        assert_eq!(store.tokens().await.unwrap().len(), 1);
        store.put_calls([CallRow::default()].into()).await.unwrap();
    }
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

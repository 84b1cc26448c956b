//! What every store promises of past calls.

use mcpr_store::{CallQuery, CallRow, Store, StoreError};

/// The call with this number: each began a second after the one before it.
fn call(number: i64) -> CallRow {
    CallRow {
        id: format!("h_{number:04}"),
        at_ms: 1_800_000_000_000 + number * 1000,
        duration_us: 1500,
        request_id: number.to_string(),
        correlation_id: "c0ffee00".into(),
        method: "tools/call".into(),
        server: Some("git".into()),
        tool: Some("status".into()),
        status: "ok".into(),
        principal: "tk_7h2k9qmd".into(),
        ..CallRow::default()
    }
}

/// A call with everything that one can have.
fn full(number: i64) -> CallRow {
    CallRow {
        code: Some(-32000),
        error: Some("refused".into()),
        client: Some("cursor".into()),
        project: Some("web".into()),
        arguments: Some(r#"{ "path":"Jürgen\u0000" }"#.into()),
        status: "error".into(),
        ..call(number)
    }
}

async fn kept(store: &dyn Store, calls: impl IntoIterator<Item = CallRow>) {
    store.put_calls(calls.into_iter().collect()).await.unwrap();
}

/// The numbers of the calls that are meant, as they come.
async fn found(store: &dyn Store, query: CallQuery) -> Vec<i64> {
    let calls = store.calls(query).await.unwrap();
    calls
        .iter()
        .map(|call| call.request_id.parse().unwrap())
        .collect()
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

pub(crate) async fn log_06_calls_are_kept_whole_and_come_newest_first(store: &dyn Store) {
    kept(store, [call(2), full(1)]).await;
    kept(store, [call(3)]).await;
    kept(store, []).await;

    let calls = store.calls(CallQuery::default()).await.unwrap();

    assert_eq!(calls, [call(3), call(2), full(1)]);
}

pub(crate) async fn log_06_a_call_is_written_once(store: &dyn Store) {
    kept(store, [call(1)]).await;
    kept(store, [full(1), call(2)]).await;

    let calls = store.calls(CallQuery::default()).await.unwrap();

    assert_eq!(calls, [call(2), call(1)]);
}

pub(crate) async fn log_06_each_wish_narrows_what_is_found(store: &dyn Store) {
    let other = CallRow {
        server: Some("docs".into()),
        tool: None,
        method: "resources/read".into(),
        status: "cancelled".into(),
        principal: "local".into(),
        duration_us: 2_000_001,
        ..call(2)
    };
    kept(store, [call(1), other, full(3)]).await;
    let any = CallQuery::default;
    let queries = [
        (
            CallQuery {
                server: text("docs"),
                ..any()
            },
            vec![2],
        ),
        (
            CallQuery {
                tool: text("status"),
                ..any()
            },
            vec![3, 1],
        ),
        (
            CallQuery {
                status: text("error"),
                ..any()
            },
            vec![3],
        ),
        (
            CallQuery {
                principal: text("local"),
                ..any()
            },
            vec![2],
        ),
        (
            CallQuery {
                method: text("resources/read"),
                ..any()
            },
            vec![2],
        ),
        (
            CallQuery {
                since_ms: Some(1_800_000_002_000),
                ..any()
            },
            vec![3, 2],
        ),
        (
            CallQuery {
                until_ms: Some(1_800_000_002_000),
                ..any()
            },
            vec![1],
        ),
        (
            CallQuery {
                slower_than_us: Some(2_000_000),
                ..any()
            },
            vec![2],
        ),
        (
            CallQuery {
                slower_than_us: Some(2_000_001),
                ..any()
            },
            vec![],
        ),
        (
            CallQuery {
                slower_than_us: Some(u64::MAX),
                ..any()
            },
            vec![],
        ),
        (
            CallQuery {
                server: text("git"),
                status: text("ok"),
                ..any()
            },
            vec![1],
        ),
        (
            CallQuery {
                server: text("GIT"),
                ..any()
            },
            vec![],
        ),
    ];
    for (query, expected) in queries {
        assert_eq!(found(store, query.clone()).await, expected, "{query:?}");
    }
}

pub(crate) async fn log_06_a_text_is_looked_for_in_tools_errors_and_arguments(store: &dyn Store) {
    let percent = CallRow {
        tool: Some("100%_done".into()),
        ..call(2)
    };
    kept(store, [call(1), percent, full(3)]).await;
    for (wanted, expected) in [
        ("STAT", vec![3, 1]),
        ("refUSED", vec![3]),
        ("jürGEN", vec![3]),
        ("%_", vec![2]),
        ("statusrefused", vec![]),
        ("cursor", vec![]),
    ] {
        let query = CallQuery {
            text: text(wanted),
            ..CallQuery::default()
        };
        assert_eq!(found(store, query).await, expected, "{wanted}");
    }
}

pub(crate) async fn log_06_calls_are_paged_by_their_ids(store: &dyn Store) {
    kept(store, (1..=5).map(call)).await;
    let page = |before: Option<&str>, after: Option<&str>, limit| CallQuery {
        before: before.map(str::to_owned),
        after: after.map(str::to_owned),
        limit,
        ..CallQuery::default()
    };

    assert_eq!(found(store, page(None, None, 2)).await, [5, 4]);
    assert_eq!(found(store, page(Some("h_0004"), None, 2)).await, [3, 2]);
    assert_eq!(found(store, page(None, Some("h_0003"), 0)).await, [5, 4]);
    assert_eq!(
        found(store, page(Some("h_0005"), Some("h_0002"), 9)).await,
        [4, 3]
    );
}

pub(crate) async fn log_06_a_search_ends_where_its_calls_take_too_many_bytes(store: &dyn Store) {
    let large = |number| CallRow {
        arguments: Some("x".repeat(1000)),
        ..call(number)
    };
    kept(store, (1..=5).map(large)).await;
    let within = |bytes, brief| CallQuery {
        bytes,
        brief,
        ..CallQuery::default()
    };

    assert_eq!(found(store, within(2500, false)).await, [5, 4, 3]);
    assert_eq!(found(store, within(1, false)).await, [5], "one there is");
    let brief = store.calls(within(2500, true)).await.unwrap();
    assert_eq!(brief.len(), 5);
    assert!(brief.iter().all(|call| call.arguments.is_none()));
    assert!(within(500, true).is_filled_by(&brief) && !within(2500, true).is_filled_by(&brief));
}

pub(crate) async fn log_06_a_call_is_found_by_its_id_or_its_beginning(store: &dyn Store) {
    let odd = CallRow {
        id: "h_00".into(),
        ..call(7)
    };
    kept(store, [full(11), call(12), call(20), odd.clone()]).await;
    let one = async |id: &str| store.call(id).await.unwrap();

    assert_eq!(one("h_0011").await, Some(full(11)));
    assert_eq!(one("h_002").await, Some(call(20)));
    assert_eq!(one("h_00").await, Some(odd), "an id in full counts first");
    for id in ["h_001", "h_", "", "h_0099", "%"] {
        assert_eq!(one(id).await, None, "{id}");
    }
}

pub(crate) async fn log_06_only_calls_that_are_meant_are_forgotten(store: &dyn Store) {
    kept(store, [call(1), full(2), call(3)]).await;
    let failed = CallQuery {
        status: text("error"),
        ..CallQuery::default()
    };

    assert_eq!(store.delete_calls(failed.clone()).await.unwrap(), 1);
    assert_eq!(store.delete_calls(failed).await.unwrap(), 0);
    assert_eq!(found(store, CallQuery::default()).await, [3, 1]);

    assert_eq!(store.delete_calls(CallQuery::default()).await.unwrap(), 2);
    assert!(found(store, CallQuery::default()).await.is_empty());
}

pub(crate) async fn log_06_calls_that_are_too_old_are_forgotten(store: &dyn Store) {
    kept(store, (1..=4).map(call)).await;

    let gone = store.prune_calls(Some(1_800_000_003_000), u64::MAX).await;

    assert_eq!(gone.unwrap(), 2);
    assert_eq!(found(store, CallQuery::default()).await, [4, 3]);
    assert_eq!(store.prune_calls(None, u64::MAX).await.unwrap(), 0);
}

pub(crate) async fn log_06_of_too_many_calls_the_oldest_are_forgotten(store: &dyn Store) {
    let large = |number| CallRow {
        arguments: Some("x".repeat(10_000)),
        ..call(number)
    };
    kept(store, (1..=9).map(large)).await;
    // One that was forgotten otherwise counts no more.
    let first = CallQuery {
        before: text("h_0002"),
        ..CallQuery::default()
    };
    store.delete_calls(first).await.unwrap();

    assert_eq!(store.prune_calls(None, 85_000).await.unwrap(), 0);
    assert_eq!(store.prune_calls(None, 35_000).await.unwrap(), 5);
    assert_eq!(found(store, CallQuery::default()).await, [9, 8, 7]);
    assert_eq!(store.prune_calls(None, 0).await.unwrap(), 3);
}

pub(crate) async fn log_06_thousands_of_calls_are_forgotten_at_once(store: &dyn Store) {
    kept(store, (1..=2500).map(call)).await;

    assert_eq!(store.prune_calls(None, 0).await.unwrap(), 2500);

    assert!(found(store, CallQuery::default()).await.is_empty());
    kept(store, [call(1)]).await;
    assert_eq!(store.prune_calls(None, 1000).await.unwrap(), 0);
}

pub(crate) async fn a_closed_store_keeps_no_calls_any_more(store: &dyn Store) {
    store.close().await;

    assert!(matches!(
        store.put_calls([call(1)].into()).await,
        Err(StoreError::Closed)
    ));
    let asked = store.calls(CallQuery::default()).await;
    assert!(matches!(asked, Err(StoreError::Closed)));
}

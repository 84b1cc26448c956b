//! Lists in pages.

use mcpr_tests::{Fake, Script, gateway};
use serde_json::json;

use crate::common::{Everywhere, in_front_of};

/// As many items of each kind, ten on a page.
fn paged(count: usize) -> Script {
    let items = |key: &str| {
        (0..count)
            .map(|n| json!({ "name": format!("i{n}"), key: format!("x:{n}") }))
            .collect::<Vec<_>>()
    };
    (0..count)
        .fold(Fake::script(), |script, n| script.tool(&format!("t{n}")))
        .set("prompts", json!(items("x")))
        .set("resources", json!(items("uri")))
        .set("templates", json!(items("uriTemplate")))
        .set("page", json!(10))
}

#[tokio::test(flavor = "multi_thread")]
async fn b19_every_page_of_every_list_is_read() {
    let servers = Everywhere::new(|| paged(25));
    let gateway = servers.gateway().await;
    let client = gateway.client().await;

    let tools = client.tool_names().await;
    let expected: Vec<String> = servers
        .each()
        .flat_map(|(name, _)| (0..25).map(move |n| format!("{name}_t{n}")))
        .collect();
    assert_eq!(tools, expected);
    for (method, member) in [
        ("prompts/list", "prompts"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
    ] {
        assert_eq!(
            client.list(method, member).await.len(),
            25 * servers.each().count(),
            "{method}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b19_a_repeated_cursor_ends_the_list_with_a_warning() {
    let warned = || {
        mcpr_tests::logged()
            .iter()
            .any(|line| line.contains("b19loop") && line.contains("repeats a cursor"))
    };
    assert!(!warned());
    let (round, other) = (paged(3).set("cursor_loop", json!(true)).stdio(), paged(1).stdio());
    let gateway = in_front_of([("b19loop", &round), ("other", &other)]).await;

    let client = gateway.client().await;
    assert_eq!(
        client.tool_names().await,
        ["b19loop_t0", "b19loop_t1", "b19loop_t2", "other_t0"]
    );
    assert_eq!(client.list("resources/list", "resources").await.len(), 4);
    assert_eq!(round.received_of("tools/list").len(), 2);
    assert!(warned());
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_of_a_list_of_too_many_pages_the_first_are_read_with_a_warning() {
    let warned = |line: &String| line.contains("b19long") && line.contains("too long");
    assert!(!mcpr_tests::logged().iter().any(warned));
    let fake = paged(45).stdio();
    let limits = json!({ "listPages": 2 });
    let gateway = gateway()
        .fake("b19long", &fake)
        .own("limits", limits)
        .ready()
        .await;

    let client = gateway.client().await;
    assert_eq!(client.tool_names().await.len(), 20);
    for (method, member) in [("prompts/list", "prompts"), ("resources/list", "resources")] {
        assert_eq!(client.list(method, member).await.len(), 20, "{method}");
        assert_eq!(fake.received_of(method).len(), 2, "{method}");
    }
    assert!(mcpr_tests::logged().iter().any(warned));
}

#[tokio::test(flavor = "multi_thread")]
async fn b19_an_empty_cursor_is_a_cursor_and_null_is_none() {
    let empty = Fake::script()
        .tool("t")
        .raw("tools/list", r#"{"tools":[{"name":"t"}],"nextCursor":""}"#)
        .stdio();
    let null = Fake::script()
        .tool("t")
        .raw("tools/list", r#"{"tools":[{"name":"t"}],"nextCursor":null}"#)
        .stdio();
    let gateway = in_front_of([("empty", &empty), ("null", &null)]).await;

    assert_eq!(gateway.client().await.tool_names().await, ["empty_t", "null_t"]);
    let asked = empty.received_of("tools/list");
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[1].params()["cursor"], "");
    assert_eq!(null.received_of("tools/list").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn b19_a_cursor_that_was_never_given_out_is_refused() {
    let fake = paged(1).stdio();
    let gateway = in_front_of([("a", &fake)]).await;

    for client in gateway.clients().await {
        let told = client.ask("tools/list", r#""cursor":"from-10""#).await.message();
        assert_eq!(told["error"]["code"], -32602, "{told}");
        let told = client.ask("tools/list", r#""cursor":null"#).await.message();
        assert_eq!(told["result"]["tools"][0]["name"], "a_t0");
    }
}

//! Changed lists: who hears of them, once, and when (AGG-10, B18, B63, B71).

use mcpr_tests::{Fake, Gateway, gateway};
use serde_json::{Value, json};

use crate::pairs;
use crate::wire::Wire;

const CHANGED: &str = "notifications/tools/list_changed";
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// Whether a message says that tools changed.
fn is_changed(message: &Value) -> bool {
    message["method"] == CHANGED
}

/// A server whose tool `say` announces a change of its prompts, and nothing else: what a client
/// must not hear before is proven by this coming first.
fn other() -> Fake {
    let notify = r#"{"prompts":[{"name":"p"}],"notify":[{"method":"notifications/prompts/list_changed"}]}"#;
    Fake::script().tool("say").with(notify).stdio()
}

/// Before a server whose tool `add` adds a tool and announces it, and the [`other`].
async fn changing() -> (Fake, Fake, Gateway) {
    let (fake, other) = (Fake::script().with(r#"{"env_tool":true}"#).stdio(), other());
    let gateway = gateway().fake("a", &fake).fake("b", &other).ready().await;
    (fake, other, gateway)
}

#[tokio::test(flavor = "multi_thread")]
async fn b18_a_new_tool_is_announced_to_every_kind_of_client_and_is_listed_then() {
    for (_fake, gateway) in pairs::servers(|script| script.with(r#"{"env_tool":true}"#)).await {
        let (client, mut pipe, mut modern_pipe) = (
            gateway.client().await,
            Wire::open(&gateway).await,
            Wire::new(&gateway),
        );
        let stateless = gateway.stateless();
        let mut stream = client.stream().await;
        let filter = r#""notifications":{"toolsListChanged":true}"#;
        let (_, mut listen) = stateless.begin("subscriptions/listen", filter, None).await;
        listen.event().await.unwrap();
        modern_pipe
            .send(&stateless.text("\"l\"", "subscriptions/listen", filter))
            .await;
        modern_pipe.next().await;

        client.call("a_add", "{}").await;

        stream.message(is_changed).await.unwrap();
        assert!(
            client.tool_names().await.contains(&"a_new1".to_owned()),
            "listed when it is announced"
        );
        let tagged = listen.message(is_changed).await.unwrap();
        assert_eq!(tagged["params"]["_meta"][SUBSCRIPTION], 1);
        pipe.message(is_changed).await;
        let tagged = modern_pipe.message(is_changed).await;
        assert_eq!(tagged["params"]["_meta"][SUBSCRIPTION], "l");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_list_is_announced_in_both_eras() {
    let kinds = ["tools", "prompts", "resources"];
    let notify = kinds.map(|kind| json!({ "method": format!("notifications/{kind}/list_changed") }));
    let script = |script: mcpr_tests::Script| {
        let script = script.tool("x").set("notify", json!(notify));
        script.with(r#"{"prompts":[{"name":"p"}],"resources":[{"uri":"file:///r","name":"r"}]}"#)
    };
    for (_fake, gateway) in pairs::servers(script).await {
        let client = gateway.client().await;
        let mut stream = client.stream().await;
        let all = r#""notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true}"#;
        let (_, mut listen) = gateway.stateless().begin("subscriptions/listen", all, None).await;
        listen.event().await.unwrap();
        client.call("a_x", "{}").await;
        for connection in [&mut stream, &mut listen] {
            let mut heard = Vec::new();
            while heard.len() < 3 {
                heard.push(
                    connection.event().await.unwrap().message()["method"]
                        .as_str()
                        .unwrap()
                        .to_owned(),
                );
            }
            heard.sort();
            assert_eq!(
                heard,
                ["prompts", "resources", "tools"].map(|kind| format!("notifications/{kind}/list_changed"))
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listen_is_acknowledged_first_with_what_is_heard_under_its_own_id() {
    let gateway = gateway().ready().await;
    let stateless = gateway.stateless();
    let cases = [
        (
            "7",
            r#""notifications":{"toolsListChanged":true}"#,
            json!({ "toolsListChanged": true }),
        ),
        (
            "\"7\"",
            r#""notifications":{"toolsListChanged":false,"promptsListChanged":true}"#,
            json!({ "promptsListChanged": true }),
        ),
        (
            "9007199254740993",
            r#""notifications":{"resourcesListChanged":true,"none":true,"taskIds":[]}"#,
            json!({ "resourcesListChanged": true }),
        ),
        (
            "\"é\"",
            r#""notifications":{"toolsListChanged":1,"resourceSubscriptions":["file:///x"]}"#,
            json!({}),
        ),
        ("\"\"", r#""notifications":{}"#, json!({})),
        ("0", "", json!({})),
    ];
    for (id, params, accepted) in cases {
        let request = stateless.post(
            &stateless.text(id, "subscriptions/listen", params),
            "subscriptions/listen",
            None,
        );
        let (head, mut connection) = request.open(gateway.port).await;
        assert_eq!(
            (head.status, head.header("content-type")),
            (200, Some("text/event-stream")),
            "{params}"
        );
        let first = connection.event().await.unwrap();
        assert_eq!(
            first.message()["method"],
            "notifications/subscriptions/acknowledged"
        );
        assert_eq!(first.message()["params"]["notifications"], accepted, "{params}");
        assert!(
            first.data.contains(&format!(r#""{SUBSCRIPTION}":{id}}}"#)),
            "{}",
            first.data
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listen_hears_only_what_it_asked_for() {
    let (_a, _b, gateway) = changing().await;
    let stateless = gateway.stateless();
    let filter = r#""notifications":{"promptsListChanged":true}"#;
    let (_, mut listen) = stateless.begin("subscriptions/listen", filter, None).await;
    listen.event().await.unwrap();
    let mut pipe = Wire::open(&gateway).await;
    stateless.call("a_add", "{}").await;
    pipe.message(is_changed).await;
    stateless.call("b_say", "{}").await;
    assert_eq!(
        listen.event().await.unwrap().message()["method"],
        "notifications/prompts/list_changed"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listen_is_answered_when_the_gateway_stops() {
    let gateway = gateway().ready().await;
    let (_, mut listen) = gateway
        .stateless()
        .begin("subscriptions/listen", r#""notifications":{}"#, None)
        .await;
    listen.event().await.unwrap();
    gateway.operate("stop", json!({})).await;
    let answer = listen.event().await.unwrap().message();
    assert_eq!(
        (&answer["id"], &answer["result"]["resultType"]),
        (&json!(1), &json!("complete"))
    );
    assert_eq!(answer["result"]["_meta"][SUBSCRIPTION], 1);
    assert_eq!(listen.event().await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn b63_a_storm_of_notices_is_one_notice_and_a_few_lists() {
    let storm = r#"{"notify":[{"method":"notifications/tools/list_changed","repeat":100}]}"#;
    let (fake, other) = (Fake::script().tool("x").with(storm).stdio(), other());
    let gateway = gateway().fake("a", &fake).fake("b", &other).ready().await;
    let client = gateway.client().await;
    let mut stream = client.stream().await;
    let before = fake.received_of("tools/list").len();
    client.call("a_x", "{}").await;
    assert_eq!(stream.event().await.unwrap().message()["method"], CHANGED);
    client.call("b_say", "{}").await;
    assert_eq!(
        stream.event().await.unwrap().message()["method"],
        "notifications/prompts/list_changed",
        "nothing came twice"
    );
    let lists = fake.received_of("tools/list").len() - before;
    assert!((1..=3).contains(&lists), "{lists} lists were read");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_changes_while_no_stream_is_open_is_told_when_one_opens_and_only_once() {
    let (_a, _b, gateway) = changing().await;
    let client = gateway.client().await;
    let mut witness = Wire::open(&gateway).await;
    for _ in 0..2 {
        client.call("a_add", "{}").await;
        witness.message(is_changed).await;
    }
    let mut stream = client.stream().await;
    assert_eq!(stream.event().await.unwrap().message()["method"], CHANGED);
    let mut again = client.stream().await;
    client.call("b_say", "{}").await;
    let next = again.event().await.unwrap().message();
    assert_eq!(
        next["method"], "notifications/prompts/list_changed",
        "it was told already"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_begins_after_a_change_is_not_told_of_it() {
    let (_a, _b, gateway) = changing().await;
    let mut witness = Wire::open(&gateway).await;
    gateway.stateless().call("a_add", "{}").await;
    witness.message(is_changed).await;
    let client = gateway.client().await;
    let mut stream = client.stream().await;
    client.call("b_say", "{}").await;
    assert_eq!(
        stream.event().await.unwrap().message()["method"],
        "notifications/prompts/list_changed"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn b71_a_second_stream_takes_the_place_of_the_first_and_hears_once() {
    let (_a, _b, gateway) = changing().await;
    let client = gateway.client().await;
    let mut older = client.stream().await;
    let mut newer = client.stream().await;
    assert_eq!(older.event().await, None, "the older one ends");
    client.call("a_add", "{}").await;
    assert_eq!(newer.event().await.unwrap().message()["method"], CHANGED);
    client.call("b_say", "{}").await;
    assert_eq!(
        newer.event().await.unwrap().message()["method"],
        "notifications/prompts/list_changed"
    );
    assert_eq!(gateway.server("a").await["starts"], 1, "no server is touched");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_belongs_to_no_call_never_comes_on_the_stream_of_one() {
    let notify = r#"{"progress":{"count":5,"interval":0.1}}"#;
    let (slow, changing) = (
        Fake::script().tool("x").with(notify).stdio(),
        Fake::script().with(r#"{"env_tool":true}"#).stdio(),
    );
    let gateway = gateway().fake("a", &slow).fake("b", &changing).ready().await;
    let client = gateway.client().await;
    let (_, mut call) = client
        .begin("tools/call", r#"{"name":"a_x","_meta":{"progressToken":1}}"#)
        .await;
    call.event().await.unwrap();
    let mut witness = Wire::open(&gateway).await;
    client.call("b_add", "{}").await;
    witness.message(is_changed).await;
    while let Some(event) = call.event().await {
        assert_ne!(event.message()["method"], CHANGED);
    }
}

//! Subscriptions that cannot be, and what their clients are told.

use std::time::{Duration, Instant};

use mcpr_tests::client::Session;
use mcpr_tests::{Fake, Script, gateway};
use serde_json::{Value, json};

use crate::LAST;
use crate::counting::listened;
use crate::ear::{Way, listen, resources, subscribe};
use crate::stands::{Kind, before, exposed, telling, touch};

/// A server that has resources and tells of none.
fn silent() -> Script {
    telling().set("capabilities", json!({ "tools": {}, "resources": {} }))
}

#[tokio::test(flavor = "multi_thread")]
async fn b106_a_server_that_tells_of_nothing_is_not_asked_and_its_clients_are_told_so() {
    for (kind, fake, gateway) in before(&Kind::ALL, silent).await {
        let client = gateway.client().await;

        let told = subscribe(&client, "file:///a").await;
        let listen = listen(&gateway, &resources(&["file:///a"])).await;

        assert_eq!(told["error"]["code"], -32601, "{kind:?}: {told}");
        assert_eq!(told["error"]["data"]["server"], "a", "{kind:?}: {told}");
        assert_eq!(*listen.accepted(), json!({}), "{kind:?}");
        assert!(fake.received_of("resources/subscribe").is_empty() && listened(&fake).is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b106_of_several_only_what_is_heard_is_acknowledged_in_the_order_of_the_client() {
    let (tells, tells_not) = (telling().stdio(), silent().stdio());
    let gateway = gateway().fake("a", &tells).fake("b", &tells_not).ready().await;
    let asked = [
        "resource://b/file:///a",
        "resource://a/file:///b",
        "file:///none",
        &exposed(LAST),
    ];

    let mut listen = listen(&gateway, &resources(&asked)).await;

    let accepted = json!(["resource://a/file:///b", exposed(LAST)]);
    assert_eq!(*listen.accepted(), json!({ "resourceSubscriptions": accepted }));
    touch(&gateway, LAST).await;
    assert_eq!(listen.hears_of().await, exposed(LAST));
}

#[tokio::test(flavor = "multi_thread")]
async fn b50_a_servers_own_refusal_is_passed_on_and_can_be_tried_again() {
    let refusal =
        json!({ "code": -32002, "message": "no such thing", "data": { "uri": "file:///b", "n": [1] } });
    let refusing = || telling().error("resources/subscribe:file:///b", refusal.clone());
    for (kind, fake, gateway) in before(&Kind::SESSION, refusing).await {
        let client = gateway.client().await;
        for (uri, times) in [("file:///b".to_owned(), 1), (exposed("file:///b"), 2)] {
            let told = subscribe(&client, &uri).await;
            let data = json!({ "uri": uri, "n": [1] });
            let expected = json!({ "code": -32002, "message": "no such thing", "data": data });
            assert_eq!(told["error"], expected, "{kind:?}");
            assert_eq!(fake.received_of("resources/subscribe").len(), times, "{kind:?}");
        }
        assert_eq!(
            subscribe(&client, "file:///a").await["result"],
            json!({}),
            "{kind:?}"
        );
        assert!(fake.received_of("resources/unsubscribe").is_empty(), "{kind:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b106_what_a_stateless_server_leaves_out_is_refused_and_the_rest_is_heard() {
    let choosy = || telling().set("unheard", json!(["file:///b"]));
    for (kind, _fake, gateway) in before(&Kind::STATELESS, choosy).await {
        let client = gateway.client().await;
        let mut ear = Way::StatelessPipe
            .hears(&gateway, &["file:///b", "file:///a"])
            .await;
        assert_eq!(
            *ear.accepted(),
            json!({ "resourceSubscriptions": ["file:///a"] }),
            "{kind:?}"
        );
        assert_eq!(
            subscribe(&client, "file:///b").await["error"]["code"],
            -32601,
            "{kind:?}"
        );
        touch(&gateway, "file:///a").await;
        assert_eq!(ear.hears_of().await, "file:///a", "{kind:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_08_a_server_that_is_down_says_so_at_once() {
    let fake = telling().http();
    let gateway = gateway().fake("a", &fake).ready().await;
    let client = gateway.client().await;
    fake.kill();
    client.call("a_touch", "{}").await;
    gateway.await_state("a", "down").await;
    let began = Instant::now();

    let told = subscribe(&client, &exposed("file:///a")).await;
    let listen = listen(&gateway, &resources(&[&exposed("file:///a")])).await;

    assert_eq!(told["error"]["data"]["reason"], "server_down", "{told}");
    assert_eq!(
        (&told["error"]["code"], &told["error"]["data"]["server"]),
        (&json!(-32603), &json!("a"))
    );
    assert_eq!(*listen.accepted(), json!({}));
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_09_a_resource_of_nobody_and_one_of_several_are_refused() {
    let (a, b) = (telling().stdio(), telling().stdio());
    let gateway = gateway().fake("a", &a).fake("b", &b).ready().await;
    let client = gateway.client().await;

    let several = subscribe(&client, "file:///a").await;

    assert_eq!(several["error"]["code"], -32602, "{several}");
    assert_eq!(
        several["error"]["data"]["servers"],
        json!(["a", "b"]),
        "{several}"
    );
    let nobody = mcpr_tests::gateway().ready().await;
    let unknown = subscribe(&nobody.client().await, "file:///a").await;
    assert_eq!(unknown["error"]["code"], -32002, "{unknown}");
    let left_out = listen(&gateway, &resources(&["file:///a"])).await;
    assert_eq!(*left_out.accepted(), json!({}));
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_a_client_has_so_many_subscriptions_and_not_one_more() {
    let fake = telling().stdio();
    let gateway = gateway()
        .own("limits", json!({ "subscriptions": 2 }))
        .fake("a", &fake)
        .ready()
        .await;
    let client = gateway.client().await;
    for uri in ["file:///a", "file:///b", "file:///a"] {
        assert_eq!(subscribe(&client, uri).await["result"], json!({}));
    }

    let told = subscribe(&client, LAST).await;
    let listen = refused_listen(&gateway, r#"["file:///a","file:///b","file:///c"]"#).await;

    assert_eq!(told["error"]["code"], -32602, "{told}");
    let message = told["error"]["message"].as_str().unwrap();
    assert!(message.contains("limits.subscriptions"), "{message}");
    assert_eq!(listen["error"]["message"], message);
    assert_eq!(
        Way::StatelessHttp
            .hears(&gateway, &["file:///a", LAST])
            .await
            .accepted()["resourceSubscriptions"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_a_principal_has_so_many_in_all_its_sessions_and_another_has_its_own() {
    let gateway = gateway()
        .own("limits", json!({ "perPrincipal": { "subscriptions": 2 } }))
        .fake("a", &telling().stdio())
        .ready()
        .await;
    let (one, two) = (gateway.client().await, gateway.client().await);
    for (client, uri) in [(&one, "file:///a"), (&two, "file:///b"), (&two, "file:///b")] {
        assert_eq!(subscribe(client, uri).await["result"], json!({}));
    }

    let told = subscribe(&one, LAST).await;

    assert_eq!(told["error"]["data"]["reason"], "busy", "{told}");
    let message = told["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("`limits.perPrincipal.subscriptions`"),
        "{message}"
    );
    let listen = listen(&gateway, &resources(&[LAST])).await;
    assert_eq!(*listen.accepted(), json!({}), "its listens count as well");
    let other = Session::open(
        gateway.port,
        &gateway.another_token(&["read"]).await,
        "2025-11-25",
    )
    .await;
    assert_eq!(subscribe(&other, LAST).await["result"], json!({}));
    crate::ear::unsubscribe(&two, "file:///b").await;
    assert_eq!(subscribe(&one, LAST).await["result"], json!({}));
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_what_one_wants_too_much_of_keeps_nobody_else_from_hearing() {
    let narrow = || telling().set("most_heard", json!(2));
    for (kind, _fake, gateway) in before(&Kind::STATELESS, narrow).await {
        let many: Vec<String> = (0..5).map(|number| format!("file:///n/{number}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let mut first = Way::StatelessHttp.hears(&gateway, &many).await;
        assert_eq!(first.accepted()["resourceSubscriptions"], json!(many), "{kind:?}");

        let mut ear = Way::SessionHttp.hears(&gateway, &["file:///a", LAST]).await;

        for uri in ["file:///a", LAST] {
            touch(&gateway, uri).await;
            assert_eq!(ear.hears_of().await, uri, "{kind:?}");
        }
        touch(&gateway, many[4]).await;
        assert_eq!(first.hears_of().await, many[4], "{kind:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b106_more_than_one_stream_holds_are_on_several() {
    for (kind, fake, gateway) in before(&Kind::STATELESS, telling).await {
        let uris: Vec<String> = (0..600).map(|number| format!("file:///n/{number}")).collect();
        let uris: Vec<&str> = uris.iter().map(String::as_str).collect();
        let mut ear = Way::StatelessHttp.hears(&gateway, &uris).await;
        assert_eq!(ear.accepted()["resourceSubscriptions"], json!(uris), "{kind:?}");
        for uri in ["file:///n/599", "file:///n/0"] {
            touch(&gateway, uri).await;
            assert_eq!(ear.hears_of().await, uri, "{kind:?}");
        }
        let longest = listened(&fake)
            .iter()
            .map(|uris| uris.as_array().unwrap().len())
            .max();
        assert_eq!(longest, Some(256), "{kind:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b50_a_servers_refusal_of_what_all_want_is_not_said_of_one_client() {
    let full = || telling().set("most_heard", json!(0));
    for (kind, _fake, gateway) in before(&Kind::STATELESS, full).await {
        let told = subscribe(&gateway.client().await, "file:///a").await;

        let message = told["error"]["message"].as_str().unwrap();
        assert!(
            message.starts_with("server `a` refuses") && message.contains("for all clients of the gateway"),
            "{kind:?}: {message}"
        );
        assert!(
            message.ends_with("one listen may have few"),
            "{kind:?}: {message}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_a_uri_that_is_far_too_long_is_refused() {
    let (_, fake, gateway) = before(&[Kind::SessionPipe], telling).await.remove(0);
    let client = gateway.client().await;
    let long = format!("file:///{}", "x".repeat(10_000));

    let told = subscribe(&client, &long).await;

    assert_eq!(told["error"]["code"], -32602, "{told}");
    assert!(fake.received_of("resources/subscribe").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn b107_parameters_that_say_nothing_are_refused() {
    let (_, fake, gateway) = before(&[Kind::SessionPipe], telling).await.remove(0);
    let client = gateway.client().await;
    for method in ["resources/subscribe", "resources/unsubscribe"] {
        for params in ["{}", r#"{"uri":1}"#, r#"{"uri":null}"#] {
            let told = client.request(method, params).await.message();
            assert_eq!(told["error"]["code"], -32602, "{method} {params}");
        }
    }
    for uris in ["1", r#""file:///a""#, "[1]", r#"["file:///a",null]"#, "{}"] {
        let told = refused_listen(&gateway, uris).await;
        assert_eq!(told["error"]["code"], -32602, "{uris}");
    }
    assert!(fake.received_of("resources/subscribe").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn b106_what_was_never_subscribed_to_can_be_left() {
    let (_, fake, gateway) = before(&[Kind::SessionHttp], telling).await.remove(0);
    let client: Session = gateway.client().await;
    for uri in ["file:///a", &exposed("file:///a")] {
        crate::ear::unsubscribe(&client, uri).await;
    }
    assert!(unasked(&fake));
}

fn unasked(fake: &Fake) -> bool {
    fake.received_of("resources/unsubscribe").is_empty()
}

/// What a listen to these resources is refused with.
async fn refused_listen(gateway: &mcpr_tests::Gateway, uris: &str) -> Value {
    let filter = format!(r#""notifications":{{"resourceSubscriptions":{uris}}}"#);
    let client = gateway.stateless();
    client
        .request("subscriptions/listen", &filter, None)
        .await
        .message()
}

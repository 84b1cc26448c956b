//! Tokens that reach only what they list, that have a rate of their own, and that are rotated (SEC-02, SEC-05).

use std::time::{Duration, Instant};

use mcpr_auth::Timestamp;
use mcpr_tests::client::{Session, Stateless};
use mcpr_tests::http::{Answer, Request};
use mcpr_tests::{Fake, Gateway, gateway};
use serde_json::{Value, json};

use crate::auth::{LET_IN, nameless, reason};

/// A gateway with the servers `a` and `b`, which have the same, and say after each call that some list of theirs
/// has changed: `a` that of its tools, `b` that of its resources.
async fn two_servers() -> (Gateway, [Fake; 2]) {
    let script = |kind: &str| {
        let has = json!({
            "prompts": [{ "name": "p" }],
            "resources": [{ "uri": "file:///r", "name": "r" }],
            "notify": [{ "method": format!("notifications/{kind}/list_changed") }],
        });
        Fake::script().tool("x").tool("y").with(&has.to_string())
    };
    let servers = [script("tools").stdio(), script("resources").stdio()];
    let gateway = gateway()
        .fake("a", &servers[0])
        .fake("b", &servers[1])
        .ready()
        .await;
    (gateway, servers)
}

/// Makes a token of this kind, and gives its text.
async fn made(gateway: &Gateway, wanted: Value) -> String {
    secret(&gateway.operate("tokens/create", wanted).await)
}

/// Rotates a token, and gives its new text.
async fn rotated(gateway: &Gateway, which: &str, grace: u64) -> String {
    let wanted = json!({ "which": which, "graceSeconds": grace });
    secret(&gateway.operate("tokens/rotate", wanted).await)
}

fn secret(made: &Value) -> String {
    made["secret"]
        .as_str()
        .unwrap_or_else(|| panic!("{made}"))
        .to_owned()
}

fn unknown(answer: &Answer) -> bool {
    let error = answer.message()["error"].clone();
    let text = error["message"].as_str().unwrap_or_default().to_lowercase();
    text.contains("unknown") || text.contains("not found")
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_02_a_token_reaches_only_the_servers_and_tools_that_it_lists() {
    let (gateway, [_, other]) = two_servers().await;
    let wanted = json!({ "name": "ci", "servers": ["a"], "tools": ["*.x"] });
    let secret = made(&gateway, wanted).await;
    let client = Session::open(gateway.port, &secret, "2025-11-25").await;
    let stateless = Stateless {
        port: gateway.port,
        token: secret,
    };

    assert_eq!(client.tool_names().await, ["a_x"]);
    let seen = client.request("tools/list", "{}").await.message();
    assert_eq!(
        seen["result"]["_meta"]["dev.mcpr/servers"],
        json!({ "a": { "state": "ok" } })
    );
    let named = async |method: &str, member: &str, key: &str| -> Vec<String> {
        let all = client.list(method, member).await;
        all.iter()
            .map(|item| item[key].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(named("prompts/list", "prompts", "name").await, ["a_p"]);
    let resources = named("resources/list", "resources", "uri").await;
    assert_eq!(resources, ["resource://a/file:///r"]);
    assert!(client.call("a_x", "{}").await["result"].is_object());
    assert!(stateless.call("a_x", "{}").await["result"].is_object());
    for (method, params, name) in [
        ("tools/call", r#""name":"a_y""#, "a_y"),
        ("tools/call", r#""name":"b_x""#, "b_x"),
        ("prompts/get", r#""name":"b_p""#, "b_p"),
        (
            "resources/read",
            r#""uri":"resource://b/file:///r""#,
            "resource://b/file:///r",
        ),
    ] {
        let in_session = client.request(method, &format!("{{{params}}}")).await;
        assert!(unknown(&in_session), "{params}: {}", in_session.text());
        let alone = stateless.request(method, params, Some(name)).await;
        assert!(unknown(&alone), "{params}: {}", alone.text());
    }
    let beyond = r#"{"uri":"resource://b/file:///r"}"#;
    client.request("resources/subscribe", beyond).await;
    for method in [
        "tools/call",
        "prompts/get",
        "resources/read",
        "resources/subscribe",
    ] {
        assert_eq!(other.received_of(method).len(), 0, "{method}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_02_a_toolset_and_a_search_show_no_more_than_the_token_lists() {
    let (fakes, builder) = {
        let fakes = ["a", "b"].map(|_| Fake::script().tool("x").tool("y").stdio());
        let builder = gateway()
            .with_builtins()
            .fake("a", &fakes[0])
            .fake("b", &fakes[1]);
        (fakes, builder)
    };
    let gateway = builder.ready().await;
    let wanted = json!({ "name": "ci", "tools": ["a.x", "b.*"], "servers": ["a"] });
    let client = Session::open(gateway.port, &made(&gateway, wanted).await, "2025-11-25").await;

    let found = client.call("discover-all-tools", r#"{"query":"x"}"#).await;
    let entries = r#"{"name":"all","tools":[{"namespacedName":"a.y"},{"namespacedName":"b.x"}]}"#;
    let refused = client.call("build-toolset", entries).await;
    client
        .call(
            "build-toolset",
            r#"{"name":"all","tools":[{"namespacedName":"*"}]}"#,
        )
        .await;
    client.call("equip-toolset", r#"{"name":"all"}"#).await;

    assert!(
        !found.to_string().contains("b.") && found.to_string().contains("a.x"),
        "{found}"
    );
    for why in [
        "`a.y`: it is outside of what this token",
        "`b.x`: no server of that name",
    ] {
        assert!(refused.to_string().contains(why), "{refused}");
    }
    let names = client.tool_names().await;
    let own: Vec<_> = names.iter().filter(|name| name.contains('_')).collect();
    assert_eq!(own, ["a_x"]);
    drop(fakes);
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_02_what_changes_outside_of_its_lists_is_not_told_to_a_token() {
    let (gateway, _servers) = two_servers().await;
    let secret = made(&gateway, json!({ "name": "ci", "servers": ["a"] })).await;
    let client = Session::open(gateway.port, &secret, "2025-11-25").await;
    let all = gateway.client().await;
    let (mut stream, mut of_all) = (client.stream().await, all.stream().await);

    all.call("b_x", "{}").await;
    let told = of_all.event().await.unwrap().message();
    assert_eq!(told["method"], "notifications/resources/list_changed");
    all.call("a_x", "{}").await;

    let first = stream.event().await.unwrap().message();
    assert_eq!(first["method"], "notifications/tools/list_changed");
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_02_why_a_token_does_not_see_a_tool_is_explained() {
    let (gateway, _servers) = two_servers().await;
    made(
        &gateway,
        json!({ "name": "ci", "servers": ["a"], "tools": ["a.x"] }),
    )
    .await;

    let mut told = Vec::new();
    for tool in ["a.x", "a.y", "b.x"] {
        let answer = gateway
            .operate("tools/explain", json!({ "name": tool, "token": "ci" }))
            .await;
        let checks = answer["checks"].as_array().unwrap();
        let check = checks.iter().find(|check| check["what"] == "token").unwrap();
        told.push(format!(
            "{} {} {}",
            answer["visible"],
            check["verdict"].as_str().unwrap(),
            check["found"].as_str().unwrap()
        ));
    }

    assert_eq!(
        told,
        [
            "true pass it is among the servers and tools that the token lists",
            "false block no name among the tools that the token lists fits `a.y`",
            "false block server `b` is not among those that the token lists",
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_02_a_token_that_is_over_or_not_clearly_meant_explains_nothing() {
    let (gateway, _servers) = two_servers().await;
    for name in ["over", "dup", "dup"] {
        made(&gateway, json!({ "name": name })).await;
    }
    gateway.operate("tokens/revoke", json!({ "which": "over" })).await;
    let explain = async |token: &str| {
        gateway
            .operate("tools/explain", json!({ "name": "a.x", "token": token }))
            .await
    };

    let over = explain("over").await;
    assert_eq!(
        [&over["visible"], &over["callable"]],
        [&json!(false); 2],
        "{over}"
    );
    assert!(over.to_string().contains("the token was revoked at "), "{over}");
    let twice = explain("dup").await;
    assert!(
        twice["error"]["message"]
            .as_str()
            .unwrap()
            .contains("names several tokens"),
        "{twice}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_a_token_has_a_rate_of_its_own_in_place_of_the_usual_one() {
    let limits = json!({ "perPrincipal": { "rate": "2/h" } });
    let gateway = gateway().own("limits", limits).start().await;
    let slow = made(&gateway, json!({ "name": "slow", "rate": "1/h" })).await;
    let fast = made(&gateway, json!({ "name": "fast", "rate": "1000/s" })).await;
    let statuses = async |token: &str| {
        let mut statuses = Vec::new();
        for _ in 0..4 {
            statuses.push(nameless().token(token).send(gateway.port).await.status());
        }
        statuses
    };

    assert_eq!(statuses(&slow).await, [LET_IN, 429, 429, 429]);
    let refused = nameless().token(&slow).send(gateway.port).await.message()["error"].clone();
    assert_eq!(refused["data"]["reason"], "rate_limited");
    let text = "too many requests: 1/h may be sent (the token's `--rate`); try again in";
    assert!(
        refused["message"].as_str().unwrap().starts_with(text),
        "{refused}"
    );
    assert_eq!(statuses(&fast).await, [LET_IN; 4]);
    assert_eq!(statuses(&gateway.token).await, [LET_IN, LET_IN, 429, 429]);
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_02_a_token_that_cannot_be_is_refused_and_says_why() {
    let gateway = gateway().start().await;
    for (wanted, why) in [
        (json!({ "name": "a", "rate": "fast" }), "`fast` is no rate"),
        (
            json!({ "name": "a", "servers": [] }),
            "the token's servers must be",
        ),
        (
            json!({ "name": "a", "tools": ["a\nb"] }),
            "the token's tools must be",
        ),
        (json!({ "name": "a", "expires": "soon" }), "soon"),
    ] {
        let error = gateway.operate("tokens/create", wanted).await["error"].clone();
        assert_eq!(error["code"], "invalid", "{error}");
        assert!(error["message"].as_str().unwrap().contains(why), "{error}");
    }
    let operator = gateway
        .operate("tokens/create", json!({ "name": "ops", "scopes": ["admin"] }))
        .await;
    assert_eq!(operator["kind"], "adm");
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_02_a_rotated_token_is_the_same_with_both_texts_until_the_grace_is_over() {
    let gateway = gateway().ready().await;
    let first = made(&gateway, json!({ "name": "laptop" })).await;
    let mut client = Session::open(gateway.port, &first, "2025-11-25").await;
    let mut stream = client.stream().await;

    let second = rotated(&gateway, "laptop", 3600).await;
    for text in [&first, &second] {
        client.token.clone_from(text);
        assert_eq!(
            client.request("ping", "{}").await.status(),
            200,
            "its session is the same"
        );
    }
    let mut second_stream = client.stream().await;
    assert_eq!(stream.event().await, None, "which has one stream");
    let third = rotated(&gateway, "laptop", 0).await;

    let refused = nameless().token(&second).send(gateway.port).await;
    assert_eq!(reason(&refused), "replaced");
    assert!(
        refused.text().contains("mcpr-ctl tokens rotate"),
        "{}",
        refused.text()
    );
    assert_eq!(
        second_stream.event().await,
        None,
        "the stream of a text that is refused ends"
    );
    let refused = nameless().token(&first).send(gateway.port).await;
    assert_eq!(
        reason(&refused),
        "replaced",
        "a text that was replaced twice is still known"
    );
    client.token = third;
    assert_eq!(client.request("ping", "{}").await.status(), 200);
    let tokens = gateway.operate("tokens/list", json!({})).await["tokens"].clone();
    assert_eq!(
        tokens.as_array().unwrap().len(),
        2,
        "the usual one and this: {tokens}"
    );

    gateway
        .operate("tokens/revoke", json!({ "which": "laptop" }))
        .await;
    assert_eq!(reason(&client.request("ping", "{}").await), "revoked");
    assert_eq!(
        reason(&nameless().token(&second).send(gateway.port).await),
        "revoked"
    );
    let again = gateway
        .operate("tokens/rotate", json!({ "which": "laptop" }))
        .await;
    assert_eq!(again["error"]["code"], "invalid", "{again}");
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_02_streams_of_a_replaced_text_end_with_its_grace_and_the_session_goes_on() {
    let gateway = gateway().ready().await;
    let first = made(&gateway, json!({ "name": "laptop" })).await;
    let mut client = Session::open(gateway.port, &first, "2025-11-25").await;
    let stateless = Stateless {
        port: gateway.port,
        token: first.clone(),
    };
    let mut stream = client.stream().await;
    let (_, mut listen) = stateless
        .begin("subscriptions/listen", r#""notifications":{}"#, None)
        .await;
    listen.event().await.unwrap();

    client.token = rotated(&gateway, "laptop", 2).await;
    assert_eq!(nameless().token(&first).send(gateway.port).await.status(), LET_IN);

    assert_eq!((stream.event().await, listen.event().await), (None, None));
    assert_eq!(
        reason(&nameless().token(&first).send(gateway.port).await),
        "replaced"
    );
    assert_eq!(client.request("ping", "{}").await.status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_02_a_token_that_another_process_rotates_has_its_new_text_soon() {
    let gateway = gateway().start().await;
    let first = made(&gateway, json!({ "name": "laptop" })).await;
    let client = Session::open(gateway.port, &first, "2025-11-25").await;
    let mut stream = client.stream().await;
    let elsewhere = mcpr_store::open(gateway.home().join("mcpr.db")).await.unwrap();

    let (token, from) = elsewhere.token("laptop").await.unwrap();
    let new = mcpr_auth::rotate(&token, from, Duration::ZERO, Timestamp::now()).unwrap();
    elsewhere.rotate_token(new.token, from, new.hash).await.unwrap();

    let began = Instant::now();
    assert_eq!(stream.event().await, None, "the stream of the old text ends");
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert_eq!(
        reason(&nameless().token(&first).send(gateway.port).await),
        "replaced"
    );
    let answer = nameless().token(new.secret.reveal()).send(gateway.port).await;
    assert_eq!(answer.status(), LET_IN);
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_02_every_kind_of_stream_ends_with_its_token() {
    let fake = Fake::script()
        .tool("x")
        .with(r#"{"silent":["tools/call"]}"#)
        .stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let secret = made(&gateway, json!({ "name": "leaked", "scopes": ["admin"] })).await;
    let stateless = Stateless {
        port: gateway.port,
        token: secret.clone(),
    };
    // It is a stream from when the call is slow.
    let (_, mut call) = stateless
        .begin("tools/call", r#""name":"a_x""#, Some("a_x"))
        .await;
    let watch = Request::post("/admin/v1/events", "{}")
        .replace("accept", "text/event-stream")
        .token(&secret);
    let (head, mut watch) = watch.open(gateway.port).await;
    assert_eq!(head.status, 200);

    gateway
        .operate("tokens/revoke", json!({ "which": "leaked" }))
        .await;

    assert_eq!(call.event().await, None);
    let ends = async { while watch.event().await.is_some() {} };
    let ended = tokio::time::timeout(Duration::from_secs(10), ends).await;
    ended.expect("what an operator watches ends too");
    fake.await_received("notifications/cancelled", 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_02_a_token_without_scopes_is_refused() {
    let gateway = gateway().ready().await;

    let wanted = json!({ "name": "z", "scopes": [] });
    let refused = gateway.operate("tokens/create", wanted).await;

    let error = &refused["error"];
    assert_eq!(error["code"], "invalid", "{refused}");
    let said = error["message"].as_str().unwrap();
    assert!(said.contains("at least one of the scopes"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_02_a_call_that_waits_is_not_made_for_who_was_turned_away() {
    let slow = Fake::script()
        .tool("x")
        .tool("slow")
        .delay("tools/call:slow", 3.0);
    let fake = slow.stdio();
    let gateway = gateway()
        .fake_with("a", &fake, json!({ "maxConcurrency": 1 }))
        .ready()
        .await;
    let text = made(&gateway, json!({ "name": "laptop" })).await;
    let laptop = Session::open(gateway.port, &text, "2025-11-25").await;
    let other = gateway.client().await;
    let admin = gateway.another_token(&["admin"]).await;
    let call = r#"{"name":"a_x","arguments":{}}"#;
    let turned_away = async {
        fake.await_received("tools/call", 1).await;
        let replace = async {
            let waits = async || {
                let metrics = Request::get("/metrics").token(&admin).send(gateway.port).await;
                let text = metrics.text();
                text.lines()
                    .any(|line| line.contains("queue_depth{") && line.ends_with(" 1.0"))
            };
            while !waits().await {}
            rotated(&gateway, "laptop", 0).await
        };
        tokio::join!(laptop.request("tools/call", call), replace).0
    };

    let (_, denied) = tokio::join!(other.call("a_slow", "{}"), turned_away);
    other.call("a_x", "{}").await;

    assert_eq!(reason(&denied), "replaced");
    assert_eq!(fake.received_of("tools/call").len(), 2, "those of the other");
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_02_a_call_with_the_new_text_in_a_session_of_the_old_one_outlives_its_connection() {
    let fake = Fake::script().tool("x").delay("tools/call", 0.3).stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let first = made(&gateway, json!({ "name": "laptop" })).await;
    let mut client = Session::open(gateway.port, &first, "2025-11-25").await;
    client.token = rotated(&gateway, "laptop", 0).await;
    let call = client.post(r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"a_x"}}"#);
    let connection = call.start(gateway.port).await;
    fake.await_received("tools/call", 1).await;

    connection.reset();

    gateway.await_server("a", |server| server["inFlight"] == 0).await;
    // Whatever the server is told of the first one comes before the second.
    assert!(client.call("a_x", "{}").await["result"].is_object());
    assert!(fake.received_of("notifications/cancelled").is_empty());
}

//! What a token allows, and what nobody else may see (scopes, SEC-03, SEC-04, B37).

use mcpr_tests::client::{Session, Stateless};
use mcpr_tests::{Fake, gateway};
use serde_json::json;

use crate::{pairs, refusal};

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_reads_lists_everything_and_calls_nothing() {
    let fake = Fake::script()
        .tool("x")
        .with(r#"{"prompts":[{"name":"p"}],"resources":[{"uri":"file:///r","name":"r"}]}"#)
        .stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let token = gateway.another_token(&["read"]).await;
    let reader = Session::open(gateway.port, &token, "2025-11-25").await;
    for method in [
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
        "ping",
    ] {
        assert_eq!(reader.request(method, "{}").await.status(), 200, "{method}");
    }
    let calls = [
        ("tools/call", r#"{"name":"a_x"}"#),
        ("tools/call", r#"{"name":"none"}"#),
        ("prompts/get", r#"{"name":"a_p"}"#),
        ("resources/read", r#"{"uri":"resource://a/file:///r"}"#),
    ];
    for (method, params) in calls {
        let answer = reader.request(method, params).await;
        let (status, code, _) = refusal(&answer);
        assert_eq!((status, code), (403, -32603), "{method}");
        let error = &answer.message()["error"];
        assert!(
            error["message"].as_str().unwrap().contains("scope `call`"),
            "{error}"
        );
        assert_eq!(
            (&error["data"]["reason"], &error["data"]["retry"]),
            (&json!("forbidden"), &json!("no"))
        );
    }
    assert!(fake.received_of("tools/call").is_empty() && fake.received_of("prompts/get").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stateless_reader_is_told_the_same_and_may_listen() {
    let fake = Fake::script().tool("x").stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let reader = Stateless {
        port: gateway.port,
        token: gateway.another_token(&["read"]).await,
    };
    let answer = reader.request("tools/call", r#""name":"a_x""#, Some("a_x")).await;
    assert_eq!(refusal(&answer), (403, -32603, json!(1)));
    assert_eq!(reader.request("tools/list", "", None).await.status(), 200);
    let (head, _) = reader
        .begin("subscriptions/listen", r#""notifications":{}"#, None)
        .await;
    assert_eq!(head.status, 200);
    let caller = Stateless {
        port: gateway.port,
        token: gateway.another_token(&["call"]).await,
    };
    assert!(caller.call("a_x", "{}").await["result"].is_object());
    assert_eq!(
        caller.request("tools/list", "", None).await.status(),
        200,
        "who may call may read"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_03_a_session_of_somebody_else_reads_as_unknown_and_lives_on() {
    let gateway = gateway().ready().await;
    let owner = gateway.client().await;
    let mut thief = gateway.client().await;
    (thief.token, thief.id) = (gateway.another_token(&["admin"]).await, owner.id.clone());
    let mut stream = owner.stream().await;
    assert_eq!(refusal(&thief.request("ping", "{}").await).0, 404);
    for verb in ["GET", "DELETE"] {
        let request = thief
            .in_session(mcpr_tests::http::Request::new(verb, "/mcp").header("accept", "text/event-stream"));
        assert_eq!(refusal(&request.send(gateway.port).await).0, 404, "{verb}");
    }
    let cancel = thief
        .notify("notifications/cancelled", r#"{"requestId":1}"#)
        .await;
    assert_eq!(cancel.status(), 404);
    assert_eq!(owner.request("ping", "{}").await.status(), 200);
    gateway.operate("stop", json!({})).await;
    assert_eq!(
        stream.event().await,
        None,
        "the owner's stream lasted until the end"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trace_goes_on_at_the_server_with_a_span_of_the_gateway() {
    let (trace, span) = ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331");
    for (fake, gateway) in pairs::servers(|script| script.tool("x")).await {
        let client = gateway.client().await;
        for parent in [format!("00-{trace}-{span}-01"), "00-1".into()] {
            let meta = format!(r#"{{"traceparent":"{parent}","tracestate":"a=1"}}"#);
            let params = format!(r#"{{"name":"a_x","_meta":{meta}}}"#);
            client.request("tools/call", &params).await;
        }

        let received = fake.await_received("tools/call", 2).await;
        let (good, bad) = (received[0].params(), received[1].params());
        let parent = good["_meta"]["traceparent"].as_str().unwrap().to_owned();
        assert!(parent.starts_with(&format!("00-{trace}-")) && parent.ends_with("-01"));
        assert!(parent.len() == 55 && !parent.contains(span), "{parent}");
        assert_eq!(good["_meta"]["tracestate"], "a=1");
        assert!(bad["_meta"]["traceparent"].is_null() && bad["_meta"]["tracestate"].is_null());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trace_of_a_stateless_request_goes_on_too() {
    let (trace, span) = ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331");
    for (fake, gateway) in pairs::servers(|script| script.tool("x")).await {
        let client = gateway.stateless();
        let own = format!(r#""_meta":{{"traceparent":"00-{trace}-{span}-01","tracestate":"a=1","#);
        let text = client.text("1", "tools/call", r#""name":"a_x""#);
        let text = text.replace(r#""_meta":{"#, &own);
        client
            .post(&text, "tools/call", Some("a_x"))
            .send(gateway.port)
            .await;

        let told = fake.await_received("tools/call", 1).await[0].params()["_meta"].clone();
        let parent = told["traceparent"].as_str().unwrap_or_default();
        assert!(
            parent.starts_with(&format!("00-{trace}-")) && !parent.contains(span),
            "{told}"
        );
        assert_eq!(told["tracestate"], "a=1");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_04_token_cookies_and_our_own_meta_never_reach_a_server() {
    for (fake, gateway) in pairs::servers(|script| script.tool("x")).await {
        let message = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a_x","_meta":{
            "dev.mcpr/prefer":"s3cret","dev.\u006dcpr/x":"s3cret","token":"s3cret","projectId":"s3cret","baggage":"user=s3cret","example.com/x":1}}}"#;
        let project = json!({ "name": "s3cret", "servers": ["a"] });
        gateway.operate("projects/save", project).await;
        let client = gateway.client().await;
        let request = client
            .post(message)
            .header("cookie", "s3cret")
            .header("x-mcpr-project", "s3cret");
        let request = request
            .header("proxy-authorization", "s3cret")
            .header("x-api-key", "s3cret");
        assert!(request.send(gateway.port).await.message()["result"].is_object());
        let received = fake.await_received("tools/call", 1).await;
        assert_eq!(
            received[0].params()["_meta"]["example.com/x"],
            1,
            "what is not ours passes"
        );
        for message in fake.received() {
            let heads = message.http.iter().flat_map(|head| &head.headers);
            let all: String = heads
                .map(|(name, value)| format!("{name}: {value}\n"))
                .chain([message.text.clone()])
                .collect();
            assert!(
                !all.contains("s3cret") && !all.contains(&gateway.token) && !all.contains(&client.id),
                "{all}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b37_progress_and_answers_of_one_client_reach_no_other() {
    let fake = Fake::script().tool("x").with(r#"{"progress":{"count":3,"interval":0.01},"notify":[{"method":"notifications/tools/list_changed"}]}"#).stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let token = gateway.another_token(&["read", "call"]).await;
    let (caller, other) = (
        gateway.client().await,
        Session::open(gateway.port, &token, "2025-11-25").await,
    );
    let mut stream = other.stream().await;
    let answer = caller
        .request("tools/call", r#"{"name":"a_x","_meta":{"progressToken":7}}"#)
        .await;
    assert_eq!(answer.events().len(), 4);
    let first = stream.event().await.unwrap().message();
    assert_eq!(
        first["method"], "notifications/tools/list_changed",
        "which may go to all, came after the progress"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn b39_many_clients_use_the_same_id_at_once_and_each_gets_its_own_answer() {
    let fake = Fake::script().tool("x").delay("tools/call", 0.2).stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let calls = (0..20).map(|number| {
        let (stateless, port) = (gateway.stateless(), gateway.port);
        let params = format!(r#""name":"a_x","arguments":{{"n":{number}}}"#);
        let request = stateless.post(
            &stateless.text("1", "tools/call", &params),
            "tools/call",
            Some("a_x"),
        );
        tokio::spawn(async move { request.send(port).await.message() })
    });
    for (number, call) in calls.collect::<Vec<_>>().into_iter().enumerate() {
        let answer = call.await.unwrap();
        assert_eq!(
            (&answer["id"], &answer["result"]["content"][0]["text"]),
            (&json!(1), &json!(format!(r#"{{"n":{number}}}"#)))
        );
    }
    let ids: std::collections::HashSet<String> = fake
        .received_of("tools/call")
        .iter()
        .map(|call| call.message()["id"].to_string())
        .collect();
    assert_eq!(ids.len(), 20, "each has an id of its own at the server");
}

#[tokio::test(flavor = "multi_thread")]
async fn b39_two_sessions_may_use_the_same_ids_but_one_session_may_not() {
    let fake = Fake::script().tool("x").delay("tools/call", 0.8).stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let call = r#"{"jsonrpc":"2.0","id":"same","method":"tools/call","params":{"name":"a_x"}}"#;
    let (one, two) = (gateway.client().await, gateway.client().await);
    let send = |client: &Session| {
        let (request, port) = (client.post(call), gateway.port);
        tokio::spawn(async move { request.send(port).await })
    };
    let calls = [send(&one), send(&two)];
    fake.await_received("tools/call", 2).await;
    let again = one.post(call).send(gateway.port).await;
    assert_eq!(refusal(&again), (400, -32600, json!("same")));
    for call in calls {
        assert!(call.await.unwrap().message()["result"].is_object());
    }
    assert!(
        one.post(call).send(gateway.port).await.message()["result"].is_object(),
        "free again after the answer"
    );
}

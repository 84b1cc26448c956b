//! What a client of each era is told of a server's error (`protocol.md` 3, translation).

use mcpr_tests::{Fake, Gateway, Script, gateway};
use serde_json::{Value, json};

use crate::refusal;

/// A gateway before a server that answers calls of `x` and reads of anything with this error.
async fn failing(script: Script, error: &Value) -> (Fake, Gateway) {
    let resources = r#"{"resources":[{"uri":"file:///r","name":"r"}]}"#;
    let script = script
        .tool("x")
        .with(resources)
        .error("tools/call", error.clone())
        .error("resources/read", error.clone());
    let fake = script.http();
    let gateway = gateway().fake("a", &fake).ready().await;
    (fake, gateway)
}

/// Status and error of a call in a session and without one.
async fn told(gateway: &Gateway) -> [(u16, Value); 2] {
    let session = gateway
        .client()
        .await
        .request("tools/call", r#"{"name":"a_x"}"#)
        .await;
    let stateless = gateway
        .stateless()
        .request("tools/call", r#""name":"a_x""#, Some("a_x"))
        .await;
    [session, stateless].map(|answer| (refusal(&answer).0, answer.message()["error"].clone()))
}

#[tokio::test(flavor = "multi_thread")]
async fn standard_codes_and_a_server_s_own_pass_unchanged_to_both_eras() {
    for code in [-32602, -32603, -32600, -32700, 17, -1, -31999, -40000] {
        let error = json!({ "code": code, "message": "m", "data": { "a": [1], "name": "x" } });
        for script in [Fake::script(), Fake::script().with(r#"{"era":"stateless"}"#)] {
            let (_fake, gateway) = failing(script, &error).await;
            assert_eq!(
                told(&gateway).await,
                [(200, error.clone()), (200, error.clone())],
                "{code}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_method_that_the_server_does_not_have_is_404_in_the_stateless_era_alone() {
    let error = json!({ "code": -32601, "message": "m" });
    let (_fake, gateway) = failing(Fake::script(), &error).await;
    assert_eq!(told(&gateway).await, [(200, error.clone()), (404, error)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn codes_of_the_session_era_mean_nothing_to_a_stateless_client() {
    for code in [-32000, -32001, -32019, -32050, -32099] {
        let error = json!({ "code": code, "message": "m", "data": { "a": [1] } });
        let (_fake, gateway) = failing(Fake::script(), &error).await;
        let internal = json!({ "code": -32603, "message": "m", "data": { "upstreamCode": code, "upstreamData": { "a": [1] } } });
        assert_eq!(told(&gateway).await, [(200, error), (200, internal)], "{code}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_url_to_visit_is_named_to_clients_that_cannot_be_sent_there() {
    let visits = json!([{ "mode": "url", "elicitationId": "e", "url": "https://x.example/login", "message": "Log in" }]);
    let error = json!({ "code": -32042, "message": "sign in first", "data": { "elicitations": visits } });
    let (_fake, gateway) = failing(Fake::script(), &error).await;

    let text = "sign in first\nLog in: https://x.example/login";
    let told = json!({ "content": [{ "text": text, "type": "text" }], "isError": true });
    let called = gateway.client().await.call("a_x", "{}").await;
    assert_eq!(called["result"], told);
    let mut complete = told;
    complete["resultType"] = "complete".into();
    let modern = gateway.stateless().call("a_x", "{}").await;
    assert_eq!(modern["result"], complete);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_wrong_on_mcpr_s_own_hop_is_internal_to_both() {
    for code in [-32020, -32022] {
        let error = json!({ "code": code, "message": "m" });
        let (_fake, gateway) = failing(Fake::script().with(r#"{"era":"stateless"}"#), &error).await;
        let internal = json!({ "code": -32603, "message": "m", "data": { "upstreamCode": code } });
        assert_eq!(
            told(&gateway).await,
            [(200, internal.clone()), (200, internal)],
            "{code}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_capability_is_400_in_its_era_and_words_in_the_other() {
    let error = json!({ "code": -32021, "message": "needs a form", "data": { "requiredCapabilities": { "elicitation": {} } } });
    let (_fake, gateway) = failing(Fake::script().with(r#"{"era":"stateless"}"#), &error).await;
    let (client, stateless) = (gateway.client().await, gateway.stateless());
    let modern = stateless
        .request("tools/call", r#""name":"a_x""#, Some("a_x"))
        .await;
    assert_eq!((modern.status(), &modern.message()["error"]), (400, &error));
    let called = client.call("a_x", "{}").await;
    assert_eq!(
        (
            &called["result"]["isError"],
            &called["result"]["content"][0]["text"]
        ),
        (&json!(true), &json!("needs a form"))
    );
    let read = client
        .request("resources/read", r#"{"uri":"resource://a/file:///r"}"#)
        .await;
    assert_eq!((refusal(&read).0, refusal(&read).1), (200, -32603));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resource_that_the_server_does_not_find_has_the_code_of_the_client_s_era_and_its_uri() {
    let uri = "resource://a/file:///r";
    let named =
        |code: i64| json!({ "code": code, "message": "Resource not found", "data": { "uri": "file:///r" } });
    for (script, error) in [
        (Fake::script(), named(-32002)),
        (Fake::script().with(r#"{"era":"stateless"}"#), named(-32602)),
    ] {
        let (_fake, gateway) = failing(script, &error).await;
        let session = gateway
            .client()
            .await
            .request("resources/read", &json!({ "uri": uri }).to_string())
            .await;
        let stateless = gateway
            .stateless()
            .request("resources/read", &format!(r#""uri":"{uri}""#), Some(uri))
            .await;
        for (answer, code) in [(session, -32002), (stateless, -32602)] {
            assert_eq!((refusal(&answer).0, refusal(&answer).1), (200, code));
            assert_eq!(answer.message()["error"]["data"]["uri"], uri);
        }
    }
}

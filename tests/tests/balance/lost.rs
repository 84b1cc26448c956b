//! LB-04: a call that is lost at a backend is sent again only where that does no harm.

use mcpr_tests::{Fake, Script, gateway};
use serde_json::{Value, json};

use crate::{all_well, counts, entry, impatient, reason};

/// A server that has a tool with these hints, and ends at each call.
fn dying(hints: &Value) -> Script {
    with_hints(hints).with(r#"{"exit_on": ["tools/call", "resources/read"]}"#)
}

fn with_hints(hints: &Value) -> Script {
    let tool = json!({ "name": "t", "inputSchema": { "type": "object" }, "annotations": hints });
    let script = Fake::script().tool_entry(&tool.to_string());
    script.with(r#"{"resources": [{"uri":"memo:///a","name":"a"}]}"#)
}

/// A gateway before a server of which the first backend dies at each call.
async fn pair(hints: &Value, own: Value) -> ([Fake; 2], mcpr_tests::Gateway) {
    let fakes = [dying(hints).http(), with_hints(hints).http()];
    let gateway = gateway().server("api", entry(&fakes, own)).start().await;
    gateway.await_state("api", "ok").await;
    (fakes, gateway)
}

#[tokio::test(flavor = "multi_thread")]
async fn b54_a_call_without_hints_is_done_once_or_not_and_never_twice() {
    let (fakes, gateway) = pair(&json!({}), json!({})).await;
    let client = gateway.client().await;

    let lost = client.call("api_t", r#"{"order":1}"#).await;

    assert_eq!(
        (reason(&lost), &lost["error"]["data"]["retry"]),
        ("outcome_unknown", &json!("unsafe"))
    );
    let message = lost["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("`api`") && message.contains("whether it was done is not known"),
        "{message}"
    );
    assert_eq!(counts(&fakes), [1, 0]);
    assert!(
        all_well(&[client.call("api_t", r#"{"order":2}"#).await]),
        "other calls go on"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn lb_04_a_tool_that_only_reads_or_is_idempotent_is_called_again_elsewhere() {
    for hints in [json!({ "readOnlyHint": true }), json!({ "idempotentHint": true })] {
        let (fakes, gateway) = pair(&hints, json!({})).await;
        let client = gateway.client().await;

        let answer = client.call("api_t", r#"{"n":1}"#).await;

        assert!(all_well(std::slice::from_ref(&answer)), "{hints}: {answer}");
        assert_eq!(counts(&fakes), [1, 1]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lb_04_retry_never_leaves_even_reads_alone() {
    let own = json!({ "retry": "never" });
    let (fakes, gateway) = pair(&json!({ "readOnlyHint": true }), own).await;
    let client = gateway.client().await;

    assert_eq!(reason(&client.call("api_t", "{}").await), "outcome_unknown");

    assert_eq!(counts(&fakes), [1, 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn lb_04_a_resource_is_read_again_elsewhere() {
    let (fakes, gateway) = pair(&json!({}), json!({})).await;
    let client = gateway.client().await;

    let answer = client
        .request("resources/read", r#"{"uri":"memo:///a"}"#)
        .await
        .message();

    assert!(answer["result"]["contents"].is_array(), "{answer}");
    let reads = fakes
        .each_ref()
        .map(|fake| fake.received_of("resources/read").len());
    assert_eq!(reads, [1, 1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn lb_04_a_server_with_one_process_repeats_a_read_once_it_is_back() {
    let hints = json!({ "readOnlyHint": true });
    let fake = with_hints(&hints).with(r#"{"exit_after": 8}"#).stdio();
    let gateway = gateway().fake_with("git", &fake, impatient()).ready().await;
    let client = gateway.client().await;

    let answers = crate::call_often(&client, "git_t", 12).await;

    assert!(all_well(&answers), "{answers:?}");
    let server = gateway.server("git").await;
    assert!(
        server["starts"].as_u64() >= Some(3),
        "it died several times: {server}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn lb_04_what_dies_everywhere_ends_with_an_unknown_outcome_after_a_few_attempts() {
    let hints = json!({ "readOnlyHint": true });
    let fakes = [
        dying(&hints).http(),
        dying(&hints).http(),
        dying(&hints).http(),
        dying(&hints).http(),
    ];
    let gateway = gateway().server("api", entry(&fakes, json!({}))).start().await;
    gateway.await_state("api", "ok").await;
    let client = gateway.client().await;

    let answer = client.call("api_t", "{}").await;

    assert_eq!(reason(&answer), "outcome_unknown");
    assert_eq!(counts(&fakes).iter().sum::<usize>(), 3, "once, and twice more");
}

#[tokio::test(flavor = "multi_thread")]
async fn lb_04_a_call_that_has_asked_its_client_something_is_not_repeated() {
    let hints = json!({ "readOnlyHint": true });
    let params = json!({ "message": "?", "requestedSchema": { "type": "object", "properties": {} } });
    let interview = json!({ "rounds": [[{ "method": "elicitation/create", "params": params }]] });
    let script = || with_hints(&hints).interview(interview.clone());
    let fakes = [script().http(), script().http()];
    let gateway = gateway().server("api", entry(&fakes, json!({}))).start().await;
    gateway.await_state("api", "ok").await;
    let client = gateway
        .client_with("2025-11-25", &json!({ "elicitation": { "form": {} } }))
        .await;

    let (_, mut answer) = client.begin("tools/call", r#"{"name":"api_t"}"#).await;
    answer
        .message(|message| message["method"] == "elicitation/create")
        .await
        .expect("a question");
    fakes.iter().for_each(|fake| fake.kill());

    let answer = answer
        .message(|message| message["error"].is_object())
        .await
        .expect("an answer");
    assert_eq!(reason(&answer), "outcome_unknown");
    assert_eq!(counts(&fakes).iter().sum::<usize>(), 1);
}

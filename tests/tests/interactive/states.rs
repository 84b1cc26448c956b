//! What clients hold for the gateway is good for one caller and one request, and nothing else (SEC-03).

use mcpr_tests::talk::{Able, Saying, Talk, call};
use mcpr_tests::{Fake, Gateway, gateway};
use serde_json::{Value, json};

use crate::pairs::{NAME, asks, echo, forms};

/// A server of the session era that asks, one of the stateless era that asks, and a client of each
/// whose call waits.
struct Waiting {
    _fakes: [Fake; 2],
    gateway: Gateway,
    able: Able,
    held: Talk,
    wrapped: Talk,
}

const ARGUMENTS: &str = r#"{"n":1}"#;

async fn waiting() -> Waiting {
    let script = || asks("elicitation/create", NAME).with(r#"{"prompts":[{"name":"ask"}]}"#);
    let fakes = [script().stdio(), script().with(r#"{"era":"stateless"}"#).stdio()];
    let gateway = gateway().fake("a", &fakes[0]).fake("b", &fakes[1]).ready().await;
    let able = gateway.able(&forms());
    Waiting {
        held: able.call("a_ask", ARGUMENTS, "").await,
        wrapped: able.call("b_ask", ARGUMENTS, "").await,
        _fakes: fakes,
        gateway,
        able,
    }
}

impl Waiting {
    /// Both calls, with the names of their tools.
    fn both(&self) -> [(&'static str, &Talk); 2] {
        [("a_ask", &self.held), ("b_ask", &self.wrapped)]
    }

    /// Both calls can still be finished.
    async fn go_on(&self) {
        for (tool, talk) in self.both() {
            let done = self.able.call(tool, ARGUMENTS, &brought(talk)).await;
            assert!(done.text().contains("name for"), "{done:?}");
        }
    }
}

/// What is brought by a client that answers.
fn brought(talk: &Talk) -> String {
    let answers = talk.questions.iter().map(|question| match echo(question) {
        Saying::Result(text) => (question.key.clone(), text),
        other => panic!("{other:?}"),
    });
    talk.retry(&answers.collect::<Vec<_>>())
}

fn state(talk: &Talk) -> String {
    serde_json::from_str(&talk.state().unwrap()).unwrap()
}

fn refused(talk: &Talk) {
    let message = talk.message();
    assert_eq!(message["error"]["code"], -32602, "{message}");
    assert!(
        message["error"]["message"]
            .as_str()
            .unwrap()
            .contains("requestState"),
        "{message}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_03_a_state_that_was_tampered_with_is_refused() {
    let waiting = waiting().await;
    for (tool, talk) in waiting.both() {
        let good = state(talk);
        let mut turned = good.clone().into_bytes();
        let middle = turned.len() / 2;
        turned[middle] = if turned[middle] == b'A' { b'B' } else { b'A' };
        let turned = String::from_utf8(turned).unwrap();
        for bad in [&good[1..], &turned, &format!("{good}A"), "", "state-1"] {
            let bad = brought(talk).replace(&good, bad);
            refused(&waiting.able.call(tool, ARGUMENTS, &bad).await);
        }
        let number = brought(talk).replace(&format!("\"{good}\""), "7");
        assert_eq!(waiting.able.call(tool, ARGUMENTS, &number).await.code(), -32602);
    }
    waiting.go_on().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_03_a_state_is_good_for_its_own_principal_only() {
    let waiting = waiting().await;
    let mut other = waiting.able.clone();
    other.client.token = waiting.gateway.another_token(&["read", "call"]).await;
    for (tool, talk) in waiting.both() {
        let theirs = other.call(tool, ARGUMENTS, "").await;
        refused(&other.call(tool, ARGUMENTS, &brought(talk)).await);
        refused(&waiting.able.call(tool, ARGUMENTS, &brought(&theirs)).await);
        let done = other.call(tool, ARGUMENTS, &brought(&theirs)).await;
        assert!(done.text().contains("name for"), "{done:?}");
    }
    waiting.go_on().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_03_a_state_is_good_for_its_own_request_only() {
    let waiting = waiting().await;
    for (tool, talk) in waiting.both() {
        let other = tool.replace("ask", "plain");
        refused(&waiting.able.call(&other, ARGUMENTS, &brought(talk)).await);
        for arguments in [r#"{"n":2}"#, r#"{"n":"1"}"#, r#"{"n":1,"m":1}"#, "{}"] {
            refused(&waiting.able.call(tool, arguments, &brought(talk)).await);
        }
        let params = format!("{}{}", call(tool, ARGUMENTS), brought(talk));
        refused(&Talk::of(&waiting.able.ask("prompts/get", &params).await));
    }
    let crossed = brought(&waiting.held).replace(&state(&waiting.held), &state(&waiting.wrapped));
    refused(&waiting.able.call("a_ask", ARGUMENTS, &crossed).await);
    waiting.go_on().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_03_the_state_of_a_call_that_waits_is_good_once() {
    let waiting = waiting().await;
    waiting.go_on().await;
    let again = waiting
        .able
        .call("a_ask", ARGUMENTS, &brought(&waiting.held))
        .await;
    refused(&again);
    // A stateless server keeps its own count: that one passes.
    let passed = waiting
        .able
        .call("b_ask", ARGUMENTS, &brought(&waiting.wrapped))
        .await;
    assert!(passed.text().contains("name for"));
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_03_two_who_come_back_at_once_are_one() {
    let waiting = waiting().await;
    let retry = brought(&waiting.held);
    let (one, two) = tokio::join!(
        waiting.able.call("a_ask", ARGUMENTS, &retry),
        waiting.able.call("a_ask", ARGUMENTS, &retry),
    );
    let refusals = [&one, &two].map(|talk| talk.message()["error"].is_object());
    assert!(refusals[0] != refusals[1], "{one:?} {two:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_says_nothing_of_the_server() {
    let waiting = waiting().await;
    for (_, talk) in waiting.both() {
        let text = state(talk);
        assert!(
            text.bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
        );
        assert!(!text.contains("round") && !text.contains("said"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_restart_a_state_that_only_the_server_knows_still_holds() {
    let waiting = waiting().await;
    let [held, wrapped] = &waiting._fakes;
    let again = gateway()
        .at_home_of(&waiting.gateway)
        .fake("a", held)
        .fake("b", wrapped)
        .ready()
        .await;
    // The same call waits there under the same number.
    let mut able = waiting.able.clone();
    able.client.port = again.port;
    let fresh = able.call("a_ask", ARGUMENTS, "").await;
    refused(&able.call("a_ask", ARGUMENTS, &brought(&waiting.held)).await);
    let passed = able.call("b_ask", ARGUMENTS, &brought(&waiting.wrapped)).await;
    assert!(passed.text().contains("name for"));
    let done = able.call("a_ask", ARGUMENTS, &brought(&fresh)).await;
    assert!(done.text().contains("name for"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retry_without_what_was_given_is_a_first_call() {
    let waiting = waiting().await;
    for nothing in [
        "",
        r#","inputResponses":null,"requestState":null"#,
        r#","inputResponses":{}"#,
    ] {
        for (tool, _) in waiting.both() {
            let talk = waiting.able.call(tool, ARGUMENTS, nothing).await;
            assert!(talk.needs_more(), "{tool}{nothing}: {talk:?}");
        }
    }
    let message: Value = waiting.held.message();
    assert_eq!(message["result"]["resultType"], json!("input_required"));
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_03_a_state_is_no_task_and_a_task_no_state() {
    let asks = r#"{"resultType":"input_required","requestState":"s"}"#;
    let script = Fake::script()
        .tool("work")
        .tool("ask")
        .raw("tools/call:ask", asks);
    let fake = script.with(r#"{"era":"stateless","tasks":{}}"#).stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let able = gateway.able(&json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } }));
    let task = able.call("a_work", ARGUMENTS, "").await.message()["result"]["taskId"].to_string();
    let state = able.call("a_ask", "{}", "").await.state().unwrap();

    let asked = able.ask("tasks/get", &format!("\"taskId\":{state}")).await;
    assert_eq!(Talk::of(&asked).code(), -32602);
    refused(
        &able
            .call("a_work", ARGUMENTS, &format!(",\"requestState\":{task}"))
            .await,
    );
}

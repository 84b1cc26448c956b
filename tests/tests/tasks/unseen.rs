//! Stateless servers that take a call only as a task, and clients of the session era, which have no
//! tasks: they see a call like any other.

use mcpr_tests::Received;
use mcpr_tests::talk::{Question, Saying};
use serde_json::{Value, json};

use crate::place::{FIRST, Place, before, knows_tasks, never, place_with, working};

const CALL: &str = r#"{"name":"a_work","arguments":{"n":1}}"#;

/// What the server was told of the client's capabilities, call by call.
fn declared(place: &Place) -> Vec<Value> {
    let calls = place.fake.received_of("tools/call").into_iter();
    let told = calls.map(|call| call.params()["_meta"]["io.modelcontextprotocol/clientCapabilities"].clone());
    told.collect()
}

fn form() -> Value {
    json!({ "method": "elicitation/create", "params": { "message": "{args}?", "requestedSchema": { "type": "object", "properties": {} } } })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_must_be_a_task_is_answered_like_any_other() {
    for place in before(|| working(&json!({ "polls": 3 }))).await {
        let client = place.gateway.client().await;

        let answer = client.request("tools/call", CALL).await;

        let result = answer.message()["result"].clone();
        assert_eq!(
            result,
            json!({ "content": [{ "type": "text", "text": r#"{"n":1}"# }] })
        );
        assert_eq!(
            declared(&place),
            [json!({}), knows_tasks()],
            "only once the server has asked for it"
        );
        let looks = place.fake.received_of("tasks/get");
        assert_eq!(looks.len(), 4);
        assert!(looks.iter().all(|look| look.params()["taskId"] == FIRST));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_asked_as_often_as_it_wants() {
    for place in before(|| working(&json!({ "polls": 2, "interval": 200 }))).await {
        place.gateway.client().await.request("tools/call", CALL).await;
        let looks: Vec<Received> = place.fake.received_of("tasks/get");
        let pauses = looks.windows(2).map(|two| two[1].at - two[0].at);
        assert!(
            pauses.clone().all(|pause| (0.19..1.0).contains(&pause)),
            "{:?}",
            pauses.collect::<Vec<_>>()
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_task_asks_reaches_the_client_once_and_the_answer_the_task() {
    for place in
        before(|| working(&json!({ "asks": [form(), { "method": "roots/list" }], "linger": 3 }))).await
    {
        let capabilities = json!({ "elicitation": {}, "roots": {} });
        let client = place.gateway.client_with("2025-11-25", &capabilities).await;
        let say = |question: &Question| match question.method.as_str() {
            "roots/list" => Saying::Result(r#"{"roots":[],"_meta":{"x":1}}"#.to_owned()),
            _ => Saying::Result(r#"{ "action":"accept","content":{"n":1.0} }"#.to_owned()),
        };

        let talk = client.converse("tools/call", CALL, say).await;

        assert_eq!(talk.questions.len(), 2, "{talk:?}");
        assert!(talk.questions[0].params.contains(r#"{\"n\":1}?"#), "{talk:?}");
        assert_eq!(
            talk.text(),
            r#"{"t0":{ "action":"accept","content":{"n":1.0} },"t1":{"roots":[]}}"#
        );
        let update = place.fake.received_of("tasks/update");
        assert_eq!((update.len(), &update[0].params()["taskId"]), (1, &json!(FIRST)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_client_cannot_be_asked_is_declined_for_it() {
    for place in before(|| working(&json!({ "asks": [form()] }))).await {
        let client = place.gateway.client().await;
        let talk = client.converse("tools/call", CALL, never).await;
        assert_eq!(talk.text(), r#"{"t0":{"action":"cancel"}}"#);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_refuses_to_sample_ends_the_task() {
    let ask = json!({ "method": "sampling/createMessage", "params": { "messages": [], "maxTokens": 1 } });
    for place in before(|| working(&json!({ "asks": [ask] }))).await {
        let client = place
            .gateway
            .client_with("2025-11-25", &json!({ "sampling": {} }))
            .await;
        let refuse = |_: &Question| Saying::Error(r#"{"code":-1,"message":"no"}"#.to_owned());

        let talk = client.converse("tools/call", CALL, refuse).await;

        assert_eq!(talk.message()["result"]["isError"], true, "{talk:?}");
        assert_eq!(
            place.fake.await_received("tasks/cancel", 1).await[0].params()["taskId"],
            FIRST
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_fails_fails_the_call() {
    let error = json!({ "code": -32001, "message": "the disk is full", "data": { "x": 1 } });
    for place in before(|| working(&json!({ "error": error }))).await {
        let answer = place.gateway.client().await.request("tools/call", CALL).await;
        assert_eq!(
            answer.message()["error"],
            error,
            "as an error of the call itself would pass"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_the_server_gives_up_fails_the_call() {
    for place in before(|| working(&json!({ "gives_up": true }))).await {
        let answer = place
            .gateway
            .client()
            .await
            .request("tools/call", CALL)
            .await
            .message();
        let error = &answer["error"];
        assert_eq!(error["code"], -32603, "{answer}");
        assert!(
            error["message"].as_str().unwrap().contains("gave the task up"),
            "{answer}"
        );
        assert!(place.fake.received_of("tasks/cancel").is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_cancelled_cancels_its_task() {
    for place in before(|| working(&json!({ "held": true }))).await {
        let client = place.gateway.client().await;
        let text = client.text("tools/call", CALL);
        let id: Value = serde_json::from_str::<Value>(&text).unwrap()["id"].clone();
        let mut connection = client.post(&text).start(client.port).await;
        place.fake.await_received("tasks/get", 1).await;

        client
            .notify("notifications/cancelled", &json!({ "requestId": id }).to_string())
            .await;

        assert_eq!(
            place.fake.await_received("tasks/cancel", 1).await[0].params()["taskId"],
            FIRST
        );
        assert_eq!(connection.answer().await.events(), [], "no answer any more");
        let looks = place.fake.received_of("tasks/get").len();
        client.call("a_plain", "{}").await;
        assert!(
            place.fake.received_of("tasks/get").len() <= looks + 1,
            "and nobody looks any more"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_cancelled_while_its_task_asks_cancels_the_task() {
    for place in before(|| working(&json!({ "asks": [form()] }))).await {
        let client = place
            .gateway
            .client_with("2025-11-25", &json!({ "elicitation": {} }))
            .await;
        let text = client.text("tools/call", CALL);
        let id = serde_json::from_str::<Value>(&text).unwrap()["id"].clone();
        let (_, mut connection) = client.post(&text).open(client.port).await;
        let asked = connection
            .message(|message| message["method"] == "elicitation/create")
            .await
            .unwrap();

        client
            .notify("notifications/cancelled", &json!({ "requestId": id }).to_string())
            .await;

        let withdrawn = connection.message(|message| !message.is_null()).await.unwrap();
        assert_eq!(withdrawn["params"]["requestId"], asked["id"], "{withdrawn}");
        place.fake.await_received("tasks/cancel", 1).await;
        assert!(place.fake.received_of("tasks/update").is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn http_05_a_task_that_takes_too_long_is_cancelled() {
    for script in [
        working(&json!({ "held": true })).stdio(),
        working(&json!({ "held": true })).http(),
    ] {
        let place = place_with(script, json!({ "timeouts": { "call": "300ms" } })).await;
        let answer = place
            .gateway
            .client()
            .await
            .request("tools/call", CALL)
            .await
            .message();
        assert_eq!(answer["error"]["data"]["reason"], "timeout", "{answer}");
        place.fake.await_received("tasks/cancel", 1).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn http_05_a_server_that_says_how_its_task_stands_is_not_silent() {
    let slow = json!({ "polls": 8, "interval": 100 });
    for fake in [working(&slow).stdio(), working(&slow).http()] {
        let place = place_with(fake, json!({ "timeouts": { "silence": "400ms" } })).await;
        let answer = place
            .gateway
            .client()
            .await
            .request("tools/call", CALL)
            .await
            .message();
        assert!(answer["result"].is_object(), "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_look_that_fails_is_made_again() {
    let mask = json!({ "status": 503, "body": "busy", "on": "tasks/get", "times": 2 });
    let place = crate::place::place(working(&json!({ "polls": 1 })).set("mask", mask).http()).await;

    let answer = place
        .gateway
        .client()
        .await
        .request("tools/call", CALL)
        .await
        .message();

    assert!(answer["result"].is_object(), "{answer}");
    assert_eq!(place.fake.received_of("tasks/get").len(), 4);
    assert_eq!(
        place.fake.received_of("tools/call").len(),
        2,
        "the call itself is never made again"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_has_forgotten_its_task_fails_the_call() {
    let place = crate::place::place(working(&json!({ "held": true })).http()).await;
    let client = place.gateway.client().await;
    let mut connection = client
        .post(&client.text("tools/call", CALL))
        .start(client.port)
        .await;
    place.fake.await_received("tasks/get", 1).await;

    place.fake.restart();

    let answer = connection.answer().await.message();
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("Unknown task"),
        "{answer}"
    );
    assert_eq!(place.fake.received_of("tools/call").len(), 2);
}

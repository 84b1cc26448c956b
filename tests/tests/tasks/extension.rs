//! Tasks between clients and servers that both know them.

use std::time::Duration;

use mcpr_tests::{Fake, gateway, raw, wait_for};
use serde_json::json;

use crate::place::{FIRST, about, before, begin, get, knows_tasks, place, stands, text_of, working};

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_asked_for_under_the_clients_id_at_the_server_under_its_own() {
    for place in before(|| working(&json!({ "polls": 1 }))).await {
        let (client, id) = place.begun(r#"{"n":1}"#).await;
        let working = get(&client, &id).await["result"].clone();
        assert_eq!(
            (&working["taskId"], &working["status"]),
            (&json!(id), &json!("working"))
        );

        let done = get(&client, &id).await["result"].clone();

        assert_eq!(
            (&done["taskId"], &done["resultType"]),
            (&json!(id), &json!("complete"))
        );
        assert_eq!(text_of(&done["result"]), r#"{"n":1}"#);
        for asked in place.fake.received_of("tasks/get") {
            assert_eq!(
                asked.params()["taskId"],
                FIRST,
                "and a strict server compares Mcp-Name with it"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_asks_in_its_state_and_is_told_with_an_update() {
    let ask =
        json!({ "method": "elicitation/create", "params": { "message": "{args}?", "requestedSchema": {} } });
    for place in before(|| working(&json!({ "asks": [ask] }))).await {
        let (client, id) = place.begun(r#"{"n":1}"#).await;
        let asks = get(&client, &id).await["result"].clone();
        assert_eq!(
            asks["inputRequests"]["t0"]["params"]["message"], r#"{"n":1}?"#,
            "{asks}"
        );

        let answers = r#"{"t0":{"action":"accept","content":{"n":1E400}}}"#;
        let update = format!(r#"{},"inputResponses":{answers}"#, about(&id));
        let told = client.ask("tasks/update", &update).await.message();

        assert_eq!(
            told["result"],
            json!({ "resultType": "complete" }),
            "an acknowledgement, no more"
        );
        let received = place.fake.received_of("tasks/update").remove(0);
        assert_eq!(
            raw::member(&received.text, &["params", "taskId"]),
            json!(FIRST).to_string()
        );
        assert_eq!(
            raw::member(&received.text, &["params", "inputResponses"]),
            answers
        );
        assert_eq!(
            text_of(&stands(&client, &id, "completed").await["result"]),
            answers
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_is_cancelled_says_so_under_the_clients_id() {
    for place in before(|| working(&json!({ "held": true }))).await {
        let (client, id) = place.begun("{}").await;

        let told = client.ask("tasks/cancel", &about(&id)).await.message();

        assert_eq!(told["result"], json!({ "resultType": "complete" }));
        assert_eq!(stands(&client, &id, "cancelled").await["taskId"], id);
        assert_eq!(
            place.fake.received_of("tasks/cancel")[0].params()["taskId"],
            FIRST
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_of_equal_ids_belong_to_their_servers() {
    let (a, b) = (working(&json!({})).stdio(), working(&json!({})).http());
    let gateway = gateway().fake("a", &a).fake("b", &b).ready().await;
    let client = gateway.able(&knows_tasks());
    let first = begin(&client, "a_work", r#"{"at":"a"}"#).await;
    let second = begin(&client, "b_work", r#"{"at":"b"}"#).await;

    for (id, arguments) in [(&second, r#"{"at":"b"}"#), (&first, r#"{"at":"a"}"#)] {
        let task = get(&client, id).await;
        assert_eq!(text_of(&task["result"]["result"]), arguments);
    }
    for fake in [a, b] {
        assert_eq!(fake.received_of("tasks/get")[0].params()["taskId"], FIRST);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_09_what_a_task_has_brought_names_resources_as_clients_know_them() {
    let result = json!({ "content": [
        { "type": "resource_link", "name": "n", "uri": "memo:///a" },
        { "type": "resource", "resource": { "uri": "memo:///b", "text": "t" } },
        { "type": "resource_link", "name": "n", "uri": "ui://app" },
    ] });
    for place in before(|| working(&json!({ "result": result }))).await {
        let (client, id) = place.begun("{}").await;

        let content = get(&client, &id).await["result"]["result"]["content"].clone();

        assert_eq!(content[0]["uri"], "resource://a/memo:///a", "{content}");
        assert_eq!(content[1]["resource"]["uri"], "resource://a/memo:///b");
        assert_eq!(content[2]["uri"], "ui://app");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_task_ends_with_stays_byte_for_byte() {
    let result = r#"{ "content":[],"structuredContent":{"n":1E400,"h":123456789012345678901234567890}}"#;
    let tasks = format!(r#"{{"tasks":{{"on":["tools/call:work"],"result":{result}}}}}"#);
    for place in before(|| working(&json!({})).with(&tasks)).await {
        let (client, id) = place.begun("{}").await;
        let answer = client.ask("tasks/get", &about(&id)).await;
        assert_eq!(answer.raw(&["result", "result"]), result);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_fails_brings_its_error() {
    let error = json!({ "code": -32602, "message": "no such thing", "data": { "uri": "memo:///a" } });
    for place in before(|| working(&json!({ "error": error }))).await {
        let (client, id) = place.begun("{}").await;
        let failed = stands(&client, &id, "failed").await;
        assert_eq!(
            failed["error"],
            json!({ "code": -32602, "message": "no such thing", "data": { "uri": "resource://a/memo:///a" } })
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_told_that_a_client_knows_tasks_if_it_does_and_only_then() {
    for place in before(|| working(&json!({}))).await {
        place.begun("{}").await;
        place.gateway.stateless().call("a_plain", "{}").await;
        place.gateway.client().await.call("a_plain", "{}").await;

        let calls = place.fake.received_of("tools/call");
        let declared = calls
            .iter()
            .map(|call| call.params()["_meta"]["io.modelcontextprotocol/clientCapabilities"].clone());
        assert_eq!(
            declared.collect::<Vec<_>>(),
            [knows_tasks(), json!({}), json!({})]
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_are_announced_while_a_server_has_them() {
    let extensions = async |gateway: &mcpr_tests::Gateway| {
        let discovered = gateway
            .stateless()
            .request("server/discover", "", None)
            .await
            .message();
        discovered["result"]["capabilities"]["extensions"].clone()
    };
    let fake = working(&json!({})).http();
    let place = place(fake).await;
    assert_eq!(extensions(&place.gateway).await, knows_tasks()["extensions"]);
    let session = place.gateway.client().await;
    assert!(
        session.welcome["capabilities"]["extensions"].is_null(),
        "{}",
        session.welcome
    );

    place
        .fake
        .rescript(Fake::script().tool("plain").set("era", json!("stateless")));
    place.fake.restart();
    place.gateway.stateless().call("a_plain", "{}").await;

    wait_for(Duration::from_secs(10), "no extension", async || {
        place.gateway.stateless().call("a_plain", "{}").await;
        extensions(&place.gateway).await.is_null().then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_has_no_methods_for_tasks() {
    let place = place(working(&json!({})).http()).await;
    let (_, id) = place.begun("{}").await;
    let session = place.gateway.client().await;
    for method in [
        "tasks/get",
        "tasks/update",
        "tasks/cancel",
        "tasks/result",
        "tasks/list",
    ] {
        let answer = session
            .request(method, &format!("{{{}}}", about(&id)))
            .await
            .message();
        assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
    }
}

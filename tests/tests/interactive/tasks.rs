//! Tasks of stateless servers (extension `io.modelcontextprotocol/tasks`): the client has ids that
//! only it can use, the server sees its own.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcpr_tests::talk::{Able, Talk};
use mcpr_tests::{Fake, Received, Script};
use serde_json::{Value, json};

use crate::pairs::{Place, stateless};

const ARGUMENTS: &str = r#"{"n":1}"#;

fn knows_tasks() -> Value {
    json!({ "extensions": { "io.modelcontextprotocol/tasks": {} }, "elicitation": {} })
}

fn at_work() -> Script {
    Fake::script().tool("work").set("tasks", json!({ "polls": 1 }))
}

/// A task before each stateless server, under the id that the client has.
async fn tasks(script: impl Fn() -> Script) -> Vec<(Place, Able, String)> {
    let mut all = Vec::new();
    for place in stateless(script).await {
        let able = place.gateway.able(&knows_tasks());
        let talk = able.call("a_work", ARGUMENTS, "").await;
        let result = talk.message()["result"].clone();
        assert_eq!((&result["resultType"], &result["status"]), (&json!("task"), &json!("working")));
        all.push((place, able, result["taskId"].as_str().unwrap().to_owned()));
    }
    all
}

/// Asks something about a task.
async fn ask(able: &Able, method: &str, id: &str, more: &str) -> (u16, Value) {
    let params = format!(r#""taskId":{}{more}"#, json!(id));
    let answer = able.ask(method, &params).await;
    (answer.status(), Talk::of(&answer).message())
}

/// The id that the server knows, in the body and in the header.
fn ids(received: &Received) -> (String, Option<String>) {
    let body = received.params()["taskId"].as_str().unwrap().to_owned();
    let decoded = |value: &str| {
        let inner = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
        inner.map_or(value.to_owned(), |inner| String::from_utf8(STANDARD.decode(inner).unwrap()).unwrap())
    };
    (body, received.header("mcp-name").first().map(|value| decoded(value)))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_followed_to_its_end_under_the_clients_id() {
    for (place, able, id) in tasks(at_work).await {
        let (_, working) = ask(&able, "tasks/get", &id, "").await;
        let (_, done) = ask(&able, "tasks/get", &id, "").await;
        assert_eq!((&working["result"]["status"], &working["result"]["taskId"]), (&json!("working"), &json!(id)));
        assert_eq!((&done["result"]["status"], &done["result"]["taskId"]), (&json!("completed"), &json!(id)));
        assert_eq!(done["result"]["result"]["content"][0]["text"], ARGUMENTS);
        for received in place.fake.received_of("tasks/get") {
            let (body, header) = ids(&received);
            assert_eq!(body, r#"task/1 "é""#);
            assert!(header.is_none_or(|header| header == body));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_task_asks_and_is_answered_passes() {
    let script = || {
        let ask = json!({ "method": "elicitation/create", "params": { "message": "{args}" } });
        Fake::script().tool("work").set("tasks", json!({ "asks": [ask] }))
    };
    for (place, able, id) in tasks(script).await {
        let (_, asked) = ask(&able, "tasks/get", &id, "").await;
        let question = &asked["result"]["inputRequests"]["t0"];
        assert_eq!(question["params"]["message"], ARGUMENTS, "{asked}");
        let said = r#""inputResponses":{"t0":{"action":"accept","content":{"n":1.0}}}"#;
        let (_, ack) = ask(&able, "tasks/update", &id, &format!(",{said}")).await;
        assert_eq!(ack["result"]["resultType"], "complete", "{ack}");
        let update = &place.fake.received_of("tasks/update")[0];
        assert!(update.text.contains(said) && ids(update).0 == r#"task/1 "é""#);
        let (_, done) = ask(&able, "tasks/get", &id, "").await;
        assert_eq!(done["result"]["status"], "completed");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_cancelled_by_its_own_client() {
    for (place, able, id) in tasks(at_work).await {
        let (_, ack) = ask(&able, "tasks/cancel", &id, "").await;
        assert_eq!(ack["result"]["resultType"], "complete", "{ack}");
        assert_eq!(ids(&place.fake.received_of("tasks/cancel")[0]).0, r#"task/1 "é""#);
        let (_, gone) = ask(&able, "tasks/get", &id, "").await;
        assert_eq!(gone["result"]["status"], "cancelled");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_03_a_task_of_somebody_else_is_unknown() {
    for (place, able, id) in tasks(at_work).await {
        let mut stranger = able.clone();
        stranger.client.token = place.gateway.another_token(&["read", "call"]).await;
        let turned = format!("{}x", &id[..id.len() - 1]);
        for (who, id) in [(&stranger, id.as_str()), (&able, &turned), (&able, r#"task/1 "é""#), (&able, "")] {
            for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
                let (_, refused) = ask(who, method, id, "").await;
                assert_eq!(refused["error"]["code"], -32602, "{id}: {refused}");
            }
        }
        assert!(place.fake.received().iter().all(|received| !received.text.contains("\"tasks/")));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_03_a_state_is_no_task_and_a_task_no_state() {
    for (place, able, id) in tasks(|| at_work().tool("ask").raw("tools/call:ask", r#"{"resultType":"input_required","requestState":"s"}"#)).await {
        let asked = able.call("a_ask", "{}", "").await;
        let state: String = serde_json::from_str(&asked.state().unwrap()).unwrap();
        assert_eq!(ask(&able, "tasks/get", &state, "").await.1["error"]["code"], -32602);
        let crossed = format!(r#","requestState":{}"#, json!(id));
        assert_eq!(able.call("a_work", ARGUMENTS, &crossed).await.code(), -32602);
        drop(place);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_declare_tasks_gets_none_and_may_ask_for_none() {
    for (place, _, id) in tasks(at_work).await {
        let plain = place.gateway.able(&json!({}));
        let (status, refused) = ask(&plain, "tasks/get", &id, "").await;
        let required = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
        assert_eq!((status, &refused["error"]["code"]), (400, &json!(-32021)), "{refused}");
        assert_eq!(refused["error"]["data"]["requiredCapabilities"], required);

        let call = plain.ask("tools/call", r#""name":"a_work","arguments":{}"#).await;
        assert_eq!((call.status(), &call.message()["error"]["code"]), (400, &json!(-32021)));
        let told = &place.fake.received_of("tools/call")[1].params()["_meta"];
        assert_eq!(told["io.modelcontextprotocol/clientCapabilities"], json!({}));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_servers_own_error_about_a_task_passes() {
    for (place, able, id) in tasks(|| at_work().error("tasks/get", json!({ "code": -32602, "message": "gone" }))).await {
        let (_, gone) = ask(&able, "tasks/get", &id, "").await;
        assert_eq!(gone["error"], json!({ "code": -32602, "message": "gone" }));
        drop(place);
    }
}

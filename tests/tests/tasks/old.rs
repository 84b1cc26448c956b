//! Tools that a server of 2025-11-25 runs only as tasks: clients of both eras call them like any
//! other tool.

use mcpr_tests::client::Session;
use mcpr_tests::talk::{Peer, Question, Saying};
use mcpr_tests::{Fake, Script};
use serde_json::{Value, json};

use crate::place::{Place, never, place};

const RELATED: &str = "io.modelcontextprotocol/related-task";

/// A tool with this support of tasks.
fn tool(name: &str, support: &str) -> String {
    json!({ "name": name, "inputSchema": { "type": "object" }, "execution": { "taskSupport": support } })
        .to_string()
}

/// A server whose tool `work` is a task; these are the keys of how such go.
fn working(tasks: &Value) -> Script {
    Fake::script()
        .tool_entry(&tool("work", "required"))
        .tool_entry(&tool("may", "optional"))
        .tool("plain")
        .set("old_tasks", tasks.clone())
}

async fn before(script: impl Fn() -> Script) -> Vec<Place> {
    let fakes = [
        script().stdio(),
        script().set("session", json!(true)).http(),
        script().sse(),
    ];
    futures_util::future::join_all(fakes.map(place)).await
}

/// A client of each era that can be asked everything.
async fn peers(place: &Place) -> [Peer; 2] {
    place
        .gateway
        .peers(&json!({ "elicitation": {}, "roots": {} }))
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_is_always_a_task_is_called_like_any_other() {
    for place in before(|| working(&json!({}))).await {
        for (nth, peer) in peers(&place).await.iter().enumerate() {
            let talk = peer.call("a_work", r#"{"n":1}"#, never).await;

            let result = &talk.message()["result"];
            assert_eq!(result["content"][0]["text"], r#"{"n":1}"#, "{talk:?}");
            assert!(
                result["task"].is_null() && result["_meta"][RELATED].is_null(),
                "{talk:?}"
            );
            let call = place.fake.received_of("tools/call").remove(nth).params();
            assert_eq!((&call["name"], &call["task"]), (&json!("work"), &json!({})));
            let wait = place.fake.received_of("tasks/result").remove(nth).params();
            assert_eq!(wait, json!({ "taskId": format!("old-{}", nth + 1) }));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_may_be_a_task_is_none() {
    for place in before(|| working(&json!({}))).await {
        for (nth, peer) in peers(&place).await.iter().enumerate() {
            let talk = peer.call("a_may", r#"{"n":1}"#, never).await;
            assert_eq!(talk.text(), r#"{"n":1}"#);
            assert!(place.fake.received_of("tools/call")[nth].params()["task"].is_null());
        }
        assert!(place.fake.received_of("tasks/result").is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_told_to_make_a_task_of_a_call() {
    let place = place(working(&json!({})).stdio()).await;
    for client in place.gateway.clients().await {
        let tools = client.ask("tools/list", "").await.message()["result"]["tools"].clone();
        let find = |name: &str| {
            tools
                .as_array()
                .unwrap()
                .iter()
                .find(|tool| tool["name"] == name)
                .unwrap()
        };
        assert!(find("a_work")["execution"].is_null(), "{tools}");
        let session = matches!(client, mcpr_tests::Client::Session(_));
        assert_eq!(find("a_may")["execution"].is_null(), !session, "{tools}");
    }
    let welcome = place.gateway.client().await.welcome;
    assert!(welcome["capabilities"]["tasks"].is_null(), "{welcome}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_such_a_task_asks_reaches_the_client_of_the_call() {
    let params = json!({ "message": "name?", "requestedSchema": { "type": "object", "properties": {} }, "_meta": { RELATED: { "taskId": "old-1" } } });
    let ask = json!({ "method": "elicitation/create", "params": params });
    for place in before(|| working(&json!({ "asks": [ask] }))).await {
        for peer in peers(&place).await {
            let say = |question: &Question| {
                assert!(!question.params.contains(RELATED), "{question:?}");
                Saying::Result(r#"{"action":"accept","content":{"name":"Ann"}}"#.to_owned())
            };
            let talk = peer.call("a_work", "{}", say).await;
            assert_eq!(talk.questions.len(), 1, "{talk:?}");
            assert!(
                talk.text()
                    .contains(r#"{"action":"accept","content":{"name":"Ann"}}"#),
                "{talk:?}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b17_the_progress_of_such_a_task_reaches_the_client_under_its_token() {
    for place in before(|| working(&json!({ "progress": 3 }))).await {
        for peer in peers(&place).await {
            let params = r#""name":"a_work","arguments":{},"_meta":{"progressToken":"mine"}"#;
            let talk = match &peer {
                Peer::Session(session) => {
                    session
                        .converse("tools/call", &format!("{{{params}}}"), never)
                        .await
                }
                Peer::Stateless(able) => {
                    let meta = format!(r#"{},"progressToken":"mine""#, able.meta);
                    let able = mcpr_tests::talk::Able { meta, ..able.clone() };
                    able.converse("tools/call", r#""name":"a_work","arguments":{}"#, never)
                        .await
                }
            };
            let told: Vec<_> = talk.notes.iter().map(|note| note["params"].clone()).collect();
            let step = |step: u32| json!({ "progressToken": "mine", "progress": step });
            assert_eq!(told, [step(1), step(2), step(3)], "{talk:?}");
            assert!(talk.message()["result"].is_object());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_fails_fails_the_call() {
    let error = json!({ "code": 17, "message": "the disk is full" });
    for place in before(|| working(&json!({ "error": error }))).await {
        for peer in peers(&place).await {
            let talk = peer.call("a_work", "{}", never).await;
            assert_eq!(talk.message()["error"], error);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_cancelled_cancels_its_task() {
    for place in before(|| working(&json!({ "seconds": 60 }))).await {
        for (nth, peer) in peers(&place).await.into_iter().enumerate() {
            give_up(&place, peer, nth).await;
            let cancelled = place
                .fake
                .await_received("tasks/cancel", nth + 1)
                .await
                .remove(nth);
            let waited = place.fake.received_of("tasks/result").remove(nth);
            assert_eq!(cancelled.params()["taskId"], waited.params()["taskId"]);
            assert_eq!(cancelled.pid, waited.pid, "each process has its own");
        }
    }
}

/// Calls the tool, and gives up once it is at work.
async fn give_up(place: &Place, peer: Peer, nth: usize) {
    let params = r#""name":"a_work","arguments":{}"#;
    let call = match &peer {
        Peer::Session(session) => session.post(&session.text("tools/call", &format!("{{{params}}}"))),
        Peer::Stateless(able) => able.post("tools/call", params),
    };
    let connection = call.start(place.gateway.port).await;
    place.fake.await_received("tasks/result", nth + 1).await;
    if let Peer::Session(session) = &peer {
        session
            .notify("notifications/cancelled", r#"{"requestId":1}"#)
            .await;
    }
    drop(connection);
}

#[tokio::test(flavor = "multi_thread")]
async fn lb_03_a_call_whose_wait_fails_is_never_made_twice() {
    let dies = working(&json!({})).set("exit_on", json!("tasks/result")).stdio();
    let breaks_off = working(&json!({}))
        .set("session", json!(true))
        .set("cut", json!(["tasks/result"]))
        .http();
    for fake in [dies, breaks_off] {
        let place = place(fake).await;
        let session: Session = place.gateway.client().await;

        let answer = session.call("a_work", "{}").await;

        assert_eq!(answer["error"]["data"]["reason"], "outcome_unknown", "{answer}");
        assert_eq!(answer["error"]["data"]["retry"], "unsafe", "{answer}");
        assert_eq!(place.fake.received_of("tools/call").len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suspended_task_that_its_client_leaves_is_cancelled_with_the_gateway() {
    let ask = json!({ "method": "roots/list" });
    let place = place(working(&json!({ "asks": [ask] })).stdio()).await;
    let able = place.gateway.able(&json!({ "roots": {} }));
    assert!(able.call("a_work", "{}", "").await.needs_more());

    let Place { fake, gateway } = place;
    gateway.stop().await;

    assert_eq!(fake.received_of("tasks/cancel").len(), 1);
}

//! A client of the session era at a stateless server: what the server wants to know is asked with
//! requests of the session era, and the call is sent again with the answers.

use mcpr_tests::client::Session;
use mcpr_tests::http::{Connection, Request};
use mcpr_tests::talk::{Question, Saying, Talk};
use mcpr_tests::{Fake, Gateway, Received, Script, gateway};
use serde_json::{Value, json};

use crate::pairs::{NAME, Place, all, asking_all, asks, echo, forms, stateless};

const CALL: &str = r#"{"name":"a_ask","arguments":{"n":1.0,"x":123456789012345678901234567890}}"#;

const ROOTS: &str = r#"{"roots":[{"uri":"file:///here"}]}"#;

/// Fills in forms, and says its roots.
fn say(question: &Question) -> Saying {
    match question.method.as_str() {
        "roots/list" => Saying::Result(ROOTS.into()),
        _ => echo(question),
    }
}

/// One call before each stateless server.
async fn calls(script: impl Fn() -> Script) -> Vec<(Place, Talk)> {
    let mut talks = Vec::new();
    for place in stateless(script).await {
        let client = place.gateway.client_with("2025-11-25", &all()).await;
        let talk = client.converse("tools/call", CALL, say).await;
        talks.push((place, talk));
    }
    talks
}

/// The calls that the server received, as the texts of their parameters' members.
fn member(call: &Received, name: &str) -> Option<String> {
    mcpr_tests::raw::try_member(&call.text, &["params"])
        .and_then(|params| mcpr_tests::raw::try_member(&params, &[name]))
}

#[tokio::test(flavor = "multi_thread")]
async fn several_questions_and_several_rounds() {
    let form = |name: &str| format!(r#"{{"method":"elicitation/create","params":{{"message":"{name}"}}}}"#);
    let rounds = format!(
        r#"[[{},{{"method":"roots/list"}}],[{}]]"#,
        form("one"),
        form("two")
    );
    for (place, talk) in calls(|| asking_all(&rounds)).await {
        let methods: Vec<_> = talk
            .questions
            .iter()
            .map(|question| question.method.as_str())
            .collect();
        assert_eq!(
            methods,
            ["elicitation/create", "roots/list", "elicitation/create"]
        );
        let accepted = |name: &str| json!({ "action": "accept", "content": { "name": name } });
        let said = format!(
            r#"[{{"q0.0":{},"q0.1":{ROOTS}}},{{"q1.0":{}}}]"#,
            accepted("one"),
            accepted("two")
        );
        assert_eq!(talk.text(), said);
        assert_eq!(place.fake.received_of("tools/call").len(), 3);
        assert_eq!(talk.message()["result"].get("resultType"), None);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_time_the_call_is_the_same_with_an_id_of_its_own() {
    for (place, _) in calls(|| asks("elicitation/create", NAME)).await {
        let [first, second] = &place.fake.received_of("tools/call")[..] else {
            panic!("two calls")
        };
        assert_eq!(member(first, "arguments"), member(second, "arguments"));
        assert!(
            member(first, "arguments")
                .unwrap()
                .contains("1.0,\"x\":123456789012345678901234567890")
        );
        assert_eq!(member(first, "inputResponses"), None);
        assert_ne!(first.message()["id"], second.message()["id"]);
        assert_eq!(first.header("mcp-name"), second.header("mcp-name"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_comes_back_byte_for_byte_and_nothing_where_there_was_none() {
    let odd = r#""s\u0065 \\ é \/ 😀""#;
    for place in stateless(|| {
        asks("elicitation/create", NAME).raw(
            "tools/call:plain",
            &format!(r#"{{"resultType":"input_required","requestState":{odd}}}"#),
        )
    })
    .await
    {
        let client = place.gateway.client_with("2025-11-25", &forms()).await;
        let text = client.text("tools/call", r#"{"name":"a_plain","arguments":{}}"#);
        let mut connection = Connection::open(client.port).await;
        connection.send(&client.post(&text).bytes()).await;
        let calls = place.fake.await_received("tools/call", 2).await;
        assert_eq!(member(&calls[1], "requestState").as_deref(), Some(odd));
        assert_eq!(member(&calls[1], "inputResponses"), None);
    }
    let stateless_rounds = || {
        let ask = json!({ "method": "roots/list" });
        Fake::script()
            .tool("ask")
            .interview(json!({ "rounds": [[ask]], "stateless": true }))
    };
    for (place, talk) in calls(stateless_rounds).await {
        assert_eq!(talk.text(), format!(r#"[{{"q0.0":{ROOTS}}}]"#));
        assert_eq!(
            member(&place.fake.received_of("tools/call")[1], "requestState"),
            None
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_only_wants_to_be_called_again_is_after_a_pause() {
    for (place, talk) in calls(|| asking_all(r#"[[],[],[{"method":"roots/list"}]]"#)).await {
        assert_eq!(talk.text(), format!(r#"[{{}},{{}},{{"q2.0":{ROOTS}}}]"#));
        let at: Vec<f64> = place
            .fake
            .received_of("tools/call")
            .iter()
            .map(|call| call.at)
            .collect();
        assert!(at[1] - at[0] >= 0.15 && at[2] - at[1] >= 0.3, "{at:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_07_a_call_is_not_sent_again_if_its_tool_was_denied_meanwhile() {
    let again = r#"{"resultType":"input_required","requestState":"s"}"#;
    for place in stateless(|| Fake::script().tool("plain").raw("tools/call:plain", again)).await {
        let client = place.gateway.client_with("2025-11-25", &forms()).await;
        let deny = async {
            place.fake.await_received("tools/call", 1).await;
            let mut entry = place.fake.entry();
            entry["mcpr"] = json!({ "tools": { "deny": ["plain"] } });
            place
                .gateway
                .configure(&[("a", entry)], &json!({ "builtins": false }));
            place.gateway.operate("reload", json!({})).await;
        };

        let (answer, ()) = tokio::join!(client.call("a_plain", "{}"), deny);

        assert_eq!(answer["error"]["message"], "Unknown tool: a_plain", "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_never_has_enough_is_given_up() {
    let endless = || {
        let ask = json!({ "method": "roots/list" });
        Fake::script()
            .tool("ask")
            .interview(json!({ "rounds": [[ask]], "endless": true }))
    };
    for (place, talk) in calls(endless).await {
        assert_eq!(talk.questions.len(), 16);
        assert_eq!(talk.message()["result"]["isError"], true);
        assert!(talk.text().contains("more than 16 times"), "{talk:?}");
        assert_eq!(place.fake.received_of("tools/call").len(), 17);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_a_server_that_asks_for_too_much_at_once_is_given_up() {
    let asks = |count: usize| {
        let ask = json!({ "method": "roots/list" });
        asking_all(&json!([vec![ask; count]]).to_string())
    };
    for (_place, talk) in calls(|| asks(65)).await {
        assert_eq!(talk.questions.len(), 0);
        assert!(talk.text().contains("more than 64 things at once"), "{talk:?}");
    }
    for (_place, talk) in calls(|| asks(64)).await {
        assert_eq!(talk.questions.len(), 64);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_cannot_be_read_is_a_failure_of_the_tool() {
    for odd in [
        r#"{"resultType":"input_required"}"#,
        r#"{"resultType":"input_required","inputRequests":[]}"#,
        r#"{"resultType":"input_required","inputRequests":{"a":{"method":5}},"requestState":"s"}"#,
        r#"{"resultType":"input_required","inputRequests":{"a":{"method":"x/y"}},"requestState":"s"}"#,
    ] {
        for (place, talk) in calls(|| Fake::script().tool("ask").raw("tools/call", odd)).await {
            assert_eq!(talk.message()["result"]["isError"], true, "{odd}: {talk:?}");
            assert!(talk.questions.is_empty() && place.fake.received_of("tools/call").len() == 1);
        }
    }
}

/// A client whose call waits for its answer, and what it was asked.
async fn asked(gateway: &Gateway) -> (Session, Connection, Question) {
    let client = gateway.client_with("2025-11-25", &forms()).await;
    let message = format!(r#"{{"jsonrpc":"2.0","id":"call","method":"tools/call","params":{CALL}}}"#);
    let (_, mut connection) = client.post(&message).open(client.port).await;
    let question = connection.event().await.unwrap().message();
    let question = Question {
        key: question["id"].to_string(),
        method: question["method"].as_str().unwrap().to_owned(),
        params: question["params"].to_string(),
    };
    (client, connection, question)
}

/// The id of the question that the client is told to forget.
fn withdrawn(message: &Value) -> String {
    assert_eq!(message["method"], "notifications/cancelled", "{message}");
    message["params"]["requestId"].to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn b35_a_cancel_takes_the_question_back_and_nothing_is_sent_again() {
    for place in stateless(|| asks("elicitation/create", NAME)).await {
        let (client, mut connection, question) = asked(&place.gateway).await;
        client
            .notify("notifications/cancelled", r#"{"requestId":"call"}"#)
            .await;
        let told = connection.event().await.unwrap().message();
        assert_eq!(withdrawn(&told), question.key);
        assert!(connection.event().await.is_none(), "no answer");

        client.say(&question.key, echo(&question)).await;
        client.request("ping", "{}").await;
        client.call("a_plain", "{}").await;
        let called: Vec<_> = place
            .fake
            .received_of("tools/call")
            .iter()
            .map(|call| call.params()["name"].clone())
            .collect();
        assert_eq!(called, ["ask", "plain"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn http_05_the_limit_of_a_call_holds_while_its_client_thinks() {
    for era in ["session", "stateless"] {
        let fake = asks("elicitation/create", NAME).set("era", json!(era)).stdio();
        let own = json!({ "timeouts": { "call": "300ms" } });
        let gateway = gateway().fake_with("a", &fake, own).ready().await;
        let (_client, mut connection, question) = asked(&gateway).await;
        let told = connection.event().await.unwrap().message();
        assert_eq!(withdrawn(&told), question.key);
        let answer = connection.event().await.unwrap().message();
        assert_eq!(answer["error"]["data"]["reason"], "timeout", "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_limit_of_silence_does_not_hold_while_its_client_thinks() {
    for era in ["session", "stateless"] {
        let fake = asks("elicitation/create", NAME).set("era", json!(era)).stdio();
        let own = json!({ "timeouts": { "silence": "200ms" } });
        let slow = Fake::script().tool("t").delay("tools/call", 0.4).stdio();
        let gateway = gateway()
            .fake_with("a", &fake, own)
            .fake("slow", &slow)
            .ready()
            .await;
        let (client, mut connection, question) = asked(&gateway).await;
        client.call("slow_t", "{}").await;
        client.say(&question.key, echo(&question)).await;
        let answer = connection.event().await.unwrap().message();
        assert!(
            answer["result"]["content"][0]["text"]
                .to_string()
                .contains("name for"),
            "{answer}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_ends_takes_its_questions_along() {
    for era in ["session", "stateless"] {
        let fake = asks("elicitation/create", NAME).set("era", json!(era)).stdio();
        let gateway = gateway().fake("a", &fake).ready().await;
        let (client, _connection, _) = asked(&gateway).await;
        client
            .in_session(Request::new("DELETE", "/mcp"))
            .send(client.port)
            .await;
        gateway.await_server("a", |server| server["inFlight"] == 0).await;
        if era == "session" {
            assert!(fake.await_answers(1).await[0].contains(r#"{"action":"cancel"}"#));
            fake.await_received("notifications/cancelled", 1).await;
        }
        assert_eq!(fake.received_of("tools/call").len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_lost_its_stream_finds_the_question_again_and_answers() {
    for era in ["session", "stateless"] {
        let fake = asks("elicitation/create", NAME).set("era", json!(era)).stdio();
        let gateway = gateway().fake("a", &fake).ready().await;
        let client = gateway.client_with("2025-11-25", &forms()).await;
        let (_, mut lost) = client.begin("tools/call", CALL).await;
        let id = lost.any_event().await.unwrap().id.unwrap();
        lost.event().await.unwrap();
        drop(lost);

        let again = client
            .in_session(Request::get("/mcp"))
            .header("last-event-id", &id);
        let (head, connection) = again.open(client.port).await;
        let talk = client.go_on(head, connection, echo).await;

        assert_eq!(talk.questions.len(), 1);
        assert!(talk.text().contains("name for"), "{talk:?}");
    }
}

//! Questions and answers that are not as they should be.

use mcpr_tests::client::Session;
use mcpr_tests::http::Connection;
use mcpr_tests::talk::{Question, Saying};
use mcpr_tests::{Fake, Script, gateway};
use serde_json::{Value, json};

use crate::pairs::{NAME, all, always, asks, echo, forms, sessions, stateless};

const CALL: &str = r#"{"name":"a_ask","arguments":{}}"#;

/// A client whose call waits for its answer, and the id of what it was asked.
async fn asked(client: &Session) -> (Connection, String) {
    let (_, mut connection) = client.begin("tools/call", CALL).await;
    let question = connection.event().await.unwrap().message();
    (connection, question["id"].to_string())
}

fn form(n: u32) -> Saying {
    Saying::Result(json!({ "action": "accept", "content": { "n": n } }).to_string())
}

/// The text of the result that ends a stream.
async fn ended(connection: &mut Connection) -> String {
    let answer = connection.event().await.unwrap().message();
    let text = answer["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("no result in {answer}")).to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_to_nothing_and_one_of_another_type_change_nothing() {
    for place in sessions(|| asks("elicitation/create", NAME)).await {
        let client = place.gateway.client_with("2025-11-25", &forms()).await;
        let (mut connection, id) = asked(&client).await;
        for odd in ["999", "0", "-1", "\"x\"", &format!("\"{id}\"")] {
            client.say(odd, form(1)).await;
        }
        client.say(&id, form(2)).await;
        let said = ended(&mut connection).await;
        assert!(said.contains(r#""n":2"#), "{said}");
        assert_eq!(place.fake.answers().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_first_answer_counts_and_none_after_the_end() {
    for place in sessions(|| asks("elicitation/create", NAME)).await {
        let client = place.gateway.client_with("2025-11-25", &forms()).await;
        let (mut connection, id) = asked(&client).await;
        client.say(&id, form(1)).await;
        client.say(&id, form(2)).await;
        let said = ended(&mut connection).await;
        assert!(said.contains(r#""n":1"#), "{said}");
        client.say(&id, form(3)).await;
        client.call("a_plain", "{}").await;
        assert_eq!(place.fake.answers().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_03_another_session_cannot_answer() {
    let fake = asks("elicitation/create", NAME).stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let client = gateway.client_with("2025-11-25", &forms()).await;
    let other = gateway.client_with("2025-11-25", &forms()).await;
    let (mut connection, id) = asked(&client).await;
    other.say(&id, form(1)).await;
    client.say(&id, form(2)).await;
    assert!(ended(&mut connection).await.contains(r#""n":2"#));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_no_object_reaches_only_the_server_that_asked() {
    for place in sessions(|| asks("elicitation/create", NAME)).await {
        let client = place.gateway.client_with("2025-11-25", &forms()).await;
        let talk = client.converse("tools/call", CALL, always("[1,null]")).await;
        assert!(talk.text().ends_with(r#""result":[1,null]}]]"#), "{talk:?}");
    }
}

/// A question under an id of the server's choice.
fn under_id(id: &str) -> Script {
    let interview = format!(
        r#"{{"interview":[{{"on":["tools/call:ask"],"rounds":[[{{"id":{id},"method":"elicitation/create","params":{NAME}}}]]}}]}}"#
    );
    Fake::script().tool("ask").tool("plain").with(&interview)
}

#[tokio::test(flavor = "multi_thread")]
async fn b49_a_server_gets_its_own_id_back_whatever_its_type() {
    for id in ["7", "\"7\"", "0", "-3", "9007199254740993", r#""\u00e9""#, "\"\""] {
        for place in sessions(|| under_id(id)).await {
            for peer in place.gateway.peers(&forms()).await {
                let talk = peer.call("a_ask", "{}", echo).await;
                assert!(
                    talk.text().contains(&format!(r#"{{"jsonrpc":"2.0","id":{id},"#)),
                    "{id}: {talk:?}"
                );
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_with_an_id_that_is_none_is_passed_over() {
    for id in ["1.5", "1e3", "true", "{}"] {
        for place in sessions(|| under_id(id)).await {
            let client = place.gateway.client_with("2025-11-25", &all()).await;
            let text = client.text("tools/call", CALL);
            let mut connection = Connection::open(client.port).await;
            connection.send(&client.post(&text).bytes()).await;
            place.fake.await_received("tools/call", 1).await;
            // The server waits in vain, and is no worse for others.
            assert_eq!(
                client.call("a_plain", "{}").await["result"]["content"][0]["text"],
                "{}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_with_the_same_id_do_not_meet() {
    let fakes = [under_id("1").stdio(), under_id("1").stdio()];
    let gateway = gateway().fake("a", &fakes[0]).fake("b", &fakes[1]).ready().await;
    let client = gateway.client_with("2025-11-25", &forms()).await;
    let (one, two) = tokio::join!(
        client.converse("tools/call", r#"{"name":"a_ask","arguments":{"n":"one"}}"#, echo),
        client.converse("tools/call", r#"{"name":"b_ask","arguments":{"n":"two"}}"#, echo),
    );
    assert!(
        one.text().contains("one") && two.text().contains("two"),
        "{one:?} {two:?}"
    );
    assert_ne!(one.questions[0].key, two.questions[0].key);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_asks_after_its_answer_is_declined() {
    let ask = json!({ "method": "elicitation/create", "params": { "message": "late" } });
    let script = || {
        Fake::script()
            .tool("ask")
            .interview(json!({ "rounds": [[ask]], "late": true }))
    };
    // Over HTTP the two streams of the server have no order.
    for place in sessions(script).await.into_iter().step_by(2) {
        let client = place.gateway.client_with("2025-11-25", &forms()).await;
        let stream = client.stream().await;
        let talk = client.converse("tools/call", CALL, crate::pairs::never).await;
        assert_eq!(talk.text(), "{}");
        let answers = place.fake.await_answers(1).await;
        assert!(answers[0].contains(r#"{"action":"cancel"}"#), "{answers:?}");
        drop(stream);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_the_server_takes_back_is_taken_back_from_the_client() {
    let script = || {
        let ask = json!({ "method": "elicitation/create", "withdraw": 0.1 });
        Fake::script().tool("ask").interview(json!({ "rounds": [[ask]] }))
    };
    for place in sessions(script).await {
        let client = place.gateway.client_with("2025-11-25", &forms()).await;
        let talk = client
            .converse("tools/call", CALL, |_: &Question| Saying::Nothing)
            .await;
        let told = &talk.notes[0];
        assert_eq!(told["method"], "notifications/cancelled", "{talk:?}");
        assert_eq!(told["params"]["requestId"].to_string(), talk.questions[0].key);
        assert_eq!(told["params"]["reason"], "never mind");
        assert_eq!(talk.text(), r#"[["taken back"]]"#);
        client.say(&talk.questions[0].key, form(1)).await;
        client.request("ping", "{}").await;
        assert!(place.fake.answers().is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stateless_client_is_not_asked_what_was_taken_back_before_it_was_told() {
    let ask = json!([[{ "method": "elicitation/create", "withdraw": 0 }]]);
    for place in sessions(|| Fake::script().tool("ask").interview(json!({ "rounds": ask }))).await {
        let able = place.gateway.able(&forms());
        let talk = able.call("a_ask", "{}", "").await;
        assert_eq!(talk.text(), r#"[["taken back"]]"#);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stateless_server_that_sends_requests_is_not_answered_for_anybody() {
    // The era has none; nobody is asked, and the call is not harmed.
    let ask = json!({ "method": "elicitation/create" });
    let script = || {
        Fake::script()
            .tool("ask")
            .interview(json!({ "rounds": [[ask]], "late": true }))
    };
    for place in stateless(script).await {
        let client = place.gateway.client_with("2025-11-25", &forms()).await;
        let talk = client.converse("tools/call", CALL, crate::pairs::never).await;
        assert_eq!(talk.text(), "{}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_server_asks_for_that_no_client_answers_is_an_error_for_it() {
    for place in sessions(|| asks("something/else", "{}")).await {
        for peer in place.gateway.peers(&all()).await {
            let talk = peer.call("a_ask", "{}", crate::pairs::never).await;
            let said: Value = serde_json::from_str(&talk.text()).unwrap();
            assert_eq!(said[0][0]["error"]["code"], -32601, "{talk:?}");
        }
    }
    for place in sessions(|| asks("ping", "{}")).await {
        let talk = place.gateway.able(&json!({})).call("a_ask", "{}", "").await;
        assert!(talk.text().ends_with(r#""result":{}}]]"#), "{talk:?}");
    }
}

//! URLs that users are asked to visit, in both eras.

use mcpr_tests::talk::{Able, Question, Saying, Talk};
use mcpr_tests::{Fake, Script, raw};
use serde_json::{Value, json};

use crate::place::{never, place, place_with};

const COMPLETE: &str = "notifications/elicitation/complete";

/// What a server wants to have visited.
fn wanted(ids: &[&str]) -> Value {
    let visit = |id: &&str| json!({ "mode": "url", "elicitationId": id, "url": format!("https://x.example/{id}"), "message": format!("Log in {id}") });
    let visits: Vec<_> = ids.iter().map(visit).collect();
    json!({ "code": -32042, "message": "sign in first", "data": { "elicitations": visits } })
}

/// A server whose tool `login` wants visits before it can be called; `done` says that one is.
fn signing_in(ids: &[&str]) -> Script {
    let note = json!({ "method": COMPLETE, "on": "tools/call:done", "params": { "elicitationId": "e1" } });
    Fake::script()
        .tool("login")
        .tool("done")
        .tool("plain")
        .set("error_once", json!({ "tools/call:login": wanted(ids) }))
        .set("notify", json!([note]))
}

fn urls() -> Value {
    json!({ "elicitation": { "form": {}, "url": {} } })
}

/// The servers on which this is tried.
fn fakes(script: impl Fn() -> Script) -> [Fake; 2] {
    [script().stdio(), script().set("session", json!(true)).http()]
}

fn accept(keys: &[&str]) -> Vec<(String, String)> {
    let answers = keys
        .iter()
        .map(|key| ((*key).to_owned(), r#"{"action":"accept"}"#.to_owned()));
    answers.collect()
}

/// Asks a stateless client for visits, and gives what it was asked.
async fn asked(client: &Able) -> Talk {
    let talk = client.call("a_login", r#"{"n":1}"#, "").await;
    assert!(talk.needs_more(), "{talk:?}");
    talk
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stateless_client_is_asked_and_the_call_made_again_after_its_visits() {
    for fake in fakes(|| signing_in(&["e1"])) {
        // Each process of the fake server wants its own visit.
        let place = place_with(fake, json!({ "isolation": "shared" })).await;
        let client = place.gateway.able(&urls());
        let talk = asked(&client).await;
        let asks = json!({ "mode": "url", "url": "https://x.example/e1", "message": "Log in e1" });
        assert_eq!(talk.questions.len(), 1);
        assert_eq!(talk.questions[0].method, "elicitation/create");
        assert_eq!(
            serde_json::from_str::<Value>(&talk.questions[0].params).unwrap(),
            asks,
            "no name for it"
        );

        let retry = talk.retry(&accept(&[&talk.questions[0].key]));
        let again = client.call("a_login", r#"{"n":1}"#, &retry);
        let others = async {
            for tool in ["a_plain", "a_plain", "a_done"] {
                place.gateway.stateless().call(tool, "{}").await;
            }
        };
        let (again, ()) = tokio::join!(again, others);

        assert_eq!(again.text(), r#"{"n":1}"#, "{again:?}");
        let called = place.fake.received_of("tools/call");
        let names: Vec<_> = called.iter().map(|call| call.params()["name"].clone()).collect();
        assert_eq!(
            names,
            ["login", "plain", "plain", "done", "login"],
            "not before the news"
        );
        let last = called[4].params();
        assert!(
            last["inputResponses"].is_null() && last["requestState"].is_null(),
            "{last}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_visit_that_is_done_already_is_not_waited_for() {
    for fake in fakes(|| signing_in(&["e1"])) {
        let place = place(fake).await;
        let client = place.gateway.able(&urls());
        let talk = asked(&client).await;
        place.gateway.stateless().call("a_done", "{}").await;

        let retry = talk.retry(&accept(&[&talk.questions[0].key]));
        let again = client.call("a_login", r#"{"n":1}"#, &retry).await;

        assert_eq!(again.text(), r#"{"n":1}"#, "{again:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_who_does_not_go_there_ends_the_call() {
    for action in ["decline", "cancel"] {
        let place = place(signing_in(&["e1", "e2"]).stdio()).await;
        let client = place.gateway.able(&urls());
        let talk = asked(&client).await;
        let mut answers = accept(&[&talk.questions[0].key, &talk.questions[1].key]);
        answers[1].1 = json!({ "action": action }).to_string();

        let ended = client.call("a_login", r#"{"n":1}"#, &talk.retry(&answers)).await;

        let result = ended.message()["result"].clone();
        assert_eq!(
            (&result["isError"], &result["resultType"]),
            (&json!(true), &json!("complete"))
        );
        assert_eq!(
            place.fake.received_of("tools/call").len(),
            1,
            "it is not called again"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_03_the_state_is_good_for_this_call_with_all_its_answers_only() {
    let place = place(signing_in(&["e1", "e2"]).stdio()).await;
    let client = place.gateway.able(&urls());
    let talk = asked(&client).await;
    let keys: Vec<&str> = talk
        .questions
        .iter()
        .map(|question| question.key.as_str())
        .collect();
    let whole = talk.retry(&accept(&keys));

    for (arguments, retry) in [
        (r#"{"n":1}"#, talk.retry(&accept(&keys[..1]))),
        (r#"{"n":2}"#, whole.clone()),
        (
            r#"{"n":1}"#,
            whole.replace(r#""requestState":""#, r#""requestState":"A"#),
        ),
    ] {
        let refused = client.call("a_login", arguments, &retry).await;
        assert_eq!(refused.code(), -32602, "{refused:?}");
    }
    assert_eq!(place.fake.received_of("tools/call").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_can_visit_gets_the_error_and_the_news_and_no_other_session() {
    for fake in fakes(|| signing_in(&["e1"])) {
        let place = place(fake).await;
        let session = place.gateway.client_with("2025-11-25", &urls()).await;
        let other = place.gateway.client_with("2025-11-25", &urls()).await;
        let (mut own, mut others) = (session.stream().await, other.stream().await);

        let answer = session
            .request("tools/call", r#"{"name":"a_login","arguments":{}}"#)
            .await;
        assert_eq!(
            answer.message()["error"],
            wanted(&["e1"]),
            "nothing is changed in it"
        );
        place.gateway.stateless().call("a_done", "{}").await;

        let told = own
            .message(|message| message["method"] == COMPLETE)
            .await
            .unwrap();
        assert_eq!(told["params"], json!({ "elicitationId": "e1" }));
        place.gateway.operate("stop", json!({})).await;
        let rest = others
            .message(|message| !message.is_null() && message["method"] == COMPLETE)
            .await;
        assert!(rest.is_none(), "{rest:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_cannot_visit_are_told_the_url() {
    let place = place(
        signing_in(&["e1"])
            .error("tools/call:login", wanted(&["e1"]))
            .stdio(),
    )
    .await;
    let older = place.gateway.client_with("2025-06-18", &urls()).await;
    let forms = json!({ "elicitation": { "form": {} } });
    let unable = place.gateway.client_with("2025-11-25", &forms).await;
    let mut results = Vec::new();
    for session in [older, unable] {
        let talk = session
            .converse("tools/call", r#"{"name":"a_login"}"#, never)
            .await;
        results.push(talk.message()["result"].clone());
    }
    let stateless = place.gateway.able(&forms).call("a_login", "{}", "").await;
    results.push(stateless.message()["result"].clone());
    assert_eq!(results[2]["resultType"], "complete", "{stateless:?}");
    for result in results {
        assert_eq!(result["isError"], true, "{result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(
            text.contains("sign in first") && text.contains("https://x.example/e1"),
            "{text}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_visit_for_a_stateless_server_has_a_name_and_an_end_for_a_session() {
    let ask = json!({ "method": "elicitation/create", "params": { "mode": "url", "url": "https://x.example", "message": "go" } });
    let interview = json!({ "on": ["tools/call:login"], "rounds": [[ask]] });
    let script = || {
        Fake::script()
            .tool("login")
            .set("era", json!("stateless"))
            .interview(interview.clone())
    };
    for fake in [script().stdio(), script().http()] {
        let place = place(fake).await;
        let session = place.gateway.client_with("2025-11-25", &urls()).await;
        let accept = |_: &Question| Saying::Result(r#"{"action":"accept"}"#.to_owned());

        let talk = session
            .converse("tools/call", r#"{"name":"a_login"}"#, accept)
            .await;

        let id = raw::member(&talk.questions[0].params, &["elicitationId"]);
        assert_eq!(id.len(), 34, "128 bits: {id}");
        let ends: Vec<_> = talk
            .notes
            .iter()
            .filter(|note| note["method"] == COMPLETE)
            .collect();
        assert_eq!(ends.len(), 1, "{talk:?}");
        assert_eq!(ends[0]["params"]["elicitationId"].to_string(), id);
        assert_eq!(talk.text(), r#"[{"q0.0":{"action":"accept"}}]"#);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_visit_that_a_session_server_asked_for_reaches_its_client() {
    let ask = json!({ "method": "elicitation/create", "params": { "mode": "url", "url": "https://x.example", "message": "go", "elicitationId": "e1" } });
    let interview = json!({ "on": ["tools/call:plain"], "rounds": [[ask]] });
    for fake in fakes(|| signing_in(&[]).interview(interview.clone())) {
        let place = place(fake).await;
        let session = place.gateway.client_with("2025-11-25", &urls()).await;
        let mut stream = session.stream().await;
        let accept = |question: &Question| {
            assert!(
                question.params.contains(r#""elicitationId":"e1""#),
                "{question:?}"
            );
            Saying::Result(r#"{"action":"accept"}"#.to_owned())
        };
        session
            .converse("tools/call", r#"{"name":"a_plain"}"#, accept)
            .await;

        place.gateway.stateless().call("a_done", "{}").await;

        let told = stream
            .message(|message| message["method"] == COMPLETE)
            .await
            .unwrap();
        assert_eq!(told["params"], json!({ "elicitationId": "e1" }));
    }
}

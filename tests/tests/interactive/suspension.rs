//! A stateless client at a server of the session era: the call waits for the client to come back.

use mcpr_tests::talk::{Able, Saying, Talk};
use mcpr_tests::{Script, await_no_process, gateway};
use serde_json::json;

use crate::pairs::{CONNECTIONS, NAME, Place, asking_all, asks, echo, forms, sessions};

/// Two questions at once, then one more.
const ROUNDS: &str = r#"[
    [{"method":"elicitation/create","params":{"message":"one"}},{"method":"elicitation/create","params":{"message":"two"}}],
    [{"method":"elicitation/create","params":{"message":"three"}}]]"#;

/// An answer that names what was answered.
fn accepted(name: &str) -> String {
    json!({ "action": "accept", "content": { "name": name } }).to_string()
}

/// The answers to all questions of a round.
fn all(talk: &Talk) -> Vec<(String, String)> {
    let answer = |question: &mcpr_tests::talk::Question| match echo(question) {
        Saying::Result(text) => (question.key.clone(), text),
        other => panic!("{other:?}"),
    };
    talk.questions.iter().map(answer).collect()
}

/// The messages of the questions of a round, in the order of their keys.
fn messages(talk: &Talk) -> Vec<String> {
    let message =
        |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap()["message"].to_string();
    talk.questions
        .iter()
        .map(|question| message(&question.params))
        .collect()
}

/// A place before each server of the session era, with a client of it whose call is suspended.
async fn suspended(script: impl Fn() -> Script) -> Vec<(Place, Able, Talk)> {
    let mut all = Vec::new();
    for place in sessions(script).await {
        let able = place.gateway.able(&forms());
        let talk = able.call("a_ask", r#"{"n":1,"m":{"a":[1.0],"b":2}}"#, "").await;
        assert!(talk.needs_more(), "{talk:?}");
        all.push((place, able, talk));
    }
    all
}

const ARGUMENTS: &str = r#"{"n":1,"m":{"a":[1.0],"b":2}}"#;

#[tokio::test(flavor = "multi_thread")]
async fn sec_02_a_call_that_waits_for_its_client_is_given_up_when_its_token_is_revoked() {
    for (place, mut able, kept) in suspended(|| asks("elicitation/create", NAME)).await {
        let made = place
            .gateway
            .operate("tokens/create", json!({ "name": "leaked" }))
            .await;
        able.client.token = made["secret"].as_str().unwrap().to_owned();
        let talk = able.call("a_ask", ARGUMENTS, "").await;
        assert!(talk.needs_more(), "{talk:?}");
        let calls = place.fake.received_of("tools/call").len();

        place
            .gateway
            .operate("tokens/revoke", json!({ "which": made["id"] }))
            .await;

        let cancelled = place.fake.await_received("notifications/cancelled", 1).await;
        assert_eq!((calls, cancelled.len()), (2, 1));
        let mine = place.gateway.able(&forms());
        let done = mine.call("a_ask", ARGUMENTS, &kept.retry(&all(&kept))).await;
        assert!(!done.needs_more(), "somebody else's waits on: {done:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn several_questions_and_several_rounds() {
    for (_place, able, first) in suspended(|| asking_all(ROUNDS)).await {
        assert_eq!(messages(&first), [r#""one""#, r#""two""#]);
        let second = able.call("a_ask", ARGUMENTS, &first.retry(&all(&first))).await;
        assert_eq!(messages(&second), [r#""three""#]);
        let keys =
            [&first.questions[0], &first.questions[1], &second.questions[0]].map(|question| &question.key);
        assert!(keys[0] != keys[1] && keys[1] != keys[2] && keys[0] != keys[2]);
        assert_ne!(first.state(), second.state());

        let done = able.call("a_ask", ARGUMENTS, &second.retry(&all(&second))).await;
        let said = done.text();
        let at = |name: &str| {
            said.find(&accepted(name))
                .unwrap_or_else(|| panic!("no {name} in {said}"))
        };
        assert!(at("one") < at("two") && at("two") < at("three"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_answered_is_asked_again_and_other_keys_are_ignored() {
    for (_place, able, first) in suspended(|| asking_all(ROUNDS)).await {
        let mut answers = all(&first);
        let two = answers.pop().unwrap();
        answers.push(("r9-9".into(), "[]".into()));
        let rest = able.call("a_ask", ARGUMENTS, &first.retry(&answers)).await;
        assert_eq!(messages(&rest), [r#""two""#]);
        assert_eq!(rest.questions[0].key, two.0);

        let old = able.call("a_ask", ARGUMENTS, &first.retry(&all(&first))).await;
        assert_eq!(old.code(), -32602, "its state was good once");
        let none = able.call("a_ask", ARGUMENTS, &rest.retry(&[])).await;
        assert_eq!(messages(&none), [r#""two""#]);

        let second = able.call("a_ask", ARGUMENTS, &none.retry(&[two])).await;
        assert_eq!(messages(&second), [r#""three""#]);
        let done = able.call("a_ask", ARGUMENTS, &second.retry(&all(&second))).await;
        assert!(
            ["one", "two", "three"]
                .iter()
                .all(|name| done.text().contains(&accepted(name)))
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_malformed_answer_is_refused_and_can_be_mended() {
    for (_place, able, talk) in suspended(|| asks("elicitation/create", NAME)).await {
        let key = talk.questions[0].key.clone();
        for malformed in [
            "7",
            "[]",
            "{}",
            r#"{"action":"perhaps"}"#,
            r#"{"action":"accept","content":5}"#,
        ] {
            let refused = able
                .call(
                    "a_ask",
                    ARGUMENTS,
                    &talk.retry(&[(key.clone(), malformed.into())]),
                )
                .await;
            assert_eq!(refused.code(), -32602, "{malformed}");
            assert!(refused.answer.contains(&key), "{refused:?}");
        }
        let list = talk.retry(&[]).replace("{}", "[]");
        assert_eq!(able.call("a_ask", ARGUMENTS, &list).await.code(), -32602);

        let done = able.call("a_ask", ARGUMENTS, &talk.retry(&all(&talk))).await;
        assert!(done.text().contains("name for"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn order_and_white_space_of_the_arguments_do_not_matter() {
    for (_place, able, talk) in suspended(|| asks("elicitation/create", NAME)).await {
        let other = "{ \"m\" : {\"b\":2, \"a\":[ 1.0 ]},\n\"n\":1}";
        let done = able.call("a_ask", other, &talk.retry(&all(&talk))).await;
        assert!(done.text().contains("name for"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_answers_go_to_the_waiting_call_and_the_call_is_made_once() {
    for (place, able, talk) in suspended(|| asks("elicitation/create", NAME)).await {
        able.call("a_ask", ARGUMENTS, &talk.retry(&all(&talk))).await;
        let calls = place.fake.received_of("tools/call");
        assert_eq!(calls.len(), 1);
        let params = calls[0].params();
        assert!(params.get("inputResponses").is_none() && params.get("requestState").is_none());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_and_logs_come_for_the_request_that_came_back() {
    let script = || {
        asks("elicitation/create", NAME)
            .with(r#"{"progress":{"count":2,"interval":0.01,"after":true},"capabilities":{"tools":{},"logging":{}}}"#)
            .set("notify", json!([
                { "method": "notifications/message", "params": { "level": "debug", "data": "low" } },
                { "method": "notifications/message", "params": { "level": "warning", "data": "high" } },
            ]))
    };
    for place in sessions(script).await {
        let able = place.gateway.able(&forms());
        let first = able
            .clone()
            .with(r#""progressToken":"first""#)
            .call("a_ask", "{}", "")
            .await;
        assert!(first.needs_more() && first.notes.is_empty(), "{first:?}");
        let again = able.with(r#""progressToken":7,"io.modelcontextprotocol/logLevel":"info""#);
        let done = again.call("a_ask", "{}", &first.retry(&all(&first))).await;

        let told: Vec<_> = done.notes.iter().map(|note| note["params"].clone()).collect();
        let progress = |step| json!({ "progressToken": 7, "progress": step, "total": 2 });
        let high = json!({ "level": "warning", "data": "high" });
        assert_eq!(told, [progress(1), progress(2), high], "{done:?}");
        let level = &place.fake.await_received("logging/setLevel", 1).await[0];
        assert_eq!(level.params()["level"], "info");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_lost_meanwhile_is_told_to_the_client_that_comes_back() {
    let fake = asks("elicitation/create", NAME)
        .with(r#"{"exit_on":"tools/call:plain"}"#)
        .stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let able = gateway.able(&forms());
    let talk = able.call("a_ask", "{}", "").await;
    let pid = fake.called_processes()[0];
    std::process::Command::new("kill")
        .args(["-9", &pid.to_string()])
        .status()
        .unwrap();
    gateway.await_server("a", |server| server["pid"] != pid).await;

    let told = able.call("a_ask", "{}", &talk.retry(&all(&talk))).await;

    let data = &told.message()["error"]["data"];
    assert_eq!(
        (&data["reason"], &data["server"]),
        (&json!("outcome_unknown"), &json!("a")),
        "{told:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_08_a_call_that_went_on_is_unknown_at_the_end_of_the_gateway() {
    let slow = r#"{"progress":{"count":2,"interval":60,"after":true}}"#;
    let fake = asks("elicitation/create", NAME).with(slow).stdio();
    let builder = gateway().fake("a", &fake);
    let gateway = builder.own("drain", json!({ "grace": "100ms" })).ready().await;
    let able = gateway.able(&forms()).with(r#""progressToken":7"#);
    let talk = able.call("a_ask", "{}", "").await;
    let retry = talk.retry(&all(&talk));

    let stop = async {
        fake.await_answers(1).await;
        gateway.stop().await
    };
    let (told, _) = tokio::join!(able.call("a_ask", "{}", &retry), stop);

    let data = &told.message()["error"]["data"];
    assert_eq!(
        (&data["reason"], &data["retry"]),
        (&json!("outcome_unknown"), &json!("unsafe")),
        "{told:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn at_the_end_of_the_gateway_the_server_hears_that_nobody_comes_back() {
    for (place, _able, _talk) in suspended(|| asks("elicitation/create", NAME)).await {
        let call = place.fake.received_of("tools/call")[0].message()["id"].clone();
        let mark = place.fake.spec_path().display().to_string();
        let stdio = place.fake.port() == 0;
        place.gateway.stop().await;
        if stdio {
            await_no_process(&mark).await;
        } else {
            let cancelled = place.fake.await_received("notifications/cancelled", 1).await;
            assert_eq!(cancelled[0].params()["requestId"], call);
            let answers = place.fake.await_answers(1).await;
            assert!(answers[0].contains(r#"{"action":"cancel"}"#), "{answers:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_the_thirty_third_call_of_a_principal_ends_the_oldest() {
    let fake = asks("elicitation/create", NAME)
        .with(r#"{"session":true}"#)
        .http();
    let gateway = gateway().fake("a", &fake).ready().await;
    let able = gateway.able(&forms());
    let mut talks = Vec::new();
    for _ in 0..33 {
        talks.push(able.call("a_ask", ARGUMENTS, "").await);
    }
    let oldest = able
        .call("a_ask", ARGUMENTS, &talks[0].retry(&all(&talks[0])))
        .await;
    assert_eq!(oldest.code(), -32602);
    let calls = fake.received_of("tools/call");
    let cancelled = fake.await_received("notifications/cancelled", 1).await;
    assert_eq!(cancelled[0].params()["requestId"], calls[0].message()["id"]);
    assert!(fake.await_answers(1).await[0].contains(r#"{"action":"cancel"}"#));
    for talk in &talks[1..] {
        let done = able.call("a_ask", ARGUMENTS, &talk.retry(&all(talk))).await;
        assert!(done.text().contains("name for"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_waits_gives_way_to_one_that_needs_its_connection() {
    let fake = asks("elicitation/create", NAME).stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let able = gateway.able(&forms());
    let mut talks = Vec::new();
    for _ in 0..=CONNECTIONS {
        talks.push(able.call("a_ask", ARGUMENTS, "").await);
    }
    assert!(talks[CONNECTIONS].needs_more(), "{talks:?}");
    let oldest = able
        .call("a_ask", ARGUMENTS, &talks[0].retry(&all(&talks[0])))
        .await;
    assert_eq!(oldest.code(), -32602);
    let newest = able
        .call(
            "a_ask",
            ARGUMENTS,
            &talks[CONNECTIONS].retry(&all(&talks[CONNECTIONS])),
        )
        .await;
    assert!(newest.text().contains("name for"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_has_begun_ends_with_the_questions() {
    let script = || asks("elicitation/create", NAME).with(r#"{"progress":{"count":1,"interval":0.01}}"#);
    for place in sessions(script).await {
        let able = place.gateway.able(&forms()).with(r#""progressToken":1"#);
        let answer = able.ask("tools/call", r#""name":"a_ask","arguments":{}"#).await;
        assert_eq!(answer.head.header("content-type"), Some("text/event-stream"));
        let talk = Talk::of(&answer);
        assert!(talk.needs_more() && talk.notes.len() == 1, "{talk:?}");
        let done = able.call("a_ask", "{}", &talk.retry(&all(&talk))).await;
        assert!(done.text().contains("name for"));
    }
}

//! Stateless clients at stateless servers: what the server asks and what it is told pass, under a
//! state of mcpr's own.

use mcpr_tests::talk::{Talk, call};
use mcpr_tests::{Fake, Received, raw};
use serde_json::json;

use crate::pairs::{NAME, asks, echo, forms, stateless};

fn member(call: &Received, name: &str) -> Option<String> {
    raw::try_member(&call.text, &["params"]).and_then(|params| raw::try_member(&params, &[name]))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_servers_state_comes_back_to_it_and_to_nobody_else() {
    let odd = r#""s \\ é \" 😀""#;
    let asked = format!(
        r#"{{ "resultType":"input_required", "x":1E400,"inputRequests":{{"their key":{{"method":"roots/list","params":{{"y":1.0}}}}}},"requestState" : {odd}}}"#
    );
    for place in stateless(|| Fake::script().tool("ask").raw("tools/call", &asked)).await {
        let able = place.gateway.able(&json!({ "roots": {} }));
        let talk = able.call("a_ask", "{}", "").await;
        let sealed = talk.state().unwrap();
        assert_eq!(
            raw::member(&talk.answer, &["result"]),
            asked.replace(odd, &sealed)
        );
        assert_eq!(
            (talk.questions[0].key.as_str(), talk.questions[0].params.as_str()),
            ("their key", r#"{"y":1.0}"#)
        );

        let said = r#"{ "roots":[],"z":1E400}"#;
        able.call(
            "a_ask",
            "{}",
            &talk.retry(&[("their key".into(), said.into()), ("other".into(), "7".into())]),
        )
        .await;
        let back = &place.fake.received_of("tools/call")[1];
        assert_eq!(member(back, "requestState").as_deref(), Some(odd));
        assert_eq!(
            member(back, "inputResponses").unwrap(),
            format!(r#"{{"their key":{said},"other":7}}"#)
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_pass_where_the_server_gave_no_state() {
    let script = || {
        let ask = json!({ "method": "elicitation/create", "params": { "message": "m" } });
        Fake::script()
            .tool("ask")
            .interview(json!({ "rounds": [[ask]], "stateless": true }))
    };
    for place in stateless(script).await {
        let able = place.gateway.able(&forms());
        let talk = able.call("a_ask", "{}", "").await;
        assert!(talk.needs_more() && talk.state().is_none(), "{talk:?}");
        let retry = r#","inputResponses":{"q0.0":{"action":"decline"}}"#;
        assert_eq!(
            able.call("a_ask", "{}", retry).await.text(),
            r#"[{"q0.0":{"action":"decline"}}]"#
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_without_questions_passes_too() {
    let script = || {
        Fake::script()
            .tool("ask")
            .interview(json!({ "rounds": [[], []] }))
    };
    for place in stateless(script).await {
        let able = place.gateway.able(&forms());
        let talk = able.converse("tools/call", &call("a_ask", "{}"), echo).await;
        assert_eq!(talk.text(), "[{},{}]");
        assert_eq!(place.fake.received_of("tools/call").len(), 3);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_told_what_this_request_can_be_asked() {
    for place in stateless(|| asks("elicitation/create", NAME)).await {
        let capabilities = r#"{"elicitation":{"form":{}},"extensions":{"x.y/z":{"q":1.0}}}"#;
        let mut able = place.gateway.able(&forms());
        able.meta = format!(r#""io.modelcontextprotocol/clientCapabilities":{capabilities}"#);
        able.call("a_ask", "{}", "").await;
        let meta = member(&place.fake.received_of("tools/call")[0], "_meta").unwrap();
        let told = raw::member(&meta, &["io.modelcontextprotocol/clientCapabilities"]);
        assert!(told.contains(r#""elicitation":{"form":{}}"#), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_capability_is_told_with_its_status() {
    let error =
        json!({ "code": -32021, "message": "m", "data": { "requiredCapabilities": { "elicitation": {} } } });
    for place in stateless(|| Fake::script().tool("ask").error("tools/call", error.clone())).await {
        let able = place.gateway.able(&json!({}));
        let answer = able.ask("tools/call", &call("a_ask", "{}")).await;
        assert_eq!((answer.status(), &answer.message()["error"]), (400, &error));
        let client = place.gateway.client().await;
        let told = client.call("a_ask", "{}").await;
        assert_eq!(told["result"]["isError"], true, "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn words_like_those_of_a_question_in_a_result_are_left_alone() {
    let result = r#"{"resultType":"complete","content":[{"type":"text","text":"input_required"}],"requestState":"mine","taskId":"t"}"#;
    for place in stateless(|| Fake::script().tool("ask").raw("tools/call", result)).await {
        let talk: Talk = place.gateway.able(&forms()).call("a_ask", "{}", "").await;
        assert_eq!(raw::member(&talk.answer, &["result"]), result);
    }
}

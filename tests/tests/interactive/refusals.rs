//! Clients that do not answer what they are asked, and those that cannot be asked.

use mcpr_tests::Script;
use mcpr_tests::talk::{Question, Saying, Talk};
use serde_json::{Value, json};

use crate::pairs::{NAME, all, always, asks, forms, never, servers, sessions, stateless};

const NO: &str = r#"{"code":-1,"message":"no, thank you","data":{"x":1E400}}"#;

fn refuse(_: &Question) -> Saying {
    Saying::Error(NO.to_owned())
}

/// What a client of the session era gets that answers everything with an error.
async fn refused(script: impl Fn() -> Script, method: &str, params: &str) -> Vec<Talk> {
    let mut talks = Vec::new();
    for place in stateless(script).await {
        let client = place.gateway.client_with("2025-11-25", &all()).await;
        talks.push(client.converse(method, params, refuse).await);
    }
    talks
}

const CALL: &str = r#"{"name":"a_ask","arguments":{}}"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_the_session_era_hears_a_refusal_as_it_was_said() {
    for method in ["elicitation/create", "sampling/createMessage", "roots/list"] {
        for place in sessions(|| asks(method, NAME)).await {
            let client = place.gateway.client_with("2025-11-25", &all()).await;
            let talk = client.converse("tools/call", CALL, refuse).await;
            assert!(talk.text().ends_with(&format!(r#""error":{NO}}}]]"#)), "{talk:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stateless_server_hears_of_a_refused_form_that_it_was_cancelled() {
    for talk in refused(|| asks("elicitation/create", NAME), "tools/call", CALL).await {
        assert_eq!(talk.text(), r#"[{"q0.0":{"action":"cancel"}}]"#);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stateless_server_hears_of_refused_roots_that_there_are_none() {
    for talk in refused(|| asks("roots/list", "{}"), "tools/call", CALL).await {
        assert_eq!(talk.text(), r#"[{"q0.0":{"roots":[]}}]"#);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_whose_sampling_is_refused_is_a_tool_error() {
    for talk in refused(|| asks("sampling/createMessage", NAME), "tools/call", CALL).await {
        assert_eq!(talk.message()["result"]["isError"], true);
        assert!(talk.text().contains("no, thank you"), "{talk:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_whose_sampling_is_refused_is_an_error() {
    let script = || {
        let interview =
            json!({ "on": ["prompts/get"], "rounds": [[{ "method": "sampling/createMessage" }]] });
        mcpr_tests::Fake::script()
            .with(r#"{"prompts":[{"name":"p"}]}"#)
            .interview(interview)
    };
    for talk in refused(script, "prompts/get", r#"{"name":"a_p"}"#).await {
        assert_eq!(talk.code(), -32603);
        let text = talk.message()["error"]["message"].to_string();
        assert!(text.contains("no, thank you"), "{text}");
    }
}

/// The answer of a server that asks a client without that capability.
async fn declined(method: &str, capabilities: &Value) -> Vec<String> {
    let mut said = Vec::new();
    for place in sessions(|| asks(method, NAME)).await {
        for peer in place.gateway.peers(capabilities).await {
            said.push(peer.call("a_ask", "{}", never).await.text());
        }
    }
    said
}

#[tokio::test(flavor = "multi_thread")]
async fn b37_a_client_without_the_capability_is_never_asked() {
    for said in declined("elicitation/create", &json!({ "roots": {}, "sampling": {} })).await {
        assert!(said.ends_with(r#""result":{"action":"cancel"}}]]"#), "{said}");
    }
    for said in declined("roots/list", &forms()).await {
        assert!(said.ends_with(r#""result":{"roots":[]}}]]"#), "{said}");
    }
    for said in declined("sampling/createMessage", &forms()).await {
        assert!(said.contains(r#""error":{"code":-1,"#), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_is_not_asked_in_a_way_that_it_did_not_declare() {
    let visit = r#"{"mode":"url","message":"m","url":"https://x","elicitationId":"e"}"#;
    let tools = r#"{"messages":[],"maxTokens":1,"tools":[]}"#;
    let plain = json!({ "elicitation": {}, "sampling": {} });
    for (method, params) in [("elicitation/create", visit), ("sampling/createMessage", tools)] {
        for place in servers(|| asks(method, params)).await {
            // A stateless server is told what its client declares, and answers a stateless client for itself.
            let client = place.gateway.client_with("2025-11-25", &plain).await;
            client.converse("tools/call", CALL, never).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_takes_no_stream_counts_as_one_that_cannot_be_asked() {
    for place in servers(|| asks("elicitation/create", NAME)).await {
        let client = place.gateway.client_with("2025-11-25", &forms()).await;
        let text = client.text("tools/call", CALL);
        let answer = client.post(&text).replace("accept", "application/json");
        let answer = answer.send(client.port).await.message();
        let said = answer["result"]["content"][0]["text"].to_string();
        assert!(said.contains("cancel"), "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_an_old_revision_is_asked_in_its_own_words() {
    let form = r#"{"message":"m","requestedSchema":{"type":"object","properties":{"n":{"type":"string","default":"d"}}}}"#;
    for place in servers(|| asks("elicitation/create", form)).await {
        let old = place.gateway.client_with("2025-06-18", &all()).await;
        let talk = old
            .converse("tools/call", CALL, always(r#"{"action":"decline"}"#))
            .await;
        assert_eq!(talk.questions[0].params, form.replace(r#","default":"d""#, ""));
        assert!(talk.text().contains(r#"{"action":"decline"}"#));
        let older = place.gateway.client_with("2025-03-26", &all()).await;
        assert!(
            older
                .converse("tools/call", CALL, never)
                .await
                .text()
                .contains("cancel")
        );
    }
}

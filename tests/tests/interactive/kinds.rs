//! Each kind of question, for every pairing: it comes to the client and its answer to the server
//! as they were said.

use mcpr_tests::Fake;
use mcpr_tests::talk::{Peer, Talk};
use serde_json::Value;

use crate::pairs::{Place, all, always, asks, servers};

/// One question in one place; gives its parameters as they came.
async fn asked(place: &Place, peer: &Peer, method: &str, result: &str) -> String {
    let talk = peer.call("a_ask", r#"{"n":1}"#, always(result)).await;
    let [question] = &talk.questions[..] else {
        panic!("not one question: {talk:?}")
    };
    assert_eq!(question.method, method);
    if peer.is_session() {
        question.key.parse::<u64>().expect("an id of mcpr's own");
    }
    let said = match place.stateless {
        true => format!(r#"[{{"q0.0":{result}}}]"#),
        false => format!(r#""result":{result}}}]]"#),
    };
    assert!(talk.text().ends_with(&said), "{talk:?}");
    question.params.clone()
}

/// A question that reaches every client as it was asked, and whose answer comes back as it was said.
async fn passes(method: &str, params: &str, result: &str) {
    for place in servers(|| asks(method, params)).await {
        for peer in place.gateway.peers(&all()).await {
            assert_eq!(asked(&place, &peer, method, result).await, params, "{peer:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_and_what_is_filled_in_pass_for_every_pairing() {
    let form = r#"{ "message":"é", "x":1E400,"requestedSchema":{"type":"object","properties":{"n":{"type":"number"}}}}"#;
    let filled = r#"{"action":"accept","content":{"n":123456789012345678901234567890},"x": [1.0]}"#;
    passes("elicitation/create", form, filled).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sampling_passes_for_every_pairing() {
    let messages = r#"{"messages":[{"role":"user","content":{"type":"text","text":"q"}}],"maxTokens":1E2}"#;
    let said =
        r#"{"role":"assistant","model":"m","stopReason":"endTurn","content":{"type":"text","text":"é"}}"#;
    passes("sampling/createMessage", messages, said).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sampling_with_tools_passes_for_every_pairing() {
    let messages = r#"{"messages":[{"role":"user","content":[{"type":"text","text":"q"}]}],"maxTokens":5,"tools":[{"name":"t","inputSchema":{"type":"object","$defs":{}}}],"toolChoice":{"mode":"auto"}}"#;
    let used = r#"{"role":"assistant","model":"m","stopReason":"toolUse","content":[{"type":"tool_use","id":"1","name":"t","input":{"n":1E400}}]}"#;
    passes("sampling/createMessage", messages, used).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn roots_pass_for_every_pairing() {
    let roots = r#"{"roots":[{"uri":"file:///é","name":"n","x":1.0}]}"#;
    passes("roots/list", "{}", roots).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_visit_has_a_name_in_the_session_era_and_none_in_the_stateless() {
    let named = r#"{"mode":"url","message":"m","url":"https://x/é?a=b","elicitationId":"e-1"}"#;
    let plain = named.replace(r#","elicitationId":"e-1""#, "");
    let agreed = r#"{"action":"accept"}"#;
    for place in servers(|| asks("elicitation/create", named)).await {
        for peer in place.gateway.peers(&all()).await {
            let params = asked(&place, &peer, "elicitation/create", agreed).await;
            match (peer.is_session(), place.stateless) {
                (false, false) => assert_eq!(params, plain),
                (true, true) => assert_ne!(id_of(&params), "e-1"),
                _ => assert_eq!(params, named),
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stateless_servers_visit_gets_a_name_that_nobody_guesses() {
    let plain = r#"{"mode":"url","message":"m","url":"https://x/"}"#;
    let fake = asks("elicitation/create", plain)
        .with(r#"{"era":"stateless"}"#)
        .stdio();
    let gateway = mcpr_tests::gateway().fake("a", &fake).ready().await;
    let client = gateway.client_with("2025-11-25", &all()).await;
    let mut ids = Vec::new();
    for _ in 0..2 {
        let params = r#"{"name":"a_ask","arguments":{}}"#;
        let talk = client
            .converse("tools/call", params, always(r#"{"action":"accept"}"#))
            .await;
        ids.push(id_of(&talk.questions[0].params));
    }
    assert!(ids[0] != ids[1] && ids[0].len() >= 32, "{ids:?}");
}

fn id_of(params: &str) -> String {
    let params: Value = serde_json::from_str(params).unwrap();
    params["elicitationId"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn prompts_and_resources_ask_too() {
    let interview = r#"{"interview":[{"on":["prompts/get","resources/read"],"rounds":[[{"method":"roots/list"}]]}],
        "prompts":[{"name":"p"}],"resources":[{"uri":"memo:///r","name":"r"}]}"#;
    let said = r#"{"roots":[{"uri":"file:///here"}]}"#;
    for place in servers(|| Fake::script().with(interview)).await {
        for peer in place.gateway.peers(&all()).await {
            let prompt = peer
                .converse("prompts/get", r#""name":"a_p""#, always(said))
                .await;
            let read = r#""uri":"resource://a/memo:///r""#;
            let resource = peer.converse("resources/read", read, always(said)).await;
            let result = |talk: &Talk| talk.message()["result"].clone();
            let text = result(&prompt)["messages"][0]["content"]["text"].to_string();
            assert!(text.contains("file:///here"), "{prompt:?}");
            let content = &result(&resource)["contents"][0];
            assert_eq!(content["uri"], "resource://a/memo:///r");
            assert!(
                content["text"].to_string().contains("file:///here"),
                "{resource:?}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stateless_servers_visit_is_told_to_be_over_if_the_user_went_there() {
    let visit = r#"{"mode":"url","message":"m","url":"https://x/"}"#;
    let fake = asks("elicitation/create", visit)
        .with(r#"{"era":"stateless"}"#)
        .stdio();
    let gateway = mcpr_tests::gateway().fake("a", &fake).ready().await;
    let client = gateway.client_with("2025-11-25", &all()).await;
    for (answer, news) in [("accept", 1), ("decline", 0)] {
        let answer = format!(r#"{{"action":"{answer}"}}"#);
        let params = r#"{"name":"a_ask","arguments":{}}"#;
        let talk = client.converse("tools/call", params, always(&answer)).await;
        let over: Vec<_> = talk
            .notes
            .iter()
            .map(|note| note["params"]["elicitationId"].clone())
            .collect();
        assert_eq!(over, vec![id_of(&talk.questions[0].params); news], "{talk:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_in_a_batch_ask_too_and_may_be_answered_in_one() {
    for place in servers(|| asks("sampling/createMessage", r#"{"message":"{args}"}"#)).await {
        let client = place.gateway.client_with("2025-03-26", &all()).await;
        let call = |n| {
            client.text(
                "tools/call",
                &format!(r#"{{"name":"a_ask","arguments":{{"n":{n}}}}}"#),
            )
        };
        let batch = format!("[{},{}]", call(1), call(2));
        let (_, mut connection) = client.post(&batch).open(client.port).await;
        let mut answers = Vec::new();
        while answers.len() < 2 {
            let question = connection.event().await.unwrap().message();
            let content = serde_json::json!({ "type": "text", "text": question["params"]["message"] });
            let said = serde_json::json!({ "role": "assistant", "model": "m", "content": content });
            answers.push(serde_json::json!({ "jsonrpc": "2.0", "id": question["id"], "result": said }));
        }
        let taken = client
            .post(&Value::from(answers).to_string())
            .send(client.port)
            .await;
        assert_eq!(taken.status(), 202);
        for _ in 0..2 {
            let answer = connection.event().await.unwrap().message();
            let said: Value =
                serde_json::from_str(answer["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
            let said = match place.stateless {
                true => &said[0]["q0.0"],
                false => &said[0][0]["result"],
            };
            let own = format!(r#"{{"n":{}}}"#, answer["id"]);
            assert_eq!(said["content"]["text"], own, "{answer}");
        }
        assert!(connection.event().await.is_none());
    }
}

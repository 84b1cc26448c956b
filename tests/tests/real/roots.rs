//! Roots that a real server remembers (`protocol.md` 20, row 5).

use mcpr_tests::talk::{Question, Saying};
use mcpr_tests::{Brood, gateway, peers};
use serde_json::json;

const FORM: &str = r#"{"name":"everything_trigger_elicitation_request","arguments":{}}"#;
const ROOTS: &str = r#"{"name":"everything_get_roots_list","arguments":{}}"#;

fn says(who: &'static str) -> impl Fn(&Question) -> Saying {
    move |question| {
        Saying::Result(match question.method.as_str() {
            "roots/list" => json!({ "roots": [{ "uri": format!("file:///home/{who}") }] }).to_string(),
            _ => json!({ "action": "decline" }).to_string(),
        })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn row_05_roots_of_one_client_are_not_told_to_another() {
    let brood = Brood::new();
    let gateway = gateway()
        .server("everything", brood.entry(&peers::ready().everything()))
        .ready()
        .await;
    let able = json!({ "roots": {}, "elicitation": {} });
    let holder = gateway.client_with("2025-11-25", &able).await;
    let (_head, mut held) = holder.begin("tools/call", FORM).await;
    held.message(|message| message["method"] == "elicitation/create")
        .await
        .expect("it is asked");

    let ada = gateway.client_with("2025-11-25", &able).await;
    let (_head, mut talk) = ada.begin("tools/call", FORM).await;
    let form = talk
        .message(|message| message["method"] == "elicitation/create")
        .await
        .expect("a form");
    let roots = talk
        .message(|message| message["method"] == "roots/list")
        .await
        .expect("a question for roots");
    ada.say(
        &roots["id"].to_string(),
        Saying::Result(r#"{"roots":[{"uri":"file:///home/ada"}]}"#.into()),
    )
    .await;
    ada.say(
        &form["id"].to_string(),
        Saying::Result(r#"{"action":"decline"}"#.into()),
    )
    .await;
    talk.message(|message| !message["result"].is_null())
        .await
        .expect("an end");
    let bob = gateway.client_with("2025-11-25", &able).await;
    let told = bob.converse("tools/call", ROOTS, says("bob")).await;

    assert!(!told.text().contains("ada"), "{told:?}");
    assert!(told.text().contains("file:///home/bob"), "{told:?}");
    brood.stop(gateway).await;
}

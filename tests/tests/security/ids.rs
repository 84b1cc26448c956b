//! Servers that answer under ids that are not those of requests, or nearly are.

use mcpr_tests::{Fake, gateway};
use serde_json::{Value, json};

use crate::sham::{Reply, Sham, http};
use crate::{assert_unharmed, text};

const EVIL: &str = r#"{"content":[{"type":"text","text":"evil"}]}"#;

/// Other ways to write a number, none of which is an id that the gateway has used.
fn look_alikes(number: u64) -> [String; 6] {
    [
        format!("\"{number}\""),
        format!("{number}.0"),
        format!("{number}e0"),
        format!("-{number}"),
        format!("[{number}]"),
        format!("\" {number}\""),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_on_a_pipe_only_the_id_itself_answers_a_request() {
    let answers =
        (1..=40)
            .flat_map(look_alikes)
            .chain(["null".into(), "18446744073709551616".into(), "999999".into()]);
    let lines = answers.map(|id| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{EVIL}}}"#));
    let odd = [
        r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1.5,"method":"roots/list"}"#,
        r#"{"jsonrpc":"2.0","id":{},"method":"sampling/createMessage","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":999999,"result":{},"error":{"code":1,"message":"both"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"id":2,"result":{}}"#,
        r#"{"jsonrpc":"2.0","error":{"code":1,"message":"about nothing"}}"#,
    ];
    let lines: Vec<String> = lines.chain(odd.map(str::to_owned)).collect();
    let (bad, good) = (
        Fake::script().tool("t").set("mid", json!(lines)).stdio(),
        Fake::script().tool("echo").stdio(),
    );
    let gateway = gateway().fake("bad", &bad).fake("good", &good).ready().await;
    let client = gateway.client().await;

    for round in 0..3 {
        let answer = client.call("bad_t", &format!(r#"{{"round":{round}}}"#)).await;
        assert_eq!(text(&answer), format!(r#"{{"round":{round}}}"#));
    }
    assert_unharmed(&gateway).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_behind_a_url_another_id_is_an_error_of_that_call() {
    for index in 0..6 {
        let answer = move |id: &str| {
            let id = &look_alikes(id.parse().unwrap())[index];
            let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{EVIL}}}"#);
            Reply::Bytes(http("content-type: application/json\r\n", body.as_bytes()))
        };

        let answer: Value = Sham::calling(answer).await.outcome().await;

        assert!(answer["error"].is_object(), "{index}: {answer}");
    }
}

//! Servers that never stop talking and never answer.

use std::time::Duration;

use mcpr_tests::gateway;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::assert_unharmed;
use crate::sham::{Reply, Sham};

/// Until when a call with a limit of a second is over, on any machine.
const LONG: Duration = Duration::from_secs(60);

/// What two calls come to of which the server says this again and again, and others beside them.
async fn outcome(begin: &'static str, piece: &'static str) -> [Value; 2] {
    let sham =
        Sham::calling(move |_| Reply::Endless(begin.into(), piece.repeat(64 * 1024 / piece.len()).into()))
            .await;
    let mut entry = sham.entry();
    entry["mcpr"]["timeouts"] = json!({ "call": "1s" });
    let good = mcpr_tests::Fake::script().tool("echo").stdio();
    let gateway = gateway().fake("good", &good).server("sham", entry).ready().await;
    let (one, two) = (gateway.client().await, gateway.client().await);
    let calls = async {
        tokio::join!(
            one.call("sham_t", "{}"),
            two.call("sham_t", "{}"),
            assert_unharmed(&gateway)
        )
    };
    let (first, second, ()) = timeout(LONG, calls).await.expect("an end at the limit");
    [first, second]
}

const STREAM: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";

#[tokio::test(flavor = "multi_thread")]
async fn http_05_sec_05_a_server_that_comments_for_ever_is_given_up_at_the_limit() {
    for answer in outcome(STREAM, ": x\n\n").await {
        assert_eq!(answer["error"]["data"]["reason"], "timeout", "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn http_05_sec_05_so_is_one_that_notifies_for_ever() {
    let note = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"debug\",\"data\":1}}\n\n";
    for answer in outcome(STREAM, note).await {
        assert_eq!(answer["error"]["data"]["reason"], "timeout", "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn http_05_sec_05_one_that_announces_its_answer_for_ever_gives_none() {
    for answer in outcome("", "HTTP/1.1 103 Early Hints\r\n\r\n").await {
        let told = answer["error"]["message"].as_str().unwrap();
        assert!(
            told.contains("again and again of an answer that does not come"),
            "{answer}"
        );
    }
}

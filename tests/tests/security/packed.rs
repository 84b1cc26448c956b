//! Answers over HTTP that have no end, or are not what they say.

use serde_json::{Value, json};

use crate::sham::{Reply, Sham, http, response};
use crate::text;

/// What is sent in answer to the request of an id.
type Body = Box<dyn Fn(&str) -> Vec<u8> + Send + Sync>;

/// The beginning of an answer without an end.
fn open(ctype: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\ncontent-type: {ctype}\r\n\r\n").into_bytes()
}

fn message(answer: &Value) -> &str {
    answer["error"]["message"]
        .as_str()
        .unwrap_or_else(|| panic!("no error in {answer}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_no_answer_is_unpacked_and_none_is_asked_to_be_packed() {
    for coding in ["gzip", "br", "deflate", "zstd", "identity, gzip"] {
        let head = format!("content-type: application/json\r\ncontent-encoding: {coding}\r\n");
        // A few bytes that would unpack to many.
        let bomb = http(&head, &[b"\x1f\x8b\x08\x00".as_slice(), &[0; 4096]].concat());
        let sham = Sham::calling(move |_| Reply::Bytes(bomb.clone())).await;

        let answer = sham.outcome().await;

        assert!(
            message(&answer).contains("which was not asked for and is not read"),
            "{answer}"
        );
        let asks = |head: &String| head.to_lowercase().contains("accept-encoding");
        assert!(!sham.heads().iter().any(asks));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_a_stream_of_events_is_not_unpacked_either() {
    let head = "content-type: text/event-stream\r\ncontent-encoding: gzip\r\n";
    let sham = Sham::calling(move |_| Reply::Bytes(http(head, b"\x1f\x8b\x08\x00\x00\x00"))).await;
    assert!(message(&sham.outcome().await).contains("`gzip`"));

    let plain = |id: &str| {
        let bytes = response(id, &json!({ "content": [{ "type": "text", "text": "plain" }] }));
        let text = String::from_utf8(bytes).unwrap();
        Reply::Bytes(
            text.replace("content-type", "content-encoding: identity\r\ncontent-type")
                .into_bytes(),
        )
    };
    assert_eq!(text(&Sham::calling(plain).await.outcome().await), "plain");
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_what_never_ends_fails_its_own_call_and_nothing_else() {
    let endless: [(&str, Vec<u8>, &[u8]); 5] = [
        ("a text", open("application/json"), b"[[[[[[[["),
        ("an event", open("text/event-stream"), b"data: xxxxxxxx"),
        (
            "lines of one event",
            open("text/event-stream"),
            b"data: xxxxxxxx\n",
        ),
        ("a header", b"HTTP/1.1 200 OK\r\nx-long: ".to_vec(), b"xxxxxxxx"),
        ("headers", b"HTTP/1.1 200 OK\r\n".to_vec(), b"x-many: x\r\n"),
    ];
    for (what, begin, piece) in endless {
        let piece = piece.repeat(512);
        let sham = Sham::calling(move |_| Reply::Endless(begin.clone(), piece.clone())).await;

        let answer = sham.outcome().await;

        assert!(!message(&answer).is_empty(), "{what}: {answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_a_content_type_that_lies_is_an_error_and_no_guess() {
    let event =
        |id: &str| format!("data: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n\n").into_bytes();
    let plain = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#).into_bytes();
    let lies: [(&str, Body); 5] = [
        ("application/json", Box::new(event)),
        ("text/event-stream", Box::new(plain)),
        ("text/html", Box::new(plain)),
        ("application/octet-stream", Box::new(event)),
        (
            "application/json\r\ncontent-type: text/html",
            Box::new(|_: &str| b"<html>".to_vec()),
        ),
    ];
    for (ctype, body) in lies {
        let head = format!("content-type: {ctype}\r\n");
        let sham = Sham::calling(move |id| Reply::Bytes(http(&head, &body(id)))).await;

        let answer = sham.outcome().await;

        assert!(!message(&answer).is_empty(), "{ctype}: {answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_a_cursor_without_bounds_ends_the_list() {
    let list = |method: &str, id: &str| {
        let tools = json!([{ "name": "t", "inputSchema": { "type": "object" } }]);
        let page = json!({ "tools": tools, "nextCursor": "c".repeat(100_000) });
        (method == "tools/list").then(|| Reply::Bytes(response(id, &page)))
    };
    let sham = Sham::new(list).await;

    let (gateway, _good) = sham.in_front().await;

    assert!(
        gateway
            .client()
            .await
            .tool_names()
            .await
            .contains(&"sham_t".to_owned())
    );
    assert!(sham.heads().len() < 10, "{:?}", sham.heads());
}

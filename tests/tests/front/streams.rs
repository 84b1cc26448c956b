//! How answers travel: as JSON or as a stream of events (HTTP-06, B31, B48, B52).

use std::time::{Duration, Instant};

use mcpr_tests::http::{Connection, Request};
use mcpr_tests::{Fake, Gateway, gateway};

use crate::refusal;

pub(crate) const CALL: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a_x","_meta":{"progressToken":1}}}"#;

/// A gateway before a server that reports progress and answers after `seconds` more.
pub(crate) async fn serving(seconds: f64) -> (Fake, Gateway) {
    let fake = Fake::script()
        .tool("x")
        .with(r#"{"progress":{"count":2,"interval":0.01}}"#)
        .delay("tools/call", seconds)
        .stdio();
    let gateway = gateway()
        .fake("a", &fake)
        .keep_alive(Duration::from_millis(100))
        .ready()
        .await;
    (fake, gateway)
}

#[tokio::test(flavor = "multi_thread")]
async fn http_06_comments_keep_every_silent_stream_alive() {
    let (_fake, gateway) = serving(0.5).await;
    let client = gateway.client().await;
    let (_, mut call) = client.post(CALL).open(gateway.port).await;
    let mut stream = client.stream().await;
    let (_, mut listen) = gateway
        .stateless()
        .begin("subscriptions/listen", r#""notifications":{}"#, None)
        .await;
    listen.event().await.unwrap();
    for connection in [&mut stream, &mut listen] {
        let comment = connection.event().await.unwrap();
        assert!(
            comment.data.is_empty() && !comment.comments.is_empty(),
            "{comment:?}"
        );
    }
    let mut comments = 0;
    while let Some(event) = call.event().await {
        comments += event.comments.len();
    }
    assert!(comments >= 2, "{comments} comments while the server was silent");
}

#[tokio::test(flavor = "multi_thread")]
async fn b52_events_are_sent_when_they_come_and_never_compressed() {
    let (_fake, gateway) = serving(0.6).await;
    let client = gateway.client().await;
    let began = Instant::now();
    let request = client.post(CALL).header("accept-encoding", "gzip, deflate, br");
    let (head, mut connection) = request.open(gateway.port).await;
    connection.event().await.unwrap();
    let first = began.elapsed();
    assert_eq!(head.header("content-encoding"), None);
    connection.message(|message| message["id"] == 1).await.unwrap();
    let wait = began.elapsed() - first;
    assert!(
        wait >= Duration::from_millis(400),
        "the first came {wait:?} before the last"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn b31_a_get_gets_its_stream_at_once_or_is_told_at_once_that_there_is_none() {
    // With comments 15 s apart, only the head itself can come this soon.
    let gateway = gateway().ready().await;
    let client = gateway.client().await;
    let get = client.in_session(Request::get("/mcp"));
    let began = Instant::now();
    let (head, _stream) = get.open(gateway.port).await;
    assert_eq!(
        (head.status, head.header("content-type")),
        (200, Some("text/event-stream"))
    );
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    let (resuming, _) = get.clone().header("last-event-id", "7").open(gateway.port).await;
    assert_eq!(
        resuming.status, 200,
        "there is nothing to resume, so it is a new stream"
    );
    let without = get.clone().without("mcp-session-id").send(gateway.port).await;
    assert_eq!(
        (refusal(&without).0, without.head.header("allow")),
        (405, Some("POST"))
    );
    for accept in ["application/json", "text/html"] {
        let answer = get.clone().replace("accept", accept).send(gateway.port).await;
        assert_eq!(refusal(&answer).0, 406, "{accept}");
    }
    assert_eq!(
        get.replace("mcp-session-id", "nope")
            .send(gateway.port)
            .await
            .status(),
        404
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn b48_connections_that_break_in_the_middle_harm_nobody_else() {
    let (_fake, gateway) = serving(0.3).await;
    let (steady, restless, third) = (
        gateway.client().await,
        gateway.client().await,
        gateway.client().await,
    );
    let mut stream = third.stream().await;
    let steady = steady.post(CALL);
    let others = tokio::join!(steady.send(gateway.port), async {
        for id in 10..30 {
            let call = CALL.replace(r#""id":1"#, &format!(r#""id":{id}"#));
            let (_, mut connection) = restless.post(&call).open(gateway.port).await;
            connection.event().await.unwrap();
            connection.reset();
            let stream = restless.stream().await;
            stream.reset();
        }
        let last = restless.post(&CALL.replace(r#""id":1"#, r#""id":99"#));
        last.send(gateway.port).await
    });
    for answer in [others.0, others.1] {
        assert!(answer.message()["result"].is_object());
    }
    assert!(
        !stream.event().await.unwrap().comments.is_empty(),
        "the third client's stream goes on"
    );
    assert_eq!(gateway.server("a").await["starts"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_follow_each_other_on_one_connection() {
    let (_fake, gateway) = serving(0.0).await;
    let client = gateway.client().await;
    let mut connection = Connection::open(gateway.port).await;
    let none = Request::post("/mcp", "{").token("wrong");
    for request in [
        client.post(CALL),
        client.post("{"),
        client.post(CALL),
        client.in_session(Request::new("PUT", "/mcp")),
    ] {
        connection.send(&request.bytes()).await;
        assert!(matches!(connection.answer().await.status(), 200 | 400 | 405));
    }
    connection
        .send(&client.post(r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#).bytes())
        .await;
    assert_eq!(connection.answer().await.message()["id"], 3);
    connection.send(&none.bytes()).await;
    assert_eq!(
        connection.answer().await.status(),
        401,
        "a good token is not remembered for a bad one"
    );
}

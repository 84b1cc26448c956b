//! Stories about the old transport.

use mcpr_protocol::{Notification, RawJson, notification};
use parking_lot::Mutex;

use super::*;
use crate::Sent;
use crate::http::client::stub::{Reply, Seen, Stream, Stub, response, say};

/// A server of HTTP+SSE that names `endpoint`, and the stream of its one client.
async fn server(
    endpoint: &str,
    post: impl Fn(&Seen, &Stream) -> Reply + Send + Sync + 'static,
) -> (Stub, Stream) {
    let (reply, stream) = Reply::stream();
    say(
        &stream,
        format!(": hi\r\n\r\nevent: endpoint\r\ndata: {endpoint}\r\n\r\n"),
    );
    let (reply, replies) = (Mutex::new(Some(reply)), stream.clone());
    let stub = Stub::start(move |seen| match seen.method.as_str() {
        "GET" => reply.lock().take().unwrap_or_else(|| Reply::status(404)),
        _ => post(seen, &replies),
    })
    .await;
    (stub, stream)
}

/// Answers requests on the stream, as the transport wants it.
fn answering(seen: &Seen, stream: &Stream) -> Reply {
    if seen.id() != "null" {
        say(
            stream,
            format!("event: message\ndata: {}\n\n", response(seen, "{}")),
        );
    }
    Reply::text(202, "text/plain", "Accepted")
}

async fn connected(stub: &Stub) -> Result<(Arc<OldSse>, mpsc::Receiver<Event>), Failed> {
    let target = Target::new(&stub.url("/app/sse"), [("Authorization", "Bearer t0ken")]).unwrap();
    OldSse::connect(&target, Limits::default()).await
}

async fn open(client: &OldSse, method: Method) -> Result<Exchange, Failed> {
    let params = Rope::from(RawJson::from_static("{}"));
    client
        .open(Outgoing {
            id: client.next_id(),
            method,
            params,
            name: None,
            headers: Vec::new(),
            party: crate::Party::GATEWAY,
        })
        .await
}

async fn ask(client: &OldSse, method: Method) -> Result<String, Failed> {
    let mut exchange = open(client, method).await?;
    loop {
        if let Message::Response(response) = exchange.next().await? {
            return Ok(response.outcome.unwrap().as_str().to_owned());
        }
    }
}

#[tokio::test]
async fn b98_messages_go_to_the_endpoint_that_the_stream_names() {
    for (endpoint, path) in [
        ("/messages?s=1", "/messages?s=1"),
        ("messages?s=1", "/app/messages?s=1"),
    ] {
        let (stub, _stream) = server(endpoint, answering).await;
        let (client, _events) = connected(&stub).await.unwrap();
        assert_eq!(ask(&client, Method::Initialize).await.unwrap(), "{}");
        client.negotiated(Version::V2024_11_05);
        let initialized = Notification::new(notification::INITIALIZED, None);
        client.send(Message::Notification(initialized)).await.unwrap();

        let expected = [
            "GET /app/sse".to_owned(),
            format!("POST {path} initialize"),
            format!("POST {path} notifications/initialized"),
        ];
        assert_eq!(stub.story(), expected);
        assert!(
            stub.seen()
                .iter()
                .all(|seen| seen.header("authorization") == "Bearer t0ken")
        );
        assert!(
            stub.seen()
                .iter()
                .all(|seen| seen.header("mcp-protocol-version").is_empty())
        );
    }
}

#[tokio::test]
async fn b98_an_endpoint_of_another_origin_is_refused() {
    let other = Stub::start(|_| Reply::status(202)).await;
    for endpoint in [
        other.url("/m"),
        "//evil.example/m".to_owned(),
        "ftp://x/".to_owned(),
    ] {
        let (stub, _stream) = server(&endpoint, answering).await;
        let failed = connected(&stub).await.unwrap_err();
        assert_eq!(failed.kind, FailedKind::Redirected, "{failed}");
    }
    assert!(other.seen().is_empty());
}

#[tokio::test]
async fn what_is_no_stream_or_names_no_endpoint_is_refused() {
    let failure = async |reply: fn() -> Reply| {
        connected(&Stub::start(move |_| reply()).await)
            .await
            .unwrap_err()
            .kind
    };
    assert_eq!(failure(|| Reply::status(405)).await, FailedKind::Status(405));
    assert_eq!(
        failure(|| Reply::status(401)).await,
        FailedKind::Unauthorized(401)
    );
    assert_eq!(failure(|| Reply::json("{}")).await, FailedKind::Malformed);
    assert_eq!(
        failure(|| Reply::events("data: {}\n\n")).await,
        FailedKind::Closed
    );
}

#[tokio::test]
async fn b20_b98_when_the_stream_ends_open_requests_fail_and_an_event_says_so() {
    let (reply, stream) = Reply::stream();
    say(&stream, "event: endpoint\ndata: /m\n\n");
    let reply = Mutex::new(Some(reply));
    let stub = Stub::start(move |seen| match seen.method.as_str() {
        "GET" => reply.lock().take().unwrap(),
        _ => Reply::status(202),
    })
    .await;
    let (client, mut events) = connected(&stub).await.unwrap();
    let mut call = open(&client, Method::ToolsCall).await.unwrap();
    stub.saw(|seen| seen.method == "POST").await;
    drop(stream);

    let failed = call.next().await.unwrap_err();
    assert_eq!((failed.kind, failed.sent), (FailedKind::Closed, Sent::Maybe));
    assert!(matches!(events.recv().await, Some(Event::Closed(_))));
    let late = open(&client, Method::ToolsCall).await.unwrap_err();
    assert_eq!((late.kind, late.sent), (FailedKind::Closed, Sent::No));
}

#[tokio::test]
async fn b17_progress_comes_in_the_exchange_and_the_rest_as_events() {
    let (stub, stream) = server("/m", |_, _| Reply::status(200)).await;
    let (client, mut events) = connected(&stub).await.unwrap();
    let mut call = open(&client, Method::ToolsCall).await.unwrap();
    say(
        &stream,
        "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n",
    );
    say(&stream, "data: nonsense\n\n");
    say(
        &stream,
        "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":1}}\n\n",
    );
    say(
        &stream,
        "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n\n",
    );
    say(&stream, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}\n\n");
    assert!(matches!(call.next().await, Ok(Message::Notification(_))));
    assert!(matches!(call.next().await, Ok(Message::Response(_))));
    assert!(matches!(events.recv().await, Some(Event::Notification(_))));
    assert!(matches!(events.recv().await, Some(Event::Request(_))));
}

#[tokio::test]
async fn b02_a_post_to_a_lost_session_fails_the_call_unsent() {
    let (stub, _stream) = server("/m", |_, _| Reply::status(404)).await;
    let (client, _events) = connected(&stub).await.unwrap();
    let failed = ask(&client, Method::ToolsCall).await.unwrap_err();
    assert_eq!((failed.kind, failed.sent), (FailedKind::SessionExpired, Sent::No));
}

#[tokio::test]
async fn b35_a_dropped_call_is_cancelled_and_initialize_is_not() {
    let (stub, _stream) = server("/m", |_, _| Reply::status(202)).await;
    let (client, _events) = connected(&stub).await.unwrap();
    drop(open(&client, Method::Initialize).await.unwrap());
    let call = open(&client, Method::ToolsCall).await.unwrap();
    stub.saw(|seen| seen.mcp() == "tools/call").await;
    call.cancel(Reason::Shutdown);
    let news = stub.saw(|seen| seen.mcp() == notification::CANCELLED).await;
    assert!(
        String::from_utf8_lossy(&news.body).contains(r#"{"requestId":2,"reason":"the gateway is stopping"}"#)
    );
    client.close().await;
    assert_eq!(
        stub.story()
            .iter()
            .filter(|line| line.ends_with("cancelled"))
            .count(),
        1
    );
}

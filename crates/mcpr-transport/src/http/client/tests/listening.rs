//! The stream for what belongs to no request.

use tokio::sync::oneshot;

use super::super::stub::say;
use super::*;
use crate::FailedKind;

const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

/// A server whose GET is answered by `stream`, with the number of the try.
async fn listening(stream: impl Fn(usize) -> Reply + Send + Sync + 'static) -> Stub {
    let gets = std::sync::atomic::AtomicUsize::new(0);
    Stub::start(move |seen| match seen.method.as_str() {
        "GET" => stream(gets.fetch_add(1, std::sync::atomic::Ordering::Relaxed)),
        _ => in_session(seen),
    })
    .await
}

#[tokio::test]
async fn b68_b31_a_server_without_a_stream_is_asked_once_and_works() {
    for status in [405, 404, 400, 501, 200] {
        let stub = listening(move |_| Reply::status(status)).await;
        let (client, mut events) = introduced(&stub).await;
        client.listen().await;
        stub.saw(|seen| seen.method == "GET").await;
        assert_eq!(ask(&*client, Method::ToolsList).await.unwrap(), "\"tools/list\"");
        client.close().await;
        assert!(events.recv().await.is_none(), "{status} is no news");
        assert_eq!(
            stub.story().iter().filter(|line| line.starts_with("GET")).count(),
            1
        );
    }
}

#[tokio::test]
async fn notifications_and_requests_of_the_stream_are_events() {
    let (reply, stream) = Reply::stream();
    let reply = parking_lot::Mutex::new(Some(reply));
    let stub = listening(move |_| reply.lock().take().unwrap()).await;
    let (client, mut events) = introduced(&stub).await;
    client.listen().await;
    say(
        &stream,
        format!(
            ": hello\n\ndata: {CHANGED}\n\ndata: []\n\ndata: {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}}\n\n"
        ),
    );
    say(
        &stream,
        "data: {\"jsonrpc\":\"2.0\",\"id\":\"r\",\"method\":\"roots/list\"}\n\n",
    );
    assert!(matches!(events.recv().await, Some(Event::Notification(_))));
    let Some(Event::Request(request)) = events.recv().await else {
        panic!()
    };
    assert_eq!(request.id.to_string(), "\"r\"");
}

#[tokio::test]
async fn it_is_told_when_the_stream_is_open_or_cannot_be_had() {
    let stub = listening(|_| Reply::status(405)).await;
    let (client, _events) = introduced(&stub).await;
    let none = client.listen().await.unwrap();
    none.await.unwrap_err();

    let (reply, _stream) = Reply::stream();
    let reply = parking_lot::Mutex::new(Some(reply));
    let stub = listening(move |_| reply.lock().take().unwrap()).await;
    let (client, _events) = introduced(&stub).await;
    let open = client.listen().await.unwrap();
    open.await.unwrap_err();

    let (reply, gone) = Reply::silence();
    let reply = parking_lot::Mutex::new(Some(reply));
    let stub = listening(move |_| reply.lock().take().unwrap()).await;
    let (client, _events) = introduced(&stub).await;
    let mut waits = client.listen().await.unwrap();
    stub.saw(|seen| seen.method == "GET").await;
    assert!(
        waits
            .try_recv()
            .is_err_and(|why| why == oneshot::error::TryRecvError::Empty)
    );
    client.close().await;
    waits.await.unwrap_err();
    drop(gone);
}

#[tokio::test]
async fn a_stream_that_ends_is_opened_again_behind_the_last_event_when_the_server_wants() {
    let stub = listening(|get| match get {
        0 => Reply::events(format!("id: 7\nretry: 1\ndata: {CHANGED}\n\n")),
        1 => Reply::status(503),
        _ => Reply::events(format!("data: {CHANGED}\n\n")),
    })
    .await;
    let (client, mut events) = introduced(&stub).await;
    client.listen().await;
    for _ in 0..2 {
        assert!(matches!(events.recv().await, Some(Event::Notification(_))));
    }
    let gets: Vec<_> = stub
        .seen()
        .into_iter()
        .filter(|seen| seen.method == "GET")
        .take(3)
        .collect();
    assert_eq!(
        gets.iter()
            .map(|seen| seen.header("last-event-id"))
            .collect::<Vec<_>>(),
        ["", "7", "7"]
    );
}

#[tokio::test]
async fn b02_a_stream_that_cannot_come_back_because_the_session_is_lost_says_so() {
    let stub = listening(|get| match get {
        0 => Reply::events("retry: 1\ndata:\n\n"),
        _ => Reply::status(404),
    })
    .await;
    let (client, mut events) = introduced(&stub).await;
    client.listen().await;
    let Some(Event::Closed(failed)) = events.recv().await else {
        panic!()
    };
    assert_eq!(failed.kind, FailedKind::SessionExpired);
}

#[tokio::test]
async fn a_new_handshake_ends_the_stream_of_the_old_session() {
    let (reply, stream) = Reply::stream();
    let reply = parking_lot::Mutex::new(Some(reply));
    let stub = listening(move |_| reply.lock().take().unwrap()).await;
    let (client, _events) = introduced(&stub).await;
    client.listen().await;
    stub.saw(|seen| seen.method == "GET").await;
    introduce(&client).await.unwrap();
    stream.closed().await;
}

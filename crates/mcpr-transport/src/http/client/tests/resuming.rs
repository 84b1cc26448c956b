//! Streams that break off and go on.

use super::super::stub::response;
use super::*;
use crate::{FailedKind, Sent};

const PROGRESS: &str = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#;

/// A server whose calls are answered by a stream that breaks off, and then by `rest`.
async fn broken_off(rest: impl Fn(&Seen, usize) -> Reply + Send + Sync + 'static) -> Stub {
    let gets = std::sync::atomic::AtomicUsize::new(0);
    Stub::start(move |seen| match (seen.method.as_str(), seen.mcp().as_str()) {
        ("GET", _) => rest(seen, gets.fetch_add(1, std::sync::atomic::Ordering::Relaxed)),
        (_, "tools/call") => {
            Reply::events(format!("id: a1\nretry: 1\ndata:\n\nid: a2\ndata: {PROGRESS}\n\n"))
        }
        _ => in_session(seen),
    })
    .await
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_picked_up_behind_the_last_event() {
    let stub = broken_off(|_, get| match get {
        0 => Reply::status(503),
        1 => Reply::events(format!("id: a3\ndata: {PROGRESS}\n\n")),
        2 => Reply::events(""),
        _ => Reply::events(r#"data: {"jsonrpc":"2.0","id":2,"result":"late"}"#.to_owned() + "\n\n"),
    })
    .await;
    let (client, _events) = introduced(&stub).await;
    let mut call = open(&*client, Method::ToolsCall).await.unwrap();
    for _ in 0..2 {
        assert!(matches!(call.next().await, Ok(Message::Notification(_))));
    }
    assert_eq!(outcome(&mut call).await.unwrap(), "\"late\"");

    let gets: Vec<_> = stub
        .seen()
        .into_iter()
        .filter(|seen| seen.method == "GET")
        .collect();
    assert_eq!(
        gets.iter()
            .map(|seen| seen.header("last-event-id"))
            .collect::<Vec<_>>(),
        ["a2", "a2", "a3", "a3"]
    );
    assert!(gets.iter().all(|seen| seen.header("mcp-session-id") == "s1" && seen.header("accept") == "text/event-stream"));
}

#[tokio::test]
async fn a_stream_that_brings_nothing_again_and_again_is_given_up() {
    let stub = broken_off(|_, _| Reply::events("")).await;
    let (client, _events) = introduced(&stub).await;
    let failed = ask(&*client, Method::ToolsCall).await.unwrap_err();
    assert_eq!((failed.kind, failed.sent), (FailedKind::Closed, Sent::Maybe));
    let gets = stub.story().iter().filter(|line| line.starts_with("GET")).count();
    assert_eq!(gets, Limits::default().resumes as usize);
}

#[tokio::test]
async fn a_server_that_cannot_resume_or_lost_the_session_fails_the_call_at_once() {
    for (status, kind) in [(405, FailedKind::Closed), (404, FailedKind::SessionExpired)] {
        let stub = broken_off(move |_, _| Reply::status(status)).await;
        let (client, _events) = introduced(&stub).await;
        let failed = ask(&*client, Method::ToolsCall).await.unwrap_err();
        assert_eq!(
            (failed.kind, failed.sent),
            (kind, Sent::Maybe),
            "the call may have been made"
        );
    }
}

#[tokio::test]
async fn a_stream_without_ids_cannot_be_resumed() {
    let stub = Stub::start(|seen| match seen.mcp().as_str() {
        "tools/call" => Reply::events(format!("data: {PROGRESS}\n\n")),
        _ => in_session(seen),
    })
    .await;
    let (client, _events) = introduced(&stub).await;
    assert_eq!(
        ask(&*client, Method::ToolsCall).await.unwrap_err().kind,
        FailedKind::Closed
    );
    assert!(!stub.story().iter().any(|line| line.starts_with("GET")));
}

#[tokio::test]
async fn the_response_ends_the_exchange_and_nothing_is_resumed_after_it() {
    let stub = Stub::start(|seen| match seen.mcp().as_str() {
        "tools/call" => Reply::events(format!("id: 1\ndata: {}\n\n", response(seen, "1"))),
        _ => in_session(seen),
    })
    .await;
    let (client, _events) = introduced(&stub).await;
    assert_eq!(ask(&*client, Method::ToolsCall).await.unwrap(), "1");
    client.close().await;
    assert_eq!(stub.story().last().unwrap(), "DELETE /mcp");
}

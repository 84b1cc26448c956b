//! The session era: handshake, headers, loss, cancel and end.

use super::*;
use crate::{FailedKind, Reason, Sent};

#[tokio::test]
async fn b88_b33_session_and_version_are_on_everything_after_initialize_and_not_on_it() {
    let stub = Stub::start(in_session).await;
    let (client, _events) = introduced(&stub).await;
    ask(&*client, Method::ToolsList).await.unwrap();
    client.listen().await;
    stub.saw(|seen| seen.method == "GET").await;
    client.close().await;

    let headers = |seen: &Seen| {
        format!(
            "{} {}",
            seen.header("mcp-session-id"),
            seen.header("mcp-protocol-version")
        )
    };
    let expected = [
        "POST /mcp initialize",
        "POST /mcp notifications/initialized",
        "POST /mcp tools/list",
        "GET /mcp",
        "DELETE /mcp",
    ];
    assert_eq!(stub.story(), expected);
    let all: Vec<_> = stub.seen().iter().map(headers).collect();
    assert_eq!(all[0], " ");
    assert!(
        all[1..].iter().all(|headers| headers == "s1 2025-11-25"),
        "{all:?}"
    );
}

#[tokio::test]
async fn b87_each_header_comes_once_and_configured_ones_come_on_every_request() {
    let stub = Stub::start(in_session).await;
    let configured = [
        ("Authorization", "Basic x"),
        ("MCP-Protocol-Version", "1"),
        ("accept", "*/*"),
        ("Mcp-Session-Id", "z"),
    ];
    let (client, _events) = client_of(&stub.url("/mcp"), &configured);
    for _ in 0..2 {
        introduce(&client).await.unwrap();
    }
    client.listen().await;
    stub.saw(|seen| seen.method == "GET").await;
    client.close().await;

    for seen in stub.seen() {
        assert_eq!(seen.header("authorization"), "Basic x");
        assert_eq!(seen.headers.get_all("host").iter().count(), 1);
        let (version, accept, content) = match (seen.method.as_str(), seen.mcp().as_str()) {
            ("POST", "initialize") => ("", "application/json, text/event-stream", "application/json"),
            ("POST", _) => (
                "2025-11-25",
                "application/json, text/event-stream",
                "application/json",
            ),
            ("GET", _) => ("2025-11-25", "text/event-stream", ""),
            _ => ("2025-11-25", "", ""),
        };
        assert_eq!(seen.header("mcp-protocol-version"), version);
        assert_eq!(seen.header("accept"), accept);
        assert_eq!(seen.header("content-type"), content);
    }
}

#[tokio::test]
async fn b02_a_lost_session_is_reported_unsent_and_initialize_begins_anew_without_it() {
    let stub = Stub::start(
        |seen| match (seen.mcp().as_str(), seen.header("mcp-session-id").as_str()) {
            ("tools/call", "s1") => Reply::text(404, "text/plain", "no such session"),
            ("initialize", "s1") => Reply::status(400),
            _ => in_session(seen),
        },
    )
    .await;
    let (client, _events) = introduced(&stub).await;

    let failed = ask(&*client, Method::ToolsCall).await.unwrap_err();
    assert_eq!((failed.kind, failed.sent), (FailedKind::SessionExpired, Sent::No));
    introduce(&client).await.unwrap();
}

#[tokio::test]
async fn b02_a_notification_of_a_lost_session_says_so_too() {
    let lost = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}"#;
    let stub = Stub::start(move |seen| match seen.mcp().as_str() {
        "notifications/roots/list_changed" => Reply::text(400, "application/json", lost),
        _ => in_session(seen),
    })
    .await;
    let (client, _events) = introduced(&stub).await;
    let changed = Message::Notification(Notification::new(notification::ROOTS_CHANGED, None));
    assert_eq!(
        client.send(changed).await.unwrap_err().kind,
        FailedKind::SessionExpired
    );
}

#[tokio::test]
async fn b108_a_server_without_sessions_gets_no_session_header() {
    let stub = Stub::start(|seen| match seen.mcp().as_str() {
        "notifications/initialized" => Reply::status(204),
        _ => Reply::result(seen, "{}"),
    })
    .await;
    let (client, _events) = introduced(&stub).await;
    ask(&*client, Method::ToolsList).await.unwrap();
    client.close().await;
    assert!(
        stub.seen()
            .iter()
            .all(|seen| seen.header("mcp-session-id").is_empty())
    );
    assert!(
        !stub.story().contains(&"DELETE /mcp".to_owned()),
        "there is no session to end"
    );
}

#[tokio::test]
async fn b35_a_cancel_reaches_the_server_with_the_id_of_the_call() {
    let (silence, _gone) = Reply::silence();
    let silence = parking_lot::Mutex::new(Some(silence));
    let stub = Stub::start(move |seen| match seen.mcp().as_str() {
        "tools/call" => silence.lock().take().unwrap(),
        _ => in_session(seen),
    })
    .await;
    let (client, _events) = introduced(&stub).await;
    let call = open(&*client, Method::ToolsCall).await.unwrap();
    let asked = stub.saw(|seen| seen.mcp() == "tools/call").await;
    call.cancel(Reason::Deadline);

    let news = stub.saw(|seen| seen.mcp() == notification::CANCELLED).await;
    let expected = format!(
        r#""params":{{"requestId":{},"reason":"the time limit passed"}}"#,
        asked.id()
    );
    assert!(String::from_utf8_lossy(&news.body).contains(&expected));
    assert_eq!(news.header("mcp-session-id"), "s1");
}

#[tokio::test]
async fn b35_dropping_a_call_is_a_cancel_and_dropping_initialize_or_an_answered_call_is_none() {
    let stub = Stub::start(|seen| match (seen.mcp().as_str(), seen.id().as_str()) {
        ("tools/call", _) => {
            let (reply, stream) = Reply::stream();
            Box::leak(Box::new(stream));
            reply
        }
        _ => in_session(seen),
    })
    .await;
    let (client, _events) = introduced(&stub).await;
    drop(open(&*client, Method::Initialize).await.unwrap());
    client.negotiated(Version::V2025_11_25);
    ask(&*client, Method::ToolsList).await.unwrap();
    drop(open(&*client, Method::ToolsCall).await.unwrap());

    stub.saw(|seen| seen.mcp() == notification::CANCELLED).await;
    client.close().await;
    let cancels = stub
        .story()
        .iter()
        .filter(|line| line.ends_with("cancelled"))
        .count();
    assert_eq!(cancels, 1);
}

#[tokio::test]
async fn closing_fails_what_is_open_and_what_comes_later() {
    let (silence, gone) = Reply::silence();
    let silence = parking_lot::Mutex::new(Some(silence));
    let stub = Stub::start(move |seen| match seen.mcp().as_str() {
        "tools/call" => silence.lock().take().unwrap(),
        _ => in_session(seen),
    })
    .await;
    let (client, mut events) = introduced(&stub).await;
    let mut call = open(&*client, Method::ToolsCall).await.unwrap();
    stub.saw(|seen| seen.mcp() == "tools/call").await;
    client.close().await;

    let failed = outcome(&mut call).await.unwrap_err();
    assert_eq!((failed.kind, failed.sent), (FailedKind::Closed, Sent::Maybe));
    assert!(gone.await.is_err());
    let late = open(&*client, Method::ToolsCall).await.unwrap_err();
    assert_eq!((late.kind, late.sent), (FailedKind::Closed, Sent::No));
    assert!(events.recv().await.is_none());
}

#[tokio::test]
async fn a_server_that_does_not_answer_to_the_end_of_its_session_is_left_after_a_second() {
    let stub = Stub::start(|seen| match seen.method.as_str() {
        "DELETE" => {
            let (silence, gone) = Reply::silence();
            Box::leak(Box::new(gone));
            silence
        }
        _ => in_session(seen),
    })
    .await;
    let (client, _events) = introduced(&stub).await;
    let started = std::time::Instant::now();
    client.close().await;
    assert!(started.elapsed() < std::time::Duration::from_secs(3));
}

//! The stateless era.

use http::{HeaderName, HeaderValue};

use super::*;
use crate::Reason;

fn stateless(stub: &Stub) -> (Arc<Streamable>, mpsc::Receiver<Event>) {
    let (client, events) = client(stub);
    client.negotiated(Version::V2026_07_28);
    (client, events)
}

fn call(client: &Streamable, name: &str) -> Outgoing {
    let param = |name, value| (HeaderName::from_static(name), HeaderValue::from_static(value));
    Outgoing {
        id: client.next_id(),
        method: Method::ToolsCall,
        params: Rope::new(),
        name: Some(name.into()),
        party: crate::Party::GATEWAY,
        headers: vec![
            param("mcp-param-region", "eu"),
            param("mcp-protocol-version", "1"),
            param("host", "evil"),
        ],
    }
}

#[tokio::test]
async fn every_request_repeats_version_method_name_and_params_in_headers() {
    let stub = Stub::start(|seen| Reply::result(seen, "{}").with("mcp-session-id", "s1")).await;
    let (client, _events) = stateless(&stub);
    ask(&*client, Method::Discover).await.unwrap();
    for name in ["git_status", "größe"] {
        let call = call(&client, name);
        outcome(&mut client.open(call).await.unwrap()).await.unwrap();
    }
    client.close().await;

    let of = |seen: &Seen| {
        [
            "mcp-protocol-version",
            "mcp-method",
            "mcp-name",
            "mcp-param-region",
        ]
        .map(|name| seen.header(name))
        .join(" ")
    };
    let headers: Vec<_> = stub.seen().iter().map(of).collect();
    let expected = [
        "2026-07-28 server/discover  ",
        "2026-07-28 tools/call git_status eu",
        "2026-07-28 tools/call =?base64?Z3LDtsOfZQ==?= eu",
    ];
    assert_eq!(headers, expected);
    assert!(
        stub.seen()
            .iter()
            .all(|seen| seen.header("mcp-session-id").is_empty()),
        "there are no sessions"
    );
    assert!(
        stub.seen()
            .iter()
            .all(|seen| seen.header("host").starts_with("127.0.0.1"))
    );
}

#[tokio::test]
async fn errors_come_as_responses_whatever_their_status() {
    let stub = Stub::start(|seen| {
        let error = |status, code| {
            let text = format!(
                r#"{{"jsonrpc":"2.0","id":{},"error":{{"code":{code},"message":"m"}}}}"#,
                seen.id()
            );
            Reply::text(status, "application/json", text)
        };
        match seen.mcp().as_str() {
            "server/discover" => error(400, -32022),
            _ => error(404, -32601),
        }
    })
    .await;
    let (client, _events) = stateless(&stub);
    assert!(ask(&*client, Method::Discover).await.unwrap().contains("-32022"));
    assert!(ask(&*client, Method::SetLevel).await.unwrap().contains("-32601"));
}

#[tokio::test]
async fn b35_giving_up_closes_the_stream_and_posts_nothing() {
    let (reply, stream) = Reply::stream();
    let (silence, gone) = Reply::silence();
    let replies = parking_lot::Mutex::new(vec![silence, reply]);
    let stub = Stub::start(move |_| replies.lock().pop().unwrap()).await;
    let (client, _events) = stateless(&stub);

    super::super::stub::say(
        &stream,
        "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n\n",
    );
    let mut streaming = open(&*client, Method::ToolsCall).await.unwrap();
    assert!(matches!(streaming.next().await, Ok(Message::Notification(_))));
    streaming.cancel(Reason::Client);
    stream.closed().await;

    let waiting = open(&*client, Method::ToolsCall).await.unwrap();
    stub.saw(|seen| seen.id() == "2").await;
    drop(waiting);
    assert!(gone.await.is_err());
    assert_eq!(stub.story(), ["POST /mcp tools/call"; 2]);
}

#[tokio::test]
async fn there_is_no_stream_to_listen_to_and_no_session_to_end() {
    let stub = Stub::start(|seen| Reply::result(seen, "{}")).await;
    let (client, mut events) = stateless(&stub);
    client.listen().await;
    client.close().await;
    assert!(events.recv().await.is_none());
    assert!(stub.seen().is_empty());
}

#[tokio::test]
async fn a_broken_stream_is_not_resumed_even_if_it_had_ids() {
    let stub = Stub::start(|_| Reply::events("id: 1\ndata:\n\n")).await;
    let (client, _events) = stateless(&stub);
    let failed = ask(&*client, Method::ToolsCall).await.unwrap_err();
    assert_eq!(failed.kind, crate::FailedKind::Closed);
    assert_eq!(stub.seen().len(), 1);
}

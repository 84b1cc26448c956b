//! Connections: used again, found dead, not there.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::super::stub::response;
use super::*;
use crate::{FailedKind, Sent};

const ANSWER: &str = r#"{"jsonrpc":"2.0","id":ID,"result":{}}"#;

/// Reads one request from a raw connection.
async fn read_request(stream: &mut TcpStream) -> String {
    let mut text = String::new();
    let mut buffer = [0; 4096];
    while !text.ends_with('}') {
        let read = stream.read(&mut buffer).await.unwrap();
        assert_ne!(read, 0, "the client went away");
        text.push_str(std::str::from_utf8(&buffer[..read]).unwrap());
    }
    text
}

async fn write_answer(stream: &mut TcpStream, id: u64) {
    let body = ANSWER.replace("ID", &id.to_string());
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).await.unwrap();
}

/// Waits until so many connections are at rest.
async fn idle(client: &Streamable, count: usize) {
    while client.idle_connections() != count {
        tokio::task::yield_now().await;
    }
}

async fn raw_server() -> (TcpListener, Arc<Streamable>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    (listener, client_of(&url, &[]).0)
}

#[tokio::test]
async fn calls_one_after_another_share_a_connection_whole_or_streamed() {
    let stub = Stub::start(|seen| match seen.mcp().as_str() {
        "tools/list" => Reply::result(seen, "{}"),
        _ => Reply::events(format!("data: {}\n\n", response(seen, "{}"))),
    })
    .await;
    let (client, _events) = client(&stub);
    for _ in 0..20 {
        ask(&*client, Method::ToolsList).await.unwrap();
        ask(&*client, Method::ToolsCall).await.unwrap();
        tokio::task::yield_now().await;
    }
    let connections = stub.seen().iter().map(|seen| seen.connection).max().unwrap();
    assert!(connections <= 3, "{connections} connections for 40 calls");
}

#[tokio::test]
async fn lb_03_a_connection_that_the_server_closed_while_idle_fails_no_call() {
    let (listener, client) = raw_server().await;
    let server = async {
        for id in 1..=3 {
            let (mut stream, _) = listener.accept().await.unwrap();
            read_request(&mut stream).await;
            write_answer(&mut stream, id).await;
        }
    };
    let calls = async {
        for _ in 1..=3 {
            ask(&*client, Method::ToolsCall).await.unwrap();
            idle(&client, 0).await;
        }
    };
    tokio::join!(server, calls);
}

#[tokio::test]
async fn lb_03_a_request_that_the_connection_did_not_take_goes_out_again_at_once() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut signal = TcpStream::connect(address).await.unwrap();
    let (mut signalling, _) = listener.accept().await.unwrap();
    let (client, _events) = client_of(&format!("http://{address}/mcp"), &[]);
    let first = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        write_answer(&mut stream, 1).await;
        stream
    };
    let (answer, stream) = tokio::join!(ask(&*client, Method::ToolsCall), first);
    answer.unwrap();
    idle(&client, 1).await;

    // The signal and the end of the connection arrive in one turn of the runtime, which wakes this
    // test before the task of the connection: the call finds a connection that only seems alive.
    assert_eq!(signalling.try_write(b"!").unwrap(), 1);
    drop(stream.into_std().unwrap());
    signal.read_exact(&mut [0]).await.unwrap();
    assert_eq!(client.idle_connections(), 1);
    let second = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        write_answer(&mut stream, 2).await;
    };
    let call = async { ask(&*client, Method::ToolsCall).await.unwrap() };
    tokio::join!(call, second);
    drop(signalling.shutdown().await);
}

#[tokio::test]
async fn lb_03_nobody_there_is_unsent() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp?key=s3cret", listener.local_addr().unwrap());
    drop(listener);
    let failed = open(&*client_of(&url, &[]).0, Method::ToolsCall)
        .await
        .unwrap_err();
    assert_eq!((failed.kind, failed.sent), (FailedKind::Unreachable, Sent::No));
    assert!(
        failed.detail.contains("cannot connect to http://127.0.0.1") && !failed.detail.contains("s3cret")
    );

    let limits = Limits {
        connect: Duration::from_secs(2),
        ..Limits::default()
    };
    let (client, _events) =
        Streamable::new(&Target::new("http://no-such-host.invalid/", []).unwrap(), limits);
    let failed = open(&*client, Method::ToolsCall).await.unwrap_err();
    assert_eq!((failed.kind, failed.sent), (FailedKind::Unreachable, Sent::No));
}

#[tokio::test]
async fn lb_04_a_server_that_hangs_up_after_the_request_may_have_seen_it() {
    let (listener, client) = raw_server().await;
    let server = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
    };
    let (failed, ()) = tokio::join!(ask(&*client, Method::ToolsCall), server);
    let failed = failed.unwrap_err();
    assert_eq!((failed.kind, failed.sent), (FailedKind::Closed, Sent::Maybe));
}

#[tokio::test]
async fn what_is_no_http_is_malformed() {
    let (listener, client) = raw_server().await;
    let server = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        stream.write_all(b"SSH-2.0-OpenSSH_9.6\r\n\r\n").await.unwrap();
    };
    let (failed, ()) = tokio::join!(ask(&*client, Method::ToolsCall), server);
    assert_eq!(failed.unwrap_err().kind, FailedKind::Malformed);
}

#[tokio::test]
async fn a_connection_over_its_idle_limit_is_not_used_again() {
    let stub = Stub::start(|seen| Reply::result(seen, "{}")).await;
    let limits = Limits {
        idle: Duration::ZERO,
        ..Limits::default()
    };
    let (client, _events) = Streamable::new(&Target::new(&stub.url("/"), []).unwrap(), limits);
    for _ in 0..3 {
        ask(&*client, Method::ToolsList).await.unwrap();
    }
    assert_eq!(
        stub.seen().iter().map(|seen| seen.connection).collect::<Vec<_>>(),
        [1, 2, 3]
    );
}

#[tokio::test]
async fn a_server_that_accepts_nothing_is_given_up_in_time() {
    // A host of the documentation range: nothing answers there, or the way to it is refused.
    let limits = Limits {
        connect: Duration::from_millis(50),
        ..Limits::default()
    };
    let (client, _events) = Streamable::new(&Target::new("http://192.0.2.1:9/", []).unwrap(), limits);
    let failed = open(&*client, Method::ToolsCall).await.unwrap_err();
    assert_eq!((failed.kind, failed.sent), (FailedKind::Unreachable, Sent::No));
}

#[tokio::test]
async fn https_to_what_speaks_none_is_unsent_with_a_reason() {
    let stub = Stub::start(in_session).await;
    let url = stub.url("/mcp").replace("http:", "https:");
    let failed = open(&*client_of(&url, &[]).0, Method::ToolsCall)
        .await
        .unwrap_err();
    assert_eq!((failed.kind, failed.sent), (FailedKind::Unreachable, Sent::No));
    assert!(
        cfg!(feature = "tls") || failed.detail.contains("feature `tls`"),
        "{failed}"
    );
}

#[tokio::test]
async fn a_link_moves_messages_without_looking_into_them() {
    let stub = Stub::start(|seen| match seen.method.as_str() {
        "GET" => Reply::events("id: 1\ndata: 1\n\ndata: 2\n\n"),
        _ => Reply::text(418, "application/json", seen.body.clone()).with("mcp-session-id", "s1"),
    })
    .await;
    let link = super::super::Link::new(&Target::new(&stub.url("/mcp"), []).unwrap(), Limits::default());
    let mut answer = link
        .post(Arc::clone(link.template()), Rope::from("[{}]".to_owned()))
        .await
        .unwrap();
    assert_eq!(
        (
            answer.status.as_u16(),
            answer.headers()["mcp-session-id"].to_str().unwrap()
        ),
        (418, "s1")
    );
    assert_eq!(answer.next().await.unwrap().unwrap(), "[{}]");
    assert!(answer.next().await.is_none());

    let mut stream = link.get_stream(link.template()).await.unwrap();
    assert!(stream.is_stream());
    assert_eq!(stream.next().await.unwrap().unwrap(), "1");
    assert_eq!(stream.last_event_id().unwrap(), "1");
    assert_eq!(stream.next().await.unwrap().unwrap(), "2");
    assert!(stream.next().await.is_none());
}

#[tokio::test]
async fn a_local_socket_is_reached_by_its_path() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("ctl.sock");
    let listener = tokio::net::UnixListener::bind(&path).unwrap();
    let target = Target::local(&path, "/mcp", [("X-Own", "1")]).unwrap();
    let link = super::super::Link::new(&target, Limits::default());

    let served = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = vec![0; 1024];
        let read = stream.read(&mut request).await.unwrap();
        let answer = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
        stream.write_all(answer).await.unwrap();
        String::from_utf8_lossy(&request[..read]).to_lowercase()
    };
    let asked = link.post(Arc::clone(link.template()), Rope::from("{}".to_owned()));
    let (request, answer) = tokio::join!(served, asked);

    assert!(
        request.starts_with("post /mcp http/1.1\r\nx-own: 1\r\nhost: localhost\r\n"),
        "{request}"
    );
    assert_eq!(answer.unwrap().next().await.unwrap().unwrap(), "{}");
}

#[tokio::test]
async fn a_local_socket_that_is_not_there_is_named() {
    let target = Target::local(std::path::Path::new("/nowhere/ctl.sock"), "/mcp", []).unwrap();
    let link = super::super::Link::new(&target, Limits::default());
    let failed = link.get_stream(link.template()).await.unwrap_err();
    assert_eq!((failed.kind, failed.sent), (FailedKind::Unreachable, Sent::No));
    assert!(
        failed.detail.starts_with("cannot connect to /nowhere/ctl.sock: "),
        "{failed}"
    );
}

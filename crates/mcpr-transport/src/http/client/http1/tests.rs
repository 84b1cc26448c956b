//! A connection and a server that says what it is told to.

use std::future::poll_fn;

use proptest::prelude::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

use super::*;

const REQUEST: &[u8] = b"POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}";

/// A connection and the end of the server, through which so many bytes go at once.
fn connected(room: usize) -> (Connection, DuplexStream) {
    let (ours, theirs) = duplex(room);
    (Connection::new(ours, &Open::default()), theirs)
}

fn send(connection: &mut Connection) {
    let head = REQUEST.strip_suffix(b"{}").unwrap().to_vec();
    connection.send(head, &Rope::from("{}".to_owned()));
}

async fn head(connection: &mut Connection) -> Result<Head, Lost> {
    poll_fn(|cx| connection.poll_head(cx)).await
}

/// The pieces of a body.
async fn body(connection: &mut Connection, whole: usize) -> Result<Vec<Bytes>, Broken> {
    let mut pieces = Vec::new();
    while let Some(piece) = poll_fn(|cx| connection.poll_data(cx, whole)).await {
        pieces.push(piece?);
    }
    Ok(pieces)
}

/// What comes of a request that is answered with `text`, in words.
async fn outcome(text: &[u8]) -> String {
    let (mut connection, mut server) = connected(1 << 20);
    send(&mut connection);
    server.write_all(text).await.unwrap();
    drop(server);
    match head(&mut connection).await {
        Err(lost) => lost.why.to_string(),
        Ok(head) => match body(&mut connection, 1 << 20).await {
            Ok(pieces) => format!(
                "{} {}",
                head.status.as_u16(),
                String::from_utf8_lossy(&pieces.concat())
            ),
            Err(broken) => format!("{} {broken}", head.status.as_u16()),
        },
    }
}

#[tokio::test]
async fn one_request_after_another_is_sent_and_answered() {
    let (mut connection, mut server) = connected(64);
    let answers = [
        "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nfirst",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nsec\r\n3\r\nond\r\n0\r\n\r\n",
        "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.0 200 OK\r\n\r\nthe last",
    ];
    let serve = async {
        for answer in answers {
            let mut request = [0; REQUEST.len()];
            server.read_exact(&mut request).await.unwrap();
            assert_eq!(&request, REQUEST);
            server.write_all(answer.as_bytes()).await.unwrap();
        }
        drop(server);
    };
    let ask = async {
        let mut told = Vec::new();
        let mut again = true;
        while again {
            send(&mut connection);
            let status = head(&mut connection).await.unwrap().status.as_u16();
            told.push((status, body(&mut connection, 0).await.unwrap().concat()));
            again = connection.rest(Waker::noop());
        }
        told
    };
    let ((), told) = tokio::join!(serve, ask);
    let texts: Vec<_> = told
        .iter()
        .map(|(status, body)| format!("{status} {}", String::from_utf8_lossy(body)))
        .collect();
    assert_eq!(texts, ["200 first", "200 second", "202 ", "200 the last"]);
}

#[tokio::test]
async fn what_a_server_does_wrong_is_told() {
    let ok = "HTTP/1.1 200 OK\r\n";
    for (answer, told) in [
        (
            String::new(),
            "it closed the connection before the end of its answer",
        ),
        (
            ok.to_owned(),
            "it closed the connection before the end of its answer",
        ),
        (
            format!("{ok}content-length: 3\r\n\r\n{{}}"),
            "200 it closed the connection before the end of its answer",
        ),
        (
            format!("{ok}transfer-encoding: chunked\r\n\r\n2\r\n{{}}\r\n"),
            "200 it closed the connection before the end of its answer",
        ),
        (
            format!("{ok}transfer-encoding: chunked\r\n\r\nzz\r\n"),
            "200 its body is not chunked as HTTP/1.1 wants it",
        ),
        (
            format!("{ok}content-length: many\r\n\r\n"),
            "the length of its answer makes no sense",
        ),
        (
            "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n".to_owned(),
            "it changes to a protocol that nobody asked for",
        ),
        (
            "220 mail.example ESMTP\r\n".to_owned(),
            "what it says is no HTTP/1.1: invalid HTTP version",
        ),
        (format!("{ok}\r\nuntil the end"), "200 until the end"),
    ] {
        assert_eq!(outcome(answer.as_bytes()).await, told, "{answer:?}");
    }
}

#[tokio::test]
async fn b52_a_body_that_is_to_come_in_one_piece_does_and_a_longer_one_does_not() {
    let text = "x".repeat(300_000);
    let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{text}", text.len());
    for (whole, one) in [(text.len(), true), (text.len() - 1, false)] {
        let (mut connection, mut server) = connected(1000);
        send(&mut connection);
        let serve = async { server.write_all(answer.as_bytes()).await.unwrap() };
        let ask = async {
            head(&mut connection).await.unwrap();
            body(&mut connection, whole).await.unwrap()
        };
        let ((), pieces) = tokio::join!(serve, ask);
        assert_eq!(
            (pieces.len() == 1, pieces.concat() == text.as_bytes()),
            (one, true)
        );
    }
}

#[tokio::test]
async fn a_length_that_is_only_announced_takes_no_memory() {
    let (mut connection, mut server) = connected(1000);
    send(&mut connection);
    server
        .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 60000000\r\n\r\n{")
        .await
        .unwrap();
    head(&mut connection).await.unwrap();
    let polled = poll_fn(|cx| Poll::Ready(connection.poll_data(cx, 64 << 20))).await;
    assert!(polled.is_pending() && connection.came.capacity() < 2 * MUCH);
}

#[tokio::test]
async fn lb_03_a_request_of_which_nothing_was_taken_is_unsent() {
    let (mut connection, server) = connected(64);
    drop(server);
    send(&mut connection);
    assert!(head(&mut connection).await.unwrap_err().unsent);

    let (mut connection, mut server) = connected(8);
    send(&mut connection);
    server.read_exact(&mut [0; 4]).await.unwrap();
    drop(server);
    assert!(!head(&mut connection).await.unwrap_err().unsent);
}

#[tokio::test]
async fn an_answer_before_the_end_of_the_request_is_read_and_is_the_last() {
    let (mut connection, mut server) = connected(64);
    let long = Rope::from("x".repeat(100_000));
    connection.send(
        b"POST / HTTP/1.1\r\ncontent-length: 100000\r\n\r\n".to_vec(),
        &long,
    );
    server
        .write_all(b"HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n")
        .await
        .unwrap();
    assert_eq!(
        head(&mut connection).await.unwrap().status,
        StatusCode::PAYLOAD_TOO_LARGE
    );
    assert!(body(&mut connection, 0).await.unwrap().is_empty());
    assert!(!connection.rest(Waker::noop()), "half a request stands on it");
}

#[tokio::test]
async fn a_connection_on_which_something_comes_unasked_is_not_used_again() {
    for late in [&b"HTTP/1.1 200 OK\r\n"[..], b""] {
        let (mut connection, mut server) = connected(1000);
        send(&mut connection);
        server
            .write_all(b"HTTP/1.1 204 No Content\r\n\r\n")
            .await
            .unwrap();
        head(&mut connection).await.unwrap();
        assert!(connection.rest(Waker::noop()) && connection.is_still(Waker::noop()));
        server.write_all(late).await.unwrap();
        drop(server);
        assert!(!connection.is_still(Waker::noop()));
    }
    let (mut connection, mut server) = connected(1000);
    send(&mut connection);
    server
        .write_all(b"HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        .await
        .unwrap();
    head(&mut connection).await.unwrap();
    assert!(!connection.rest(Waker::noop()), "there was one request, not two");
}

#[tokio::test]
async fn http_05_a_server_that_never_stops_talking_leaves_others_their_turn() {
    let (mut connection, mut server) = connected(8 << 20);
    send(&mut connection);
    server.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
    head(&mut connection).await.unwrap();
    server.write_all(&vec![b':'; 4 << 20]).await.unwrap();
    let mut taken = 0;
    let turn = poll_fn(|cx| {
        while let Poll::Ready(Some(Ok(data))) = connection.poll_data(cx, 0) {
            taken += data.len();
        }
        Poll::Ready(())
    });
    turn.await;
    assert!(
        (TURN..TURN + 2 * MUCH).contains(&taken),
        "{taken} bytes in one turn"
    );
}

#[tokio::test]
async fn http_05_answers_that_only_tell_of_another_have_an_end() {
    let hints = "HTTP/1.1 103 Early Hints\r\n\r\n";
    let last = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
    assert_eq!(outcome((hints.repeat(32) + last).as_bytes()).await, "200 ");
    assert_eq!(
        outcome((hints.repeat(33) + last).as_bytes()).await,
        "it tells again and again of an answer that does not come"
    );
}

#[tokio::test]
async fn what_waits_is_told_of_the_end_of_all() {
    let open = Open::default();
    let (ours, _server) = duplex(1000);
    let mut connection = Connection::new(ours, &open);
    send(&mut connection);
    let told = async {
        tokio::task::yield_now().await;
        open.end();
    };
    let (lost, ()) = tokio::join!(head(&mut connection), told);
    let lost = lost.unwrap_err();
    assert_eq!(
        (lost.why.to_string().as_str(), lost.unsent),
        ("mcpr has ended the connection", false)
    );
}

/// What a server may say, of valid parts in any order.
fn saying() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        Just("HTTP/1.1 200 OK\r\n".to_owned()),
        Just("HTTP/1.1 100 Continue\r\n\r\n".to_owned()),
        Just("transfer-encoding: chunked\r\n".to_owned()),
        (0u8..9).prop_map(|length| format!("content-length: {length}\r\n")),
        Just("connection: close\r\n".to_owned()),
        Just("\r\n".to_owned()),
        (0u8..9).prop_map(|size| format!("{size:x}\r\n{}\r\n", "d".repeat(size.into()))),
        "[ -~\r\n]{0,12}",
    ];
    prop::collection::vec(part, 0..10).prop_map(|parts| parts.concat().into_bytes())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Whatever a server says, and in whatever pieces it comes, it comes to the same thing.
    #[test]
    fn steps_make_no_difference(text in saying(), step in 1usize..20) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let whole = runtime.block_on(outcome(&text));
        let stepwise = runtime.block_on(async {
            let (mut connection, mut server) = connected(step);
            let serve = async {
                let _ = server.read_exact(&mut [0; REQUEST.len()]).await;
                let _ = server.write_all(&text).await;
                drop(server);
            };
            let ask = async {
                send(&mut connection);
                match head(&mut connection).await {
                    Err(lost) => lost.why.to_string(),
                    Ok(head) => {
                        let told = match body(&mut connection, 0).await {
                            Ok(pieces) => String::from_utf8_lossy(&pieces.concat()).into_owned(),
                            Err(broken) => broken.to_string(),
                        };
                        drop(connection);
                        format!("{} {told}", head.status.as_u16())
                    }
                }
            };
            tokio::join!(serve, ask).1
        });
        prop_assert_eq!(whole, stepwise);
    }
}

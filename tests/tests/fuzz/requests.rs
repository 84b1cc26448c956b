//! The reader of requests of HTTP/1.1: what it takes, hyper's server reads in the same way, so that nothing can hide
//! in the body of a request that is a request to somebody else (RFC 9112, section 11.2).

use std::future::Future;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use hyper::StatusCode;
use hyper::header::CONTENT_LENGTH;
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use mcpr_protocol::Rope;
use mcpr_tests::fuzz::{Dice, Target, Verdict};
use mcpr_transport::http::server::{
    Bound, Call, End, Front, Health, Mounted, Operation, Options, Reply, serve,
};
use proptest::{prop_assert, prop_assert_eq};
use tokio_util::sync::CancellationToken;

const WORDS: &[&str] = &[
    "POST /mcp HTTP/1.1\r\n",
    "GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n",
    " HTTP/1.0\r\n",
    "Host: localhost\r\n",
    "Content-Type: application/json\r\n",
    "Content-Length: 2\r\n",
    "Content-Length: 0\r\n",
    "content-length:2\r\n",
    "Content-Length: 2, 2\r\n",
    "Content-Length: +2\r\n",
    "Content-Length : 2\r\n",
    "Content-Length: 18446744073709551618\r\n",
    "Transfer-Encoding: chunked\r\n",
    "transfer-encoding: Chunked\r\n",
    "Transfer-Encoding: gzip, chunked\r\n",
    "Transfer-Encoding: chunked, identity\r\n",
    "Transfer-Encoding: \x0bchunked\r\n",
    "Transfer-Encoding\t: chunked\r\n",
    "Expect: 100-continue\r\n",
    "Connection: close\r\n",
    "Connection: keep-alive\r\n",
    "\r\n\r\n",
    "\r\n",
    "\n",
    "\r",
    " ",
    "\t",
    "\x0c",
    "\0",
    "0\r\n\r\n",
    "2\r\n{}\r\n",
    "02;a=\"b\"\r\n{}\r\n",
    "ffffffffffffffff\r\n",
    "10000000000000002\r\n",
    "-2\r\n",
    "{}",
    "x: y\r\n",
];

/// Answers with what it was asked.
struct Mirror;

impl Front for Mirror {
    type Caller = ();
    type Memo = ();

    fn admit(&self, _: &Arc<Parts>, (): &mut ()) -> Result<(), Box<Reply>> {
        Ok(())
    }

    async fn mcp(&self, (): (), call: Call) -> Reply {
        let (head, body) = (&call.head, String::from_utf8_lossy(&call.body));
        // How often the length is said makes no difference.
        let fields: Vec<_> = head
            .headers
            .iter()
            .filter(|(name, _)| **name != CONTENT_LENGTH)
            .collect();
        let seen = format!(
            "{} {} {:?} {fields:?} {body:?}",
            head.method, head.uri, head.version
        );
        Reply::json(StatusCode::OK, Rope::from(seen))
    }

    async fn admin(&self, (): (), _: Operation<'_>) -> Reply {
        Reply::empty(StatusCode::NOT_FOUND)
    }

    fn health(&self, _: Health) -> Reply {
        Reply::empty(StatusCode::NOT_FOUND)
    }
}

/// Runs a server on a thread of its own, for as long as the process lives.
fn start(serving: impl Future<Output = ()> + Send + 'static) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    std::thread::spawn(move || runtime.block_on(serving));
}

fn ours() -> SocketAddr {
    let bound = Bound::tcp(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let addr = bound.local_addr().unwrap();
    let serving = serve(
        bound,
        Arc::new(Mirror),
        Options::default(),
        End::at(CancellationToken::new()),
    );
    start(async { serving.await.unwrap() });
    addr
}

fn of_hyper() -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let addr = listener.local_addr().unwrap();
    let service = Mounted::new(Arc::new(Mirror), Options::default());
    start(async move {
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let connection = http1::Builder::new()
                .half_close(true)
                .serve_connection(TokioIo::new(stream), service.clone());
            tokio::spawn(connection);
        }
    });
    addr
}

/// The answers to what is sent, of which nothing follows.
fn answers(server: SocketAddr, bytes: &[u8]) -> Vec<(u16, String)> {
    let mut stream = TcpStream::connect(server).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    // A server that has heard enough may close or reset the connection.
    _ = stream
        .write_all(bytes)
        .and_then(|()| stream.shutdown(Shutdown::Write));
    let mut text = Vec::new();
    _ = stream.read_to_end(&mut text);
    read(&text)
}

/// Reads answers whose bodies are of known length; those that only tell of another one are passed over.
fn read(mut text: &[u8]) -> Vec<(u16, String)> {
    let mut answers = Vec::new();
    while let Some(end) = text.windows(4).position(|window| window == b"\r\n\r\n") {
        let head = String::from_utf8_lossy(&text[..end]).to_ascii_lowercase();
        let status: u16 = head[9..12].parse().unwrap();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .map_or(0, |length| length.parse::<usize>().unwrap());
        text = &text[end + 4..];
        let body = &text[..length.min(text.len())];
        if status >= 200 {
            answers.push((status, String::from_utf8_lossy(body).into_owned()));
        }
        text = &text[body.len()..];
    }
    answers
}

/// Whether a request was refused for what it is, not for what it asks.
fn is_refusal((status, body): &(u16, String)) -> bool {
    matches!(status, 400 | 408 | 414 | 431 | 501 | 505) && !body.contains("Mirror")
}

fn property(ours: SocketAddr, of_hyper: SocketAddr, bytes: &[u8]) -> Verdict {
    let (ours, theirs) = (answers(ours, bytes), answers(of_hyper, bytes));
    let mut theirs = theirs.into_iter();
    let mut ours = ours.into_iter();
    while let Some(answer) = ours.next().filter(|answer| !is_refusal(answer)) {
        let Some(expected) = theirs.next() else {
            prop_assert!(false, "ours goes on with {:?}", answer);
            return Ok(());
        };
        if answer.0 == 404 {
            // A mounted front answers at any path; ours has not looked at the body, and is to end if it is none.
            prop_assert!(!is_refusal(&expected) || ours.next().is_none(), "ours goes on");
            continue;
        }
        prop_assert_eq!(answer, expected);
    }
    Ok(()) // Ours may be stricter.
}

#[test]
fn sec_05_what_is_taken_for_a_request_hyper_takes_for_the_same() {
    let (ours, of_hyper) = (ours(), of_hyper());
    let simple = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
    assert_eq!(answers(ours, simple).len(), 1, "what is compared is something");
    Target::new("requests")
        .words(WORDS)
        .holds(|bytes, _: Dice| property(ours, of_hyper, bytes));
}

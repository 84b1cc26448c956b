//! The reader of answers of HTTP/1.1: however an answer comes, and what hyper's client reads, it reads too.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use mcpr_protocol::Rope;
use mcpr_tests::fuzz::{Dice, Target, Verdict};
use mcpr_transport::http::client::{self, Limits, Link};
use proptest::{prop_assert, prop_assert_eq};
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
use tokio::net::UnixListener;
use tokio::runtime::Runtime;
use tokio::time::timeout;

const WORDS: &[&str] = &[
    "HTTP/1.1 200 OK\r\n",
    "HTTP/1.0 ",
    "HTTP/1.1 100 Continue\r\n\r\n",
    "HTTP/1.1 204 No Content\r\n\r\n",
    "content-type: application/json\r\n",
    "content-length: 2\r\n",
    "content-length: 36\r\n",
    "content-length: 2, 2\r\n",
    "content-length: -1\r\n",
    "content-length: 99999999999999999999\r\n",
    "transfer-encoding: chunked\r\n",
    "transfer-encoding: gzip, chunked\r\n",
    "transfer-encoding: identity\r\n",
    "connection: close\r\n",
    "content-encoding: gzip\r\n",
    "\r\n",
    "\n",
    "\r",
    "0\r\n\r\n",
    "2\r\n{}\r\n",
    "2;x=\"y\"\r\n",
    "ffffffffffffffff\r\n",
    " ",
    "\t",
    "{}",
    "x: y\r\n",
];

/// How long an answer may take of which the server has said all.
const AT_ONCE: Duration = Duration::from_secs(30);

/// What an answer comes to: the status, and the body if there is an end to it.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Read {
    Broken,
    Head(u16),
    Whole(u16, Vec<u8>),
}

/// A server that says what it is given, and our client of it.
struct Stage {
    runtime: Runtime,
    listener: UnixListener,
    target: client::Target,
    _home: tempfile::TempDir,
}

impl Stage {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let home = tempfile::tempdir().unwrap();
        let socket = home.path().join("server.sock");
        let listener = runtime.block_on(async { UnixListener::bind(&socket) }).unwrap();
        Self {
            runtime,
            listener,
            target: client::Target::local(&socket, "/mcp", []).unwrap(),
            _home: home,
        }
    }

    /// What our client reads of an answer that comes in these pieces.
    fn ours(&self, pieces: &[Bytes]) -> Read {
        self.runtime.block_on(async {
            let link = Link::new(&self.target, Limits::default());
            let serve = async {
                let (mut stream, _) = self.listener.accept().await.unwrap();
                let mut request = Vec::new();
                while !request.ends_with(b"{}") {
                    let read = stream.read_buf(&mut request).await.unwrap();
                    assert_ne!(read, 0, "a whole request is sent");
                }
                for piece in pieces {
                    if stream.write_all(piece).await.is_err() {
                        return; // What came before was enough.
                    }
                    tokio::task::yield_now().await;
                }
            };
            let ask = async {
                let Ok(mut answer) = link
                    .post(Arc::clone(link.template()), Rope::from("{}".to_owned()))
                    .await
                else {
                    return Read::Broken;
                };
                let status = answer.status.as_u16();
                match answer.next().await.transpose() {
                    Ok(text) => Read::Whole(status, text.unwrap_or_default().to_vec()),
                    Err(_) => Read::Head(status),
                }
            };
            let (read, ()) = timeout(AT_ONCE, async { tokio::join!(ask, serve) })
                .await
                .expect("an end");
            link.close();
            read
        })
    }

    /// What hyper's client reads of the same.
    fn hypers(&self, bytes: &[u8]) -> Read {
        self.runtime.block_on(async {
            let (near, mut far) = duplex(bytes.len() + 1024);
            let (mut sender, connection) = http1::handshake(TokioIo::new(near)).await.unwrap();
            let ask = async move {
                let request = hyper::Request::post("/mcp").body(Empty::<Bytes>::new()).unwrap();
                let Ok(answer) = sender.send_request(request).await else {
                    return Read::Broken;
                };
                let status = answer.status().as_u16();
                match answer.into_body().collect().await {
                    Ok(body) => Read::Whole(status, body.to_bytes().to_vec()),
                    Err(_) => Read::Head(status),
                }
            };
            let serve = async {
                // The request first, so that the answer is one.
                let _ = far.read(&mut [0; 1024]).await;
                let _ = far.write_all(bytes).await;
                drop(far);
            };
            let all = async { tokio::join!(ask, connection, serve) };
            timeout(AT_ONCE, all).await.expect("an end").0
        })
    }
}

/// What is left of a JSON text without the space between its words; our client makes lines of it.
fn dense(text: &[u8]) -> Vec<u8> {
    text.iter()
        .copied()
        .filter(|byte| !byte.is_ascii_whitespace())
        .collect()
}

fn property(stage: &Stage, bytes: &[u8], mut dice: Dice) -> Verdict {
    let whole = stage.ours(&[Bytes::copy_from_slice(bytes)]);
    let pieces = dice.pieces(bytes, 40);
    prop_assert_eq!(&stage.ours(&pieces), &whole, "in {:?}", pieces);
    match (stage.hypers(bytes), whole) {
        // hyper changes the protocol then.
        (Read::Whole(101, _) | Read::Head(101) | Read::Broken, _) => {}
        (Read::Head(status), ours) => {
            let same = matches!(ours, Read::Head(ours) | Read::Whole(ours, _) if ours == status);
            prop_assert!(
                same || is_redirect(status),
                "hyper reads the head of {}, and we {:?}",
                status,
                ours
            );
        }
        (Read::Whole(status, _), ours) if is_redirect(status) => prop_assert_eq!(ours, Read::Broken),
        (Read::Whole(status, text), ours) => {
            let Read::Whole(ours, body) = ours else {
                prop_assert!(false, "hyper reads {} {:?}, and we {:?}", status, text, ours);
                return Ok(());
            };
            prop_assert_eq!(ours, status);
            let (text, body) = (dense(&text), dense(&body));
            prop_assert!(
                text == body || text.len() > 4096 || is_stream(bytes),
                "{:?} {:?}",
                text,
                body
            );
        }
    }
    Ok(())
}

fn is_redirect(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

/// Of a stream the first event is read, not the whole.
fn is_stream(bytes: &[u8]) -> bool {
    bytes
        .to_ascii_lowercase()
        .windows(12)
        .any(|window| window == b"event-stream")
}

#[test]
fn sec_05_an_answer_is_read_as_hyper_reads_it_wherever_it_is_cut() {
    let stage = Stage::new();
    Target::new("answers")
        .words(WORDS)
        .holds(|bytes, dice| property(&stage, bytes, dice));
}

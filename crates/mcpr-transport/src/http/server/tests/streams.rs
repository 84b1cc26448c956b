//! Answers that are streams of events, and clients that leave.

use futures_util::stream;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::*;
use crate::sse;

/// Tells when it is dropped.
struct Tell(mpsc::UnboundedSender<&'static str>);

impl Drop for Tell {
    fn drop(&mut self) {
        _ = self.0.send("dropped");
    }
}

type Feed = mpsc::UnboundedSender<&'static str>;

/// A server whose streams tell what is fed, and the ends of what is going on there.
fn streaming() -> (
    Server,
    mpsc::UnboundedReceiver<Feed>,
    mpsc::UnboundedReceiver<&'static str>,
) {
    let (feeds, opened) = mpsc::unbounded_channel();
    let (ends, ended) = mpsc::unbounded_channel();
    let server = Server::with(Options::default(), move |_| {
        let (feed, events) = mpsc::unbounded_channel::<&'static str>();
        feeds.send(feed).unwrap();
        let tell = Tell(ends.clone());
        let events = stream::unfold((events, tell), async |(mut events, tell)| {
            let event = sse::message(None, text(events.recv().await?));
            Some((event, (events, tell)))
        });
        async move { Reply::events(events) }
    });
    (server, opened, ended)
}

#[tokio::test]
async fn b52_headers_and_every_event_go_out_at_once() {
    let (server, mut opened, _) = streaming();
    let mut client = server.client().await;
    client.send(post("/mcp", "Accept-Encoding: gzip\r\n", "{}")).await;
    let head = client.head().await;
    let feed = opened.recv().await.unwrap();
    for event in ["{\"progress\":1}", "{\"progress\":2}"] {
        feed.send(event).unwrap();
        assert_eq!(client.chunk().await, format!("event: message\ndata: {event}\n\n"));
    }
    drop(feed);
    assert_eq!(client.chunk().await, "", "the answer ends with the stream");

    assert_eq!(
        (head.status, head.header("content-type")),
        (200, Some("text/event-stream"))
    );
    assert_eq!(head.header("cache-control"), Some("no-cache"));
    assert_eq!(head.header("x-accel-buffering"), Some("no"));
    assert_eq!(head.header("content-encoding"), None);
}

#[tokio::test]
async fn a_connection_serves_on_after_a_stream() {
    let (server, mut opened, _) = streaming();
    let mut client = server.client().await;
    for _ in 0..2 {
        client.send(get()).await;
        client.head().await;
        drop(opened.recv().await.unwrap());
        assert_eq!(client.chunk().await, "");
    }
}

#[tokio::test(start_paused = true)]
async fn http_06_a_comment_after_every_15_seconds_of_silence() {
    let (server, mut opened, _) = streaming();
    let mut client = server.client().await;
    client.send(get()).await;
    client.head().await;
    let feed = opened.recv().await.unwrap();
    let start = Instant::now();
    let mut passed = async || {
        let chunk = client.chunk().await;
        (chunk == sse::KEEP_ALIVE, start.elapsed().as_secs())
    };
    assert_eq!(passed().await, (true, 15));
    assert_eq!(passed().await, (true, 30));
    tokio::time::advance(std::time::Duration::from_secs(10)).await;
    feed.send("{}").unwrap();
    assert_eq!(passed().await, (false, 40));
    assert_eq!(passed().await, (true, 55), "an event puts the comment off");
}

#[tokio::test]
async fn a_client_that_leaves_ends_its_stream() {
    let (server, mut opened, mut ended) = streaming();
    let mut client = server.client().await;
    client.send(get()).await;
    client.head().await;
    let _feed = opened.recv().await.unwrap();
    drop(client);
    assert_eq!(ended.recv().await, Some("dropped"));
}

#[tokio::test]
async fn b36_a_large_event_arrives_whole_in_chunks_and_without() {
    fn large() -> Rope {
        Rope::from(format!("data: {}\n\n", "y".repeat(10_000_000)))
    }
    let server = Server::with(Options::default(), async |_| {
        Reply::events(stream::iter([large(), sse::message(None, text("1"))]))
    });
    let mut client = server.client().await;
    client.send(get()).await;
    client.head().await;
    assert!(client.chunk().await.into_bytes() == large().into_bytes());
    assert_eq!(client.chunk().await, "event: message\ndata: 1\n\n");
    assert_eq!(client.chunk().await, "");

    client.send(get().replace("HTTP/1.1", "HTTP/1.0")).await;
    client.head().await;
    let rest = client.rest().await;
    assert_eq!(
        (rest.len(), rest.ends_with("data: 1\n\n")),
        (10_000_008 + 24, true)
    );
}

#[tokio::test]
async fn an_old_client_hears_events_until_the_connection_ends() {
    let (server, mut opened, _) = streaming();
    let mut client = server.client().await;
    client.send(get().replace("HTTP/1.1", "HTTP/1.0")).await;
    let head = client.head().await;
    assert_eq!(
        (head.header("transfer-encoding"), head.header("connection")),
        (None, Some("close"))
    );
    let feed = opened.recv().await.unwrap();
    feed.send("1").unwrap();
    drop(feed);
    assert_eq!(client.rest().await, "event: message\ndata: 1\n\n");
}

#[tokio::test]
async fn a_client_that_leaves_ends_its_call() {
    a_client_leaves_after("").await;
}

#[tokio::test]
async fn a_client_that_leaves_ends_its_call_whatever_it_has_sent_behind_it() {
    a_client_leaves_after("\r\n").await;
    a_client_leaves_after(&post("/mcp", "", "{}")).await;
}

async fn a_client_leaves_after(behind: &str) {
    let (ends, mut ended) = mpsc::unbounded_channel();
    let (starts, mut started) = mpsc::unbounded_channel();
    let server = Server::with(Options::default(), move |_| {
        let tell = Tell(ends.clone());
        let starts = starts.clone();
        async move {
            starts.send(()).unwrap();
            std::future::pending::<()>().await;
            drop(tell);
            Reply::empty(StatusCode::OK)
        }
    });
    let mut client = server.client().await;
    client.send(post("/mcp", "", "{}") + behind).await;
    started.recv().await.unwrap();
    drop(client);
    assert_eq!(ended.recv().await, Some("dropped"));
}

/// A text that nobody can take in one go; tells when it is dropped.
struct Huge(
    Vec<u8>,
    #[expect(dead_code, reason = "dropped with the text")] Tell,
);

impl AsRef<[u8]> for Huge {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

#[tokio::test(start_paused = true)]
async fn sec_05_a_client_that_does_not_read_is_given_up() {
    let (ends, mut ended) = mpsc::unbounded_channel();
    let server = Server::with(Options::default(), move |_| {
        let huge = Huge(vec![b' '; 64 * 1024 * 1024], Tell(ends.clone()));
        async move { Reply::json(StatusCode::OK, Bytes::from_owner(huge)) }
    });
    let mut client = server.client().await;
    client.send(post("/mcp", "", "{}")).await;

    assert_eq!(ended.recv().await, Some("dropped"));

    assert!(client.rest().await.len() < 64 * 1024 * 1024);
}

#[tokio::test]
async fn b48_a_reset_in_the_middle_of_a_stream_harms_nobody_else() {
    let (server, mut opened, mut ended) = streaming();
    let mut steady = server.client().await;
    steady.send(get()).await;
    steady.head().await;
    let steady_feed = opened.recv().await.unwrap();

    for _ in 0..20 {
        let mut client = server.client().await;
        client.send(get()).await;
        client.head().await;
        let feed = opened.recv().await.unwrap();
        feed.send("1").unwrap();
        client.chunk().await;
        client.reset();
        assert_eq!(ended.recv().await, Some("dropped"));
    }

    steady_feed.send("2").unwrap();
    assert_eq!(steady.chunk().await, "event: message\ndata: 2\n\n");
}

#[tokio::test]
async fn b71_a_second_stream_of_the_same_client_is_no_conflict_here() {
    let (server, mut opened, _) = streaming();
    let (mut old, mut new) = (server.client().await, server.client().await);
    old.send(get()).await;
    let old_feed = opened.recv().await.unwrap();
    new.send(get()).await;
    let new_feed = opened.recv().await.unwrap();
    assert_eq!((old.head().await.status, new.head().await.status), (200, 200));

    drop(old_feed); // The gateway replaces the old stream by the new.
    assert_eq!(old.chunk().await, "");
    new_feed.send("1").unwrap();
    assert_eq!(new.chunk().await, "event: message\ndata: 1\n\n");
}

#[tokio::test]
async fn a_panic_in_a_stream_ends_that_connection_only() {
    let server = Server::with(Options::default(), async |call| match &call.body[..] {
        b"1" => Reply::events(stream::poll_fn(|_| panic!("in a stream"))),
        _ => Reply::json(StatusCode::OK, call.body),
    });
    let mut steady = server.client().await;
    steady.send(post("/mcp", "", "2")).await;
    assert_eq!(steady.answer().await.body, "2");

    let mut client = server.client().await;
    client.send(post("/mcp", "", "1")).await;
    client.rest().await;

    steady.send(post("/mcp", "", "3")).await;
    assert_eq!(steady.answer().await.body, "3");
}

//! How a server begins, bounds itself and ends.

use std::time::Duration;

use futures_util::stream;
use tokio::net::UnixStream;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::super::places::Places;
use super::super::pulse::Pulse;
use super::super::{Limits, back_off, pause};
use super::*;

#[tokio::test]
async fn b47_at_the_end_idle_connections_close_and_running_answers_finish() {
    let (starts, mut started) = mpsc::unbounded_channel::<oneshot::Sender<()>>();
    let server = Server::with(Options::default(), move |_| {
        let (finish, finished) = oneshot::channel();
        starts.send(finish).unwrap();
        async move {
            finished.await.unwrap();
            Reply::json(StatusCode::OK, text("\"done\""))
        }
    });
    let (mut idle, mut busy) = (server.client().await, server.client().await);
    idle.send(request("GET", "/healthz", "")).await;
    idle.answer().await;
    busy.send(post("/mcp", "", "{}")).await;
    let finish = started.recv().await.unwrap();

    server.shutdown.cancel();

    assert_eq!(idle.rest().await, "");
    let refused = TcpStream::connect(server.addr).await.unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
    finish.send(()).unwrap();
    assert_eq!(busy.answer().await.body, "\"done\"");
    server.serving.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn b47_what_does_not_finish_in_time_is_dropped() {
    let server = Server::with(Options::default(), async |_| Reply::events(stream::pending()));
    let mut client = server.client().await;
    client.send(get()).await;
    client.head().await;
    let start = Instant::now();

    server.shutdown.cancel();
    server.serving.await.unwrap().unwrap();

    assert_eq!(start.elapsed().as_secs(), Limits::default().grace.as_secs());
    client.rest().await;
}

#[tokio::test]
async fn dropping_the_server_ends_everything_at_once() {
    let server = Server::with(Options::default(), async |_| Reply::events(stream::pending()));
    let mut client = server.client().await;
    client.send(get()).await;
    client.head().await;
    server.serving.abort();
    client.rest().await;
}

/// So many connections at a time.
fn with_places(connections: usize) -> Options {
    Options {
        limits: Limits {
            connections,
            ..Limits::default()
        },
        ..Options::default()
    }
}

#[tokio::test]
async fn sec_05_one_connection_too_many_is_told_so() {
    let server = Server::echo(with_places(1));
    let mut first = server.client().await;
    first.send(post("/mcp", "", "{}")).await;
    assert_eq!(first.answer().await.status, 200);

    let answer = server.ask(&post("/mcp", "", "{}")).await;

    assert_eq!((answer.status, answer.header("connection")), (503, Some("close")));
    assert!(answer.body.contains("mcpr.limits.connections"));
    first.send(post("/mcp", "", "{}")).await;
    assert_eq!(first.answer().await.status, 200);
}

#[tokio::test]
async fn sec_05_strangers_who_ask_nothing_give_way_to_those_who_do() {
    let server = Server::echo(with_places(2));
    let mut known = server.client().await;
    known.send(post("/mcp", "", "{}")).await;
    assert_eq!(known.answer().await.status, 200);
    let mut stranger = server.client().await;
    stranger.send(request("GET", "/healthz", "")).await;
    assert_eq!(stranger.answer().await.status, 200);

    let mut newcomer = server.client().await;
    newcomer.send(post("/mcp", "", "{}")).await;

    assert_eq!(newcomer.answer().await.status, 200);
    assert_eq!(stranger.rest().await, "", "its place was needed");
    known.send(post("/mcp", "", "{}")).await;
    assert_eq!(known.answer().await.status, 200);
    assert_eq!(
        server.ask(&post("/mcp", "", "{}")).await.status,
        503,
        "nobody is a stranger"
    );
}

#[tokio::test]
async fn sec_05_who_is_not_let_in_any_more_gives_way_as_a_stranger() {
    let server = Server::echo(with_places(1));
    let mut former = server.client().await;
    former.send(post("/mcp", "", "{}")).await;
    assert_eq!(former.answer().await.status, 200);
    former
        .send(post("/mcp", "", "{}").replace("good", "revoked"))
        .await;
    assert_eq!(former.answer().await.status, 401);

    assert_eq!(server.ask(&post("/mcp", "", "{}")).await.status, 200);
    assert_eq!(former.rest().await, "", "its place was needed");
}

#[tokio::test]
async fn sec_05_strangers_who_do_not_read_give_way_too() {
    let server = Server::echo(with_places(1));
    let stranger = server.client().await;
    // As many answers as nobody takes without reading.
    let stream = stranger.0.get_ref();
    let many = request("GET", "/healthz", "")
        .replace("Authorization: Bearer good\r\n", "")
        .repeat(1000);
    while tokio::time::timeout(Duration::from_millis(300), async {
        stream.writable().await.unwrap();
        _ = stream.try_write(many.as_bytes());
    })
    .await
    .is_ok()
    {}

    let answer = server.ask(&post("/mcp", "", "{}")).await;

    assert_eq!(answer.status, 200, "{answer:?}");
}

#[tokio::test]
async fn b47_a_last_answer_is_whole_whatever_the_client_has_sent_behind_it() {
    let large = "x".repeat(3 << 20);
    let server = Server::with(Options::default(), {
        let large = Bytes::from(format!("\"{large}\""));
        move |_| {
            let large = large.clone();
            async move { Reply::json(StatusCode::OK, large) }
        }
    });
    for behind in ["\r\n", "POST /mcp HTTP/1.1\r\n\r\n"] {
        let mut client = server.client().await;
        client.send(post("/mcp", "Connection: close\r\n", "{}")).await;
        client.head().await;
        client.send(behind).await;
        assert_eq!(client.rest().await.len(), large.len() + 2);
    }
}

#[tokio::test(start_paused = true)]
async fn sec_05_connections_that_ask_nothing_are_closed() {
    let limits = Limits::default();
    let server = Server::echo(Options::default());
    let start = Instant::now();
    let (mut silent, mut idle) = (server.client().await, server.client().await);
    idle.send(post("/mcp", "", "{}")).await;
    idle.answer().await;

    silent.send("POST /mcp HTTP/1.1\r\nHost: loc").await;
    silent.rest().await;
    let silent_for = start.elapsed();
    idle.rest().await;
    let idle_for = start.elapsed();

    let within = |time: Duration, limit: Duration| time >= limit && time <= limit + 2 * limits.watch();
    assert!(within(silent_for, limits.head_time), "{silent_for:?}");
    assert!(within(idle_for, limits.idle_time), "{idle_for:?}");
}

#[tokio::test(start_paused = true)]
async fn sec_05_a_head_that_begins_behind_a_request_has_the_time_of_a_head() {
    let limits = Limits::default();
    let server = Server::echo(Options::default());
    let mut client = server.client().await;
    client.send(post("/mcp", "", "{}") + "POST /mcp HTTP").await;
    client.answer().await;
    let start = Instant::now();
    client.rest().await;
    assert!(
        start.elapsed() <= limits.head_time + 2 * limits.watch(),
        "{:?}",
        start.elapsed()
    );
}

#[tokio::test]
async fn b47_a_request_that_has_begun_at_the_end_is_answered() {
    let server = Server::echo(Options::default());
    let mut client = server.client().await;
    let text = post("/mcp", "", "{}");
    let (begun, rest) = text.split_at(20);
    client.send(post("/mcp", "", "1") + begun).await;
    client.answer().await;
    server.shutdown.cancel();
    client.send(rest).await;
    let answer = client.answer().await;
    assert_eq!(
        (answer.body.as_str(), answer.header("connection")),
        ("{}", Some("close"))
    );
    server.serving.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_local_socket_is_served_without_host_checks() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("run/mcpr.sock");
    let bound = Bound::unix(&path).unwrap();
    let desk = Server::echo(Options::default()).desk;
    let shutdown = CancellationToken::new();
    let options = Options {
        admin: true,
        ..Options::default()
    };
    let serving = tokio::spawn(serve(bound, desk, options, End::at(shutdown.clone())));

    let mut client = UnixStream::connect(&path).await.unwrap();
    let operation =
        post("/admin/v1/status", "Connection: close\r\n", "{}").replace("Host: localhost\r\n", "");
    client.write_all(operation.as_bytes()).await.unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();

    assert!(answer.ends_with(r#"{"operation":"status"}"#), "{answer}");
    shutdown.cancel();
    serving.await.unwrap().unwrap();
    assert!(!path.exists());
}

#[tokio::test]
async fn a_socket_file_that_somebody_removes_is_made_again_and_serves() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("run/mcpr.sock");
    let desk = Server::echo(Options::default()).desk;
    let shutdown = CancellationToken::new();
    let bound = Bound::unix(&path).unwrap();
    let serving = tokio::spawn(serve(bound, desk, Options::default(), End::at(shutdown.clone())));
    let mut before = UnixStream::connect(&path).await.unwrap();
    let ask = post("/mcp", "Connection: close\r\n", "{}");

    std::fs::remove_dir_all(home.path().join("run")).unwrap();

    let again = async {
        loop {
            match UnixStream::connect(&path).await {
                Ok(stream) => return stream,
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    };
    let after = tokio::time::timeout(Duration::from_secs(10), again).await;
    for stream in [&mut before, &mut after.expect("the file is there again")] {
        stream.write_all(ask.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    shutdown.cancel();
    serving.await.unwrap().unwrap();
    assert!(!path.exists());
}

#[tokio::test(start_paused = true)]
async fn sec_05_where_there_are_no_more_descriptors_a_stranger_gives_its_own_back_at_once() {
    let (mut places, start) = (Places::new(Limits::default()), Instant::now());
    places.serve(std::future::pending(), Arc::new(Pulse::new()), false);
    let exhausted = io::Error::from(rustix::io::Errno::MFILE);

    pause(&exhausted, &mut places, &CancellationToken::new()).await;

    assert_eq!((places.ended().await, start.elapsed()), (None, Duration::ZERO));
    pause(&exhausted, &mut places, &CancellationToken::new()).await;
    assert_eq!(
        start.elapsed(),
        back_off(&exhausted).unwrap(),
        "there is no stranger"
    );
}

#[test]
fn b48_a_lost_connection_is_no_reason_to_wait_but_a_lack_of_files_is() {
    let lost = io::Error::from(io::ErrorKind::ConnectionAborted);
    let exhausted = io::Error::from(rustix::io::Errno::MFILE);
    assert_eq!(back_off(&lost), None);
    assert!(back_off(&exhausted).is_some());
}

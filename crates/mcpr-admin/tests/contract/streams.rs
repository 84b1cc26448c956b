//! Answers that come as streams of events.

use std::time::Duration;

use mcpr_admin::*;
use mcpr_protocol::RawJson;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinHandle;

const STREAM: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

/// A gateway that gives one answer, byte for byte, and then does `after` with the connection.
struct Stage {
    client: Client,
    asked: JoinHandle<String>,
    _folder: TempDir,
}

fn answering<F>(answer: String, after: impl FnOnce(UnixStream) -> F + Send + 'static) -> Stage
where
    F: Future<Output = ()> + Send,
{
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("ctl.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let asked = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = vec![0; 4096];
        let length = stream.read(&mut request).await.unwrap();
        stream.write_all(answer.as_bytes()).await.unwrap();
        after(stream).await;
        String::from_utf8_lossy(&request[..length]).into_owned()
    });
    Stage {
        client: Client::socket(socket),
        asked,
        _folder: folder,
    }
}

async fn close(stream: UnixStream) {
    drop(stream);
}

/// Stays until the client has gone.
async fn stay(mut stream: UnixStream) {
    let _ = stream.read(&mut [0; 1]).await;
}

fn call() -> CallTool {
    CallTool {
        name: "t".into(),
        arguments: None,
    }
}

async fn all<T: serde::de::DeserializeOwned>(mut stream: Stream<T>) -> Vec<T> {
    let mut all = Vec::new();
    while let Some(thing) = stream.next().await.unwrap() {
        all.push(thing);
    }
    all
}

#[tokio::test]
async fn ctl_03_what_comes_of_a_call_comes_in_order() {
    let steps = [
        CallStep::Notification(Notice {
            method: "notifications/progress".into(),
            params: Some(RawJson::from_static(r#"{"progress":1,"total":1E2}"#)),
        }),
        CallStep::Result(RawJson::from_static(r#"{"n":123456789012345678901234567890}"#)),
    ];
    let text: String = steps
        .iter()
        .map(|step| {
            format!(
                "event: message\ndata: {}\n\n",
                serde_json::to_string(step).unwrap()
            )
        })
        .collect();
    let stage = answering(format!("{STREAM}:\n\n{text}"), close);

    let stream = stage.client.stream(&call()).await.unwrap();

    assert_eq!(all(stream).await, steps);
    assert!(
        stage
            .asked
            .await
            .unwrap()
            .contains("accept: text/event-stream\r\n")
    );
    insta::assert_snapshot!(text);
}

#[tokio::test]
async fn an_older_gateway_answers_with_the_result_alone() {
    let body = r#"{"result":{"content":[]}}"#;
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
    let stage = answering(head + body, stay);

    let stream = stage.client.stream(&call()).await.unwrap();

    assert_eq!(
        all(stream).await,
        [CallStep::Result(RawJson::from_static(r#"{"content":[]}"#))]
    );
}

#[tokio::test]
async fn what_is_refused_at_once_is_a_failure_as_ever() {
    let body = r#"{"error":{"code":"not_found","message":"Unknown tool: t"}}"#;
    let head = format!("HTTP/1.1 404 Not Found\r\ncontent-length: {}\r\n\r\n", body.len());
    let stage = answering(head + body, stay);

    let error = stage.client.stream(&call()).await.unwrap_err();

    assert_eq!(error.exit_code(), ExitCode::NotFound);
    assert_eq!(error.to_string(), "Unknown tool: t");
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_broken_and_not_at_its_end() {
    let chunked = STREAM.replace("connection: close", "transfer-encoding: chunked");
    let stage = answering(
        format!("{chunked}1d\r\ndata: {{\"kind\":\"catalog\",\"at\""),
        close,
    );

    let mut stream = stage.client.stream(&Watch::default()).await.unwrap();

    assert!(matches!(stream.next().await, Err(ClientError::Broken(_))));
}

#[tokio::test]
async fn the_limit_counts_for_the_whole_stream() {
    let stage = answering(STREAM.to_owned(), stay);
    let client = stage.client.limit(Some(Duration::from_millis(50)));

    let mut stream = client.stream(&Watch::default()).await.unwrap();

    assert!(matches!(stream.next().await, Err(ClientError::TimedOut(_))));
}

#[tokio::test]
async fn who_drops_the_stream_has_gone() {
    let stage = answering(STREAM.to_owned(), stay);

    drop(stage.client.stream(&Watch::default()).await.unwrap());

    assert!(stage.asked.await.unwrap().starts_with("POST /admin/v1/events "));
}

#[test]
fn ctl_03_a_stream_needs_the_scope_that_its_operation_needs() {
    let table: String = STREAMS
        .iter()
        .map(|route| {
            format!(
                "{} {}\n",
                route.path,
                if route.read_only { "read" } else { "admin" }
            )
        })
        .collect();
    assert_eq!(table, "events read\ntools/call admin\n");
    for stream in STREAMS {
        let plain = ROUTES.iter().find(|route| route.path == stream.path);
        assert!(plain.is_none_or(|route| route == stream), "{stream:?}");
    }
}

#[test]
fn a_wish_that_is_not_understood_is_refused() {
    for body in [r#"{"kinds":["weather"]}"#, r#"{"kind":["call"]}"#, "[]", ""] {
        let failure = Watch::read(body.as_bytes()).unwrap_err();
        assert_eq!(failure.code, ErrorCode::Invalid, "{body}: {failure}");
    }
    assert_eq!(Watch::read(b"{}").unwrap(), Watch::default());
}

//! The client against a gateway behind a real socket.

use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use mcpr_admin::*;
use mcpr_protocol::RawJson;
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::task::JoinSet;

use crate::sample::{Operator, Sample};

/// A folder for a socket, and the tasks that serve it.
struct Stage {
    folder: TempDir,
    tasks: JoinSet<()>,
}

impl Stage {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            tasks: JoinSet::new(),
        }
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("ctl.sock")
    }

    /// Serves the sample gateway at the socket.
    fn serve(&mut self) -> Client {
        let listener = UnixListener::bind(self.socket()).unwrap();
        self.tasks.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                serve(stream, sample).await;
            }
        });
        Client::socket(self.socket())
    }

    /// Serves one fixed answer at an address.
    async fn always(&mut self, status: u16, body: &'static str) -> Client {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        self.tasks.spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            let fixed = move |_| async move {
                Response::builder()
                    .status(status)
                    .body(Bytes::from(body))
                    .unwrap()
            };
            serve(stream, fixed).await;
        });
        Client::url(&url, Some(Secret::new("mcpr_adm_x"))).unwrap()
    }
}

async fn serve<S, A>(stream: S, answer: impl Fn(Request<Incoming>) -> A)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    A: Future<Output = Response<Bytes>>,
{
    let service = service_fn(|request| {
        let answer = answer(request);
        async move { Ok::<_, std::convert::Infallible>(answer.await.map(Full::new)) }
    });
    let _ = http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

async fn sample(request: Request<Incoming>) -> Response<Bytes> {
    let path = request.uri().path().to_owned();
    let body = request.into_body().collect().await.unwrap().to_bytes();
    dispatch(&Sample, &Operator, &path, &body).await
}

#[tokio::test]
async fn ctl_02_operations_are_carried_out_through_the_local_socket() {
    let mut stage = Stage::new();
    let client = stage.serve();

    let status = client.run(&Status {}).await.unwrap();
    let stopping = client.run(&Stop {}).await.unwrap();

    assert_eq!(status.servers[1].reason.as_deref(), Some("connection refused"));
    assert_eq!(stopping.pid, 8123);
}

#[tokio::test]
async fn a_result_arrives_byte_for_byte() {
    let mut stage = Stage::new();
    let client = stage.serve();
    let call = CallTool {
        name: "t".into(),
        arguments: Some(RawJson::from_static("{}")),
    };

    let Relayed { result } = client.run(&call).await.unwrap();

    assert_eq!(
        result.as_str(),
        r#"{ "content": [], "n": 123456789012345678901234567890, "x": 1E400 }"#
    );
}

#[tokio::test]
async fn a_failure_arrives_whole() {
    let mut stage = Stage::new();
    let client = stage.serve();

    let error = client
        .run(&GetPrompt {
            name: "p".into(),
            arguments: [].into(),
        })
        .await
        .unwrap_err();

    assert_eq!(error.exit_code(), ExitCode::Failed);
    let ClientError::Refused(failure) = error else {
        panic!("{error:?}")
    };
    assert_eq!(failure.code, ErrorCode::Unavailable);
    assert_eq!(
        failure.data.unwrap().as_str(),
        r#"{"reason":"server_down","retryAfterMs":4000}"#
    );
}

#[tokio::test]
async fn ctl_02_no_gateway_is_told_apart_from_a_broken_one() {
    let stage = Stage::new();
    let absent = Client::socket(stage.socket()).run(&Status {}).await.unwrap_err();
    drop(UnixListener::bind(stage.socket()).unwrap());
    let left_over = Client::socket(stage.socket()).run(&Status {}).await.unwrap_err();

    for error in [absent, left_over] {
        assert!(matches!(error, ClientError::NotRunning { .. }), "{error:?}");
        assert_eq!(error.exit_code(), ExitCode::NotRunning);
    }
}

#[tokio::test]
async fn a_gateway_that_closes_without_an_answer_is_broken() {
    let mut stage = Stage::new();
    let listener = UnixListener::bind(stage.socket()).unwrap();
    stage.tasks.spawn(async move { drop(listener.accept().await) });

    let error = Client::socket(stage.socket()).run(&Status {}).await.unwrap_err();

    assert!(matches!(error, ClientError::Broken(_)), "{error:?}");
    assert_eq!(error.exit_code(), ExitCode::Failed);
}

#[tokio::test(start_paused = true)]
async fn a_silent_gateway_is_given_up_at_the_limit() {
    let stage = Stage::new();
    let _listener = UnixListener::bind(stage.socket()).unwrap();
    let client = Client::socket(stage.socket()).limit(Some(Duration::from_secs(30)));

    let error = client.run(&Status {}).await.unwrap_err();

    assert_eq!(error.exit_code(), ExitCode::TimedOut);
    assert_eq!(error.to_string(), "the gateway did not answer within 30s");
}

#[tokio::test]
async fn answers_of_the_edge_and_of_strangers_are_understood() {
    let mut said = String::new();
    for (status, body) in [
        (
            401,
            r#"{"error":"unauthorized","message":"the token tk_1 was revoked"}"#,
        ),
        (
            403,
            r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"the Host header is `x`"}}"#,
        ),
        (401, "<html>"),
        (404, "<html>"),
        (200, "{}"),
    ] {
        let mut stage = Stage::new();
        let error = stage
            .always(status, body)
            .await
            .run(&Status {})
            .await
            .unwrap_err();
        said += &format!("{status} {body}\n{} {error}\n\n", error.exit_code().number());
    }
    insta::assert_snapshot!(said);
}

#[tokio::test]
async fn ctl_02_who_speaks_http_to_a_gateway_with_tls_hears_so_in_its_words() {
    let mut stage = Stage::new();
    let body = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"this address speaks https"}}"#;
    let error = stage.always(400, body).await.run(&Status {}).await.unwrap_err();

    assert_eq!(error.to_string(), "this address speaks https");
    assert_eq!(error.exit_code(), ExitCode::Usage);
}

#[tokio::test]
async fn ctl_04_what_is_too_much_for_the_edge_is_told_in_its_words() {
    let mut stage = Stage::new();
    let body = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the body is too large"}}"#;
    let error = stage.always(413, body).await.run(&Status {}).await.unwrap_err();

    assert_eq!(error.to_string(), "the body is too large");
    assert_eq!(error.exit_code().number(), 2);
}

//! The endpoint as a service in a server of the embedding program (EMB-03).

use std::convert::Infallible;

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper::{Request as HttpRequest, Version};
use hyper_util::rt::TokioIo;
use mcpr_tests::client::{Session, Stateless};
use mcpr_tests::http::Request;
use mcpr_tests::{Fake, Gateway, gateway};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::task::AbortOnDropHandle;

const OPEN: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;

/// A plain server of hyper, all of whose paths lead to the gateway.
struct Server {
    port: u16,
    _serving: AbortOnDropHandle<()>,
}

impl Server {
    async fn around(gateway: &Gateway) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let port = listener.local_addr().expect("a port").port();
        let service = gateway.core.service();
        let serving = async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let stream = TokioIo::new(stream);
                connections.spawn(http1::Builder::new().serve_connection(stream, service.clone()));
            }
        };
        Self {
            port,
            _serving: AbortOnDropHandle::new(tokio::spawn(serving)),
        }
    }

    async fn session(&self, gateway: &Gateway) -> Session {
        Session::open(self.port, &gateway.token, "2025-11-25").await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn emb_03_a_mounted_endpoint_serves_both_eras_streams_and_notices() {
    let progress = r#"{"progress":{"count":2,"interval":0.02}}"#;
    let fake = Fake::script().tool("x").with(progress).stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let server = Server::around(&gateway).await;
    let session = server.session(&gateway).await;
    let stateless = Stateless {
        port: server.port,
        token: gateway.token.clone(),
    };
    let mut notices = session.stream().await;

    let call = r#"{"name":"a_x","_meta":{"progressToken":1}}"#;
    let events = session.request("tools/call", call).await.events();
    assert_eq!(events.len(), 3, "two of progress and the answer: {events:?}");
    assert!(stateless.call("a_x", "{}").await["result"].is_object());
    gateway.operate("tools/disable", json!({ "name": "a.x" })).await;
    let changed = |message: &Value| message["method"] == "notifications/tools/list_changed";

    assert!(notices.message(changed).await.is_some());
    gateway.core.leave();
    assert!(notices.ends_whole().await, "streams end with the gateway");
}

#[tokio::test(flavor = "multi_thread")]
async fn emb_03_a_mounted_endpoint_keeps_the_rules_of_the_edge() {
    let limits = json!({ "requestBody": 1000 });
    let gateway = gateway()
        .own("allowedOrigins", json!(["https://app.example"]))
        .own("limits", limits)
        .ready()
        .await;
    let server = Server::around(&gateway).await;
    let open = || Request::post("/agents/mcp", OPEN).token(&gateway.token);
    let preflight = Request::new("OPTIONS", "/agents/mcp").header("access-control-request-method", "POST");
    let requests = [
        (200, open()),
        (200, open().header("origin", "https://app.example")),
        (403, open().header("origin", "http://evil.example")),
        (403, open().replace("host", "evil.example")),
        (401, open().without("authorization")),
        (405, open().verb("PATCH")),
        (406, open().replace("accept", "text/html")),
        (415, open().replace("content-type", "text/plain")),
        (413, open().body(vec![b' '; 2000])),
        (204, preflight.header("origin", "http://localhost:1")),
    ];
    for (status, request) in requests {
        let answer = request.send(server.port).await;
        assert_eq!(answer.status(), status, "{request:?}: {}", answer.text());
        assert_eq!(answer.head.header("connection"), None, "that is the server's");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn emb_03_connections_of_the_programs_server_are_not_the_gateways_to_count() {
    let own = json!({ "perPrincipal": { "connections": 1 } });
    let fake = Fake::script()
        .tool("x")
        .with(r#"{"silent":["tools/call"]}"#)
        .stdio();
    let gateway = gateway().fake("a", &fake).own("limits", own).ready().await;
    let server = Server::around(&gateway).await;
    let session = server.session(&gateway).await;

    let _waiting = session
        .post(&session.text("tools/call", r#"{"name":"a_x"}"#))
        .start(server.port)
        .await;
    fake.await_received("tools/call", 1).await;

    assert_eq!(session.tool_names().await, ["a_x"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn emb_03_who_leaves_a_mounted_endpoint_has_the_call_cancelled() {
    let fake = Fake::script()
        .tool("x")
        .with(r#"{"silent":["tools/call"]}"#)
        .stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let server = Server::around(&gateway).await;
    let stateless = Stateless {
        port: server.port,
        token: gateway.token.clone(),
    };
    let call = stateless.text("1", "tools/call", r#""name":"a_x""#);
    let connection = stateless
        .post(&call, "tools/call", Some("a_x"))
        .start(server.port)
        .await;
    fake.await_received("tools/call", 1).await;

    connection.reset();

    fake.await_received("notifications/cancelled", 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn emb_03_over_http_2_the_name_of_the_host_is_that_of_the_uri() {
    let gateway = gateway().ready().await;
    let service = gateway.core.service();
    let come = async |uri: &str| {
        let request = HttpRequest::post(uri)
            .version(Version::HTTP_2)
            .header("authorization", format!("Bearer {}", gateway.token))
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json")
            .body(Full::<Bytes>::from(OPEN))
            .expect("a request");
        let answer: Result<_, Infallible> = service.call(request).await;
        let (head, body) = answer.expect("infallible").into_parts();
        let whole = body.collect().await.expect("infallible").to_bytes();
        assert!(!whole.is_empty());
        head.status
    };

    assert_eq!(come("https://localhost/agents/mcp").await, 200);
    assert_eq!(come("https://evil.example/agents/mcp").await, 403);
}

//! Three doors to one gateway: for tokens, for anybody, and for the operator (HTTP-03, SEC-03, SEC-06).

use std::net::SocketAddr;

use mcpr_core::front::http::{Door, serve};
use mcpr_tests::client::Session;
use mcpr_tests::http::Request;
use mcpr_tests::{Gateway, gateway};
use mcpr_transport::http::server::{Bound, Options};
use serde_json::json;
use tokio_util::task::AbortOnDropHandle;

use crate::refusal;

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

/// Opens another door of a gateway on a port of its own.
fn open(gateway: &Gateway, door: Door) -> (u16, AbortOnDropHandle<()>) {
    let bound = Bound::tcp(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let port = bound.local_addr().unwrap().port();
    let serving = serve(gateway.core.clone(), bound, door, Options::default());
    (
        port,
        AbortOnDropHandle::new(tokio::spawn(async move { serving.await.unwrap() })),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn http_03_an_open_door_asks_for_no_token_and_looks_at_none() {
    let gateway = gateway().ready().await;
    let (port, _serving) = open(&gateway, Door::Open);
    for request in [
        Request::post("/mcp", PING),
        Request::post("/mcp", PING).token("wrong"),
    ] {
        assert_eq!(
            refusal(&request.send(port).await),
            (400, -32600, json!(1)),
            "let in, but without a session"
        );
    }
    let client = Session::open(port, "none", "2025-11-25").await;
    assert_eq!(client.request("ping", "{}").await.status(), 200);
    let foreign = Request::post("/mcp", PING)
        .header("origin", "http://evil.example")
        .send(port)
        .await;
    assert_eq!(foreign.status(), 403, "pages are checked all the same");
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_03_sessions_of_nobody_and_of_a_token_are_apart() {
    let gateway = gateway().ready().await;
    let (port, _serving) = open(&gateway, Door::Open);
    let (nobody, holder) = (
        Session::open(port, "none", "2025-11-25").await,
        gateway.client().await,
    );
    let stolen = holder
        .post(PING)
        .replace("mcp-session-id", &nobody.id)
        .send(gateway.port)
        .await;
    assert_eq!(refusal(&stolen).0, 404);
    let stolen = nobody
        .post(PING)
        .replace("mcp-session-id", &holder.id)
        .send(port)
        .await;
    assert_eq!(refusal(&stolen).0, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_06_the_admin_api_is_for_the_operator_s_door_or_an_operator_s_token() {
    let gateway = gateway().ready().await;
    let admin = gateway.another_token(&["admin"]).await;
    let (open_port, _open) = open(&gateway, Door::Open);
    let (control_port, _control) = open(&gateway, Door::Control);
    let status = Request::post("/admin/v1/status", "{}").token(&admin);
    let client = Request::post("/admin/v1/status", "{}").token(&gateway.token);
    assert_eq!(status.send(gateway.port).await.status(), 200);
    assert_eq!(client.send(gateway.port).await.status(), 403);
    assert_eq!(status.send(open_port).await.status(), 404);
    assert_eq!(
        status.without("authorization").send(control_port).await.status(),
        200
    );
}

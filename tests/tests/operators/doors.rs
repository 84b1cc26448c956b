//! Who may ask for a stream, and where (SEC-06).

use mcpr_admin::{
    CallStep, CallTool, Client, ClientError, ErrorCode, EventKind, ExitCode, Failure, Secret, Streamed, Watch,
};
use mcpr_auth::Principal;
use mcpr_core::Operator as Inside;
use mcpr_core::front::http::{Door, serve};
use mcpr_tests::http::Request;
use mcpr_tests::{Fake, Gateway, gateway};
use mcpr_transport::http::server::{Bound, Options};
use tokio_util::task::AbortOnDropHandle;

use crate::common::Operator;

/// Opens the operator's own door.
fn control(gateway: &Gateway) -> (Client, AbortOnDropHandle<()>) {
    let socket = gateway.home().join("ctl.sock");
    let bound = Bound::unix(&socket).unwrap();
    let serving = serve(gateway.core.clone(), bound, Door::Control, Options::default());
    let serving = tokio::spawn(async move { serving.await.unwrap() });
    (Client::socket(socket), AbortOnDropHandle::new(serving))
}

fn call() -> CallTool {
    CallTool {
        name: "a_x".into(),
        arguments: None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ctl_02_streams_come_through_the_operator_s_socket_and_through_the_network_alike() {
    let fake = Fake::script()
        .tool("x")
        .with(r#"{"progress":{"count":1,"interval":0.01}}"#)
        .stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let (socket, _serving) = control(&gateway);
    let token = Secret::new(gateway.another_token(&["admin"]).await);
    let network = Client::url(&gateway.url(), Some(token)).unwrap();
    for client in [socket, network] {
        let kinds = vec![EventKind::Call];
        let mut events = client.stream(&Watch { kinds }).await.unwrap();
        let mut steps = client.stream(&call()).await.unwrap();

        let progress = steps.next().await.unwrap();
        let result = steps.next().await.unwrap();

        assert!(
            matches!(progress, Some(CallStep::Notification(_))),
            "{progress:?}"
        );
        assert!(matches!(result, Some(CallStep::Result(_))), "{result:?}");
        assert_eq!(steps.next().await.unwrap(), None);
        let event = events.next().await.unwrap().unwrap();
        assert_eq!(event.call.unwrap().tool.as_deref(), Some("x"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_06_the_network_s_door_wants_an_operator_s_token_for_streams_too() {
    let gateway = gateway().start().await;
    for (scopes, status) in [(&["read"][..], 403), (&["read", "call"], 403), (&["admin"], 200)] {
        let token = gateway.another_token(scopes).await;
        let request = Request::post("/admin/v1/events", "{}").token(&token);
        assert_eq!(request.open(gateway.port).await.0.status, status, "{scopes:?}");
    }
    let nobody = Request::post("/admin/v1/events", "{}").open(gateway.port).await.0;
    assert_eq!(nobody.status, 401);
    let refused = gateway.another_token(&["call"]).await;
    let client = Client::url(&gateway.url(), Some(Secret::new(refused))).unwrap();
    let error = client.stream(&Watch::default()).await.unwrap_err();
    assert_eq!(error.exit_code(), ExitCode::Permission);
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_06_who_may_only_read_may_watch_and_call_nothing() {
    let gateway = gateway().start().await;
    let operator = Inside::new(gateway.core.clone());
    let reader = Principal::anonymous();

    let watched = operator.stream(&reader, Watch::PATH, false, b"{}").await.unwrap();
    let called = operator.stream(&reader, "tools/call", true, br#"{"name":"a_x"}"#);

    assert!(watched.is_ok());
    let Err(Failure { code, message, .. }) = called.await.unwrap() else {
        panic!("it was called");
    };
    assert_eq!(code, ErrorCode::Permission);
    assert_eq!(message, "this token lacks the scope `admin`");
}

#[tokio::test(flavor = "multi_thread")]
async fn ctl_03_a_stream_is_asked_for_with_a_post_and_a_body_that_is_understood() {
    let gateway = gateway().start().await;
    let operator = Operator::of(&gateway).await;
    let get = operator.ask("events", "").verb("GET").send(gateway.port).await;
    assert_eq!((get.status(), get.head.header("allow")), (405, Some("POST")));
    for body in [r#"{"kinds":["weather"]}"#, r#"{"since":"now"}"#, "[]"] {
        let answer = operator.ask("events", body).send(gateway.port).await;
        assert_eq!(answer.status(), 400, "{body}");
        assert_eq!(answer.message()["error"]["code"], "invalid");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ctl_02_the_operator_s_stream_ends_when_the_gateway_does() {
    let gateway = gateway().start().await;
    let (client, _serving) = control(&gateway);
    let mut events = client.stream(&Watch::default()).await.unwrap();

    gateway.stop().await;

    while events.next().await.unwrap().is_some() {}
    let gone = client.stream(&Watch::default()).await.unwrap_err();
    assert!(matches!(gone, ClientError::NotRunning { .. }), "{gone:?}");
}

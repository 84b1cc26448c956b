//! A gateway that is told to end: what becomes of its doors, its streams and the calls under way (B47).

use std::time::Duration;

use mcpr_auth::Principal;
use mcpr_core::{Asked, Finished};
use mcpr_tests::client::Session;
use mcpr_tests::http::Connection;
use mcpr_tests::{Fake, Gateway, gateway, wait_until};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, duplex};

/// No call that is waited for here takes so long.
const LONG: Duration = Duration::from_secs(30);

/// A server that never answers a call.
fn silent() -> Fake {
    let script = Fake::script().tool("x").with(r#"{"silent": ["tools/call"]}"#);
    script.stdio()
}

async fn behind(fake: &Fake) -> Gateway {
    gateway().fake("a", fake).ready().await
}

/// Begins a call in a session, and waits until the server has it.
async fn call_in(client: &Session, fake: &Fake) -> Connection {
    let params = r#"{"name":"a_x","_meta":{"progressToken":1}}"#;
    let request = client.post(&client.text("tools/call", params));
    let connection = request.start(client.port).await;
    fake.await_received("tools/call", 1).await;
    connection
}

fn reachable(gateway: &Gateway) -> bool {
    std::net::TcpStream::connect(("127.0.0.1", gateway.port)).is_ok()
}

/// What a client is told whose call was given up.
fn assert_given_up(answer: &Value) {
    let data = &answer["error"]["data"];
    assert_eq!(
        (&data["reason"], &data["retry"], &data["server"]),
        (&json!("outcome_unknown"), &json!("unsafe"), &json!("a")),
        "{answer}"
    );
    let text = answer["error"]["message"].as_str().unwrap();
    assert!(
        text.contains("the gateway stopped before server `a` had answered"),
        "{text}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn b47_the_door_closes_at_once_and_a_call_under_way_still_ends() {
    let fake = Fake::script().tool("x").delay("tools/call", 0.4).stdio();
    let gateway = behind(&fake).await;
    let client = gateway.client().await;
    let mut call = call_in(&client, &fake).await;

    gateway.core.leave();
    let ended = gateway.core.finish(LONG).await;

    assert_eq!(
        ended,
        Finished {
            finished: 1,
            abandoned: 0
        }
    );
    assert!(call.answer().await.message()["result"].is_object());
    assert!(!reachable(&gateway));
}

#[tokio::test(flavor = "multi_thread")]
async fn b47_streams_that_belong_to_no_call_end_properly_and_at_once() {
    let fake = silent();
    let gateway = behind(&fake).await;
    let client = gateway.client().await;
    let mut stream = client.stream().await;
    let _call = call_in(&client, &fake).await;
    let notifications = r#""notifications":{"toolsListChanged":true}"#;
    let stateless = gateway.stateless();
    let (_, mut listen) = stateless.begin("subscriptions/listen", notifications, None).await;
    listen.event().await.expect("the acknowledgement");

    gateway.core.leave();

    assert!(stream.ends_whole().await);
    let last = listen.event().await.expect("the answer to the listen").message();
    assert_eq!(
        (&last["id"], &last["result"]["resultType"]),
        (&json!(1), &json!("complete"))
    );
    assert!(listen.ends_whole().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn b47_a_call_that_does_not_end_gets_one_error_in_a_session() {
    let fake = silent();
    let gateway = behind(&fake).await;
    let client = gateway.client().await;
    let mut call = call_in(&client, &fake).await;

    gateway.core.leave();
    let ended = gateway.core.finish(Duration::from_millis(20)).await;

    assert_eq!(
        ended,
        Finished {
            finished: 0,
            abandoned: 1
        }
    );
    assert_given_up(&call.answer().await.message());
    assert_eq!(fake.await_received("notifications/cancelled", 1).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn b47_a_stream_of_a_call_ends_with_the_error_and_properly() {
    let fake = silent();
    let gateway = behind(&fake).await;
    let (session, stateless) = (gateway.client().await, gateway.stateless());
    // A stream begins when an answer takes two seconds.
    let ((_, mut call), (_, mut other)) = tokio::join!(
        session.begin("tools/call", r#"{"name":"a_x"}"#),
        stateless.begin("tools/call", r#""name":"a_x""#, Some("a_x")),
    );

    gateway.core.leave();
    gateway.core.finish(Duration::ZERO).await;

    for stream in [&mut call, &mut other] {
        let answer = stream.message(|message| message["id"] == 1).await;
        assert_given_up(&answer.expect("an answer"));
        assert!(stream.ends_whole().await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b47_a_call_that_never_got_to_its_server_may_safely_be_made_again() {
    let fake = silent();
    let own = json!({ "maxConcurrency": 1, "queue": { "max": 1 } });
    let gateway = gateway().fake_with("a", &fake, own).ready().await;
    let client = gateway.client().await;
    let _first = call_in(&client, &fake).await;
    let another = || client.call("a_x", "{}");
    let (mut second, mut third) = (Box::pin(another()), Box::pin(another()));
    // One of the two is in the queue when the other finds it full.
    let (refused, waits) = tokio::select! {
        refused = &mut second => (refused, third),
        refused = &mut third => (refused, second),
    };
    assert_eq!(refused["error"]["data"]["reason"], "busy");

    let (_, answer) = tokio::join!(gateway.core.finish(Duration::ZERO), waits);

    let data = &answer["error"]["data"];
    assert_eq!(
        (&data["reason"], &data["retry"]),
        (&json!("starting"), &json!("safe")),
        "{data}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn b47_a_client_on_a_pipe_gets_the_error_too_and_then_the_end() {
    let fake = silent();
    let gateway = behind(&fake).await;
    let ((mut input, theirs), (output, ours)) = (duplex(1 << 16), duplex(1 << 16));
    let serving = mcpr_core::front::pipe::serve(
        gateway.core.clone(),
        Principal::stdio("test"),
        Asked::default(),
        theirs,
        output,
    );
    let serving = tokio::spawn(serving);
    let text = gateway.stateless().text("7", "tools/call", r#""name":"a_x""#);
    input.write_all(format!("{text}\n").as_bytes()).await.unwrap();
    fake.await_received("tools/call", 1).await;

    gateway.core.leave();
    gateway.core.finish(Duration::ZERO).await;

    let mut lines = BufReader::new(ours).lines();
    let answer = lines.next_line().await.unwrap().unwrap();
    assert_given_up(&serde_json::from_str(&answer).unwrap());
    assert_eq!(lines.next_line().await.unwrap(), None);
    serving.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn b47_a_call_that_waits_for_its_client_holds_up_no_end() {
    let interview = json!({ "rounds": [[{ "method": "elicitation/create", "params": { "message": "?" } }]] });
    let fake = Fake::script().tool("x").interview(interview).stdio();
    let gateway = behind(&fake).await;
    let meta = r#""io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}"#;
    let stateless = gateway.stateless();
    let text = stateless.text_with("1", "tools/call", r#""name":"a_x""#, meta);
    let asked = stateless
        .post(&text, "tools/call", Some("a_x"))
        .send(gateway.port)
        .await;
    assert_eq!(asked.message()["result"]["resultType"], "input_required");

    gateway.core.leave();

    assert_eq!(gateway.core.finish(LONG).await.abandoned, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn ctl_01_an_operator_who_stops_the_gateway_has_it_leave() {
    let fake = silent();
    let gateway = behind(&fake).await;

    gateway.operate("stop", json!({})).await;

    gateway.core.stopping().await;
    let refused = || (!reachable(&gateway)).then_some(());
    wait_until(Duration::from_secs(5), "nobody listens any more", refused).await;
}

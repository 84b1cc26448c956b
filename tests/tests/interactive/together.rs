//! Several clients at once on one server: each is asked what its own calls caused, and nothing else.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use mcpr_tests::client::Session;
use mcpr_tests::http::Connection;
use mcpr_tests::talk::{Peer, Question, Saying};
use mcpr_tests::{Fake, Gateway, Script, await_no_process, gateway, wait_until};
use serde_json::{Value, json};

use crate::pairs::{CONNECTIONS, NAME, all, asks, echo, forms, never};

/// How many calls each of the clients makes on each of its two lines.
const ROUNDS: usize = 50;

/// A server with a tool that fills in forms and one that samples; each names the call's arguments.
fn two_tools() -> Script {
    let sample = json!({ "method": "sampling/createMessage", "params": { "message": "{args}", "messages": [], "maxTokens": 1 } });
    let name: Value = serde_json::from_str(NAME).unwrap();
    let fill = json!({ "method": "elicitation/create", "params": name });
    Fake::script()
        .tool("fill")
        .tool("sample")
        .interview(json!({ "on": ["tools/call:fill"], "rounds": [[fill]] }))
        .interview(json!({ "on": ["tools/call:sample"], "rounds": [[sample]] }))
}

/// Answers with what the question says, if it is about this client's calls.
fn own(who: &str) -> impl Fn(&Question) -> Saying {
    let who = format!("{who}-");
    move |question| {
        assert!(question.params.contains(&who), "{who} is asked {question:?}");
        if question.method == "elicitation/create" {
            return echo(question);
        }
        let params: Value = serde_json::from_str(&question.params).unwrap();
        let content = json!({ "type": "text", "text": params["message"] });
        Saying::Result(json!({ "role": "assistant", "model": "m", "content": content }).to_string())
    }
}

/// Calls again and again; each answer holds what was said for that call.
async fn line(peer: &Peer, who: &str, line: usize) {
    for round in 0..ROUNDS {
        let tool = if round % 2 == 0 { "a_fill" } else { "a_sample" };
        let mark = format!("{who}-{line}-{round}");
        let talk = peer.call(tool, &json!({ "n": mark }).to_string(), own(who)).await;
        assert!(talk.text().contains(&mark), "{mark}: {talk:?}");
    }
}

/// A client that cannot be asked, all the while.
async fn mute(gateway: &Gateway) {
    let client = gateway.client().await;
    for round in 0..ROUNDS {
        let tool = if round % 2 == 0 { "a_fill" } else { "a_sample" };
        let params = format!(r#"{{"name":"{tool}","arguments":{{"n":"mute-{round}"}}}}"#);
        let talk = client.converse("tools/call", &params, never).await;
        assert!(
            talk.text().contains("cancel") || talk.text().contains("\"code\":-1"),
            "{talk:?}"
        );
    }
}

/// A session and a stateless client with two lines of calls each, and one that cannot be asked.
async fn three_clients(fake: &Fake) -> Gateway {
    let gateway = gateway().fake("a", fake).ready().await;
    let [session, stateless] = gateway.peers(&all()).await;
    tokio::join!(
        line(&session, "session", 1),
        line(&session, "session", 2),
        line(&stateless, "stateless", 1),
        line(&stateless, "stateless", 2),
        mute(&gateway),
    );
    gateway
}

fn processes(fake: &Fake) -> BTreeSet<u32> {
    fake.called_processes().into_iter().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn b37_two_clients_and_two_hundred_questions_on_a_pipe() {
    let fake = two_tools().stdio();
    let gateway = three_clients(&fake).await;
    assert!(
        (2..=CONNECTIONS).contains(&processes(&fake).len()),
        "{:?}",
        processes(&fake)
    );
    gateway.stop().await;
    await_no_process(&fake.spec_path().display().to_string()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b37_two_clients_and_two_hundred_questions_over_http_in_one_session() {
    let fake = two_tools().with(r#"{"session":true}"#).http();
    three_clients(&fake).await;
    assert_eq!(fake.received_of("initialize").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn b37_two_clients_and_two_hundred_questions_over_old_sse() {
    let fake = two_tools().sse();
    three_clients(&fake).await;
    assert!((2..=CONNECTIONS).contains(&fake.received_of("initialize").len()));
}

#[tokio::test(flavor = "multi_thread")]
async fn b37_two_clients_and_two_hundred_questions_at_a_stateless_server() {
    let fake = two_tools().with(r#"{"era":"stateless"}"#).http();
    three_clients_that_can_be_asked(&fake).await;
}

/// A stateless server knows who cannot be asked, so that nobody declines for them.
async fn three_clients_that_can_be_asked(fake: &Fake) {
    let gateway = gateway().fake("a", fake).ready().await;
    let [session, stateless] = gateway.peers(&all()).await;
    let third = Peer::Session(gateway.client_with("2025-11-25", &all()).await);
    tokio::join!(
        line(&session, "session", 1),
        line(&session, "session", 2),
        line(&stateless, "stateless", 1),
        line(&third, "third", 1),
    );
}

/// A server that asks beside the stream of the call.
async fn aside(delay: Value) -> (Fake, Gateway) {
    let ask =
        json!({ "method": "elicitation/create", "params": serde_json::from_str::<Value>(NAME).unwrap() });
    let interview = json!({ "on": ["tools/call:ask"], "rounds": [[ask]], "aside": true });
    let fake = Fake::script().tool("ask").tool("plain").interview(interview);
    let fake = fake.with(r#"{"session":true}"#).set("delay", delay).http();
    let gateway = gateway().fake("a", &fake).ready().await;
    hears(&fake, 1).await;
    (fake, gateway)
}

/// Waits until so many streams are open for what belongs to no request.
async fn hears(fake: &Fake, streams: usize) {
    let get =
        |received: &mcpr_tests::Received| received.http.as_ref().is_some_and(|head| head.method == "GET");
    wait_until(std::time::Duration::from_secs(10), "mcpr listens", || {
        (fake.received().iter().filter(|received| get(received)).count() >= streams).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_beside_the_stream_comes_to_the_only_client_that_calls() {
    let (_fake, gateway) = aside(json!({})).await;
    for peer in gateway.peers(&all()).await {
        let talk = peer.call("a_ask", r#"{"n":"only"}"#, echo).await;
        assert!(talk.text().contains("name for"), "{talk:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_of_a_server_that_asks_beside_the_stream_do_not_meet() {
    let (fake, gateway) = aside(json!({})).await;
    let [first, second] = gateway.peers(&all()).await;
    first.call("a_ask", "{}", echo).await; // From now on it is known how this server asks.
    let calls = |peer: &'static str, client| async move {
        for round in 0..10 {
            let mark = format!("{peer}-{round}");
            let talk: mcpr_tests::talk::Talk =
                Peer::call(client, "a_ask", &json!({ "n": mark }).to_string(), own(peer)).await;
            assert!(talk.text().contains(&mark), "{talk:?}");
        }
    };
    let third = Peer::Session(gateway.client_with("2025-11-25", &all()).await);
    tokio::join!(
        calls("first", &first),
        calls("second", &second),
        calls("third", &third)
    );
    assert!(fake.received_of("initialize").len() >= 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn more_clients_than_connections_wait_in_line() {
    let fake = asks("elicitation/create", NAME).stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let calls = (0..2 * CONNECTIONS).map(|number| {
        let able = gateway.able(&forms());
        async move {
            let mark = format!("client{number}-");
            let peer = Peer::Stateless(able);
            let talk = peer
                .call(
                    "a_ask",
                    &json!({ "n": mark }).to_string(),
                    own(&format!("client{number}")),
                )
                .await;
            assert!(talk.text().contains(&mark), "{talk:?}");
        }
    });
    join_all(calls).await;
    assert!(processes(&fake).len() <= CONNECTIONS, "{:?}", processes(&fake));
}

/// A call that is not over, of a client that can be asked.
async fn slow(gateway: &Gateway, fake: &Fake) -> (Session, Connection) {
    let client = gateway.client_with("2025-11-25", &forms()).await;
    let before = fake.received_of("tools/call").len();
    let text = client.text("tools/call", r#"{"name":"a_plain","arguments":{}}"#);
    let mut connection = Connection::open(client.port).await;
    connection.send(&client.post(&text).bytes()).await;
    fake.await_received("tools/call", before + 1).await;
    (client, connection)
}

#[tokio::test(flavor = "multi_thread")]
async fn not_even_on_a_further_connection_that_has_asked_nothing_yet() {
    let (fake, gateway) = aside(json!({ "tools/call:plain": 1.0 })).await;
    let third = Peer::Session(gateway.client_with("2025-11-25", &all()).await);
    third.call("a_ask", "{}", echo).await; // From now on it is known how this server asks.
    let _first = slow(&gateway, &fake).await;
    let _second = slow(&gateway, &fake).await;
    let talk = third.call("a_ask", r#"{"n":3}"#, echo).await;
    assert!(talk.text().contains("name for"), "{talk:?}");
    assert_eq!(fake.received_of("initialize").len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_reaches_its_call_when_the_stream_it_was_asked_on_is_over() {
    let ask =
        json!({ "method": "elicitation/create", "params": serde_json::from_str::<Value>(NAME).unwrap() });
    let script = Fake::script()
        .tool("ask")
        .tool("plain")
        .delay("tools/call:plain", 0.4);
    let interview = json!({ "on": ["tools/call:ask"], "rounds": [[ask]], "pause": 0.2 });
    let fake = script.interview(interview).stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let client = gateway.client_with("2025-11-25", &forms()).await;
    let asking = client.converse("tools/call", r#"{"name":"a_ask","arguments":{}}"#, never);
    let other = async {
        fake.await_received("tools/call", 1).await;
        let silent = |_: &Question| Saying::Nothing;
        let talk = client
            .converse("tools/call", r#"{"name":"a_plain","arguments":{}}"#, silent)
            .await;
        assert!(talk.notes.is_empty(), "the question still stands: {talk:?}");
        client.say(&talk.questions[0].key, echo(&talk.questions[0])).await;
    };
    let (talk, ()) = tokio::join!(asking, other);
    assert!(talk.text().contains("name for"), "{talk:?}");
}

//! What servers tell beside their answers: log messages and progress, to whom they belong.

use mcpr_tests::client::Session;
use mcpr_tests::http::Connection;
use mcpr_tests::talk::{Peer, Talk};
use mcpr_tests::{Fake, Gateway, Script, gateway, raw};
use serde_json::{Value, json};

use crate::pairs::{NAME, asks, echo, forms, never, servers, sessions, stateless};

const LEVELS: [&str; 4] = ["debug", "info", "warning", "error"];

/// A server that says something on each level within each call, and which call it was.
fn talkative() -> Script {
    let say = |level: &&str| json!({ "method": "notifications/message", "params": { "level": level, "data": "{args}" } });
    Fake::script()
        .tool("t")
        .set("capabilities", json!({ "tools": {}, "logging": {} }))
        .set("notify", LEVELS.iter().map(say).collect())
}

/// The levels of the log messages that came for a call.
fn heard(talk: &Talk) -> Vec<String> {
    let logs = talk
        .notes
        .iter()
        .filter(|note| note["method"] == "notifications/message");
    logs.map(|note| note["params"]["level"].as_str().unwrap().to_owned())
        .collect()
}

async fn call(client: &Session) -> Talk {
    client
        .converse("tools/call", r#"{"name":"a_t","arguments":{"n":1}}"#, never)
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn each_session_hears_from_its_own_level_on() {
    for place in servers(talkative).await {
        let (quiet, usual, curious) = (
            place.gateway.client().await,
            place.gateway.client().await,
            place.gateway.client().await,
        );
        quiet.request("logging/setLevel", r#"{"level":"error"}"#).await;
        curious.request("logging/setLevel", r#"{"level":"debug"}"#).await;
        for _ in 0..2 {
            assert_eq!(heard(&call(&quiet).await), ["error"]);
            assert_eq!(heard(&call(&usual).await), ["info", "warning", "error"]);
            assert_eq!(heard(&call(&curious).await), LEVELS);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_the_session_era_is_asked_for_more_only_when_somebody_wants_more() {
    for place in sessions(talkative).await {
        let (one, two) = (place.gateway.client().await, place.gateway.client().await);
        call(&one).await;
        for (client, level) in [
            (&one, "warning"),
            (&two, "error"),
            (&two, "debug"),
            (&one, "info"),
        ] {
            client
                .request("logging/setLevel", &format!(r#"{{"level":"{level}"}}"#))
                .await;
            call(client).await;
        }
        let set = place.fake.received_of("logging/setLevel");
        let levels: Vec<_> = set.iter().map(|set| set.params()["level"].clone()).collect();
        assert_eq!(levels, ["warning", "debug"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stateless_request_hears_what_it_names_and_nothing_otherwise() {
    for place in servers(talkative).await {
        let able = place.gateway.able(&json!({}));
        assert!(heard(&able.call("a_t", "{}", "").await).is_empty());
        let warned = able
            .clone()
            .with(r#""io.modelcontextprotocol/logLevel":"warning""#);
        assert_eq!(heard(&warned.call("a_t", "{}", "").await), ["warning", "error"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stateless_server_is_told_the_level_of_each_call() {
    for place in stateless(talkative).await {
        let client = place.gateway.client().await;
        call(&client).await;
        client.request("logging/setLevel", r#"{"level":"debug"}"#).await;
        call(&client).await;
        place.gateway.able(&json!({})).call("a_t", "{}", "").await;
        let told =
            |call: &mcpr_tests::Received| call.params()["_meta"]["io.modelcontextprotocol/logLevel"].clone();
        let levels: Vec<_> = place.fake.received_of("tools/call").iter().map(told).collect();
        assert_eq!(levels, [json!("info"), json!("debug"), Value::Null]);
    }
}

/// A call that is not over, on a connection of its own.
async fn begun(client: &Session, tool: &str) -> Connection {
    let text = client.text(
        "tools/call",
        &format!(r#"{{"name":"{tool}","arguments":{{"n":"slow"}}}}"#),
    );
    let mut connection = Connection::open(client.port).await;
    connection.send(&client.post(&text).bytes()).await;
    connection
}

/// A server with a slow tool beside the other, and a call of the slow one under way.
async fn busy(fake: &Fake) -> (Gateway, Session, Connection) {
    let gateway = gateway().fake("a", fake).ready().await;
    let slow = gateway.client().await;
    let connection = begun(&slow, "a_slow").await;
    fake.await_received("tools/call", 1).await;
    (gateway, slow, connection)
}

#[tokio::test(flavor = "multi_thread")]
async fn b37_on_a_pipe_a_log_message_that_may_be_anothers_is_nobodys() {
    let fake = talkative().tool("slow").delay("tools/call:slow", 0.5).stdio();
    let (gateway, _slow, mut connection) = busy(&fake).await;
    let other = gateway.client().await;
    assert!(heard(&call(&other).await).is_empty());
    // What the slow call says at its end is clear again.
    connection.head().await;
    let told = connection.event().await.unwrap().message();
    assert_eq!(told["params"]["data"], r#"{"n":"slow"}"#, "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn over_http_each_call_has_its_own_log_messages() {
    let fake = talkative()
        .tool("slow")
        .delay("tools/call:slow", 0.5)
        .with(r#"{"session":true}"#)
        .http();
    let (gateway, _slow, mut connection) = busy(&fake).await;
    let other = gateway.client().await;
    let talk = call(&other).await;
    assert_eq!(heard(&talk), ["info", "warning", "error"]);
    assert!(
        talk.notes
            .iter()
            .all(|note| note["params"]["data"] == r#"{"n":1}"#),
        "{talk:?}"
    );
    connection.head().await;
    let told = connection.event().await.unwrap().message();
    assert_eq!(told["params"]["data"], r#"{"n":"slow"}"#, "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_of_one_session_share_its_log_messages_on_a_pipe() {
    let fake = talkative().tool("slow").delay("tools/call:slow", 0.5).stdio();
    let (_gateway, slow, _connection) = busy(&fake).await;
    assert_eq!(heard(&call(&slow).await), ["info", "warning", "error"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn b17_progress_goes_on_after_a_question_under_the_clients_token() {
    let script =
        || asks("elicitation/create", NAME).with(r#"{"progress":{"count":2,"interval":0.01,"after":true}}"#);
    for place in servers(script).await {
        for peer in place.gateway.peers(&forms()).await {
            let token = r#""7""#;
            let talk = match &peer {
                Peer::Session(session) => {
                    let params =
                        format!(r#"{{"name":"a_ask","arguments":{{}},"_meta":{{"progressToken":{token}}}}}"#);
                    session.converse("tools/call", &params, echo).await
                }
                Peer::Stateless(able) => {
                    let able = able.clone().with(&format!(r#""progressToken":{token}"#));
                    Peer::Stateless(able).call("a_ask", "{}", echo).await
                }
            };
            let told: Vec<_> = talk.notes.iter().map(|note| note["params"].clone()).collect();
            let steps = [1, 2].map(|step| json!({ "progressToken": "7", "progress": step, "total": 2 }));
            assert_eq!(told, steps, "{peer:?}: {talk:?}");
            let sent = place.fake.received_of("tools/call");
            let own = raw::member(&sent.last().unwrap().text, &["params", "_meta", "progressToken"]);
            own.parse::<u64>().expect("a token of mcpr's own");
        }
    }
}

//! What belongs to one token is unknown to every other, whichever of the two tries (SEC-03). Request states, tasks and
//! subscriptions have their own: `interactive::states`, `tasks::handles`, `subscriptions::strangers`.

use mcpr_tests::client::{Session, Stateless};
use mcpr_tests::http::{Answer, Connection, Request};
use mcpr_tests::{Client, Fake, Gateway, gateway};
use serde_json::{Value, json};

use crate::refusal;

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

/// Two clients with sessions, each with a token of its own.
async fn two(gateway: &Gateway) -> [Session; 2] {
    let other = gateway.another_token(&["read", "call"]).await;
    [
        gateway.client().await,
        Session::open(gateway.port, &other, "2025-11-25").await,
    ]
}

/// Each of them as the one who tries what is the other's.
fn both_ways<T>([one, two]: &[T; 2]) -> [(&T, &T); 2] {
    [(one, two), (two, one)]
}

/// All that can be sent in a session.
fn everything() -> Vec<Request> {
    let call = |method: &str, params: &str| {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        Request::post("/mcp", text)
    };
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c"}}"#;
    vec![
        Request::post("/mcp", PING),
        call("tools/list", "{}"),
        call("tools/call", r#"{"name":"a_x"}"#),
        call("logging/setLevel", r#"{"level":"debug"}"#),
        call("resources/subscribe", r#"{"uri":"file:///r"}"#),
        call("resources/unsubscribe", r#"{"uri":"file:///r"}"#),
        Request::post("/mcp", cancel),
        Request::post("/mcp", r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
        Request::get("/mcp"),
        Request::get("/mcp").header("last-event-id", "1-1-1"),
        Request::new("DELETE", "/mcp"),
    ]
}

/// The same request in a session that is not the sender's.
fn in_session_of(id: &str, sender: &Session, request: Request) -> Request {
    sender.in_session(request).replace("mcp-session-id", id)
}

/// Status and text of an answer.
fn told(answer: &Answer) -> (u16, String) {
    (answer.status(), answer.text())
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_03_in_another_token_s_session_everything_reads_as_in_none_that_ever_was() {
    let fake = Fake::script().tool("x").stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let clients = two(&gateway).await;
    for (owner, thief) in both_ways(&clients) {
        let made_up = owner.id.chars().rev().collect::<String>();
        for request in everything() {
            let stolen = in_session_of(&owner.id, thief, request.clone())
                .send(gateway.port)
                .await;
            let guessed = in_session_of(&made_up, thief, request.clone())
                .send(gateway.port)
                .await;
            assert_eq!(stolen.status(), 404, "{request:?}");
            assert_eq!(told(&stolen), told(&guessed), "{request:?}");
        }
    }
    for client in &clients {
        assert_eq!(
            client.request("ping", "{}").await.status(),
            200,
            "its owner has it still"
        );
    }
    assert!(fake.received_of("tools/call").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_03_nobody_chooses_the_id_of_a_session() {
    let gateway = gateway().ready().await;
    let clients = two(&gateway).await;
    let open = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } });
    for (victim, attacker) in both_ways(&clients) {
        for wanted in [&*victim.id, "chosen-by-the-attacker", &*attacker.id] {
            let opened = in_session_of(wanted, attacker, Request::post("/mcp", open.to_string()));
            let opened = opened.send(gateway.port).await;
            let given = opened.head.header("mcp-session-id").unwrap();
            assert!(![wanted, &*victim.id, &*attacker.id].contains(&given), "{given}");
            let lured = in_session_of(given, victim, Request::post("/mcp", PING));
            assert_eq!(
                lured.send(gateway.port).await.status(),
                404,
                "no use with the victim's token"
            );
        }
        let chosen = in_session_of("chosen-by-the-attacker", attacker, Request::post("/mcp", PING));
        assert_eq!(chosen.send(gateway.port).await.status(), 404);
        assert_eq!(victim.request("ping", "{}").await.status(), 200);
    }
}

/// A call in a session whose connection is lost after the first event, and the id of that.
async fn lost(client: &Session) -> String {
    let call = r#"{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"a_x","_meta":{"progressToken":1}}}"#;
    let (_, mut connection) = client.post(call).open(client.port).await;
    let id = connection.any_event().await.unwrap().id.unwrap();
    connection.reset();
    id
}

/// What follows an event, for who asks in the session of this id.
async fn after(event: &str, session: &str, sender: &Session) -> Answer {
    let request = Request::get("/mcp").header("last-event-id", event);
    in_session_of(session, sender, request).send(sender.port).await
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_03_no_stream_is_resumed_by_another_token() {
    let progress = json!({ "count": 1, "interval": 0.0 });
    let fake = Fake::script().tool("x").set("progress", progress).stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let clients = two(&gateway).await;
    let events = [lost(&clients[0]).await, lost(&clients[1]).await];
    gateway.await_server("a", |server| server["inFlight"] == 0).await;
    for ((owner, thief), event) in both_ways(&clients).into_iter().zip(&events) {
        let in_theirs = after(event, &owner.id, thief).await;
        assert_eq!(refusal(&in_theirs).0, 404);
        let in_own = after(event, &thief.id, thief).await;
        assert!(
            !in_own.text().contains("\"c\"") || in_own.status() != 200,
            "{}",
            in_own.text()
        );
    }
    for (owner, event) in clients.iter().zip(&events) {
        let resumed = after(event, &owner.id, owner).await;
        assert_eq!(resumed.message()["id"], "c", "{}", resumed.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_03_no_cursor_of_another_token_is_known_in_either_era() {
    let tools = ["a", "b", "c", "d"];
    let fake = tools
        .iter()
        .fold(Fake::script(), |script, tool| script.tool(tool))
        .stdio();
    let limits = json!({ "pageSize": 2 });
    let gateway = gateway().fake("a", &fake).own("limits", limits).ready().await;
    let sessions = two(&gateway).await;
    let stateless = sessions.each_ref().map(|session| Stateless {
        port: gateway.port,
        token: session.token.clone(),
    });
    let (sessions, stateless) = (sessions.map(Client::Session), stateless.map(Client::Stateless));
    for (owner, thief) in [&sessions, &stateless].into_iter().flat_map(both_ways) {
        let first = owner.ask("tools/list", "").await.message();
        let cursor = format!(r#""cursor":{}"#, first["result"]["nextCursor"]);
        assert_eq!(
            thief.ask("tools/list", &cursor).await.message()["error"]["code"],
            -32602
        );
        let rest = owner.ask("tools/list", &cursor).await.message();
        assert_eq!(rest["result"]["tools"].as_array().map(Vec::len), Some(2));
    }
}

/// Begins a call that never ends by itself, under the id `c`.
async fn under_way(client: &Session) -> Connection {
    let call = r#"{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"a_slow"}}"#;
    client.post(call).start(client.port).await
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_03_nobody_cancels_another_token_s_request() {
    let fake = Fake::script()
        .tool("slow")
        .with(r#"{"silent":["tools/call"]}"#)
        .stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let clients = two(&gateway).await;
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c"}}"#;
    for (count, (owner, stranger)) in (1..).zip(both_ways(&clients)) {
        let mut call = under_way(owner).await;
        fake.await_received("tools/call", count).await;
        let stateless = Stateless {
            port: gateway.port,
            token: stranger.token.clone(),
        };
        let foreign = stateless.post(cancel, "notifications/cancelled", None);
        for request in [stranger.post(cancel), foreign] {
            request.send(gateway.port).await;
        }
        assert_eq!(owner.post(cancel).send(gateway.port).await.status(), 202);
        call.answer().await;
        let told = fake.await_received("notifications/cancelled", count).await;
        assert_eq!(told.len(), count, "the owner's own is the only one");
    }
    let all = fake.received_of("notifications/cancelled");
    assert_eq!(
        all.len(),
        2,
        "{:?}",
        all.iter().map(|one| one.params()).collect::<Vec<Value>>()
    );
}

//! A token store of the embedding program (EMB-03): it says who is let in, and until when.

use std::sync::Arc;
use std::time::Duration;

use mcpr_core::admin::Status;
use mcpr_core::auth::{Denied, Grant, Principal, Scope, Scopes, Timestamp, TokenId, TokenStore};
use mcpr_tests::client::Session;
use mcpr_tests::http::Request;
use mcpr_tests::{Fake, Gateway, gateway, wait_for};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::watch;

/// Lets in whoever says a name that is on the list.
#[derive(Default)]
struct Guests {
    list: Mutex<Vec<Grant>>,
    changes: watch::Sender<u64>,
}

impl Guests {
    fn invite(names: &[&str]) -> Arc<Self> {
        let grants = names
            .iter()
            .map(|name| Grant::new(TokenId::external(name), *name));
        Arc::new(Self {
            list: Mutex::new(grants.collect()),
            ..Self::default()
        })
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Grant>)) {
        change(&mut self.list.lock());
        self.changes.send_modify(|generation| *generation += 1);
    }
}

impl TokenStore for Guests {
    fn verify(&self, presented: &str, _: Timestamp) -> Result<Principal, Denied> {
        let list = self.list.lock();
        let guest = list.iter().find(|grant| grant.name == presented);
        let guest = guest.ok_or_else(|| Denied::Refused(format!("{presented} is not on the list")))?;
        Ok(guest.clone().into())
    }

    fn recheck(&self, principal: &Principal, _: Timestamp) -> Result<(), Denied> {
        let is_invited = |grant: &Grant| grant.id.as_str() == principal.key();
        let invited = self.list.lock().iter().any(is_invited);
        invited
            .then_some(())
            .ok_or_else(|| Denied::Refused("not any more".into()))
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }
}

async fn party(guests: &Arc<Guests>) -> Gateway {
    let git = Fake::script().tool("status").stdio();
    let web = Fake::script().tool("get").stdio();
    let gateway = gateway().fake("git", &git).fake("web", &web);
    let gateway = gateway.tokens(guests.clone()).start().await;
    gateway.core.settled().await;
    gateway
}

async fn enter(gateway: &Gateway, name: &str) -> Session {
    Session::open(gateway.port, name, "2025-11-25").await
}

#[tokio::test(flavor = "multi_thread")]
async fn emb_03_a_token_store_of_the_program_says_who_is_let_in_and_what_each_sees() {
    let guests = Guests::invite(&["ann", "bob"]);
    guests.change(|list| list[1].servers = Some(vec!["git".to_owned()].into()));
    let gateway = party(&guests).await;

    assert_eq!(
        enter(&gateway, "ann").await.tool_names().await,
        ["git_status", "web_get"]
    );
    assert_eq!(enter(&gateway, "bob").await.tool_names().await, ["git_status"]);
    let refused = Request::post("/mcp", "{}").token("eve").send(gateway.port).await;

    assert_eq!(refused.status(), 401);
    let body: Value = serde_json::from_str(&refused.text()).expect("JSON");
    assert_eq!(body["reason"], "refused");
    let message = body["message"].as_str().expect("a text");
    assert!(message.starts_with("eve is not on the list. Ask"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn emb_03_sec_02_what_the_store_allows_now_counts_in_sessions_that_are_open() {
    let guests = Guests::invite(&["ann"]);
    let gateway = party(&guests).await;
    let ann = enter(&gateway, "ann").await;
    assert_eq!(ann.tool_names().await.len(), 2);
    let call = async |tool: &str| ann.call(tool, "{}").await["error"]["code"].clone();

    guests.change(|list| list[0].servers = Some(vec!["git".to_owned()].into()));
    assert_eq!(ann.tool_names().await, ["git_status"]);
    assert_eq!(
        (call("git_status").await, call("web_get").await),
        (Value::Null, json!(-32602))
    );

    guests.change(|list| list[0].scopes = Scopes::of(&[Scope::Read]));
    assert_eq!(ann.request("tools/list", "{}").await.status(), 200);
    let call = ann.request("tools/call", r#"{"name":"git_status"}"#).await;
    assert_eq!(call.status(), 403, "{}", call.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn emb_03_whom_the_store_no_longer_knows_loses_streams_sessions_and_access() {
    let guests = Guests::invite(&["ann", "bob"]);
    let gateway = party(&guests).await;
    let (ann, bob) = (enter(&gateway, "ann").await, enter(&gateway, "bob").await);
    let mut stream = ann.stream().await;

    guests.change(|list| list.retain(|grant| grant.name != "ann"));

    assert!(stream.ends_whole().await, "the stream comes to its end");
    assert_eq!(ann.request("tools/list", "{}").await.status(), 401);
    let one_session = async || {
        let status = gateway.core.operate(Status {}).await.expect("a status");
        (status.sessions == 1).then_some(())
    };
    wait_for(Duration::from_secs(10), "the end of the session", one_session).await;
    assert_eq!(bob.tool_names().await.len(), 2, "nobody else notices");
}

#[tokio::test(flavor = "multi_thread")]
async fn emb_03_operators_are_told_that_the_program_keeps_the_tokens() {
    let gateway = party(&Guests::invite(&[])).await;
    for (path, body) in [
        ("tokens/create", json!({ "name": "x" })),
        ("tokens/list", json!({})),
        ("tokens/revoke", json!({ "which": "x" })),
        ("tokens/rotate", json!({ "which": "x" })),
    ] {
        let answer = gateway.operate(path, body).await;
        let message = &answer["error"]["message"];
        assert_eq!(
            message, "this gateway's tokens are kept by the program that it is a part of",
            "{path}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn emb_03_a_token_store_is_not_asked_about_whoever_needs_no_token() {
    let guests = Guests::invite(&["ann"]);
    let changed = json!([{ "method": "notifications/tools/list_changed", "on": "tools/call:change" }]);
    let fake = Fake::script().tool("change").set("notify", changed).stdio();
    let gateway = gateway()
        .fake("a", &fake)
        .tokens(guests.clone())
        .open()
        .start()
        .await;
    gateway.core.settled().await;
    let anybody = enter(&gateway, "anybody").await;
    let mut stream = anybody.stream().await;

    guests.change(Vec::clear);
    anybody.call("a_change", "{}").await;

    let heard = stream.message(|message| message["method"] == "notifications/tools/list_changed");
    assert!(heard.await.is_some(), "the stream goes on");
}

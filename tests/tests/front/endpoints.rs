//! Every endpoint, and what it answers to everybody who may not use it, to the letter (SEC-02, SEC-03, SEC-06).

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use mcpr_auth::{NewToken, Timestamp, TokenKind, mint};
use mcpr_tests::client::{Session, Stateless};
use mcpr_tests::http::{Answer, Request};
use mcpr_tests::{Fake, Gateway, gateway};
use serde_json::{Value, json};

use crate::auth::expired;

/// Somebody who sends requests.
struct Caller {
    who: &'static str,
    /// The text of the token, where there is one.
    token: Option<String>,
    /// The session that is named in what is sent in a session.
    session: String,
    /// The project that is asked for.
    project: Option<&'static str>,
}

/// What each endpoint is sent, but for who sends it.
fn endpoints(caller: &Caller) -> Vec<(&'static str, Request)> {
    let session = |request: Request| {
        let request = request.header("mcp-session-id", &caller.session);
        request.header("mcp-protocol-version", "2025-11-25")
    };
    let stateless = Stateless {
        port: 0,
        token: String::new(),
    };
    let alone = |method: &str, params: &str, name: Option<&str>| {
        let text = stateless.text("1", method, params);
        stateless.post(&text, method, name).without("authorization")
    };
    let in_session = |method: &str, params: &str| {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        session(Request::post("/mcp", text))
    };
    let open = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}"#;
    vec![
        ("POST /mcp initialize", Request::post("/mcp", open)),
        ("POST /mcp tools/list", in_session("tools/list", "{}")),
        (
            "POST /mcp tools/call",
            in_session("tools/call", r#"{"name":"a_x"}"#),
        ),
        ("POST /mcp notification", session(Request::post("/mcp", cancel))),
        ("POST /mcp tools/list, stateless", alone("tools/list", "", None)),
        (
            "POST /mcp tools/call, stateless",
            alone("tools/call", r#""name":"a_x""#, Some("a_x")),
        ),
        (
            "POST /mcp subscriptions/listen",
            alone("subscriptions/listen", r#""notifications":{}"#, None),
        ),
        ("GET /mcp", session(Request::get("/mcp"))),
        ("PUT /mcp", Request::new("PUT", "/mcp")),
        (
            "POST /admin/v1/tokens/list",
            Request::post("/admin/v1/tokens/list", "{}"),
        ),
        (
            "POST /admin/v1/tokens/create",
            Request::post("/admin/v1/tokens/create", r#"{"name":"more"}"#),
        ),
        (
            "POST /admin/v1/servers/list",
            Request::post("/admin/v1/servers/list", "{}"),
        ),
        ("POST /admin/v1/events", Request::post("/admin/v1/events", "{}")),
        ("POST /admin/v1/none", Request::post("/admin/v1/none", "{}")),
        ("GET /metrics", Request::new("GET", "/metrics")),
        ("GET /healthz", Request::new("GET", "/healthz")),
        ("GET /readyz", Request::new("GET", "/readyz")),
        ("GET /none", Request::new("GET", "/none")),
        // Last: it ends the session.
        ("DELETE /mcp", session(Request::new("DELETE", "/mcp"))),
    ]
}

/// A gateway with one server in the project `shop`, and a project `web` without any.
async fn shop(fake: &Fake) -> Gateway {
    let projects = json!({ "shop": { "servers": ["a"] }, "web": { "servers": [] } });
    gateway().own("projects", projects).fake("a", fake).ready().await
}

/// Makes a token, and gives its text.
async fn made(gateway: &Gateway, wanted: Value) -> String {
    let made = gateway.operate("tokens/create", wanted).await;
    made["secret"]
        .as_str()
        .unwrap_or_else(|| panic!("{made}"))
        .to_owned()
}

/// All who may not, or not everything.
async fn callers(gateway: &Gateway) -> Vec<Caller> {
    let owners = gateway.client().await.id;
    let expired = expired(gateway).await;
    let revoked = made(gateway, json!({ "name": "gone" })).await;
    gateway.operate("tokens/revoke", json!({ "which": "gone" })).await;
    let replaced = made(gateway, json!({ "name": "new" })).await;
    let rotated = json!({ "which": "new", "graceSeconds": 0 });
    gateway.operate("tokens/rotate", rotated).await;
    let elsewhere = mint(NewToken::new(TokenKind::Pat, "x"), Timestamp::now()).unwrap();
    let (start, last) = gateway.token.split_at(gateway.token.len() - 1);
    let mistyped = format!("{start}{}", if last == "0" { "1" } else { "0" });
    let refused = [
        ("nobody", None),
        ("a text that is no token", Some("ghp_abcdef".to_owned())),
        ("a mistyped token", Some(mistyped)),
        ("an unknown token", Some(elsewhere.secret.reveal().to_owned())),
        ("an expired token", Some(expired)),
        ("a revoked token", Some(revoked)),
        ("a replaced text of a token", Some(replaced)),
    ];
    let mut callers: Vec<Caller> = refused
        .map(|(who, token)| Caller {
            who,
            token,
            session: owners.clone(),
            project: None,
        })
        .into();
    let reader = made(gateway, json!({ "name": "reader", "scopes": ["read"] })).await;
    let bound = made(gateway, json!({ "name": "bound", "project": "shop" })).await;
    let user = made(gateway, json!({ "name": "user" })).await;
    for (who, token, project) in [
        ("a token that may only read", &reader, None),
        ("a token that may read and call", &user, None),
        (
            "a token of one project that asks for another",
            &bound,
            Some("web"),
        ),
    ] {
        callers.push(Caller {
            who,
            token: Some(token.clone()),
            session: Session::open(gateway.port, token, "2025-11-25").await.id,
            project,
        });
    }
    callers.push(Caller {
        who: "somebody in another's session",
        token: Some(user),
        session: owners,
        project: None,
    });
    callers
}

/// An answer: in full, or the beginning of a stream.
async fn answer(gateway: &Gateway, request: &Request) -> Answer {
    let mut connection = request.start(gateway.port).await;
    let head = connection.head().await;
    let streams = head.header("content-type") == Some("text/event-stream");
    let body = if streams {
        b"a stream".to_vec()
    } else {
        connection.body().await
    };
    Answer { head, body }
}

/// What tells one answer from another, in one line, without what differs from run to run.
fn shown(answer: &Answer, known: &BTreeMap<String, String>) -> String {
    let mut shown = format!("{} {}", answer.status(), answer.text().trim());
    for name in ["www-authenticate", "allow"] {
        if let Some(value) = answer.head.header(name) {
            write!(shown, "\n    {name}: {value}").unwrap();
        }
    }
    for (text, name) in known {
        shown = shown.replace(text, name);
    }
    shown
}

/// What differs from run to run, and how it is shown.
async fn known(gateway: &Gateway, callers: &[Caller]) -> BTreeMap<String, String> {
    let welcome = gateway.client().await.welcome;
    let own = welcome["_meta"]["dev.mcpr/gateway"].as_str().unwrap();
    let mut known = BTreeMap::from([
        (env!("CARGO_PKG_VERSION").to_owned(), "VERSION".to_owned()),
        (own.to_owned(), "GATEWAY".to_owned()),
    ]);
    let tokens = gateway.operate("tokens/list", json!({})).await["tokens"].clone();
    for token in tokens.as_array().unwrap() {
        known.insert(token["id"].as_str().unwrap().to_owned(), "tk_ID".to_owned());
        for time in ["expires", "revoked", "rotated"] {
            if let Some(at) = token[time].as_str() {
                known.insert(at.to_owned(), "TIME".to_owned());
            }
        }
    }
    for text in callers.iter().filter_map(|caller| caller.token.as_ref()) {
        if let Some(prefix) = text.get(..12) {
            known.insert(prefix.to_owned(), "PREFIX".to_owned());
        }
    }
    known
}

/// Numbers of requests are those of one run.
fn without_numbers(text: &str) -> String {
    let mut parts = text.split("\"requestId\":");
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit());
        write!(shown, "\"requestId\":N{rest}").unwrap();
    }
    shown
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_02_every_endpoint_answers_everybody_who_may_not_as_the_table_says() {
    let fake = Fake::script().tool("x").stdio();
    let gateway = shop(&fake).await;
    let owner = gateway.client().await;
    let callers = callers(&gateway).await;
    let known = known(&gateway, &callers).await;
    let mut table = String::new();
    for caller in &callers {
        // In the order of the endpoints, those with one answer together.
        let mut answers: Vec<(String, Vec<&str>)> = Vec::new();
        for (endpoint, mut request) in endpoints(caller) {
            if let Some(token) = &caller.token {
                request = request.token(token);
            }
            if let Some(project) = caller.project {
                request = request.header("x-mcpr-project", project);
            }
            let shown = without_numbers(&shown(&answer(&gateway, &request).await, &known));
            match answers.iter_mut().find(|(known, _)| *known == shown) {
                Some((_, of)) => of.push(endpoint),
                None => answers.push((shown, vec![endpoint])),
            }
        }
        writeln!(table, "{}", caller.who).unwrap();
        for (shown, of) in answers {
            writeln!(table, "  {}\n    {shown}", of.join("\n  ")).unwrap();
        }
        table.push('\n');
    }
    insta::assert_snapshot!(table);
    let wait = Duration::from_secs(10);
    let alive = tokio::time::timeout(wait, owner.request("ping", "{}")).await;
    assert_eq!(alive.unwrap().status(), 200, "and the owner's session lives on");
}

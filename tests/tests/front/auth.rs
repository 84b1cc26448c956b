//! Tokens: who is let in, and what the others are told (HTTP-03, SEC-02).

use std::time::{Duration, Instant};

use mcpr_auth::Timestamp;
use mcpr_tests::http::{Answer, Request};
use mcpr_tests::{Gateway, gateway};
use serde_json::{Value, json};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

/// What an endpoint without a session answers to whoever is let in.
pub(crate) const LET_IN: u16 = 400;

/// A request that has everything but a token.
pub(crate) fn nameless() -> Request {
    Request::post("/mcp", PING)
}

/// Checks that an answer is a 401 that helps, and gives its reason.
pub(crate) fn reason(answer: &Answer) -> String {
    let body: Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(
        (answer.status(), answer.head.header("content-type")),
        (401, Some("application/json")),
        "{body}"
    );
    let reason = body["reason"].as_str().unwrap();
    let kind = if reason == "missing" {
        "missing_token"
    } else {
        "invalid_token"
    };
    assert_eq!(body["error"], kind);
    assert!(
        body["message"]
            .as_str()
            .unwrap()
            .contains("mcpr-ctl tokens create"),
        "{body}"
    );
    let challenge = answer.head.header("www-authenticate").unwrap();
    assert!(
        challenge.starts_with("Bearer") && !challenge.contains("resource_metadata"),
        "{challenge}"
    );
    assert_eq!(
        challenge.contains("error=\"invalid_token\""),
        reason != "missing",
        "{challenge}"
    );
    reason.to_owned()
}

/// Makes a token that expires then.
pub(crate) async fn expiring(gateway: &Gateway, expires: Timestamp) -> String {
    let made = gateway
        .operate(
            "tokens/create",
            json!({ "name": "brief", "expires": expires.to_string() }),
        )
        .await;
    made["secret"].as_str().unwrap().to_owned()
}

/// Makes a token, and waits until it has expired.
pub(crate) async fn expired(gateway: &Gateway) -> String {
    let secret = expiring(gateway, Timestamp::now().after(Duration::from_secs(2))).await;
    let end = Instant::now() + Duration::from_secs(10);
    while nameless().token(&secret).send(gateway.port).await.status() == LET_IN {
        assert!(Instant::now() < end, "it is still let in");
    }
    secret
}

/// Makes a token, and gives its secret and its id.
pub(crate) async fn token(gateway: &Gateway, name: &str) -> (String, String) {
    let made = gateway.operate("tokens/create", json!({ "name": name })).await;
    (
        made["secret"].as_str().unwrap().to_owned(),
        made["id"].as_str().unwrap().to_owned(),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn http_03_a_request_without_a_bearer_token_is_told_how_to_get_one() {
    let gateway = gateway().start().await;
    let schemes = [
        "Basic dXNlcjpwYXNz",
        "Bearer",
        "Bearer ",
        "",
        "mcpr_pat_x",
        "Digest a=b",
    ];
    let mut requests: Vec<Request> = schemes
        .iter()
        .map(|scheme| nameless().header("authorization", scheme))
        .collect();
    requests.push(nameless());
    requests.push(Request::post(&format!("/mcp?token={}", gateway.token), PING));
    requests.push(nameless().header("cookie", &format!("token={}", gateway.token)));
    for request in requests {
        assert_eq!(
            reason(&request.send(gateway.port).await),
            "missing",
            "{request:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn http_03_a_token_that_is_not_good_is_told_why() {
    let (gateway, other) = (gateway().start().await, mcpr_tests::gateway().start().await);
    let good = gateway.token.clone();
    let cut = &good[..good.len() - 1];
    let other_letter = if &good[12..13] == "a" { "b" } else { "a" };
    let mistyped = format!("{}{other_letter}{}", &good[..12], &good[13..]);
    let expired = expired(&gateway).await;
    let (revoked, id) = token(&gateway, "gone").await;
    gateway.operate("tokens/revoke", json!({ "which": id })).await;
    let cases = [
        ("ghp_abcdef", "not_a_token"),
        ("${MCPR_TOKEN}", "not_a_token"),
        (cut, "bad_checksum"),
        (&mistyped, "bad_checksum"),
        (&other.token, "unknown"),
        (&revoked, "revoked"),
        (&expired, "expired"),
    ];
    for (token, why) in cases {
        let answer = nameless().token(token).send(gateway.port).await;
        assert_eq!(reason(&answer), why);
        assert!(
            token.len() < 20 || !answer.text().contains(&token[..20]),
            "no more than a prefix is shown"
        );
    }
    assert_eq!(nameless().token(&good).send(gateway.port).await.status(), LET_IN);
}

#[tokio::test(flavor = "multi_thread")]
async fn http_03_every_verb_needs_a_token_and_the_scheme_has_no_case() {
    let gateway = gateway().start().await;
    let client = gateway.client().await;
    let session = |request: Request| request.header("mcp-session-id", &client.id);
    for request in [
        nameless(),
        session(Request::get("/mcp")),
        session(Request::new("DELETE", "/mcp")),
        Request::new("PUT", "/mcp"),
    ] {
        reason(&request.send(gateway.port).await);
    }
    let lower = nameless().header("authorization", &format!("bearer  {}", gateway.token));
    assert_eq!(lower.send(gateway.port).await.status(), LET_IN);
    assert_eq!(
        client.request("ping", "{}").await.status(),
        200,
        "a session is no authentication, and none was ended"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn http_03_the_use_of_a_token_is_noted() {
    let gateway = gateway().start().await;
    let state = async || gateway.operate("tokens/list", json!({})).await["tokens"][0].clone();
    assert_eq!(
        (&state().await["name"], &state().await["lastUsed"]),
        (&json!("test"), &Value::Null)
    );
    gateway.client().await;
    assert!(state().await["lastUsed"].is_string(), "{}", state().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn http_03_checks_come_in_their_order() {
    let gateway = gateway()
        .own("limits", json!({ "requestBody": 1024 }))
        .start()
        .await;
    let everything_wrong = Request::new("PUT", "/mcp")
        .header("origin", "http://evil.example")
        .header("accept", "text/html")
        .header("content-type", "text/plain")
        .body("{".repeat(2000));
    let steps: [(&str, &dyn Fn(Request) -> Request); 6] = [
        ("origin", &|request| request.without("origin")),
        ("token", &|request| request.token(&gateway.token)),
        ("verb", &|request| request.verb("POST")),
        ("accept", &|request| request.replace("accept", "application/json")),
        ("type", &|request| {
            request.replace("content-type", "application/json")
        }),
        ("size", &|request| request.body("{")),
    ];
    let mut request = everything_wrong;
    let mut statuses = Vec::new();
    for (_, mend) in steps {
        statuses.push(request.send(gateway.port).await.status());
        request = mend(request);
    }
    statuses.push(request.send(gateway.port).await.status());
    assert_eq!(statuses, [403, 401, 405, 406, 415, 413, 400]);
}

#[tokio::test(flavor = "multi_thread")]
async fn http_03_nobody_is_led_into_oauth() {
    let gateway = gateway().start().await;
    for path in [
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration",
        "/register",
        "/authorize",
        "/",
    ] {
        let answer = Request::new("GET", path).send(gateway.port).await;
        assert_eq!(
            (answer.status(), answer.head.header("content-type")),
            (404, Some("application/json")),
            "{path}"
        );
        assert_eq!(answer.head.header("www-authenticate"), None);
    }
}

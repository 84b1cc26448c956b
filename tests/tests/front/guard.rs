//! The edge: who may call from where, and what is refused before anybody looks at the message
//! (HTTP-01, HTTP-08, SEC-01, SEC-05, B29, B91, B93).

use mcpr_tests::client::Session;
use mcpr_tests::http::{Answer, Request};
use mcpr_tests::{Gateway, gateway};
use serde_json::json;

use crate::refusal;

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const OPEN: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
const PAGE: &str = "http://localhost:6274";

/// One request for each endpoint.
fn endpoints(gateway: &Gateway) -> Vec<Request> {
    let preflight = Request::new("OPTIONS", "/mcp").header("access-control-request-method", "POST");
    let admin_preflight =
        Request::new("OPTIONS", "/admin/v1/status").header("access-control-request-method", "POST");
    vec![
        Request::post("/mcp", OPEN).token(&gateway.token),
        Request::get("/mcp").token(&gateway.token),
        Request::new("DELETE", "/mcp").token(&gateway.token),
        Request::post("/admin/v1/status", "{}").token(&gateway.token),
        Request::post("/admin/v1/events", "{}").header("accept", "text/event-stream"),
        Request::new("GET", "/metrics").token(&gateway.token),
        Request::new("GET", "/healthz"),
        Request::new("GET", "/readyz"),
        Request::new("GET", "/.well-known/oauth-protected-resource"),
        Request::new("GET", "/nowhere"),
        preflight,
        admin_preflight,
    ]
}

/// The values of a header that lists.
fn listed(answer: &Answer, name: &str) -> Vec<String> {
    let value = answer.head.header(name).unwrap_or_default();
    value
        .split(',')
        .map(|item| item.trim().to_lowercase())
        .filter(|item| !item.is_empty())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn http_01_both_eras_are_served_on_one_url() {
    let gateway = gateway().ready().await;
    let session = gateway.client().await.request("tools/list", "{}").await;
    let stateless = gateway.stateless().request("tools/list", "", None).await;
    assert_eq!((session.status(), stateless.status()), (200, 200));
}

#[tokio::test(flavor = "multi_thread")]
async fn b29_the_endpoint_has_both_spellings_and_no_redirect() {
    let gateway = gateway().ready().await;
    for path in ["/mcp", "/mcp/", "/mcp?project=x"] {
        let with = Request::post(path, OPEN)
            .token(&gateway.token)
            .send(gateway.port)
            .await;
        assert!(
            with.status() == 200 && with.head.header("mcp-session-id").is_some(),
            "{path}"
        );
        let without = Request::post(path, OPEN).send(gateway.port).await;
        assert!(
            without.status() == 401 && without.head.header("www-authenticate").is_some(),
            "{path}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn http_08_health_is_told_to_anybody() {
    let gateway = gateway().ready().await;
    for path in ["/healthz", "/readyz"] {
        let answer = Request::new("GET", path).send(gateway.port).await;
        assert_eq!(
            (answer.status(), answer.text().as_str()),
            (200, r#"{"status":"ok"}"#),
            "{path}"
        );
        let (head, _) = Request::new("HEAD", path).open(gateway.port).await;
        assert_eq!(head.status, 200);
        let post = Request::post(path, "{}").send(gateway.port).await;
        assert_eq!(
            (refusal(&post).0, post.head.header("allow")),
            (405, Some("GET, HEAD"))
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_01_a_foreign_host_or_page_is_refused_at_every_endpoint() {
    let gateway = gateway().ready().await;
    for request in endpoints(&gateway) {
        for (header, value) in [
            ("host", "evil.example"),
            ("host", "localhost.evil.example"),
            ("host", ""),
            ("origin", "http://evil.example"),
            ("origin", "null"),
            ("origin", "http://localhost.evil.example"),
            ("origin", "file://"),
        ] {
            let answer = request.clone().replace(header, value).send(gateway.port).await;
            assert_eq!(
                (refusal(&answer).0, refusal(&answer).1),
                (403, -32600),
                "{header}: {value}"
            );
            assert_eq!(answer.head.header("access-control-allow-origin"), None);
        }
        let without = request.without("host").send(gateway.port).await;
        assert!(matches!(without.status(), 400 | 403), "{}", without.status());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_01_loopback_names_and_pages_of_any_port_may_call_and_programs_without_an_origin() {
    let gateway = gateway().ready().await;
    let request = Request::post("/mcp", OPEN).token(&gateway.token);
    for host in [
        "localhost",
        "127.0.0.1",
        "[::1]:7",
        "LOCALHOST:1",
        &format!("127.0.0.1:{}", gateway.port),
    ] {
        assert_eq!(
            request
                .clone()
                .replace("host", host)
                .send(gateway.port)
                .await
                .status(),
            200,
            "{host}"
        );
    }
    for origin in [PAGE, "https://127.0.0.1", "http://[::1]:3000"] {
        let answer = request.clone().header("origin", origin).send(gateway.port).await;
        assert_eq!(
            (answer.status(), answer.head.header("access-control-allow-origin")),
            (200, Some(origin))
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b93_a_refusal_names_the_header_and_the_setting_and_the_setting_helps() {
    let closed = gateway().ready().await;
    let request = |gateway: &Gateway| Request::post("/mcp", OPEN).token(&gateway.token);
    for (header, value, setting) in [
        ("host", "gateway.example", "mcpr.allowedHosts"),
        ("origin", "https://app.example", "mcpr.allowedOrigins"),
    ] {
        let answer = request(&closed).replace(header, value).send(closed.port).await;
        let message = answer.message()["error"]["message"]
            .as_str()
            .unwrap()
            .to_lowercase();
        assert!(
            [header, value, &setting.to_lowercase()]
                .iter()
                .all(|word| message.contains(*word)),
            "{message}"
        );
    }
    let allowed = gateway()
        .own("allowedHosts", json!(["gateway.example"]))
        .own("allowedOrigins", json!(["https://app.example"]));
    let open = allowed.ready().await;
    let answer = request(&open)
        .replace("host", "gateway.example:443")
        .header("origin", "https://app.example")
        .send(open.port)
        .await;
    assert_eq!(
        (answer.status(), answer.head.header("access-control-allow-origin")),
        (200, Some("https://app.example"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn b91_a_page_may_read_the_session_and_the_challenge() {
    let gateway = gateway().ready().await;
    let opening = Request::post("/mcp", OPEN)
        .token(&gateway.token)
        .header("origin", PAGE)
        .send(gateway.port)
        .await;
    assert_eq!(opening.head.header("access-control-allow-origin"), Some(PAGE));
    let exposed = listed(&opening, "access-control-expose-headers");
    for name in ["mcp-session-id", "mcp-protocol-version", "www-authenticate"] {
        assert!(exposed.contains(&name.to_owned()), "{exposed:?}");
    }
    assert!(listed(&opening, "vary").contains(&"origin".to_owned()));
    assert_eq!(opening.head.header("access-control-allow-credentials"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_01_a_page_may_read_errors_too() {
    let gateway = gateway()
        .own("limits", json!({ "requestBody": 1024 }))
        .ready()
        .await;
    let post = Request::post("/mcp", PING).header("origin", PAGE);
    let with = post.clone().token(&gateway.token);
    let cases = [
        (post, 401),
        (with.clone(), 400),
        (with.clone().header("mcp-session-id", "nope"), 404),
        (with.clone().verb("PUT"), 405),
        (with.clone().replace("accept", "text/html"), 406),
        (with.clone().replace("content-type", "text/plain"), 415),
        (with.body("x".repeat(2000)), 413),
    ];
    for (request, status) in cases {
        let answer = request.send(gateway.port).await;
        assert_eq!(
            (answer.status(), answer.head.header("access-control-allow-origin")),
            (status, Some(PAGE))
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_01_a_page_may_read_what_every_endpoint_refuses_it() {
    let gateway = gateway().ready().await;
    let reader = gateway.another_token(&["read"]).await;
    let post = |path: &str, token: &str| Request::post(path, "{}").token(token);
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}"#;
    let session = Session::open(gateway.port, &reader, "2025-11-25").await;
    let cases = [
        (session.post(call), 403),
        (post("/admin/v1/status", &reader), 403),
        (post("/admin/v1/none", &gateway.token), 403),
        (post("/admin/v1/status", "mcpr_pat_0"), 401),
        (Request::new("GET", "/metrics"), 401),
        (post("/healthz", &reader), 405),
        (Request::new("GET", "/nowhere"), 404),
    ];
    for (request, status) in cases {
        let answer = request.header("origin", PAGE).send(gateway.port).await;
        assert_eq!(
            (answer.status(), answer.head.header("access-control-allow-origin")),
            (status, Some(PAGE)),
            "{}",
            answer.text()
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_01_a_page_may_read_a_stream_and_that_it_asks_too_often() {
    let limits = json!({ "perPrincipal": { "rate": "3/h" } });
    let gateway = gateway().own("limits", limits).start().await;
    let client = gateway.client().await;
    let page = |request: Request| client.in_session(request).header("origin", PAGE);
    let (stream, _kept) = page(Request::get("/mcp")).open(gateway.port).await;
    let limited = page(Request::post("/mcp", PING)).send(gateway.port).await;

    for (head, status) in [(&stream, 200), (&limited.head, 429)] {
        assert_eq!(
            (head.status, head.header("access-control-allow-origin")),
            (status, Some(PAGE))
        );
    }
    assert!(listed(&limited, "access-control-expose-headers").contains(&"retry-after".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_01_a_browser_may_ask_first_without_a_token() {
    let gateway = gateway().ready().await;
    let asked = "authorization,content-type,mcp-protocol-version,mcp-param-region";
    let question = Request::new("OPTIONS", "/mcp")
        .header("origin", PAGE)
        .header("access-control-request-method", "POST");
    let answer = question
        .header("access-control-request-headers", asked)
        .send(gateway.port)
        .await;
    assert_eq!((answer.status(), answer.text()), (204, String::new()));
    assert_eq!(answer.head.header("access-control-allow-origin"), Some(PAGE));
    assert_eq!(
        listed(&answer, "access-control-allow-methods"),
        ["post", "get", "delete"]
    );
    assert_eq!(answer.head.header("access-control-allow-headers"), Some(asked));
    let plain = Request::new("OPTIONS", "/mcp").send(gateway.port).await;
    assert_eq!(plain.status(), 401, "that is no question of a browser");
}

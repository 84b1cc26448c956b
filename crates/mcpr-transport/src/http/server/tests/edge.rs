//! Who and what gets past the edge, and in which order it is checked.

use super::super::Verb;
use super::*;

fn anonymous(request: &str) -> String {
    request.replace("Authorization: Bearer good\r\n", "")
}

fn from_host(host: &str, request: &str) -> String {
    request.replace("Host: localhost", &format!("Host: {host}"))
}

#[tokio::test]
async fn http_01_post_get_and_delete_reach_the_gateway() {
    let server = Server::with(Options::default(), async |call| {
        let verb = match call.verb {
            Verb::Post => "post",
            Verb::Get => "get",
            Verb::Delete => "delete",
        };
        Reply::json(
            StatusCode::OK,
            Rope::from(format!("\"{verb} {:?}\"", call.head.uri.query())),
        )
    });
    assert_eq!(
        server.ask(&post("/mcp?project=web", "", "{}")).await.body,
        r#""post Some("project=web")""#
    );
    assert_eq!(server.ask(&get()).await.body, r#""get None""#);
    assert_eq!(
        server.ask(&request("DELETE", "/mcp", "")).await.body,
        r#""delete None""#
    );
}

#[tokio::test]
async fn b29_both_spellings_are_served_and_neither_redirects() {
    let server = Server::echo(Options::default());
    for path in ["/mcp", "/mcp/"] {
        let request = post(path, "", "{\"a\":1}");
        let answer = server.ask(&request).await;
        assert_eq!((answer.status, answer.body.as_str()), (200, "{\"a\":1}"));
        let stranger = server.ask(&anonymous(&request)).await;
        assert_eq!(
            (stranger.status, stranger.header("www-authenticate")),
            (401, Some("bearer realm=\"mcpr\""))
        );
    }
}

#[tokio::test]
async fn http_03_a_token_is_verified_once_per_connection() {
    let server = Server::echo(Options::default());
    let mut client = server.client().await;
    for _ in 0..3 {
        client.send(post("/mcp", "", "{}")).await;
        assert_eq!(client.answer().await.status, 200);
    }
    assert_eq!(server.desk.verified.load(Ordering::Relaxed), 1);

    client.send(post("/mcp", "", "{}").replace("good", "bad")).await;
    assert_eq!(
        client.answer().await.status,
        401,
        "what is remembered is the token, not the connection"
    );
}

#[tokio::test]
async fn the_checks_come_in_their_order() {
    let server = Server::echo(Options::default());
    let everything_wrong =
        "PUT /mcp HTTP/1.1\r\nHost: evil.example\r\nAccept: image/png\r\nContent-Length: 9999999\r\n\r\n";
    let friendly = from_host(
        "localhost",
        &everything_wrong.replace("evil.example", "localhost"),
    );
    let known = friendly.replace("Accept", "Authorization: Bearer good\r\nAccept");
    let posted = known.replace("PUT", "POST");
    let acceptable = posted.replace("image/png", "*/*");
    let json = acceptable.replace("Accept", "Content-Type: application/json\r\nAccept");
    let requests = [everything_wrong, &friendly, &known, &posted, &acceptable, &json];

    let mut statuses = Vec::new();
    for request in requests {
        let answer = server.ask(request).await;
        assert_eq!(
            answer.header("content-type"),
            Some("application/json"),
            "{answer:?}"
        );
        statuses.push(answer.status);
    }

    assert_eq!(statuses, [403, 401, 405, 406, 415, 413]);
}

#[tokio::test]
async fn a_wrong_method_hears_which_ones_there_are() {
    let server = Server::echo(Options::default());
    for method in ["PUT", "PATCH", "OPTIONS"] {
        let answer = server.ask(&request(method, "/mcp", "")).await;
        assert_eq!(
            (answer.status, answer.header("allow")),
            (405, Some("post, get, delete")),
            "{method}"
        );
    }
}

#[tokio::test]
async fn b31_a_get_that_takes_no_events_is_refused_at_once() {
    let server = Server::echo(Options::default());
    let answer = server
        .ask(&request("GET", "/mcp", "Accept: application/json\r\n"))
        .await;
    assert_eq!(answer.status, 406);
    assert!(
        answer.json()["error"]["message"]
            .as_str()
            .unwrap()
            .contains("text/event-stream")
    );
}

#[tokio::test]
async fn sec_01_foreign_hosts_and_pages_are_refused_on_every_path() {
    let server = Server::echo(Options::default());
    for path in [
        "/mcp",
        "/mcp/",
        "/healthz",
        "/readyz",
        "/.well-known/oauth-protected-resource",
        "/x",
    ] {
        let foreign_host = from_host("evil.example", &request("GET", path, ""));
        let foreign_page = request("GET", path, "Origin: http://evil.example\r\n");
        for refused in [foreign_host, foreign_page] {
            let answer = server.ask(&refused).await;
            assert_eq!(answer.status, 403, "{refused}");
            assert_eq!(answer.header("access-control-allow-origin"), None);
        }
    }
}

#[tokio::test]
async fn b93_a_refusal_names_header_and_setting_and_the_setting_helps() {
    let from_evil = from_host(
        "evil.example",
        &post("/mcp", "Origin: http://evil.example\r\n", "{}"),
    );
    let strict = Server::echo(Options::default());
    let message = strict.ask(&from_evil).await.json()["error"]["message"].to_string();
    assert!(
        ["Host", "evil.example", "mcpr.allowedHosts"]
            .iter()
            .all(|word| message.contains(word)),
        "{message}"
    );

    let open = Server::echo(Options {
        allowed_hosts: vec!["evil.example".into()],
        allowed_origins: vec!["http://evil.example".into()],
        ..Options::default()
    });
    assert_eq!(open.ask(&from_evil).await.status, 200);
    assert_eq!(
        open.ask(&post("/mcp", "", "{}")).await.status,
        200,
        "no page, no Origin"
    );
}

#[tokio::test]
async fn b91_an_allowed_page_may_read_the_headers_of_mcp_even_on_errors() {
    let server = Server::echo(Options::default());
    let page = "Origin: http://localhost:6274\r\n";
    for (request, status) in [
        (post("/mcp", page, "{}"), 200),
        (anonymous(&post("/mcp", page, "{}")), 401),
        (request("PUT", "/mcp", page), 405),
        (request("GET", "/nowhere", page), 404),
    ] {
        let answer = server.ask(&request).await;
        assert_eq!(answer.status, status);
        assert_eq!(
            answer.header("access-control-allow-origin"),
            Some("http://localhost:6274")
        );
        assert_eq!(answer.header("vary"), Some("origin"));
        let exposed = answer.header("access-control-expose-headers").unwrap();
        assert_eq!(
            exposed,
            "mcp-session-id, mcp-protocol-version, retry-after, www-authenticate"
        );
    }
}

#[tokio::test]
async fn sec_01_a_preflight_needs_no_token_but_an_allowed_page() {
    let server = Server::echo(Options::default());
    let preflight = |page: &str| {
        anonymous(&request(
            "OPTIONS",
            "/mcp",
            &format!(
                "Origin: {page}\r\nAccess-Control-Request-Method: POST\r\n\
                 Access-Control-Request-Headers: authorization, mcp-param-region\r\n"
            ),
        ))
    };
    let answer = server.ask(&preflight("http://127.0.0.1:8080")).await;
    assert_eq!(answer.status, 204);
    assert_eq!(
        answer.header("access-control-allow-origin"),
        Some("http://127.0.0.1:8080")
    );
    assert_eq!(
        answer.header("access-control-allow-methods"),
        Some("post, get, delete")
    );
    assert_eq!(
        answer.header("access-control-allow-headers"),
        Some("authorization, mcp-param-region")
    );
    assert_eq!(server.ask(&preflight("https://evil.example")).await.status, 403);
}

#[tokio::test]
async fn http_08_health_is_told_without_a_token() {
    let server = Server::echo(Options::default());
    let alive = server.ask(&anonymous(&request("GET", "/healthz", ""))).await;
    assert_eq!((alive.status, alive.body.as_str()), (200, r#"{"status":"ok"}"#));
    assert_eq!(
        server
            .ask(&anonymous(&request("GET", "/readyz", "")))
            .await
            .status,
        503
    );
    assert_eq!(server.ask(&request("POST", "/readyz", "")).await.status, 405);
}

#[tokio::test]
async fn http_03_clients_that_look_for_oauth_find_nothing() {
    let server = Server::echo(Options::default());
    for path in [
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/openid-configuration",
        "/register",
        "/mcp/web",
    ] {
        let answer = server.ask(&anonymous(&request("GET", path, ""))).await;
        assert_eq!(answer.status, 404, "{path}");
        assert_eq!(answer.json()["error"], "not_found");
    }
}

#[tokio::test]
async fn operations_are_served_only_where_they_are_switched_on() {
    let operation = post("/admin/v1/servers/list", "", "{}");
    let closed = Server::echo(Options::default());
    assert_eq!(closed.ask(&operation).await.status, 404);

    let open = Server::echo(Options {
        admin: true,
        ..Options::default()
    });
    assert_eq!(open.ask(&operation).await.json()["operation"], "servers/list");
    assert_eq!(open.ask(&anonymous(&operation)).await.status, 401);
    let streamed = post("/admin/v1/events", "Accept: text/event-stream\r\n", "{}");
    assert_eq!(open.ask(&streamed).await.json()["operation"], "events, streamed");
    assert_eq!(
        open.ask(&operation.replace("POST", "GET")).await.header("allow"),
        Some("post")
    );
}

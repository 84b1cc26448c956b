//! Servers that can only be reached through a proxy (B111).
//!
//! The name `server.test` is known to the proxy alone, so whatever arrives has come through it.

use mcpr_tests::{Builder, Fake, Gateway, Proxy, gateway};
use mcpr_transport::http::client::Proxies;
use mcpr_upstream::Dialer;
use serde_json::json;

use crate::{impatient, text};

/// A gateway with these variables, whose server is at a name that only the proxy knows.
fn behind(variables: &[(&'static str, String)], kind: &str, path: &str) -> Builder {
    let entry = json!({ "type": kind, "url": format!("http://server.test{path}"), "mcpr": impatient() });
    gateway().server("a", entry).dial(dialer(variables))
}

fn dialer(variables: &[(&'static str, String)]) -> Dialer {
    Dialer {
        proxies: Proxies::of(variables.iter().cloned()),
        ..Dialer::default()
    }
}

async fn before(fake: &Fake) -> Proxy {
    Proxy::that().knows("server.test:80", fake.port()).start().await
}

/// The state of the server and why it is in it.
async fn down(gateway: &Gateway) -> String {
    let server = gateway.await_state("a", "down").await;
    server["reason"].as_str().unwrap().to_owned()
}

async fn works(gateway: &Gateway) -> bool {
    text(&gateway.client().await.call("a_t", r#"{"n":1}"#).await) == r#"{"n":1}"#
}

#[tokio::test(flavor = "multi_thread")]
async fn b111_every_request_of_a_session_names_its_whole_url_to_the_proxy() {
    let fake = Fake::script().tool("t").with(r#"{"session": true}"#).http();
    let proxy = before(&fake).await;
    let gateway = behind(&[("HTTP_PROXY", proxy.url())], "http", "/mcp")
        .ready()
        .await;

    assert!(works(&gateway).await);

    gateway.stop().await;
    let asked = proxy.asked();
    for method in ["POST", "GET", "DELETE"] {
        let line = format!("{method} http://server.test/mcp HTTP/1.1");
        assert!(asked.contains(&line), "no {line} in {asked:?}");
    }
    assert!(asked.iter().all(|line| line.contains(" http://server.test/mcp ")));
    let hosts = fake.received_of("tools/call");
    assert_eq!(hosts[0].header("host"), ["server.test"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn b111_stateless_servers_and_old_ones_are_reached_through_a_proxy_too() {
    let stateless = Fake::script().tool("t").with(r#"{"era": "stateless"}"#).http();
    let old = Fake::script().tool("t").sse();
    for (fake, kind, path) in [(stateless, "http", "/mcp"), (old, "sse", "/sse")] {
        let proxy = before(&fake).await;
        let gateway = behind(&[("all_proxy", proxy.url())], kind, path).ready().await;

        assert!(works(&gateway).await, "{kind}");

        let asked = proxy.asked();
        assert!(asked.len() >= 3, "{asked:?}");
        assert!(
            asked.iter().all(|line| line.contains(" http://server.test/")),
            "{asked:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b111_servers_on_this_machine_are_never_asked_through_a_proxy() {
    let fake = Fake::script().tool("t").http();
    let proxy = before(&fake).await;
    let variables = [("HTTP_PROXY", proxy.url()), ("ALL_PROXY", proxy.url())];
    let localhost = json!({ "type": "http", "url": fake.url().replace("127.0.0.1", "localhost") });
    let gateway = gateway()
        .fake("a", &fake)
        .server("b", localhost)
        .dial(dialer(&variables));
    let gateway = gateway.ready().await;

    assert!(works(&gateway).await);
    assert_eq!(text(&gateway.client().await.call("b_t", "{}").await), "{}");

    assert_eq!(proxy.asked(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn b111_what_no_proxy_lists_is_reached_directly() {
    let fake = Fake::script().tool("t").http();
    let proxy = before(&fake).await;
    let variables = [
        ("HTTP_PROXY", proxy.url()),
        ("NO_PROXY", "10.0.0.0/8, .test:80".into()),
    ];

    let reason = down(&behind(&variables, "http", "/mcp").start().await).await;

    // The direct way needs a name that this machine knows.
    assert!(
        reason.contains("cannot connect to http://server.test: "),
        "{reason}"
    );
    assert_eq!(proxy.asked(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn b111_a_proxy_gets_the_credentials_of_its_url_and_nobody_else_sees_them() {
    let fake = Fake::script().tool("t").http();
    let known = Proxy::that().knows("server.test:80", fake.port());
    let proxy = known.wants("me:s3cr@t").start().await;
    let with = |credentials: &str| {
        let url = proxy.url().replace("://", &format!("://{credentials}"));
        [("HTTP_PROXY", url)]
    };
    let let_in = behind(&with("me:s3cr%40t@"), "http", "/mcp").ready().await;

    assert!(works(&let_in).await);

    let nobody = down(&behind(&with(""), "http", "/mcp").start().await).await;
    let stranger = behind(&with("me:gu3ss3d@"), "http", "/mcp").start().await;
    let refused = down(&stranger).await;
    let place = format!("through the proxy {} (HTTP_PROXY): it ", proxy.url());
    assert!(
        nobody.contains(&format!("{place}wants a user name and a password")),
        "{nobody}"
    );
    assert!(refused.contains(&format!("{place}does not accept")), "{refused}");
    for gateway in [&let_in, &stranger] {
        let told =
            gateway.server("a").await.to_string() + &gateway.operate("status", json!({})).await.to_string();
        assert!(!told.contains("s3cr") && !told.contains("gu3ss3d"), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b111_a_proxy_that_is_down_is_named_and_one_that_comes_back_is_used() {
    let fake = Fake::script().tool("t").http();
    let proxy = before(&fake).await;
    let (url, port) = (proxy.url(), proxy.port());
    drop(proxy);
    let gateway = behind(&[("http_proxy", url.clone())], "http", "/mcp")
        .start()
        .await;

    let reason = down(&gateway).await;

    let expected = format!("cannot connect to http://server.test through the proxy {url} (http_proxy): ");
    assert!(reason.contains(&expected), "{reason}");
    let known = Proxy::that().knows("server.test:80", fake.port());
    let _proxy = known.on_port(port).start().await;
    gateway.await_state("a", "ok").await;
    gateway.settled().await;
    assert!(works(&gateway).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn b111_an_answer_that_may_be_of_the_proxy_or_of_the_server_names_both() {
    let proxy = Proxy::that().refuses("503 Service Unavailable").start().await;

    let reason = down(
        &behind(&[("HTTP_PROXY", proxy.url())], "http", "/mcp")
            .start()
            .await,
    )
    .await;

    let expected = format!(
        "http://server.test through the proxy {} (HTTP_PROXY) answers 503",
        proxy.url()
    );
    assert!(reason.contains(&expected), "{reason}");
}

#[tokio::test(flavor = "multi_thread")]
async fn b111_a_variable_that_names_no_proxy_is_named_without_what_it_holds() {
    let variables = [("ALL_PROXY", "socks5://me:s3cret@10.0.0.1:1080".to_owned())];

    let reason = down(&behind(&variables, "http", "/mcp").start().await).await;

    assert!(
        reason.contains("`ALL_PROXY` names no proxy that mcpr can use"),
        "{reason}"
    );
    assert!(!reason.contains("s3cret"), "{reason}");
}

//! URLs that servers name: none of them is ever visited, and redirects take no credentials elsewhere.

use mcpr_tests::{Fake, gateway};
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};

use crate::soon;

/// Somewhere that nobody has any business.
struct Trap(TcpListener);

impl Trap {
    async fn new() -> Self {
        Self(TcpListener::bind(("127.0.0.1", 0)).await.unwrap())
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{path}", self.0.local_addr().unwrap().port())
    }

    /// Nobody was here before now: who comes now is the first.
    async fn assert_unvisited(&self) {
        let mut visitor = TcpStream::connect(self.0.local_addr().unwrap()).await.unwrap();
        visitor.write_all(b"me").await.unwrap();
        let (_, first) = self.0.accept().await.unwrap();
        assert_eq!(first, visitor.local_addr().unwrap());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_04_no_url_that_a_server_names_is_visited() {
    let trap = Trap::new().await;
    let icons = json!([{ "src": trap.url("icon.png") }]);
    let tool = json!({
        "name": "t", "icons": icons,
        "inputSchema": { "type": "object", "$schema": trap.url("schema"), "properties": { "a": { "$ref": trap.url("ref") } } },
    });
    let link = json!({ "content": [{ "type": "resource_link", "uri": trap.url("link"), "name": "l" }] });
    let fake = Fake::script()
        .tool_entry(&tool.to_string())
        .set(
            "serverInfo",
            json!({ "name": "s", "version": "1", "icons": icons, "websiteUrl": trap.url("home") }),
        )
        .raw("tools/call", &link.to_string())
        .http();
    let challenge = format!(
        "Bearer resource_metadata=\"{}\"",
        trap.url(".well-known/oauth-protected-resource")
    );
    let mask = json!({ "status": 401, "headers": { "WWW-Authenticate": challenge, "Link": format!("<{}>", trap.url("l")) } });
    let locked = Fake::script().set("mask", mask).http();
    let gateway = gateway().fake("a", &fake).fake("locked", &locked).start().await;
    gateway.await_state("a", "ok").await;
    gateway.await_state("locked", "auth-required").await;

    let client = gateway.client().await;
    client.tools().await;
    assert!(client.call("a_t", r#"{"a":1}"#).await["result"].is_object());
    gateway.operate("servers/show", json!({ "name": "a" })).await;

    trap.assert_unvisited().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_04_a_redirect_within_a_call_takes_nothing_to_another_host() {
    for status in [301, 302, 303, 307, 308] {
        let trap = Trap::new().await;
        let mask =
            json!({ "on": "tools/call", "status": status, "headers": { "Location": trap.url("mcp") } });
        let fake = Fake::script().tool("t").set("mask", mask).http();
        let headers = json!({ "Authorization": "Bearer s3cret-value" });
        let entry = json!({ "type": "http", "url": fake.url(), "headers": headers });
        let gateway = gateway().server("a", entry).ready().await;

        let answer = gateway.client().await.call("a_t", "{}").await;

        let message = answer["error"]["message"]
            .as_str()
            .unwrap_or_else(|| panic!("{answer}"));
        assert!(
            message.contains("points to") && !message.contains("s3cret"),
            "{message}"
        );
        trap.assert_unvisited().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_04_the_old_transport_is_led_nowhere_else_by_its_endpoint() {
    for endpoint in [
        "//127.0.0.1:TRAP/mcp",
        "http://127.0.0.1:TRAP/mcp",
        "http://user@127.0.0.1:TRAP/",
        "file:///etc/passwd",
    ] {
        let trap = Trap::new().await;
        let port = trap.0.local_addr().unwrap().port().to_string();
        let fake = Fake::script()
            .tool("t")
            .set("endpoint", json!(endpoint.replace("TRAP", &port)))
            .sse();
        let headers = json!({ "Authorization": "Bearer s3cret-value" });
        let entry = json!({ "type": "sse", "url": fake.url(), "headers": headers });
        let gateway = gateway().server("a", entry).start().await;

        let server = gateway.await_state("a", "down").await;

        let reason = server["reason"].as_str().unwrap();
        assert!(
            reason.contains("names an endpoint") && !reason.contains("s3cret"),
            "{reason}"
        );
        soon("the stream", || !fake.received().is_empty()).await;
        trap.assert_unvisited().await;
    }
}

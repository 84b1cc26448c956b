//! MCP Apps: tools with user interfaces (extension `io.modelcontextprotocol/ui`).

use mcpr_tests::{Client, Fake, Script, raw};
use serde_json::{Value, json};

use crate::place::{Place, place};

const PAGE: &str = "ui://chart/page.html";
const META: &str =
    r#"{ "ui":{"resourceUri":"ui://chart/page.html","visibility":["model","app"],"n":1E400} }"#;

fn apps() -> Value {
    json!({ "extensions": { "io.modelcontextprotocol/ui": { "mimeTypes": ["text/html;profile=mcp-app"] } } })
}

/// A server with a tool that has a user interface.
fn chart() -> Script {
    let tool = format!(r#"{{"name":"chart","inputSchema":{{"type":"object"}},"_meta":{META}}}"#);
    let capabilities =
        json!({ "tools": {}, "resources": {}, "extensions": { "io.modelcontextprotocol/ui": {} } });
    Fake::script()
        .tool_entry(&tool)
        .set(
            "resources",
            json!([{ "uri": PAGE, "name": "page", "mimeType": "text/html;profile=mcp-app" }]),
        )
        .set("capabilities", capabilities)
}

async fn before() -> Vec<Place> {
    let stateless = || chart().set("era", json!("stateless"));
    let fakes = [
        chart().stdio(),
        chart().http(),
        stateless().stdio(),
        stateless().http(),
    ];
    futures_util::future::join_all(fakes.map(place)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_keeps_what_it_says_of_its_interface() {
    for place in before().await {
        for client in place.gateway.clients().await {
            let tools = client.items("tools/list", "tools").await;
            let ui = raw::member(&tools[0], &["_meta", "ui"]);
            assert_eq!(ui, raw::member(META, &["ui"]), "byte for byte");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interface_is_listed_and_read_under_its_own_uri() {
    for place in before().await {
        for client in place.gateway.clients().await {
            assert_eq!(client.listed("resources/list", "resources", "uri").await, [PAGE]);
            let read = client.read(PAGE).await.message();
            assert_eq!(read["result"]["contents"][0]["uri"], PAGE, "{read}");
        }
        assert!(
            place
                .fake
                .received_of("resources/read")
                .iter()
                .all(|read| read.params()["uri"] == PAGE)
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_are_told_that_a_server_has_interfaces_and_only_then() {
    for place in before().await {
        let welcome = place.gateway.client().await.welcome;
        let discovered = place
            .gateway
            .stateless()
            .request("server/discover", "", None)
            .await
            .message();
        for capabilities in [&welcome["capabilities"], &discovered["result"]["capabilities"]] {
            assert_eq!(
                capabilities["extensions"],
                json!({ "io.modelcontextprotocol/ui": {} })
            );
        }
    }
    let plain = place(Fake::script().tool("t").stdio()).await;
    let welcome = plain.gateway.client().await.welcome;
    assert!(welcome["capabilities"]["extensions"].is_null(), "{welcome}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stateless_server_is_told_whether_this_client_shows_interfaces() {
    let place = place(chart().set("era", json!("stateless")).http()).await;
    let (shows, does_not) = (apps(), json!({}));
    for capabilities in [&shows, &does_not] {
        place.gateway.able(capabilities).call("a_chart", "{}", "").await;
        place
            .gateway
            .client_with("2025-11-25", capabilities)
            .await
            .call("a_chart", "{}")
            .await;
    }
    let told = place
        .fake
        .received_of("tools/call")
        .into_iter()
        .map(|call| call.params()["_meta"]["io.modelcontextprotocol/clientCapabilities"].clone());
    assert_eq!(
        told.collect::<Vec<_>>(),
        [shows.clone(), shows, does_not.clone(), does_not]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_the_session_era_is_told_that_interfaces_can_be_shown() {
    let place = place(chart().stdio()).await;
    let opened = place.fake.received_of("initialize").remove(0).params();
    assert_eq!(
        opened["capabilities"]["extensions"],
        apps()["extensions"],
        "{opened}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_tool_gives_its_interface_passes() {
    let result = r#"{"content":[],"structuredContent":{"points":[1E400]},"_meta":{"ui":{"x":1}}}"#;
    let fake = chart().raw("tools/call", result).stdio();
    let place = place(fake).await;
    let [session, _] = place.gateway.clients().await;
    let Client::Session(_) = &session else {
        panic!("the first is of the session era")
    };
    assert_eq!(session.call("a_chart", "{}").await.raw(&["result"]), result);
}

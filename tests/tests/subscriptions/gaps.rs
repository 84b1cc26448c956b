//! What changes between the first listing of a server and the moment in which it is heard out.

use mcpr_tests::http::Request;
use mcpr_tests::{Fake, gateway};
use serde_json::json;

use crate::stands::Kind;

const LISTEN: &str = "subscriptions/listen";

#[tokio::test(flavor = "multi_thread")]
async fn b18_a_stateless_server_is_heard_out_before_it_is_listed() {
    for kind in Kind::STATELESS {
        let fake = kind.run(Fake::script().tool("t").delay(LISTEN, 0.2));
        let _gateway = gateway().fake("a", &fake).ready().await;

        let order = fake.received().into_iter().filter_map(|received| received.method);
        let order: Vec<_> = order
            .filter(|method| [LISTEN, "tools/list"].contains(&&**method))
            .collect();

        assert_eq!(
            order,
            [LISTEN, "tools/list"],
            "{kind:?}: and its lists are read once"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b18_a_change_before_a_late_acknowledgement_is_not_missed() {
    let late = Fake::script()
        .with(r#"{"env_tool":true,"era":"stateless"}"#)
        .delay(LISTEN, 1.5);
    let fake = late.http();
    let gateway = gateway().fake("a", &fake).ready().await;
    let client = gateway.client().await;
    let mut stream = client.stream().await;

    // Straight to the server, which tells nobody: nobody listens yet.
    let call = gateway.stateless().text("1", "tools/call", r#""name":"add""#);
    let call = Request::post("/mcp", call).header("mcp-protocol-version", "2026-07-28");
    let call = call.header("mcp-method", "tools/call").header("mcp-name", "add");
    let added = call.send(fake.port()).await.message();
    assert!(added["result"].is_object(), "{added}");
    assert!(!client.tool_names().await.contains(&"a_new1".to_owned()));

    let changed = stream.message(|message| !message.is_null()).await.unwrap();
    assert_eq!(changed["method"], json!("notifications/tools/list_changed"));
    assert!(client.tool_names().await.contains(&"a_new1".to_owned()));
}

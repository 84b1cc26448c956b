//! Tools of the embedding program (SRV-05).

use std::sync::Arc;
use std::time::Duration;

use mcpr_core::{Outcome, Tool};
use mcpr_tests::{Fake, gateway};
use serde_json::{Value, json};
use tokio::sync::Notify;

fn greet() -> Tool {
    let schema = json!({ "type": "object", "properties": { "who": { "type": "string" } } });
    Tool::new("greet", "Says hello", schema, |arguments| async move {
        let who = arguments.read::<Value>().unwrap_or_default()["who"].take();
        match who.as_str() {
            Some(who) => Outcome::text(format!("hello {who}")),
            None => Outcome::failed("whom?"),
        }
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn srv_05_native_tools_stand_beside_those_of_servers_and_run_in_this_process() {
    let git = Fake::script().tool("status").stdio();
    let count = Tool::new("count", "Counts", json!({ "type": "object" }), |_| async {
        Outcome::structured(&json!({ "count": 9_007_199_254_740_993_u64 }))
    });
    let gateway = gateway()
        .fake("git", &git)
        .tool(greet().read_only())
        .tool(count)
        .ready()
        .await;
    let client = gateway.client().await;

    let tools = client.tools().await;
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["native_greet", "native_count", "git_status"]);
    assert_eq!(tools[0]["annotations"]["readOnlyHint"], true);
    assert_eq!(tools[0]["_meta"]["dev.mcpr/origin"], "greet");

    let hello = client.call("native_greet", r#"{"who":"Ann"}"#).await;
    assert_eq!(
        hello["result"],
        json!({ "content": [{ "type": "text", "text": "hello Ann" }] })
    );
    let failed = client.call("greet", "{}").await;
    assert_eq!(
        failed["result"]["isError"], true,
        "a bare name that only one server has: {failed}"
    );
    let counted = gateway.stateless().call("native_count", "{}").await;
    assert_eq!(
        counted["result"]["structuredContent"]["count"],
        9_007_199_254_740_993_u64
    );
    assert_eq!(counted["result"]["resultType"], "complete");

    let server = gateway.server("native").await;
    assert_eq!((&server["state"], &server["tools"]), (&json!("ok"), &json!(2)));
}

#[tokio::test(flavor = "multi_thread")]
async fn srv_05_native_tools_outlive_a_reload_and_can_be_turned_off() {
    let gateway = gateway().tool(greet()).ready().await;
    let client = gateway.client().await;

    gateway.operate("reload", json!({})).await;
    assert_eq!(client.tool_names().await, ["native_greet"]);
    gateway
        .operate("tools/disable", json!({ "name": "native.greet" }))
        .await;
    let gone = client.call("native_greet", "{}").await;

    assert_eq!(gone["error"]["message"], "Unknown tool: native_greet");
}

#[tokio::test(flavor = "multi_thread")]
async fn srv_05_a_native_call_that_is_cancelled_is_dropped() {
    struct Dropped(Arc<Notify>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.notify_one();
        }
    }
    let (begun, dropped) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let tool = {
        let (begun, dropped) = (begun.clone(), dropped.clone());
        Tool::new("wait", "Waits", json!({ "type": "object" }), move |_| {
            let (begun, guard) = (begun.clone(), Dropped(dropped.clone()));
            async move {
                begun.notify_one();
                let () = std::future::pending().await;
                drop(guard);
                Outcome::text("never")
            }
        })
    };
    let gateway = gateway().tool(tool).ready().await;
    let client = gateway.client().await;
    let call = client.text("tools/call", r#"{"name":"native_wait"}"#);
    let id: Value = serde_json::from_str::<Value>(&call).unwrap()["id"].clone();

    let cancelled = async {
        begun.notified().await;
        client
            .notify("notifications/cancelled", &json!({ "requestId": id }).to_string())
            .await;
        tokio::time::timeout(Duration::from_secs(10), dropped.notified()).await
    };
    let (_, cancelled) = tokio::join!(async { client.post(&call).send(gateway.port).await }, cancelled);

    assert!(cancelled.is_ok(), "the handler is dropped");
}

#[tokio::test(flavor = "multi_thread")]
async fn srv_05_a_typed_tool_has_the_schemas_of_its_types_and_tells_the_model_what_does_not_fit() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Sum {
        /// What to add up.
        numbers: Vec<f64>,
    }
    #[derive(serde::Serialize, schemars::JsonSchema)]
    struct Total {
        total: f64,
    }
    let sum = Tool::typed("sum", "Adds up", |sum: Sum| async move {
        match sum.numbers.is_empty() {
            true => Err("nothing to add up"),
            false => Ok(Total {
                total: sum.numbers.iter().sum(),
            }),
        }
    });
    let gateway = gateway().tool(sum).ready().await;
    let client = gateway.client().await;

    let tool = &client.tools().await[0];
    assert_eq!(tool["inputSchema"]["required"], json!(["numbers"]));
    assert_eq!(
        tool["inputSchema"]["properties"]["numbers"]["description"],
        "What to add up."
    );
    assert_eq!(tool["outputSchema"]["type"], "object");
    let call = async |arguments: &str| client.call("native_sum", arguments).await["result"].clone();

    assert_eq!(
        call(r#"{"numbers":[1,2.5]}"#).await["structuredContent"],
        json!({ "total": 3.5 })
    );
    for (arguments, why) in [
        (r#"{"numbers":[]}"#, "nothing to add up"),
        (r#"{"n":1}"#, "missing field `numbers`"),
    ] {
        let failed = call(arguments).await;
        let text = failed["content"][0]["text"].as_str().unwrap();
        assert!(failed["isError"] == true && text.contains(why), "{failed}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn srv_05_a_handler_that_panics_fails_its_own_call_only() {
    let broken = Tool::new("broken", "Breaks", json!({ "type": "object" }), |_| async {
        panic!("a mistake")
    });
    let gateway = gateway().tool(broken).tool(greet()).ready().await;
    let client = gateway.client().await;

    let broken = client.call("native_broken", "{}").await;
    assert_eq!(broken["error"]["data"]["reason"], "internal", "{broken}");
    let hello = client.call("native_greet", r#"{"who":"Bo"}"#).await;
    assert_eq!(hello["result"]["content"][0]["text"], "hello Bo");
}

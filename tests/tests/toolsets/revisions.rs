//! The built-in tools in every revision of the protocol, on pages, and for clients without a session.

use std::collections::BTreeSet;

use mcpr_tests::{Fake, Gateway, gateway};
use serde_json::{Value, json};

use crate::agents::{BUILT_INS, complaint, others, soon, structured, use_statelessly, use_tool};

const FEW: &str = r#"{"name":"few","tools":[{"namespacedName":"git.status"}]}"#;

fn git() -> Fake {
    Fake::script().tool("status").tool("push").tool("pull").stdio()
}

async fn in_front_of(git: &Fake) -> Gateway {
    gateway().with_builtins().fake("git", git).ready().await
}

/// The structure of a result, which its text says too.
fn said_twice(answer: &Value) -> Value {
    let structure = structured(answer);
    let text = answer["result"]["content"][0]["text"].as_str().expect("a text");
    assert_eq!(serde_json::from_str::<Value>(text).expect("JSON"), structure);
    structure
}

#[tokio::test(flavor = "multi_thread")]
async fn set_03_the_built_in_tools_work_in_every_revision_with_sessions() {
    let git = git();
    let gateway = in_front_of(&git).await;
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let agent = gateway.client_of(version).await;

        let built = said_twice(&agent.call("build-toolset", FEW).await);
        let equipped = agent.call("equip-toolset", r#"{"name":"few"}"#).await;
        let refused = agent.call("equip-toolset", r#"{"name":"fww"}"#).await;

        assert_eq!(built["toolset"]["tools"], 1, "{version}");
        assert_eq!(
            said_twice(&equipped)["tools"][0]["name"],
            "git_status",
            "{version}"
        );
        assert_eq!(equipped["result"].get("resultType"), None, "{version}");
        assert!(
            complaint(&refused).contains("did you mean `few`?"),
            "{version}: {refused}"
        );
        assert_eq!(others(&agent).await, ["git_status"], "{version}");
        said_twice(&agent.call("unequip-toolset", "{}").await);
        said_twice(&agent.call("discover-all-tools", "{}").await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn set_03_without_a_session_their_results_have_a_type() {
    let git = git();
    let gateway = in_front_of(&git).await;
    let agent = gateway.stateless();
    let result_type = |answer: &Value| answer["result"]["resultType"].clone();

    let built = agent.call("build-toolset", FEW).await;
    let refused = agent.call("equip-toolset", r#"{"name":"fww"}"#).await;
    let listed = agent.request("tools/list", "", None).await.message();

    assert_eq!(
        (said_twice(&built)["replaced"].clone(), result_type(&built)),
        (json!(false), json!("complete"))
    );
    assert!(complaint(&refused).contains("did you mean `few`?"));
    assert_eq!(result_type(&refused), "complete");
    let names = listed["result"]["tools"].as_array().expect("tools").iter();
    let names: Vec<_> = names
        .take(BUILT_INS.len())
        .map(|tool| tool["name"].clone())
        .collect();
    assert_eq!(names, BUILT_INS);
    for tool in listed["result"]["tools"]
        .as_array()
        .expect("tools")
        .iter()
        .take(BUILT_INS.len())
    {
        assert_eq!(
            (&tool["inputSchema"]["type"], &tool["outputSchema"]["type"]),
            (&json!("object"), &json!("object"))
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn set_05_a_client_without_a_session_sees_the_same_on_every_connection_and_hears_of_a_change() {
    let git = git();
    let gateway = in_front_of(&git).await;
    let agent = gateway.stateless();
    use_statelessly(&agent, "build-toolset", FEW).await;
    let filter = r#""notifications":{"toolsListChanged":true}"#;
    let (_, mut heard) = agent.begin("subscriptions/listen", filter, None).await;
    let accepted = soon(heard.event()).await.expect("an acknowledgement").message();
    assert_eq!(
        accepted["params"]["notifications"],
        json!({ "toolsListChanged": true })
    );

    use_statelessly(&agent, "equip-toolset", r#"{"name":"few"}"#).await;

    let told = soon(heard.event()).await.expect("a notice").message();
    assert_eq!(told["method"], "notifications/tools/list_changed");
    assert_eq!(
        told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
        1
    );
    let mut lists = BTreeSet::new();
    for _ in 0..8 {
        lists.insert(
            agent
                .request("tools/list", "", None)
                .await
                .raw(&["result", "tools"]),
        );
    }
    assert_eq!(lists.len(), 1, "{lists:#?}");
    assert!(
        lists
            .first()
            .is_some_and(|list| list.contains("git_status") && !list.contains("git_push"))
    );
    use_statelessly(&agent, "unequip-toolset", "{}").await;
    assert_eq!(
        soon(heard.event()).await.expect("a notice").message()["method"],
        told["method"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn set_03_the_first_page_alone_begins_with_the_built_in_tools() {
    let git = git();
    let builder = gateway().with_builtins().own("limits", json!({ "pageSize": 2 }));
    let gateway = builder.fake("git", &git).ready().await;
    let agent = gateway.client().await;
    let page = async |params: String| agent.request("tools/list", &params).await.message()["result"].clone();
    let names = |page: &Value| {
        let tools = page["tools"].as_array().expect("tools").iter();
        tools
            .map(|tool| tool["name"].as_str().expect("a name").to_owned())
            .collect::<Vec<_>>()
    };

    let first = page("{}".into()).await;
    let second = page(json!({ "cursor": first["nextCursor"] }).to_string()).await;

    assert_eq!(
        names(&first),
        [&BUILT_INS[..], &["git_status", "git_push"]].concat()
    );
    assert_eq!(names(&second), ["git_pull"]);
    assert_eq!(second["nextCursor"], Value::Null);
    use_tool(&agent, "build-toolset", FEW).await;
    use_tool(&agent, "equip-toolset", r#"{"name":"few"}"#).await;
    let stale = agent
        .request(
            "tools/list",
            &json!({ "cursor": first["nextCursor"] }).to_string(),
        )
        .await;
    assert_eq!(stale.message()["error"]["code"], -32602, "a page of another list");
    assert_eq!(
        names(&page("{}".into()).await),
        [&BUILT_INS[..], &["git_status"]].concat()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn set_04_a_tool_that_is_turned_off_can_be_chosen_and_comes_when_it_is_on() {
    let git = git();
    let gateway = in_front_of(&git).await;
    let agent = gateway.client().await;
    gateway
        .operate("tools/disable", json!({ "name": "git.status" }))
        .await;

    let built = use_tool(&agent, "build-toolset", FEW).await;
    let equipped = use_tool(&agent, "equip-toolset", r#"{"name":"few"}"#).await;

    assert!(
        built["warnings"][0]
            .as_str()
            .expect("a warning")
            .contains("turned it off"),
        "{built}"
    );
    assert_eq!(
        (&equipped["tools"], &equipped["skipped"][0]["namespacedName"]),
        (&json!([]), &json!("git.status"))
    );
    assert!(others(&agent).await.is_empty());
    gateway
        .operate("tools/enable", json!({ "name": "git.status" }))
        .await;
    assert_eq!(others(&agent).await, ["git_status"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn set_05_a_list_that_a_client_can_change_by_a_call_is_not_to_be_kept() {
    let keys = r#"{"era":"stateless","ttlMs":60000,"prompts":[{"name":"p"}]}"#;
    let git = Fake::script().tool("status").with(keys).stdio();
    let gateway = in_front_of(&git).await;
    let held = async |method| {
        let listed = gateway.stateless().request(method, "", None).await.message();
        listed["result"]["ttlMs"].as_u64().expect("a whole number")
    };

    assert_eq!(held("tools/list").await, 0);
    assert!(held("prompts/list").await > 30_000);
}

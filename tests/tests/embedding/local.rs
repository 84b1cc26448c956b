//! A client in the embedding program (EMB-01, EMB-02).

use mcpr_core::{Blame, Retry};
use mcpr_tests::{Fake, gateway};
use serde_json::{Value, json};

fn read(result: &mcpr_core::RawJson) -> Value {
    result.read().expect("JSON")
}

#[tokio::test(flavor = "multi_thread")]
async fn emb_01_a_program_lists_and_calls_without_a_socket() {
    let git = Fake::script().tool("status").stdio();
    let web = Fake::script().tool("get").stdio();
    let projects = json!({ "web": { "servers": ["web"] } });
    let gateway = gateway()
        .fake("git", &git)
        .fake("web", &web)
        .own("projects", projects)
        .own("limits", json!({ "pageSize": 1 }))
        .ready()
        .await;
    let client = gateway.core.client();

    let tools = client.tools().await.expect("a list");
    let names: Vec<_> = tools.iter().map(|tool| read(tool)["name"].clone()).collect();
    assert_eq!(names, ["git_status", "web_get"], "of all pages");
    let result = client
        .call("git.status", &json!({ "n": 1 }))
        .await
        .expect("a result");
    assert_eq!(read(&result)["content"][0]["text"], r#"{"n":1}"#);

    let client = client.in_project("web");
    assert_eq!(client.tools().await.expect("a list").len(), 1);
    let hidden = client
        .call("git_status", &json!({}))
        .await
        .expect_err("it is not in the project");
    assert_eq!(hidden.to_string(), "Unknown tool: git_status");
}

#[tokio::test(flavor = "multi_thread")]
async fn emb_02_an_error_says_what_it_is_whose_fault_and_whether_to_try_again() {
    let failing = Fake::script()
        .tool("t")
        .error("tools/call", json!({ "code": -32050, "message": "m" }))
        .stdio();
    let dying = Fake::script()
        .tool("t")
        .with(r#"{"exit_on": "tools/call"}"#)
        .stdio();
    let gateway = gateway()
        .fake("failing", &failing)
        .fake("dying", &dying)
        .server("gone", json!({ "command": "/no/such/bin" }))
        .ready()
        .await;
    let client = gateway.core.client();
    let fails = async |tool: &str| {
        let error = client.call(tool, &json!({})).await.expect_err("it fails");
        (error.code, error.kind.clone(), error.blame, error.retry, error)
    };

    let (code, kind, blame, retry, unknown) = fails("nothing").await;
    assert_eq!(
        (code, kind.as_deref(), blame, retry),
        (-32602, Some("unknown_tool"), Blame::Downstream, Retry::No)
    );
    let told = read(&unknown.into_tool_result());
    assert_eq!(
        told,
        json!({ "content": [{ "type": "text", "text": "Unknown tool: nothing" }], "isError": true })
    );

    let (code, kind, blame, retry, _) = fails("failing_t").await;
    assert_eq!(
        (code, kind.as_deref(), blame, retry),
        (-32050, None, Blame::Upstream, Retry::Unsafe)
    );

    let (_, kind, blame, retry, lost) = fails("dying_t").await;
    assert_eq!(
        (kind.as_deref(), blame, retry),
        (Some("outcome_unknown"), Blame::Upstream, Retry::Unsafe)
    );
    assert!(lost.data.is_some() && lost.message.contains("`dying`"), "{lost}");
}

//! The session that all of this is for: from hundreds of tools to the few that are needed.

use mcpr_tests::{Fake, Gateway, gateway};
use serde_json::{Value, json};

use crate::agents::{others, use_tool};

const STATUS: &str = r#"{"name":"status","description":"Says what has changed.","inputSchema":{"z":1,"type":"object","properties":{"repo_path":{"type":"string"}},"required":["repo_path"]},"x-own":1e2}"#;

struct Office {
    gateway: Gateway,
    docker: Fake,
    _others: [Fake; 2],
}

/// Three servers, as a developer has them.
async fn office() -> Office {
    let git = Fake::script()
        .tool_entry(STATUS)
        .tool("commit")
        .tool("push")
        .stdio();
    let docker = Fake::script().tool("ps").tool("rm").http();
    let linear = Fake::script().tool("create.issue").tool("delete_issue").http();
    let builder = gateway().with_builtins().own("expose", json!("toolset"));
    let gateway = builder
        .fake("git", &git)
        .fake("docker", &docker)
        .fake("linear", &linear)
        .ready()
        .await;
    Office {
        gateway,
        docker,
        _others: [git, linear],
    }
}

const ESSENTIALS: &str = r#"{"name":"dev-essentials","tools":[{"namespacedName":"git.status"},{"namespacedName":"git.commit"},{"namespacedName":"docker.ps"},{"namespacedName":"linear.create.issue"}]}"#;

#[tokio::test(flavor = "multi_thread")]
async fn set_02_set_05_a_toolset_is_built_equipped_used_and_taken_off_again() {
    let office = office().await;
    let gateway = &office.gateway;
    let (agent, colleague) = (gateway.client().await, gateway.client().await);
    let stranger = gateway.another_token(&["read", "call"]).await;
    let stranger = mcpr_tests::client::Session::open(gateway.port, &stranger, "2025-11-25").await;
    let (mut heard, mut not_heard) = (colleague.stream().await, stranger.stream().await);
    assert!(others(&agent).await.is_empty());

    use_tool(&agent, "build-toolset", ESSENTIALS).await;
    let equipped = use_tool(&agent, "equip-toolset", r#"{"name":"dev-essentials"}"#).await;

    let names = ["git_status", "git_commit", "docker_ps", "linear_create_issue"];
    assert_eq!(others(&agent).await, names);
    assert_eq!(equipped["tools"][0]["signature"], "repo_path: string");
    assert_eq!(
        heard.event().await.expect("a notice").message()["method"],
        "notifications/tools/list_changed"
    );
    assert_eq!(others(&colleague).await, names);
    let listed = agent.request("tools/list", "{}").await.text();
    let schema = r#""inputSchema":{"z":1,"type":"object","properties":{"repo_path":{"type":"string"}},"required":["repo_path"]},"x-own":1e2"#;
    assert!(listed.contains(schema), "byte for byte: {listed}");
    assert_eq!(
        agent.call("git_status", r#"{"a":1}"#).await["result"]["content"][0]["text"],
        r#"{"a":1}"#
    );
    let hidden = agent.call("docker_rm", "{}").await;
    assert_eq!(hidden["error"]["message"], "Unknown tool: docker_rm");
    assert_eq!(hidden["error"]["data"]["reason"], "not_equipped");

    use_tool(&agent, "unequip-toolset", "{}").await;

    assert!(others(&agent).await.is_empty());
    assert!(others(&stranger).await.is_empty());
    use_tool(
        &stranger,
        "build-toolset",
        r#"{"name":"x","tools":[{"namespacedName":"git.*"}]}"#,
    )
    .await;
    use_tool(&stranger, "equip-toolset", r#"{"name":"x"}"#).await;
    let first = not_heard.event().await.expect("its own notice");
    assert_eq!(first.message()["method"], "notifications/tools/list_changed");
    assert_eq!(others(&stranger).await, ["git_status", "git_commit", "git_push"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn set_07_a_tool_of_a_server_that_is_down_is_skipped_and_appears_when_it_returns() {
    let office = office().await;
    let agent = office.gateway.client().await;
    use_tool(&agent, "build-toolset", ESSENTIALS).await;
    office.docker.kill();
    office.gateway.await_state("docker", "down").await;

    let equipped = use_tool(&agent, "equip-toolset", r#"{"name":"dev-essentials"}"#).await;

    let skipped: Vec<&Value> = equipped["skipped"]
        .as_array()
        .expect("what was skipped")
        .iter()
        .collect();
    assert_eq!(skipped.len(), 1);
    assert_eq!(skipped[0]["namespacedName"], "docker.ps");
    assert!(
        skipped[0]["reason"].as_str().expect("why").contains("docker"),
        "{equipped}"
    );
    assert_eq!(
        others(&agent).await,
        ["git_status", "git_commit", "linear_create_issue"]
    );
    let mut stream = agent.stream().await;
    office.docker.restart();
    // The first notice is of what was equipped before the stream was open.
    let complete = ["git_status", "git_commit", "docker_ps", "linear_create_issue"];
    while others(&agent).await != complete {
        let notice = stream.event().await.expect("a notice");
        assert_eq!(notice.message()["method"], "notifications/tools/list_changed");
    }
}

//! How equipping goes: one at a time, all or nothing, and remembered.

use mcpr_tests::{Fake, gateway};
use serde_json::json;

use crate::agents::{BUILT_INS, complaint, others, structured, use_statelessly, use_tool};
use crate::gate::Gate;

const GIT: &str = r#"{"name":"git","tools":[{"namespacedName":"git.*"}]}"#;
const STATUS: &str = r#"{"name":"status","tools":[{"namespacedName":"git.status"}]}"#;

fn git() -> Fake {
    Fake::script().tool("status").tool("push").stdio()
}

#[tokio::test(flavor = "multi_thread")]
async fn set_06_of_two_equips_at_once_one_works_and_an_unequip_waits() {
    let (fake, gate) = (git(), Gate::before("put_equip"));
    let builder = gateway().with_builtins().hook(gate.hook());
    let gateway = builder.fake("git", &fake).ready().await;
    let (one, two, three) = tokio::join!(gateway.client(), gateway.client(), gateway.client());
    use_tool(&one, "build-toolset", GIT).await;
    use_tool(&one, "build-toolset", STATUS).await;
    gate.close();

    let first = one.call("equip-toolset", r#"{"name":"git"}"#);
    let rest = async {
        gate.waited_at().await;
        let second = two.call("equip-toolset", r#"{"name":"status"}"#).await;
        let mut unequip = Box::pin(three.call("unequip-toolset", "{}"));
        tokio::select! {
            early = &mut unequip => panic!("it did not wait: {early}"),
            names = async { (two.tools().await, two.tools().await) } => drop(names),
        }
        gate.open();
        (second, unequip.await)
    };
    let (first, (second, unequipped)) = tokio::join!(first, rest);

    assert_eq!(structured(&first)["toolset"]["name"], "git");
    assert_eq!(second["error"]["data"]["reason"], "operation_in_progress");
    assert_eq!(second["error"]["data"]["retry"], "safe");
    assert_eq!(
        structured(&unequipped)["principal"],
        structured(&first)["principal"]
    );
    let active = use_tool(&one, "get-active-toolset", "{}").await;
    assert_eq!(active["by"], "all");
}

#[tokio::test(flavor = "multi_thread")]
async fn set_06_an_equip_that_fails_leaves_the_old_toolset_in_force() {
    let (fake, gate) = (git(), Gate::before("put_equip"));
    let builder = gateway().with_builtins().hook(gate.hook());
    let gateway = builder.fake("git", &fake).ready().await;
    let agent = gateway.client().await;
    use_tool(&agent, "build-toolset", GIT).await;
    use_tool(&agent, "build-toolset", STATUS).await;
    use_tool(&agent, "equip-toolset", r#"{"name":"status"}"#).await;
    gate.break_down();

    let failed = agent.call("equip-toolset", r#"{"name":"git"}"#).await;

    assert_eq!(failed["error"]["data"]["reason"], "internal");
    assert_eq!(others(&agent).await, ["git_status"]);
    let active = use_tool(&agent, "get-active-toolset", "{}").await;
    assert_eq!(active["toolset"]["toolset"]["name"], "status");
}

#[tokio::test(flavor = "multi_thread")]
async fn set_05_set_10_what_is_equipped_is_the_principals_and_survives_a_restart() {
    let fake = git();
    let before = gateway().with_builtins().fake("git", &fake).ready().await;
    let agent = before.stateless();
    use_statelessly(&agent, "build-toolset", STATUS).await;
    use_statelessly(&agent, "equip-toolset", r#"{"name":"status"}"#).await;
    let token = before.token.clone();
    before.core.shutdown().await;

    let after = gateway()
        .with_builtins()
        .fake("git", &fake)
        .at_home_of(&before)
        .ready()
        .await;

    let session = mcpr_tests::client::Session::open(after.port, &token, "2025-06-18").await;
    assert_eq!(others(&session).await, ["git_status"]);
    let again = mcpr_tests::client::Stateless {
        port: after.port,
        token,
    };
    let (one, two) = tokio::join!(
        again.request("tools/list", "", None),
        again.request("tools/list", "", None)
    );
    let tools = |answer: &mcpr_tests::http::Answer| answer.raw(&["result", "tools"]);
    assert_eq!(tools(&one), tools(&two));
    let other = after.stateless().request("tools/list", "", None).await;
    assert_ne!(tools(&one), tools(&other));
}

#[tokio::test(flavor = "multi_thread")]
async fn set_10_a_definition_that_changes_is_told_and_can_be_accepted() {
    let tool = |schema: &str| format!(r#"{{"name":"status","inputSchema":{schema}}}"#);
    let fake = Fake::script()
        .tool_entry(&tool(r#"{"type":"object","properties":{"a":{}}}"#))
        .http();
    let gateway = gateway().with_builtins().fake("git", &fake).ready().await;
    let agent = gateway.client().await;
    use_tool(&agent, "build-toolset", STATUS).await;
    use_tool(&agent, "equip-toolset", r#"{"name":"status"}"#).await;
    let state = |active: &serde_json::Value| active["toolset"]["tools"][0]["definition"].clone();
    assert_eq!(
        state(&use_tool(&agent, "get-active-toolset", "{}").await),
        "unchanged"
    );

    fake.rescript(Fake::script().tool_entry(&tool(
        r#"{"type":"object","properties":{"b":{}},"required":["b"]}"#,
    )));
    fake.restart();
    gateway.operate("servers/restart", json!({ "name": "git" })).await;

    let active = use_tool(&agent, "get-active-toolset", "{}").await;
    assert_eq!(state(&active), "breaking");
    let owner = &active["toolset"]["toolset"]["owner"];
    let accepted = gateway
        .operate("toolsets/accept", json!({ "name": "status", "owner": owner }))
        .await;
    assert_eq!(accepted["tools"][0]["definition"], "unchanged", "{accepted}");
}

#[tokio::test(flavor = "multi_thread")]
async fn set_04_names_that_fit_nothing_are_refused_with_what_was_meant() {
    let fake = git();
    let gateway = gateway().with_builtins().fake("git", &fake).ready().await;
    let agent = gateway.client().await;
    let build = |tool: &str| format!(r#"{{"name":"x","tools":[{{"namespacedName":"{tool}"}}]}}"#);

    for wrong in ["git.statsu", "git_status", "status"] {
        let said = complaint(&agent.call("build-toolset", &build(wrong)).await);
        assert!(said.contains("did you mean `git.status`?"), "{said}");
    }

    let said = complaint(
        &agent
            .call("build-toolset", &build("git.unlike-anything-there"))
            .await,
    );
    assert!(said.contains("server `git` has no tool"), "{said}");
    let built = use_tool(&agent, "build-toolset", &build("docker.*")).await;
    assert_eq!(built["warnings"][0], "`docker.*` fits no tool now");
    let said = complaint(&agent.call("equip-toolset", r#"{"name":"y"}"#).await);
    assert!(said.contains("there is no toolset `y`"), "{said}");
    let said = complaint(
        &agent
            .call("equip-toolset", r#"{"name":"x","principal":"default"}"#)
            .await,
    );
    assert!(said.contains("principal"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn set_03_the_built_in_tools_can_be_turned_off() {
    let fake = git();
    let gateway = gateway().fake("git", &fake).ready().await;
    let agent = gateway.client().await;

    assert_eq!(agent.tool_names().await, ["git_status", "git_push"]);
    for tool in BUILT_INS {
        let answer = agent.call(tool, "{}").await;
        assert_eq!(answer["error"]["message"], format!("Unknown tool: {tool}"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn set_01_discovery_knows_all_tools_whatever_is_equipped() {
    let (git, docker) = (git(), Fake::script().tool("ps").http());
    let builder = gateway().with_builtins().own("expose", json!("toolset"));
    let gateway = builder.fake("git", &git).fake("docker", &docker).ready().await;
    let agent = gateway.client().await;
    use_tool(&agent, "build-toolset", STATUS).await;
    use_tool(&agent, "equip-toolset", r#"{"name":"status"}"#).await;

    let all = use_tool(&agent, "discover-all-tools", r#"{"limit":2}"#).await;
    let cursor = all["nextCursor"].as_str().expect("more");
    let rest = use_tool(
        &agent,
        "discover-all-tools",
        &json!({ "cursor": cursor }).to_string(),
    )
    .await;
    let found = use_tool(
        &agent,
        "discover-all-tools",
        r#"{"query":"PS docker","detail":"full"}"#,
    )
    .await;

    assert_eq!(
        (&all["total"], &all["tools"][0]["namespacedName"]),
        (&json!(3), &json!("git.status"))
    );
    assert_eq!(all["tools"][0]["toolsets"], json!(["status"]));
    assert_eq!(
        (&all["tools"][0]["registered"], &all["tools"][1]["registered"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(rest["tools"][0]["namespacedName"], "docker.ps");
    assert!(rest["tools"][0]["estimatedTokens"].as_u64() > Some(10));
    assert_eq!(found["tools"][0]["definition"]["name"], "docker_ps");
    let said = complaint(&agent.call("discover-all-tools", r#"{"server":"gti"}"#).await);
    assert!(said.contains("did you mean `git`?"), "{said}");
}

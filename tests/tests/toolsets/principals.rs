//! Whose toolset it is: everybody where there are no tokens, all who have none, and tokens that are bound.

use mcpr_tests::client::Session;
use mcpr_tests::{Fake, Gateway, gateway};
use serde_json::{Value, json};

use crate::agents::{BUILT_INS, complaint, hears_of_tools, others, soon, use_tool};

const FEW: &str = r#"{"name":"few","tools":[{"namespacedName":"git.status"}]}"#;

/// A gateway with two servers, and the operator's toolsets in its configuration.
struct Shop {
    gateway: Gateway,
    _servers: [Fake; 2],
}

async fn shop() -> Shop {
    let (git, docker) = (
        Fake::script().tool("status").tool("push").stdio(),
        Fake::script()
            .tool("ps")
            .with(r#"{"prompts":[{"name":"p"}]}"#)
            .stdio(),
    );
    let only = |entry: &str| json!({ "tools": [{ "namespacedName": entry }] });
    let toolsets = json!({ "git": only("git.*"), "push": only("git.push"), "all": only("*") });
    let builder = gateway().with_builtins().own("toolsets", toolsets);
    let builder = builder.own("projects", json!({ "git": { "servers": ["git"] } }));
    Shop {
        gateway: builder.fake("git", &git).fake("docker", &docker).ready().await,
        _servers: [git, docker],
    }
}

/// A session of a new token that is bound to a toolset.
async fn bound(gateway: &Gateway, toolset: &str) -> Session {
    bound_to(gateway, "toolset", toolset).await
}

/// The same for a token that is bound to something of that kind.
async fn bound_to(gateway: &Gateway, kind: &str, name: &str) -> Session {
    let made = json!({ "name": format!("bound to {kind}"), kind: name });
    let made = gateway.operate("tokens/create", made).await;
    Session::open(
        gateway.port,
        made["secret"].as_str().expect("a secret"),
        "2025-11-25",
    )
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn set_05_without_tokens_everybody_is_one_principal() {
    let git = Fake::script().tool("status").tool("push").stdio();
    let builder = gateway().with_builtins().open();
    let gateway = builder.fake("git", &git).ready().await;
    let (one, other) = (gateway.client().await, gateway.client().await);
    let mut heard = other.stream().await;
    use_tool(&one, "build-toolset", FEW).await;

    let equipped = use_tool(&one, "equip-toolset", r#"{"name":"few"}"#).await;

    assert_eq!(equipped["principal"], "anonymous");
    hears_of_tools(&mut heard).await;
    assert_eq!(others(&other).await, ["git_status"]);
    let whose = json!({ "principal": "anonymous" });
    let active = gateway.operate("toolsets/active", whose.clone()).await;
    assert_eq!(
        (&active["by"], &active["toolset"]["toolset"]["owner"]),
        (&json!("equipped"), &json!("anonymous"))
    );
    gateway.operate("toolsets/unequip", whose).await;
    assert_eq!(others(&one).await, ["git_status", "git_push"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn set_05_the_default_is_seen_and_heard_of_by_those_who_have_none_of_their_own() {
    let shop = shop().await;
    let token = shop.gateway.another_token(&["read", "call"]).await;
    let (plain, chooser) = (
        shop.gateway.client().await,
        Session::open(shop.gateway.port, &token, "2025-11-25").await,
    );
    let (mut heard, mut not_heard) = (plain.stream().await, chooser.stream().await);
    use_tool(&chooser, "equip-toolset", r#"{"name":"push"}"#).await;
    hears_of_tools(&mut not_heard).await;

    let default = json!({ "name": "git", "principal": "default" });
    let equipped = shop.gateway.operate("toolsets/equip", default).await;

    assert_eq!(equipped["principal"], "default");
    hears_of_tools(&mut heard).await;
    assert_eq!(others(&plain).await, ["git_status", "git_push"]);
    let active = use_tool(&plain, "get-active-toolset", "{}").await;
    assert_eq!(active["by"], "default");
    assert_eq!(others(&chooser).await, ["git_push"]);
    shop.gateway
        .operate("servers/disable", json!({ "name": "docker" }))
        .await;
    let next = soon(not_heard.event()).await.expect("a notice").message();
    assert_eq!(
        next["method"], "notifications/prompts/list_changed",
        "it has not heard of the default"
    );

    shop.gateway
        .operate("servers/enable", json!({ "name": "docker" }))
        .await;
    shop.gateway
        .operate("toolsets/unequip", json!({ "principal": "default" }))
        .await;
    assert_eq!(others(&plain).await, ["git_status", "git_push", "docker_ps"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn set_04_a_bound_token_finds_and_calls_nothing_outside_of_its_toolset() {
    let shop = shop().await;
    let bound = bound(&shop.gateway, "git").await;

    let found = use_tool(&bound, "discover-all-tools", "{}").await;
    let hidden = bound.call("docker_ps", "{}").await;
    let built = bound
        .call(
            "build-toolset",
            r#"{"name":"x","tools":[{"namespacedName":"docker.ps"}]}"#,
        )
        .await;

    assert_eq!(others(&bound).await, ["git_status", "git_push"]);
    assert_eq!(use_tool(&bound, "get-active-toolset", "{}").await["by"], "token");
    assert_eq!(found["total"], 2, "{found}");
    assert_eq!(hidden["error"]["message"], "Unknown tool: docker_ps");
    assert_eq!(hidden["error"]["data"]["reason"], "unknown_tool", "{hidden}");
    assert!(!built.to_string().contains("docker_ps"), "{built}");
    let called = bound.call("git_push", r#"{"n":1}"#).await;
    assert_eq!(called["result"]["content"][0]["text"], r#"{"n":1}"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn set_04_a_bound_token_can_equip_less_and_never_more() {
    let shop = shop().await;
    let bound = bound(&shop.gateway, "git").await;

    let less = use_tool(&bound, "equip-toolset", r#"{"name":"push"}"#).await;
    assert_eq!(others(&bound).await, ["git_push"]);
    let more = use_tool(&bound, "equip-toolset", r#"{"name":"all"}"#).await;

    assert_eq!(
        (less["tools"].as_array().map(Vec::len), &less["skipped"]),
        (Some(1), &Value::Null)
    );
    assert_eq!(others(&bound).await, ["git_status", "git_push"]);
    assert_eq!(more["tools"].as_array().map(Vec::len), Some(2), "{more}");
    assert!(
        !more.to_string().contains("docker"),
        "it is not told of what it cannot have: {more}"
    );
    let request = bound
        .post(&bound.text("tools/list", "{}"))
        .header("x-mcpr-toolset", "all");
    let listed = request.send(bound.port).await.text();
    assert!(
        listed.contains("git_status") && !listed.contains("docker_ps"),
        "{listed}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_07_no_toolset_tells_a_bound_token_what_is_out_of_its_reach() {
    let shop = shop().await;
    let entries = ["git.push", "docker.ps", "docker.p*", "*"].map(|name| json!({ "namespacedName": name }));
    let theirs = json!({ "name": "theirs", "tools": entries });
    shop.gateway.operate("toolsets/save", theirs).await;
    for kind in ["toolset", "project"] {
        names_nothing_of_docker(&bound_to(&shop.gateway, kind, "git").await).await;
    }
}

/// What a caller is told that is limited to the tools of `git`.
async fn names_nothing_of_docker(bound: &Session) {
    let own = r#"{"name":"own","tools":[{"namespacedName":"*"}]}"#;
    let mut said = vec![use_tool(bound, "build-toolset", own).await];

    for name in ["own", "all", "theirs"] {
        let equip = json!({ "name": name }).to_string();
        said.push(use_tool(bound, "equip-toolset", &equip).await);
        said.push(use_tool(bound, "get-active-toolset", "{}").await);
        assert_eq!(others(bound).await, ["git_status", "git_push"], "{name}");
    }
    let refused = ["docker.ps", "docker.none"].map(|name| {
        let asked = json!({ "name": "more", "tools": [{ "namespacedName": name }] }).to_string();
        async move { complaint(&bound.call("build-toolset", &asked).await).replace(name, "NAME") }
    });
    let [there, nowhere] = refused;

    assert!(!json!(said).to_string().contains("docker"), "{said:#?}");
    let unnamed = &said[5]["warnings"];
    assert_eq!(
        unnamed,
        &json!(["entries that are outside of what this token or project allows: 2"])
    );
    assert_eq!(
        there.await,
        nowhere.await,
        "it reads the same, be there such a tool or not"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn set_04_a_token_that_is_bound_to_nothing_that_is_there_sees_nothing_until_it_is() {
    let shop = shop().await;
    let bound = bound(&shop.gateway, "later").await;
    let mut heard = bound.stream().await;
    let listed = bound.request("tools/list", "{}").await.message();

    assert_eq!(
        listed["result"]["_meta"]["dev.mcpr/toolset"], "unknown",
        "{listed}"
    );
    assert!(others(&bound).await.is_empty());
    assert_eq!(use_tool(&bound, "discover-all-tools", "{}").await["total"], 0);
    assert_eq!(
        bound.call("git_push", "{}").await["error"]["data"]["reason"],
        "unknown_tool"
    );
    let own = bound
        .call(
            "build-toolset",
            r#"{"name":"later","tools":[{"namespacedName":"*"}]}"#,
        )
        .await;
    assert!(others(&bound).await.is_empty(), "its own is not meant: {own}");

    let later = json!({ "name": "later", "tools": [{ "namespacedName": "docker.*" }] });
    shop.gateway.operate("toolsets/save", later).await;

    hears_of_tools(&mut heard).await;
    assert_eq!(others(&bound).await, ["docker_ps"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn set_03_a_token_that_only_reads_calls_no_built_in_tool() {
    let shop = shop().await;
    let token = shop.gateway.another_token(&["read"]).await;
    let reader = Session::open(shop.gateway.port, &token, "2025-11-25").await;

    for tool in BUILT_INS {
        let answer = reader.call(tool, r#"{"name":"git"}"#).await;
        assert_eq!(answer["error"]["data"]["reason"], "forbidden", "{tool}: {answer}");
    }

    assert_eq!(others(&reader).await, ["git_status", "git_push", "docker_ps"]);
}

//! Toolsets that are an operator's: those of the configuration, those that are deleted, and those that travel.

use mcpr_tests::{Fake, Gateway, gateway};
use serde_json::{Value, json};

use crate::agents::{complaint, hears_of_tools, others, use_tool};

const FEW: &str = r#"{"name":"few","tools":[{"namespacedName":"git.status"}]}"#;

fn git() -> Fake {
    Fake::script().tool("status").tool("push").stdio()
}

/// A gateway whose configuration has the toolset `few`, and that has `pushing` in its database.
async fn with_toolsets(git: &Fake) -> Gateway {
    let few = json!({ "few": { "tools": [{ "namespacedName": "git.status" }] } });
    let builder = gateway().with_builtins().own("toolsets", few);
    let gateway = builder.fake("git", git).ready().await;
    let pushing = json!({ "name": "pushing", "tools": [{ "namespacedName": "git.push" }] });
    gateway.operate("toolsets/save", pushing).await;
    gateway
}

/// What a refused operation says.
fn refusal(answer: &Value) -> &str {
    answer["error"]["message"]
        .as_str()
        .unwrap_or_else(|| panic!("no failure: {answer}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn set_04_toolsets_of_operators_are_read_only_over_mcp_and_can_be_equipped() {
    let git = git();
    let gateway = with_toolsets(&git).await;
    let agent = gateway.client().await;
    for (name, tool) in [("few", "git_status"), ("pushing", "git_push")] {
        let build = json!({ "name": name, "tools": [{ "namespacedName": "git.*" }] }).to_string();
        let named = json!({ "name": name }).to_string();

        let built = complaint(&agent.call("build-toolset", &build).await);
        let deleted = complaint(&agent.call("delete-toolset", &named).await);
        use_tool(&agent, "equip-toolset", &named).await;

        assert!(built.contains("read-only"), "{built}");
        assert!(
            deleted.contains("configuration file") || deleted.contains("read-only"),
            "{deleted}"
        );
        assert_eq!(others(&agent).await, [tool]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn set_04_what_stands_in_the_configuration_is_changed_there_by_operators_too() {
    let git = git();
    let gateway = with_toolsets(&git).await;
    let entries = json!([{ "namespacedName": "git.*" }]);

    let saved = json!({ "name": "few", "tools": entries, "replace": true, "force": true });
    let saved = gateway.operate("toolsets/save", saved).await;
    let deleted = json!({ "name": "few", "force": true });
    let deleted = gateway.operate("toolsets/delete", deleted).await;
    let shown = gateway.operate("toolsets/show", json!({ "name": "few" })).await;

    assert!(refusal(&saved).contains("configuration file"), "{saved}");
    assert!(refusal(&deleted).contains("configuration file"), "{deleted}");
    assert_eq!(
        (&shown["toolset"]["fromFile"], &shown["toolset"]["entries"]),
        (&json!(true), &json!(1))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn set_04_a_toolset_that_somebody_has_equipped_is_deleted_by_force_alone() {
    let git = git();
    let gateway = with_toolsets(&git).await;
    let agent = gateway.client().await;
    use_tool(
        &agent,
        "build-toolset",
        r#"{"name":"mine","tools":[{"namespacedName":"git.push"}]}"#,
    )
    .await;
    let equipped = use_tool(&agent, "equip-toolset", r#"{"name":"mine"}"#).await;
    let owner = equipped["principal"].as_str().expect("a principal").to_owned();

    let own = complaint(&agent.call("delete-toolset", r#"{"name":"mine"}"#).await);
    let unforced = gateway
        .operate("toolsets/delete", json!({ "name": "mine", "owner": owner }))
        .await;
    assert!(
        own.contains("equipped") && own.contains("unequip-toolset"),
        "{own}"
    );
    assert!(refusal(&unforced).contains(&owner), "{unforced}");
    assert_eq!(others(&agent).await, ["git_push"]);
    let mut heard = agent.stream().await;
    hears_of_tools(&mut heard).await; // Of what was equipped before.

    let forced = json!({ "name": "mine", "owner": owner, "force": true });
    let forced = gateway.operate("toolsets/delete", forced).await;

    assert_eq!(forced["equippedBy"], json!([owner]));
    hears_of_tools(&mut heard).await;
    assert_eq!(others(&agent).await, ["git_status", "git_push"]);
    assert_eq!(
        use_tool(&agent, "list-toolsets", "{}").await["toolsets"]
            .as_array()
            .map(Vec::len),
        Some(2)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn set_04_an_own_toolset_is_built_used_and_deleted() {
    let git = git();
    let gateway = gateway().with_builtins().fake("git", &git).ready().await;
    let agent = gateway.client().await;
    use_tool(&agent, "build-toolset", FEW).await;
    use_tool(&agent, "equip-toolset", r#"{"name":"few"}"#).await;
    use_tool(&agent, "unequip-toolset", "{}").await;

    use_tool(&agent, "delete-toolset", r#"{"name":"few"}"#).await;

    let gone = complaint(&agent.call("equip-toolset", r#"{"name":"few"}"#).await);
    assert!(gone.contains("no toolset `few`"), "{gone}");
    assert_eq!(
        use_tool(&agent, "list-toolsets", "{}").await["toolsets"],
        json!([])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn set_10_a_toolset_goes_out_and_in_again_with_what_it_was_made_with() {
    let git = git();
    let gateway = with_toolsets(&git).await;
    let named = json!({ "name": "pushing" });
    let before = gateway.operate("toolsets/show", named.clone()).await;
    let hash = before["entries"][0]["definitionHash"].as_str().expect("a hash");
    gateway.operate("toolsets/delete", named.clone()).await;
    assert!(refusal(&gateway.operate("toolsets/show", named.clone()).await).contains("no toolset"));

    let import = json!({ "name": "pushing", "tools": before["entries"] });
    gateway.operate("toolsets/save", import).await;

    assert_eq!(hash.len(), 64);
    assert_eq!(gateway.operate("toolsets/show", named).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn set_10_what_was_exported_elsewhere_is_compared_with_what_is_here() {
    let (here, there) = (
        git(),
        Fake::script()
            .tool_entry(r#"{"name":"push","inputSchema":{"type":"object","required":["x"]}}"#)
            .stdio(),
    );
    let (one, other) = (
        with_toolsets(&here).await,
        gateway().fake("git", &there).ready().await,
    );
    let exported = one.operate("toolsets/show", json!({ "name": "pushing" })).await;

    let import = json!({ "name": "pushing", "tools": exported["entries"] });
    other.operate("toolsets/save", import).await;
    let shown = other.operate("toolsets/show", json!({ "name": "pushing" })).await;

    assert_eq!(shown["entries"], exported["entries"]);
    assert_eq!(shown["tools"][0]["definition"], "breaking", "{shown}");
    assert!(
        shown["tools"][0]["changes"][0]
            .as_str()
            .expect("why")
            .contains("imported"),
        "{shown}"
    );
}

//! Changes that meet: with each other, with other processes, and with clients that go away.

use std::sync::Arc;

use mcpr_store::{SavedToolset, Store};
use mcpr_tests::client::Session;
use mcpr_tests::http::Request;
use mcpr_tests::{Fake, Gateway, gateway};
use serde_json::{Value, json};

use crate::agents::{complaint, others, structured, until, use_tool};
use crate::gate::Gate;

const FEW: &str = r#"{"name":"few","tools":[{"namespacedName":"git.status"}]}"#;
const MORE: &str = r#"{"name":"few","tools":[{"namespacedName":"git.*"}]}"#;
const NAMED: &str = r#"{"name":"few"}"#;

struct Stage {
    gateway: Gateway,
    gate: Gate,
    _git: Fake,
}

/// A gateway whose store has a gate before an operation.
async fn stage(operation: &'static str) -> Stage {
    let (git, gate) = (
        Fake::script().tool("status").tool("push").stdio(),
        Gate::before(operation),
    );
    let builder = gateway().with_builtins().hook(gate.hook());
    Stage {
        gateway: builder.fake("git", &git).ready().await,
        gate,
        _git: git,
    }
}

impl Stage {
    /// Calls something that gets to the closed gate, lets something else go on until it waits too (or is done),
    /// and opens the gate.
    async fn meet(
        &self,
        first: impl Future<Output = Value>,
        second: impl Future<Output = Value>,
    ) -> [Value; 2] {
        self.gate.close();
        let rest = async {
            self.gate.waited_at().await;
            let mut second = Box::pin(second);
            let early = tokio::select! {
                early = &mut second => Some(early),
                () = self.meanwhile() => None,
            };
            self.gate.open();
            match early {
                Some(early) => early,
                None => second.await,
            }
        };
        tokio::join!(first, rest).into()
    }

    /// As long as a few requests take.
    async fn meanwhile(&self) {
        for _ in 0..20 {
            self.gateway.client().await.tools().await;
        }
    }
}

/// What another process writes with.
async fn another_process(gateway: &Gateway) -> Arc<dyn Store> {
    mcpr_store::open(gateway.home().join("mcpr.db"))
        .await
        .expect("the database opens twice")
}

fn toolset_of_operator(name: &str, entry: &str) -> SavedToolset {
    SavedToolset {
        owner: mcpr_store::OPERATOR.into(),
        name: name.into(),
        description: None,
        tools: vec![entry.into()],
        pins: Default::default(),
        created: mcpr_auth::Timestamp::now(),
        changed: mcpr_auth::Timestamp::now(),
    }
}

async fn named(agent: &Session) -> Vec<String> {
    let listed = use_tool(agent, "list-toolsets", "{}").await;
    let toolsets = listed["toolsets"].as_array().expect("a list").iter();
    toolsets
        .map(|toolset| toolset["name"].as_str().expect("a name").to_owned())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn set_06_a_toolset_that_is_changed_while_it_is_equipped_is_seen_as_it_became() {
    let stage = stage("put_equip").await;
    let (agent, colleague) = (stage.gateway.client().await, stage.gateway.client().await);
    use_tool(&agent, "build-toolset", FEW).await;

    let both = (
        agent.call("equip-toolset", NAMED),
        colleague.call("build-toolset", MORE),
    );
    let [equipped, built] = stage.meet(both.0, both.1).await;

    structured(&equipped);
    structured(&built);
    assert_eq!(others(&agent).await, ["git_status", "git_push"]);
    let kept = another_process(&stage.gateway)
        .await
        .toolsets()
        .await
        .expect("toolsets");
    assert_eq!(kept[0].tools, ["git.*"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn set_06_a_toolset_that_is_being_equipped_is_not_deleted() {
    let stage = stage("put_equip").await;
    let (agent, colleague) = (stage.gateway.client().await, stage.gateway.client().await);
    use_tool(&agent, "build-toolset", FEW).await;

    let both = (
        agent.call("equip-toolset", NAMED),
        colleague.call("delete-toolset", NAMED),
    );
    let [equipped, deleted] = stage.meet(both.0, both.1).await;

    structured(&equipped);
    assert!(complaint(&deleted).contains("equipped"), "{deleted}");
    assert_eq!(
        (others(&agent).await, named(&agent).await),
        (vec!["git_status".to_owned()], vec!["few".to_owned()])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn set_06_a_toolset_that_is_just_being_deleted_is_not_equipped() {
    let stage = stage("delete_toolset").await;
    let (agent, colleague) = (stage.gateway.client().await, stage.gateway.client().await);
    use_tool(&agent, "build-toolset", FEW).await;

    let both = (
        agent.call("delete-toolset", NAMED),
        colleague.call("equip-toolset", NAMED),
    );
    let [deleted, equipped] = stage.meet(both.0, both.1).await;

    structured(&deleted);
    assert!(complaint(&equipped).contains("deleted"), "{equipped}");
    assert_eq!(use_tool(&agent, "get-active-toolset", "{}").await["by"], "all");
}

#[tokio::test(flavor = "multi_thread")]
async fn set_06_what_is_built_while_another_process_is_followed_is_not_forgotten() {
    let stage = stage("equips").await;
    let agent = stage.gateway.client().await;
    let other = another_process(&stage.gateway).await;

    let written = async {
        let toolset = toolset_of_operator("theirs", "git.push");
        other
            .put_toolset(toolset, Vec::new())
            .await
            .expect("it is stored");
        Value::Null
    };
    let [_, built] = stage.meet(written, agent.call("build-toolset", FEW)).await;

    structured(&built);
    until(async || named(&agent).await.contains(&"theirs".to_owned())).await;
    assert_eq!(named(&agent).await, ["few", "theirs"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn ctl_03_what_an_operator_changes_is_done_to_its_end_whether_he_waits_or_not() {
    let stage = stage("put_project").await;
    let token = stage.gateway.another_token(&["admin"]).await;
    let body = r#"{"name":"web","servers":["git"]}"#;
    stage.gate.close();
    let request = Request::post("/admin/v1/projects/save", body).token(&token);
    let connection = request.start(stage.gateway.port).await;
    stage.gate.waited_at().await;

    drop(connection);
    stage.meanwhile().await;
    stage.gate.open();

    let projects = async || stage.gateway.operate("projects/list", json!({})).await["projects"].clone();
    until(async || projects().await != json!([])).await;
    assert_eq!(projects().await[0]["members"], json!(["git"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn set_06_what_a_client_changes_is_done_to_its_end_whether_it_waits_or_not() {
    let stage = stage("put_toolset").await;
    let (agent, colleague) = (stage.gateway.client().await, stage.gateway.client().await);
    stage.gate.close();
    let call = agent.text(
        "tools/call",
        &format!(r#"{{"name":"build-toolset","arguments":{FEW}}}"#),
    );
    let connection = agent.post(&call).start(agent.port).await;
    stage.gate.waited_at().await;

    drop(connection);
    stage.meanwhile().await;
    stage.gate.open();

    until(async || !named(&colleague).await.is_empty()).await;
    use_tool(&colleague, "equip-toolset", NAMED).await;
    assert_eq!(others(&colleague).await, ["git_status"]);
}

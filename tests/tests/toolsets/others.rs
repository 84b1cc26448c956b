//! Another process changes the database, as `mcpr-ctl` does that does not find the gateway: the gateway follows.

use std::sync::Arc;

use mcpr_auth::Timestamp;
use mcpr_store::{OPERATOR, SavedEquip, SavedProject, SavedToolset, Store, Switch};
use mcpr_tests::client::Session;
use mcpr_tests::http::Connection;
use mcpr_tests::{Fake, Gateway, gateway};
use serde_json::json;

use crate::agents::{hears_of_tools, others, soon, until, use_tool};

struct Stage {
    gateway: Gateway,
    agent: Session,
    heard: Connection,
    other: Arc<dyn Store>,
    _git: Fake,
}

async fn stage() -> Stage {
    let git = Fake::script().tool("status").tool("push").stdio();
    let gateway = gateway().with_builtins().fake("git", &git).ready().await;
    let agent = gateway.client().await;
    let other = mcpr_store::open(gateway.home().join("mcpr.db")).await;
    Stage {
        heard: agent.stream().await,
        agent,
        gateway,
        other: other.expect("the database opens twice"),
        _git: git,
    }
}

impl Stage {
    async fn writes_toolset(&self, name: &str, entry: &str) {
        let toolset = SavedToolset {
            owner: OPERATOR.into(),
            name: name.into(),
            description: None,
            tools: vec![entry.into()],
            pins: Default::default(),
            created: Timestamp::now(),
            changed: Timestamp::now(),
        };
        self.other
            .put_toolset(toolset, Vec::new())
            .await
            .expect("it is stored");
    }

    async fn equips(&self, principal: &str, toolset: &str) {
        let equip = SavedEquip {
            principal: principal.into(),
            owner: OPERATOR.into(),
            toolset: toolset.into(),
            at: Timestamp::now(),
        };
        self.other.put_equip(equip).await.expect("it is stored");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ctl_02_what_another_process_equips_is_seen_and_told() {
    let mut stage = stage().await;
    stage.writes_toolset("few", "git.status").await;
    let own = use_tool(&stage.agent, "get-active-toolset", "{}").await;
    let principal = own["principal"].as_str().expect("a principal").to_owned();

    stage.equips(&principal, "few").await;
    hears_of_tools(&mut stage.heard).await;
    assert_eq!(others(&stage.agent).await, ["git_status"]);

    stage.writes_toolset("few", "git.push").await;
    hears_of_tools(&mut stage.heard).await;
    assert_eq!(others(&stage.agent).await, ["git_push"]);

    stage.other.delete_equip(&principal).await.expect("it is deleted");
    stage.equips("default", "few").await;
    stage.writes_toolset("few", "git.status").await;
    while others(&stage.agent).await != ["git_status"] {
        hears_of_tools(&mut stage.heard).await;
    }
    assert_eq!(
        use_tool(&stage.agent, "get-active-toolset", "{}").await["by"],
        "default"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn ctl_02_what_another_process_switches_is_done() {
    let mut stage = stage().await;
    let off = |tool: Option<&str>| Switch {
        server: "git".into(),
        tool: tool.map(str::to_owned),
        enabled: Some(false),
        ..Switch::default()
    };

    stage
        .other
        .put_switch(off(Some("push")))
        .await
        .expect("it is stored");
    hears_of_tools(&mut stage.heard).await;
    assert_eq!(others(&stage.agent).await, ["git_status"]);

    stage.other.put_switch(off(None)).await.expect("it is stored");
    hears_of_tools(&mut stage.heard).await;
    assert!(others(&stage.agent).await.is_empty());
    stage.gateway.await_state("git", "disabled").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn prj_01_a_project_of_another_process_is_there() {
    let stage = stage().await;
    let project = SavedProject {
        name: "nothing".into(),
        description: None,
        servers: Vec::new(),
        tags: Vec::new(),
        toolset: None,
        created: Timestamp::now(),
    };
    stage.other.put_project(project).await.expect("it is stored");

    let projects = async || stage.gateway.operate("projects/list", json!({})).await["projects"].clone();
    until(async || projects().await != json!([])).await;
    assert_eq!(projects().await[0]["name"], "nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_02_a_token_that_another_process_revokes_is_refused_and_its_stream_ends() {
    let mut stage = stage().await;
    let tokens = stage.other.tokens().await.expect("the tokens");

    let revoked = stage
        .other
        .revoke_token(tokens[0].0.id.as_str(), Timestamp::now())
        .await;

    revoked.expect("it is revoked");
    assert_eq!(soon(stage.heard.event()).await, None, "its stream ends");
    assert_eq!(stage.agent.request("tools/list", "{}").await.status(), 401);
}

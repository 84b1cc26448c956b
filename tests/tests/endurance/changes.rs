//! A configuration file that changes while everything runs (B46, CFG-05).

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use mcpr_tests::client::Session;
use mcpr_tests::http::Connection;
use mcpr_tests::talk::Saying;
use mcpr_tests::{Brood, Fake, Program, extent, figure, gateway, wait_for};
use serde_json::{Value, json};

use crate::text;

/// How long a change may take to have its effect.
const SOON: Duration = Duration::from_secs(20);

/// A gateway with a server that has a call under way, and one that changes.
struct Stage {
    brood: Brood,
    kept: Fake,
    changing: Fake,
    gateway: Program,
}

/// A call that ends when its client answers what the server has asked.
struct UnderWay {
    client: Session,
    connection: Connection,
    question: String,
}

/// How an editor saves.
#[derive(Clone, Copy, Debug)]
enum Saves {
    /// Over the old text.
    InPlace,
    /// Under another name, which then takes the place of the old file.
    ByRename,
    /// Half of it first.
    InTwoSteps,
}

impl Stage {
    async fn new() -> Self {
        let ask = json!({ "on": ["tools/call:ask"], "rounds": [[{ "method": "elicitation/create", "params": {
            "message": "Go on?", "requestedSchema": { "type": "object", "properties": {} } } }]] });
        let brood = Brood::new();
        let kept = Fake::script().tool("ask").interview(ask).stdio();
        let changing = Fake::script().with(r#"{"env_tool": true}"#).stdio();
        let gateway = gateway()
            .server("kept", brood.mark(kept.entry()))
            .server("changing", entry(&brood, &changing, 0));
        let gateway = gateway.program(&brood).await;
        gateway.run().await;
        Self {
            brood,
            kept,
            changing,
            gateway,
        }
    }

    /// The text of a version of the file; an odd one has a third server.
    fn version(&self, version: usize) -> String {
        let mut servers = vec![
            ("kept", self.brood.mark(self.kept.entry())),
            ("changing", entry(&self.brood, &self.changing, version)),
        ];
        if version % 2 == 1 {
            servers.push(("extra", self.brood.mark(self.changing.entry())));
        }
        self.gateway
            .configuration(&servers, &json!({ "builtins": false }))
    }

    fn save(&self, text: &str, how: Saves) {
        let file = self.gateway.file();
        match how {
            Saves::InPlace => fs::write(file, text).expect("the file can be written"),
            Saves::ByRename => {
                let other: PathBuf = file.with_extension("swp");
                fs::write(&other, text).expect("the file can be written");
                fs::rename(other, file).expect("the file can be renamed");
            }
            Saves::InTwoSteps => {
                fs::write(&file, &text[..text.len() / 2]).expect("the file can be written");
                fs::write(file, text).expect("the file can be written");
            }
        }
    }

    /// The version that the changing server runs with.
    async fn running_version(&self) -> Option<usize> {
        let told = self.gateway.stateless().call("changing_env", "{}").await;
        let variables: Value = serde_json::from_str(told["result"]["content"][0]["text"].as_str()?).ok()?;
        variables["VERSION"].as_str()?.parse().ok()
    }

    /// Waits until the changing server runs with this version.
    async fn runs(&self, version: usize) {
        let runs = async || (self.running_version().await == Some(version)).then_some(());
        wait_for(SOON, &format!("version {version}"), runs).await;
    }

    async fn call(&self) -> UnderWay {
        let able = json!({ "elicitation": {} });
        let port = self.gateway.port;
        let client = Session::open_with(port, &self.gateway.token, "2025-11-25", &able).await;
        let (_, mut connection) = client
            .begin("tools/call", r#"{"name":"kept_ask","arguments":{}}"#)
            .await;
        let asked = connection
            .message(|message| message["method"] == "elicitation/create")
            .await;
        let question = asked.expect("a question")["id"].to_string();
        UnderWay {
            client,
            connection,
            question,
        }
    }
}

impl UnderWay {
    /// Lets it end, and gives its answer.
    async fn finish(mut self) -> Value {
        let yes = Saying::Result(r#"{"action":"accept","content":{}}"#.to_owned());
        self.client.say(&self.question, yes).await;
        let answer = self
            .connection
            .message(|message| message["method"].is_null())
            .await;
        answer.expect("an answer")
    }
}

impl Saves {
    fn nth(n: usize) -> Self {
        [Self::InPlace, Self::ByRename, Self::InTwoSteps][n % 3]
    }
}

fn entry(brood: &Brood, fake: &Fake, version: usize) -> Value {
    let mut entry = brood.mark(fake.entry());
    entry["env"]["VERSION"] = json!(version.to_string());
    entry
}

#[tokio::test(flavor = "multi_thread")]
async fn b46_a_change_touches_what_differs_and_no_call_session_or_process_beside_it() {
    let stage = Stage::new().await;
    let gateway = &stage.gateway;
    let before = [
        gateway.ready("kept").await["pid"].clone(),
        gateway.ready("changing").await["pid"].clone(),
    ];
    let under_way = stage.call().await;
    let mut heard = under_way.client.stream().await;

    stage.save(&stage.version(1), Saves::InPlace);
    gateway.ready("extra").await;
    let changed = heard
        .message(|message| message["method"] == "notifications/tools/list_changed")
        .await;
    assert!(changed.is_some());
    assert!(
        under_way
            .client
            .tool_names()
            .await
            .contains(&"extra_env".to_owned())
    );
    stage.save(r#"{"mcpServers": {"kept": "#, Saves::InPlace);
    gateway.says("the configuration was not taken over").await;
    stage.runs(1).await;
    stage.save(&stage.version(2), Saves::ByRename);
    stage.runs(2).await;

    let after = [
        gateway.ready("kept").await["pid"].clone(),
        gateway.ready("changing").await["pid"].clone(),
    ];
    assert_eq!(after[0], before[0]);
    assert_ne!(after[1], before[1]);
    assert!(text(&under_way.finish().await).contains("accept"));
}

#[tokio::test(flavor = "multi_thread")]
async fn b46_cfg_05_fifty_quick_changes_end_in_the_state_of_the_last() {
    let changes = extent(50, 500);
    let stage = Stage::new().await;
    let gateway = &stage.gateway;
    let before = gateway.ready("kept").await["pid"].clone();
    let under_way = stage.call().await;

    for version in 1..=changes {
        stage.save(&stage.version(version), Saves::nth(version));
        if version % 5 == 1 {
            gateway.signal("HUP");
        }
        if version % 20 == 0 {
            stage.runs(version).await; // Some come while servers start, and some when they have started.
        }
    }

    stage.runs(changes).await;
    let names = |servers: &[Value]| {
        servers
            .iter()
            .map(|server| server["name"].clone())
            .collect::<Vec<_>>()
    };
    let servers = gateway
        .await_servers(|servers| servers.iter().all(|server| server["state"] == "ok"))
        .await;
    assert_eq!(names(&servers), ["kept", "changing"]);
    assert_eq!((&servers[0]["pid"], &servers[0]["starts"]), (&before, &json!(1)));
    assert!(text(&under_way.finish().await).contains("accept"));
    gateway.is_tidy(4).await; // Itself, its guardian, and two servers.
    figure(
        "quick changes of the configuration, the last of which counts",
        changes,
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn b46_a_change_while_the_gateway_starts_is_not_missed() {
    let (old, new) = (Fake::script().tool("t").stdio(), Fake::script().tool("t").stdio());
    let gateway = gateway().fake("old", &old).ready().await;

    gateway.configure(&[("new", new.entry())], &json!({}));
    let core = gateway.core.clone();
    let following = tokio::spawn(async move { core.follow_files().await });

    gateway
        .await_status(|status| status["servers"][0]["name"] == "new")
        .await;
    gateway.stop().await;
    following.await.unwrap();
}

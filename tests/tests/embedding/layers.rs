//! Code before and after each request (LOG-08).

use std::sync::Arc;

use async_trait::async_trait;
use mcpr_core::{Intent, Layer, Verdict};
use mcpr_protocol::RawJson;
use mcpr_telemetry::CallRecord;
use mcpr_tests::{Fake, gateway};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::Notify;

/// Writes down what it sees.
#[derive(Clone, Default)]
struct Audit(Arc<Mutex<Vec<String>>>);

#[async_trait]
impl Layer for Audit {
    async fn before(&self, intent: &mut Intent<'_>) -> Verdict {
        let (server, tool) = (intent.server(), intent.tool().unwrap_or_default());
        let line = format!(
            "{} before {} {server}.{tool}",
            intent.request_id(),
            intent.method()
        );
        self.0.lock().push(line);
        Verdict::Pass
    }

    fn after(&self, record: &CallRecord<'_>) {
        let line = format!(
            "{} after {} {}",
            record.request_id,
            record.method,
            record.status.name()
        );
        self.0.lock().push(line);
    }
}

/// Says this to each call of the tool of that name.
struct Says(&'static str, fn(&mut Intent<'_>) -> Verdict);

#[async_trait]
impl Layer for Says {
    async fn before(&self, intent: &mut Intent<'_>) -> Verdict {
        match intent.tool() == Some(self.0) {
            true => self.1(intent),
            false => Verdict::Pass,
        }
    }
}

/// Holds each call up until it is let go.
#[derive(Clone, Default)]
struct Holds {
    came: Arc<Notify>,
    goes: Arc<Notify>,
}

#[async_trait]
impl Layer for Holds {
    async fn before(&self, _: &mut Intent<'_>) -> Verdict {
        self.came.notify_one();
        self.goes.notified().await;
        Verdict::Pass
    }
}

fn git() -> Fake {
    Fake::script().tool("status").tool("push").stdio()
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("no text in {answer}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn log_08_a_layer_sees_each_call_before_and_after_and_lists_after() {
    let (git, audit) = (git(), Audit::default());
    let gateway = gateway()
        .with_builtins()
        .fake("git", &git)
        .layer(audit.clone())
        .ready()
        .await;
    let client = gateway.client().await;
    audit.0.lock().clear();

    client.call("git_status", "{}").await;
    client.call("list-toolsets", "{}").await;
    client.call("nothing", "{}").await;
    client.tools().await;

    let seen = audit.0.lock().clone();
    let told: Vec<_> = seen.iter().filter_map(|line| line.split_once(' ')).collect();
    let what: Vec<_> = told.iter().map(|(_, what)| *what).collect();
    assert_eq!(
        what,
        [
            "before tools/call git.status",
            "after tools/call ok",
            "before tools/call mcpr.list-toolsets",
            "after tools/call ok",
            "after tools/call error",
            "after tools/list ok",
        ]
    );
    assert_eq!(
        (told[0].0, told[2].0),
        (told[1].0, told[3].0),
        "one number for both"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn log_08_a_layer_changes_arguments_and_all_else_stays() {
    let git = git();
    let change = Says("status", |intent| {
        assert_eq!(
            intent.arguments().expect("arguments").as_str(),
            r#"{"b":1e1,"a":0}"#
        );
        intent.set_arguments(RawJson::from_static(r#"{"a":9007199254740993}"#));
        Verdict::Pass
    });
    let gateway = gateway().fake("git", &git).layer(change).ready().await;
    let client = gateway.client().await;
    let params = r#"{"name":"git_status","arguments":{"b":1e1,"a":0},"x_future":1}"#;

    let answer = client.request("tools/call", params).await.message();

    assert_eq!(text(&answer), r#"{"a":9007199254740993}"#);
    let received = git.received_of("tools/call")[0].text.clone();
    assert!(received.contains(r#""x_future":1"#), "{received}");
}

#[tokio::test(flavor = "multi_thread")]
async fn log_08_what_a_layer_denies_or_answers_never_reaches_the_server() {
    let git = git();
    let gateway = gateway()
        .fake("git", &git)
        .layer(Says("push", |_| Verdict::Deny("no pushes on Fridays".into())))
        .layer(Says("status", |_| {
            Verdict::Answer(RawJson::from_static(
                r#"{"content":[{"type":"text","text":"from the layer"}]}"#,
            ))
        }))
        .layer(Says("push", |_| unreachable!("what is denied goes no further")))
        .ready()
        .await;

    let denied = gateway.client().await.call("git_push", "{}").await;
    assert_eq!(denied["error"]["message"], "denied: no pushes on Fridays");
    let data = &denied["error"]["data"];
    assert_eq!(
        (&data["reason"], &data["retry"]),
        (&json!("denied"), &json!("no"))
    );
    let answered = gateway.stateless().call("git_status", "{}").await;
    assert_eq!(text(&answered), "from the layer");
    assert_eq!(
        answered["result"]["resultType"], "complete",
        "in the words of the client's revision"
    );
    assert!(git.received_of("tools/call").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_07_a_call_that_a_layer_held_up_is_not_made_if_its_tool_was_denied_meanwhile() {
    let (git, holds) = (git(), Holds::default());
    let gateway = gateway().fake("git", &git).layer(holds.clone()).ready().await;
    let client = gateway.client().await;
    let deny = async {
        holds.came.notified().await;
        let mut entry = git.entry();
        entry["mcpr"] = json!({ "tools": { "deny": ["push"] } });
        gateway.configure(&[("git", entry)], &json!({ "builtins": false }));
        gateway.operate("reload", json!({})).await;
        holds.goes.notify_one();
    };

    let (answer, ()) = tokio::join!(client.call("git_push", "{}"), deny);

    let message = answer["error"]["message"].as_str().unwrap_or_default();
    assert_eq!(message, "Unknown tool: git_push", "{answer}");
    assert!(git.received_of("tools/call").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn prj_04_a_layer_is_told_the_id_of_the_token_and_the_project() {
    let (git, seen) = (git(), Arc::new(Mutex::new(String::new())));
    struct Meta(Arc<Mutex<String>>);
    #[async_trait]
    impl Layer for Meta {
        async fn before(&self, intent: &mut Intent<'_>) -> Verdict {
            *self.0.lock() = intent.meta().as_str().to_owned();
            Verdict::Pass
        }
    }
    let projects = json!({ "web": { "servers": ["git"] } });
    let gateway = gateway()
        .fake("git", &git)
        .own("projects", projects)
        .layer(Meta(seen.clone()))
        .ready()
        .await;
    let client = gateway.client().await;
    let call = client.text("tools/call", r#"{"name":"git_status"}"#);

    client
        .post(&call)
        .header("x-mcpr-project", "web")
        .send(gateway.port)
        .await;

    let meta: Value = serde_json::from_str(&seen.lock()).expect("an object");
    assert_eq!(meta["projectId"], "web");
    let token = meta["token"].as_str().expect("an id");
    assert!(
        token.starts_with("tk_") && !gateway.token.contains(token),
        "{token}"
    );
    assert!(
        !git.received_of("tools/call")[0].text.contains("web"),
        "none of it leaves"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn log_08_a_layer_that_breaks_fails_its_own_request_and_no_other() {
    struct Broken;
    #[async_trait]
    impl Layer for Broken {
        async fn before(&self, intent: &mut Intent<'_>) -> Verdict {
            assert!(intent.tool() != Some("push"), "a mistake before");
            Verdict::Pass
        }

        fn after(&self, _: &CallRecord<'_>) {
            panic!("a mistake after");
        }
    }
    let (git, audit) = (git(), Audit::default());
    let gateway = gateway()
        .fake("git", &git)
        .layer(Broken)
        .layer(audit.clone())
        .ready()
        .await;
    let client = gateway.client().await;
    audit.0.lock().clear();

    let broken = client.request("tools/call", r#"{"name":"git_push"}"#).await;
    assert_eq!(broken.head.status, 500);
    assert_eq!(text(&client.call("git_status", "{}").await), "{}");

    let seen = audit.0.lock().clone();
    let told: Vec<_> = seen
        .iter()
        .filter_map(|line| Some(line.split_once(' ')?.1))
        .collect();
    assert_eq!(
        told,
        [
            "after tools/call error",
            "before tools/call git.status",
            "after tools/call ok"
        ]
    );
}

/// Watches, and would deny everything if it were asked.
#[derive(Clone, Default)]
struct Watches(Arc<Mutex<Vec<Value>>>);

#[async_trait]
impl Layer for Watches {
    async fn before(&self, _: &mut Intent<'_>) -> Verdict {
        Verdict::Deny("it was asked".into())
    }

    fn after(&self, record: &CallRecord<'_>) {
        let params = record.params.map(|params| params.reveal().to_owned());
        self.0.lock().push(json!([record.tool, record.project, params]));
    }

    fn only_watches(&self) -> bool {
        true
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn log_08_a_layer_that_only_watches_holds_up_nothing_and_sees_what_was_asked() {
    let (git, watches) = (git(), Watches::default());
    let gateway = gateway().fake("git", &git).layer(watches.clone()).ready().await;

    let answer = gateway.client().await.call("git_push", r#"{"to":"main"}"#).await;

    assert!(answer["result"].is_object(), "{answer}");
    let seen = watches.0.lock().last().cloned().expect("it was told");
    assert_eq!((&seen[0], &seen[1]), (&json!("push"), &Value::Null));
    assert!(
        seen[2]
            .as_str()
            .is_some_and(|params| params.contains(r#"{"to":"main"}"#)),
        "{seen}"
    );
}

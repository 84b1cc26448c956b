//! What is counted (LOG-07).

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use mcpr_tests::http::Request;
use mcpr_tests::{Fake, gateway, wait_for};
use serde_json::{Value, json};

/// The lines of a metric, without those of buckets.
fn lines<'t>(text: &'t str, metric: &str) -> Vec<&'t str> {
    let of_metric = |line: &&str| line.starts_with(metric) && !line.contains("_bucket");
    text.lines().filter(of_metric).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn log_07_metrics_tell_of_calls_servers_and_backends_to_operators_only() {
    let git = Fake::script().tool("status").stdio();
    let gateway = gateway()
        .fake_with("git", &git, json!({ "replicas": 2 }))
        .server("gone", json!({ "command": "/no/such/bin" }))
        .start()
        .await;
    gateway
        .await_server("git", |server| server["starts"] == 2 && server["state"] == "ok")
        .await;
    gateway.await_state("gone", "down").await;
    let client = gateway.client().await;
    client.call("git_status", "{}").await;
    client.request("made/up", "{}").await;
    let asked = async |token: &str| Request::get("/metrics").token(token).send(gateway.port).await;

    assert_eq!(
        asked(&gateway.token).await.head.status,
        403,
        "it needs the scope admin"
    );
    assert_eq!(asked("mcpr_pat_wrong").await.head.status, 401);
    let told = asked(&gateway.another_token(&["admin"]).await).await;

    assert_eq!(told.head.status, 200);
    assert!(
        told.head
            .header("content-type")
            .unwrap()
            .starts_with("application/openmetrics-text")
    );
    let text = String::from_utf8(told.body).expect("text");
    let count = lines(&text, "mcp_server_operation_duration_seconds_count");
    let call = r#"{mcp_method_name="tools/call",mcpr_server="git",gen_ai_tool_name="status",error_type="",network_transport="tcp",mcp_protocol_version="2025-11-25"} 1"#;
    assert!(count.iter().any(|line| line.ends_with(call)), "{count:#?}");
    assert!(count.iter().any(|line| line.contains(r#""_OTHER""#)) && !text.contains("made/up"));
    assert_eq!(
        lines(&text, "mcpr_upstream_up"),
        [
            r#"mcpr_upstream_up{server="git"} 1.0"#,
            r#"mcpr_upstream_up{server="gone"} 0.0"#
        ]
    );
    let ready = r#"mcpr_upstream_replicas{server="git",state="ready"} 2.0"#;
    assert!(lines(&text, "mcpr_upstream_replicas").contains(&ready), "{text}");
    assert_eq!(
        lines(&text, "mcpr_auth_failures_total"),
        ["mcpr_auth_failures_total 1"]
    );
    assert!(text.ends_with("# EOF\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn log_07_waits_what_servers_take_and_sessions_that_have_ended_are_told() {
    let git = Fake::script().tool("status").delay("tools/call", 0.3).stdio();
    let gateway = gateway()
        .fake_with("git", &git, json!({ "maxConcurrency": 1 }))
        .ready()
        .await;
    let (client, other) = (gateway.client().await, gateway.client_of("2025-06-18").await);
    tokio::join!(client.call("git_status", "{}"), other.call("git_status", "{}"));
    let end = other.in_session(Request::new("DELETE", "/mcp"));
    assert_eq!(end.send(gateway.port).await.status(), 204);
    gateway.operate("servers/restart", json!({ "name": "git" })).await;

    let admin = gateway.another_token(&["admin"]).await;
    let text = wait_for(Duration::from_secs(10), "the end of a connection", async || {
        let told = Request::get("/metrics")
            .token(&admin)
            .send(gateway.port)
            .await
            .text();
        told.contains("mcp_client_session_duration_seconds_count{")
            .then_some(told)
    })
    .await;

    let wait = lines(&text, r#"mcpr_queue_wait_seconds_sum{server="git"} "#)[0];
    let seconds: f64 = wait.rsplit_once(' ').unwrap().1.parse().unwrap();
    assert!(seconds > 0.1, "{wait}");
    for line in [
        r#"mcpr_queue_wait_seconds_count{server="git"} 1"#,
        r#"mcp_server_session_duration_seconds_count{network_transport="tcp",mcp_protocol_version="2025-06-18"} 1"#,
        r#"mcp_client_session_duration_seconds_count{mcpr_server="git",mcp_protocol_version="2025-11-25"} 1"#,
        r#"mcp_client_operation_duration_seconds_count{mcp_method_name="tools/call",mcpr_server="git",gen_ai_tool_name="status",error_type=""} 2"#,
    ] {
        assert_eq!(lines(&text, line), [line], "{text}");
    }
}

/// What a dashboard asks for.
#[derive(Debug, Default)]
struct Asked {
    metrics: BTreeSet<String>,
    labels: BTreeSet<String>,
}

impl Asked {
    /// What the dashboard that is shipped asks for.
    fn of_dashboard() -> Self {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/deploy/grafana/mcpr.json");
        let text = std::fs::read_to_string(file).expect("the dashboard is there");
        let mut asked = Self::default();
        asked.read(&serde_json::from_str(&text).expect("a dashboard is JSON"));
        asked
    }

    fn read(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.read(item)),
            Value::Object(members) => members.iter().for_each(|(name, value)| match value.as_str() {
                Some(text) if name == "expr" => self.read_expression(text),
                _ => self.read(value),
            }),
            _ => {}
        }
    }

    fn read_expression(&mut self, text: &str) {
        let mut rest = text;
        while let Some(at) = rest.find(|c: char| c == '{' || c.is_ascii_alphabetic()) {
            rest = match labels(&rest[at..]) {
                Some((labels, after)) => {
                    let names = labels.split(',').map(|label| word(label.trim()).0);
                    self.labels.extend(names.map(str::to_owned));
                    after
                }
                None => {
                    let (word, after) = word(&rest[at..]);
                    self.metrics
                        .extend(word.starts_with("mcp").then(|| word.to_owned()));
                    after
                }
            };
        }
    }
}

/// The labels that this begins with, in braces or in parentheses behind `by`, and what comes after them.
fn labels(text: &str) -> Option<(&str, &str)> {
    let selected = text.strip_prefix('{').and_then(|list| list.split_once('}'));
    selected.or_else(|| text.strip_prefix("by (")?.split_once(')'))
}

/// The word that this begins with, and what comes after it.
fn word(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| c != '_' && !c.is_ascii_alphanumeric());
    text.split_at(end.unwrap_or(text.len()))
}

#[tokio::test(flavor = "multi_thread")]
async fn log_07_the_dashboard_asks_for_what_a_gateway_tells() {
    let asked = Asked::of_dashboard();
    // It dies at each call, which is then made again, because that does no harm.
    let tool = r#"{"name":"t","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}"#;
    let fake = Fake::script()
        .tool_entry(tool)
        .with(r#"{"exit_on": "tools/call"}"#)
        .stdio();
    let gateway = gateway().fake("git", &fake).ready().await;
    gateway.client().await.call("git_t", "{}").await;
    let slow = json!({ "name": "slow", "rate": "1/h" });
    let slow = gateway.operate("tokens/create", slow).await["secret"]
        .as_str()
        .unwrap()
        .to_owned();
    for _ in 0..2 {
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        Request::post("/mcp", ping).token(&slow).send(gateway.port).await;
    }
    let told = Request::get("/metrics").token(&gateway.another_token(&["admin"]).await);

    let told = told.send(gateway.port).await.text();

    assert!(asked.metrics.len() > 7 && asked.labels.len() > 4, "{asked:?}");
    for metric in &asked.metrics {
        let is = |line: &str| {
            line.strip_prefix(&**metric)
                .is_some_and(|rest| rest.starts_with(['{', ' ']))
        };
        assert!(told.lines().any(is), "{metric} is not in {told}");
    }
    for label in &asked.labels {
        assert!(told.contains(&format!("{label}=\"")), "{label} is not in {told}");
    }
}

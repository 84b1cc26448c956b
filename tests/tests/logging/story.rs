//! One call, told four times: log line, pretty line, history row and metrics tell the same story.

use std::time::Duration;

use mcpr_core::Layer;
use mcpr_telemetry::{CallLog, CallRecord, Capture, Format, Level};
use mcpr_tests::http::Request;
use mcpr_tests::{Gateway, gateway, wait_until};
use serde_json::{Value, json};

/// Tells another log of each request.
struct AlsoTold(CallLog);

impl Layer for AlsoTold {
    fn after(&self, record: &CallRecord<'_>) {
        self.0.record(record);
    }

    fn only_watches(&self) -> bool {
        true
    }
}

/// A gateway whose calls are told as JSON and pretty, and a server with a tool that fails.
async fn stage() -> (Gateway, [Capture; 2]) {
    let logs = [Format::Json, Format::Pretty].map(|format| Capture::new(Level::Info, format));
    let server = server().stdio();
    let gateway = gateway()
        .fake("git", &server)
        .own("projects", json!({ "web": { "servers": ["git"] } }))
        .calls(logs[0].calls())
        .layer(AlsoTold(logs[1].calls()))
        .ready()
        .await;
    (gateway, logs)
}

fn server() -> mcpr_tests::Script {
    let error = json!({ "code": -32001, "message": "the disk is full" });
    mcpr_tests::Fake::script()
        .tool("push")
        .error("tools/call:push", error)
}

/// The line about a call of a tool.
async fn line(log: &Capture) -> String {
    let found = || log.lines().into_iter().find(|line| line.contains("tools/call"));
    wait_until(Duration::from_secs(10), "a line about the call", found).await
}

/// The bucket that counted the call last, and how many there were.
async fn counted(gateway: &Gateway) -> String {
    let token = gateway.another_token(&["admin"]).await;
    let metrics = Request::get("/metrics").token(&token).send(gateway.port).await;
    let metrics = String::from_utf8(metrics.body).unwrap();
    let call = r#"mcp_method_name="tools/call""#;
    let told = |line: &&str| line.contains(call) && (line.contains(" # ") || line.contains("_count"));
    metrics.lines().filter(told).collect::<Vec<_>>().join("\n")
}

/// What differs from run to run has a name in its place.
fn filters(request: u64, session: &str) -> insta::Settings {
    let times = [
        (r#""timestamp":"[^"]+""#, r#""timestamp":"TIME""#),
        (r"^\d{4}-\S+Z", "TIME"),
        (r#""duration":[0-9.]+"#, r#""duration":MILLIS"#),
        (r"duration=[0-9.]+", "duration=MILLIS"),
        (r#""at": "[^"]+""#, r#""at": "TIME""#),
        (r#""id": "h_[^"]+""#, r#""id": "ID""#),
        (r#""durationUs": \d+"#, r#""durationUs": MICROS"#),
        (r#""principal"(: ?)"[^"]+""#, r#""principal"$1"TOKEN""#),
        (r"principal=\S+", "principal=TOKEN"),
        (r#"le="[^"]+""#, r#"le="SECONDS""#),
        (r"(# \{[^}]*\} )[0-9.]+", "${1}SECONDS"),
        (session, "SESSION"),
    ];
    let mut settings = insta::Settings::clone_current();
    times
        .into_iter()
        .for_each(|(from, to)| settings.add_filter(from, to));
    let number = format!(r#"(request_?[iI]d"?[=:] ?"?){request}\b"#);
    settings.add_filter(&number, "${1}NUMBER");
    settings
}

#[tokio::test(flavor = "multi_thread")]
async fn log_03_log_history_and_metrics_tell_the_same_story_of_a_call_under_one_id() {
    let (gateway, [json, pretty]) = stage().await;

    let client = gateway.client().await;
    let answer = client.call("git_push", r#"{"branch":"main"}"#).await;

    assert_eq!(answer["error"]["code"], -32001, "{answer}");
    let (json, pretty) = (line(&json).await, line(&pretty).await);
    let row = gateway.operate("history/list", json!({})).await["calls"][0].clone();
    let metrics = counted(&gateway).await;
    let told: Value = serde_json::from_str(&json).unwrap();
    let request = told["requestId"].as_u64().unwrap();
    assert!(pretty.contains(&format!("requestId={request} ")), "{pretty}");
    assert_eq!(row["requestId"], request.to_string());
    let exemplar = format!(r#"# {{request_id="{request}"}}"#);
    assert!(metrics.contains(&exemplar), "{metrics}");
    filters(request, told["correlationId"].as_str().unwrap()).bind(|| {
        insta::assert_snapshot!("json", json);
        insta::assert_snapshot!("pretty", pretty);
        insta::assert_snapshot!("history", format!("{row:#}"));
        insta::assert_snapshot!("metrics", metrics);
    });
}

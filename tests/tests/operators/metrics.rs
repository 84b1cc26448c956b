//! What is counted (LOG-07).

use mcpr_tests::http::Request;
use mcpr_tests::{Fake, gateway};
use serde_json::json;

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
    let call = r#"{mcp_method_name="tools/call",mcpr_server="git",gen_ai_tool_name="status",error_type="",network_transport="tcp"} 1"#;
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

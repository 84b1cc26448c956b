//! What a client may have written into spans: no more than a little, and no secrets (SEC-05, LOG-04).

use mcpr_tests::client::Session;
use mcpr_tests::gateway;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use prost::Message;
use serde_json::json;

use super::{git, of_kind, stage};
use crate::collector::{Collector, said};

/// More than the texts of one span may take together (docs/limits.md).
const SPAN_MAX: usize = 5 << 10;

/// Sends a text wherever a span tells of one.
async fn say_everywhere(client: &Session, text: &str) {
    let name = json!({ "name": text }).to_string();
    client.request("tools/call", &name).await;
    client.request("prompts/get", &name).await;
    let uri = json!({ "uri": format!("file:///{text}"), "name": text });
    client.request("resources/read", &uri.to_string()).await;
    client.request(text, "{}").await;
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let meta = json!({ "traceparent": parent, "tracestate": format!("a={text}") });
    let list = json!({ "jsonrpc": "2.0", "id": text, "method": "tools/list", "params": { "_meta": meta } });
    client.post(&list.to_string()).send(client.port).await;
}

fn names(spans: &[Span]) -> Vec<&str> {
    spans.iter().map(|span| span.name.as_str()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_what_clients_make_up_makes_no_span_large_and_names_none() {
    let git = git().stdio();
    let (gateway, collector) = stage(&git).await;
    let client = gateway.client().await;

    say_everywhere(&client, &"x".repeat(1 << 20)).await;

    let spans = collector.spans().await;
    let longest = spans.iter().map(Message::encoded_len).max();
    assert!(longest.is_some_and(|longest| longest < SPAN_MAX), "{longest:?}");
    let names = names(&spans);
    for name in [
        "tools/call",
        "prompts/get",
        "resources/read",
        "_OTHER",
        "tools/list",
    ] {
        assert!(names.contains(&name), "no {name} in {names:?}");
    }
    assert!(!names.iter().any(|name| name.contains('x')), "{names:?}");
    let call = of_kind(&spans, SpanKind::Server, "tools/call");
    let tool = said(&call.attributes, "gen_ai.tool.name").unwrap();
    assert!(tool.starts_with("xxx") && tool.ends_with("… (1048320 bytes more)"));
}

#[tokio::test(flavor = "multi_thread")]
async fn log_04_no_span_tells_a_secret() {
    let git = git().http();
    let collector = Collector::start().await;
    let mut entry = git.entry();
    entry["headers"] = json!({ "x-key": "S3CRET-of-the-entry" });
    let gateway = gateway().server("git", entry).tracer(collector.tracer.clone());
    let gateway = gateway.ready().await;
    let client = gateway.client().await;

    for secret in [
        "S3CRET-of-the-entry",
        "ghp_S3CRETS3CRETS3CRETS3CRETS3CRETS3CRET12",
    ] {
        say_everywhere(&client, secret).await;
    }

    let told = format!("{:?}", collector.spans().await);
    assert!(!told.contains("S3CRET"), "{told}");
    let marks = told.matches("[redacted]").count();
    assert!(marks >= 12, "{marks} in {told}");
}

//! The spans of a call, as a collector gets them, and its trace as the server gets it (LOG-07).

mod bounds;

use mcpr_tests::{Fake, Gateway, gateway};
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use serde_json::json;

use crate::collector::{Collector, said};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const CLIENT: &str = "b7ad6b7169203331";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A server with a tool that works, one that says it failed, and one that has an error.
fn git() -> mcpr_tests::Script {
    let error = json!({ "code": -32001, "message": "S3CRET of the server" });
    let failed = r#"{"content":[],"isError":true}"#;
    let script = Fake::script().tool("status").tool("bad").tool("broken");
    script
        .raw("tools/call:bad", failed)
        .error("tools/call:broken", error)
}

async fn stage(git: &Fake) -> (Gateway, Collector) {
    let collector = Collector::start().await;
    let gateway = gateway()
        .fake("git", git)
        .tracer(collector.tracer.clone())
        .ready()
        .await;
    (gateway, collector)
}

/// Calls a tool in the trace of a client.
async fn call(gateway: &Gateway, tool: &str, parent: Option<&str>) {
    let meta = parent.map_or_else(
        || json!({}),
        |parent| json!({ "traceparent": parent, "tracestate": "a=1" }),
    );
    let params = json!({ "name": tool, "arguments": { "key": "S3CRET of the client" }, "_meta": meta });
    gateway
        .client()
        .await
        .request("tools/call", &params.to_string())
        .await;
}

/// The `_meta` that the server got with its last call.
fn meta_at(git: &Fake) -> serde_json::Value {
    git.received_of("tools/call").last().unwrap().params()["_meta"].clone()
}

fn of_kind<'s>(spans: &'s [Span], kind: SpanKind, name: &str) -> &'s Span {
    let fits = |span: &&Span| span.kind == kind as i32 && span.name == name;
    spans
        .iter()
        .find(fits)
        .unwrap_or_else(|| panic!("no {name} in {spans:#?}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn log_07_a_call_is_a_span_in_the_clients_trace_and_its_sending_one_below() {
    let git = git().http();
    let (gateway, collector) = stage(&git).await;

    call(&gateway, "git_status", Some(&format!("00-{TRACE}-{CLIENT}-01"))).await;

    let (spans, meta) = (collector.spans().await, meta_at(&git));
    let request = of_kind(&spans, SpanKind::Server, "tools/call git_status");
    let hop = of_kind(&spans, SpanKind::Client, "tools/call status");
    assert_eq!(
        (hex(&request.trace_id), hex(&request.parent_span_id)),
        (TRACE.into(), CLIENT.into())
    );
    assert_eq!(
        (&hop.trace_id, &hop.parent_span_id),
        (&request.trace_id, &request.span_id)
    );
    assert_eq!(
        meta["traceparent"],
        format!("00-{TRACE}-{}-01", hex(&hop.span_id))
    );
    assert_eq!(meta["tracestate"], "a=1");
    assert_eq!(collector.service().as_deref(), Some("mcpr"));
    assert!(request.start_time_unix_nano <= hop.start_time_unix_nano);
    assert!(hop.end_time_unix_nano <= request.end_time_unix_nano);
}

#[tokio::test(flavor = "multi_thread")]
async fn log_07_spans_have_the_attributes_of_the_conventions() {
    let git = git().http();
    let (gateway, collector) = stage(&git).await;

    call(&gateway, "git_status", None).await;

    let spans = collector.spans().await;
    let table = |span: &Span, keys: &[&str]| -> Vec<String> {
        let value = |key: &&str| format!("{key}={}", said(&span.attributes, key).unwrap_or_default());
        keys.iter().map(value).collect()
    };
    let request = of_kind(&spans, SpanKind::Server, "tools/call git_status");
    let all = "mcp.method.name gen_ai.operation.name gen_ai.tool.name mcp.protocol.version network.transport network.protocol.name mcpr.server";
    let all: Vec<_> = all.split(' ').collect();
    let common = [
        "network.transport=tcp",
        "network.protocol.name=http",
        "mcpr.server=git",
    ];
    let of = |tool| {
        vec![
            "mcp.method.name=tools/call".to_owned(),
            "gen_ai.operation.name=execute_tool".to_owned(),
            format!("gen_ai.tool.name={tool}"),
            "mcp.protocol.version=2025-11-25".to_owned(),
        ]
    };
    assert_eq!(
        table(request, &all),
        [of("git_status"), common.map(String::from).to_vec()].concat()
    );
    assert!(said(&request.attributes, "jsonrpc.request.id").is_some_and(|id| !id.is_empty()));
    assert!(said(&request.attributes, "mcpr.request.id").is_some_and(|id| id.parse::<u64>().is_ok()));
    assert_eq!(
        said(&request.attributes, "mcp.session.id").map(|id| id.len()),
        Some(8),
        "never the whole id"
    );
    let hop = of_kind(&spans, SpanKind::Client, "tools/call status");
    assert_eq!(
        said(&hop.attributes, "server.address").as_deref(),
        Some("127.0.0.1")
    );
    assert_eq!(said(&hop.attributes, "server.port"), Some(git.port().to_string()));
}

#[tokio::test(flavor = "multi_thread")]
async fn log_07_what_went_wrong_is_the_type_of_an_error_and_nobodys_words_are_told() {
    let git = git().stdio();
    let (gateway, collector) = stage(&git).await;

    for tool in ["git_status", "git_bad", "git_broken", "git_nothing"] {
        call(&gateway, tool, None).await;
    }

    let spans = collector.spans().await;
    let ended = |name: &str| {
        let span = of_kind(&spans, SpanKind::Server, name);
        let failed = span
            .status
            .as_ref()
            .is_some_and(|status| status.code == StatusCode::Error as i32);
        (
            failed,
            said(&span.attributes, "error.type"),
            said(&span.attributes, "rpc.response.status_code"),
        )
    };
    let code = |code: &str| (true, Some(code.to_owned()), Some(code.to_owned()));
    assert_eq!(ended("tools/call git_status"), (false, None, None));
    assert_eq!(
        ended("tools/call git_bad"),
        (true, Some("tool_error".into()), None)
    );
    assert_eq!(ended("tools/call git_broken"), code("-32001"));
    // What nobody has names no span.
    assert_eq!(ended("tools/call"), code("-32602"));
    assert!(!format!("{spans:?}").contains("S3CRET"));
}

#[tokio::test(flavor = "multi_thread")]
async fn log_07_a_trace_begins_here_where_the_client_has_none_and_one_that_nobody_keeps_goes_on_unkept() {
    let git = git().stdio();
    let (gateway, collector) = stage(&git).await;

    call(&gateway, "git_status", None).await;
    let begun = meta_at(&git);
    call(&gateway, "git_bad", Some(&format!("00-{TRACE}-{CLIENT}-00"))).await;
    let unkept = meta_at(&git);

    let spans = collector.spans().await;
    let hop = of_kind(&spans, SpanKind::Client, "tools/call status");
    let parent = format!("00-{}-{}-01", hex(&hop.trace_id), hex(&hop.span_id));
    assert_eq!(begun["traceparent"], parent);
    let unkept = unkept["traceparent"].as_str().unwrap();
    assert!(
        unkept.starts_with(&format!("00-{TRACE}-")) && unkept.ends_with("-00"),
        "{unkept}"
    );
    assert!(!unkept.contains(CLIENT));
    assert!(!spans.iter().any(|span| span.name.contains("bad")), "{spans:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn log_07_a_malformed_trace_is_not_followed() {
    let git = git().stdio();
    let (gateway, collector) = stage(&git).await;
    let sound = format!("00-{TRACE}-{CLIENT}-01");

    for odd in [
        "00-1-2-01".to_owned(),
        format!("00-+{}-+{}-+1", &TRACE[1..], &CLIENT[1..]),
        sound.replacen("00", "0", 1),
        sound.replacen(TRACE, &format!("0{TRACE}"), 1),
        format!("{sound}-"),
        format!(" {sound} "),
    ] {
        call(&gateway, "git_status", Some(&odd)).await;
    }

    let spans = collector.spans().await;
    let of_calls = |span: &&Span| span.name == "tools/call git_status";
    let calls: Vec<_> = spans.iter().filter(of_calls).collect();
    assert_eq!(calls.len(), 6);
    for call in calls {
        assert!(
            call.parent_span_id.is_empty() && call.trace_state.is_empty(),
            "{call:#?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn log_07_a_collector_that_is_away_holds_up_no_call_and_no_end() {
    let git = git().stdio();
    // Nobody listens at the port of the discard service.
    let away = mcpr_telemetry::Tracer::to("http://127.0.0.1:9/v1/traces").unwrap();
    let gateway = gateway().fake("git", &git).tracer(away.clone()).ready().await;
    let client = gateway.client().await;

    for _ in 0..100 {
        assert!(client.call("git_status", "{}").await["result"].is_object());
    }
    let began = std::time::Instant::now();
    tokio::task::spawn_blocking(move || away.shut_down())
        .await
        .unwrap();

    assert!(
        began.elapsed() < std::time::Duration::from_secs(5),
        "{:?}",
        began.elapsed()
    );
}

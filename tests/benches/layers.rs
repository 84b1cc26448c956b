//! What the steps of a call cost, layer by layer: time, and allocations.
//!
//! `cargo bench -p mcpr-tests --bench layers`, or with a part of a name behind it.

use std::time::Duration;

use bytes::Bytes;
use divan::{AllocProfiler, Bencher, black_box};
use mcpr_bridge::{Hop, Passage};
use mcpr_protocol::{Abilities, Edit, Message, Method, Object, RawJson, Request, Response, Rope, Version};
use mcpr_telemetry::{CallRecord, HttpFacts, Secrets, Status};
use mcpr_transport::sse;

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

/// Sizes of what a tool says.
const SIZES: [usize; 3] = [100, 10 << 10, 1 << 20];

fn main() {
    divan::main();
}

/// What a client sends to call a tool with so many bytes of arguments.
fn request(size: usize) -> Bytes {
    let text = "x".repeat(size);
    let params = format!(r#"{{"name":"git_status","arguments":{{"path":"{text}","depth":3}}}}"#);
    format!(r#"{{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{params}}}"#).into()
}

/// What a server answers with so many bytes of text, some of which are escaped.
fn response(size: usize) -> Bytes {
    let text = r#"a line of \"text\"\n"#.repeat(size / 20 + 1);
    let result = format!(r#"{{"content":[{{"type":"text","text":"{text}"}}],"isError":false}}"#);
    format!(r#"{{"jsonrpc":"2.0","id":17,"result":{result}}}"#).into()
}

fn params_of(text: &Bytes) -> Object {
    match Message::parse(text) {
        Ok(Message::Request(Request {
            params: Some(params), ..
        })) => Object::read(&params).expect("an object"),
        _ => unreachable!("it is a request with params"),
    }
}

fn result_of(text: &Bytes) -> RawJson {
    match Message::parse(text) {
        Ok(Message::Response(Response {
            outcome: Ok(result), ..
        })) => result,
        _ => unreachable!("it is a result"),
    }
}

mod protocol {
    use super::*;

    #[divan::bench(args = SIZES)]
    fn parse_request(bencher: Bencher<'_, '_>, size: usize) {
        let text = request(size);
        bencher.bench(|| Message::parse_within(black_box(&text), 128));
    }

    #[divan::bench(args = SIZES)]
    fn parse_response(bencher: Bencher<'_, '_>, size: usize) {
        let text = response(size);
        bencher.bench(|| Message::parse(black_box(&text)));
    }

    #[divan::bench(args = SIZES)]
    fn splice_a_name(bencher: Bencher<'_, '_>, size: usize) {
        let params = params_of(&request(size));
        let name = RawJson::string("status");
        bencher.bench(|| Edit::new(black_box(&params)).set("name", name.clone()).finish());
    }

    #[divan::bench(args = SIZES)]
    fn write_response(bencher: Bencher<'_, '_>, size: usize) {
        let result = result_of(&response(size));
        let id = mcpr_protocol::Id::number(17);
        bencher.bench(|| Response::text(Some(&id), Ok(black_box(&result).clone().into())));
    }
}

mod bridge {
    use super::*;

    #[divan::bench(args = [Version::V2025_11_25, Version::V2026_07_28])]
    fn params(bencher: Bencher<'_, '_>, version: Version) {
        let params = params_of(&request(100));
        let hop = Hop {
            version,
            method: &Method::ToolsCall,
            progress: Some(7),
            capabilities: &RawJson::from_static("{}"),
            client_info: &RawJson::from_static(r#"{"name":"a client","version":"1"}"#),
            log_level: None,
            span: None,
        };
        let name = || vec![("name", Rope::from(RawJson::string("status")))];
        bencher.bench(|| mcpr_bridge::params(Some(black_box(&params)), name(), &hop));
    }

    #[divan::bench(args = SIZES)]
    fn result(bencher: Bencher<'_, '_>, size: usize) {
        let result = result_of(&response(size));
        let passage = Passage {
            client: Version::V2025_11_25,
            server: Version::V2026_07_28,
            method: &Method::ToolsCall,
            abilities: Abilities::NONE,
            asked: None,
            server_info: None,
        };
        bencher.bench(|| mcpr_bridge::result(black_box(&result), &passage, &|_| None));
    }
}

mod transport {
    use super::*;

    #[divan::bench(args = SIZES)]
    fn read_an_event(bencher: Bencher<'_, '_>, size: usize) {
        let mut event = b"event: message\ndata: ".to_vec();
        event.extend_from_slice(&response(size));
        event.extend_from_slice(b"\n\n");
        let event = Bytes::from(event);
        bencher.bench(|| {
            let mut parser = sse::Parser::new(64 << 20);
            parser.push(black_box(&event).clone());
            parser.next()
        });
    }

    #[divan::bench(args = SIZES)]
    fn write_an_event(bencher: Bencher<'_, '_>, size: usize) {
        let text = response(size);
        bencher.bench(|| sse::message(Some("s-1-1"), black_box(&text).clone().into()));
    }
}

mod registry {
    use std::sync::Arc;

    use mcpr_registry::{Assignments, Catalog, Kind, Listing, Naming, Offers, ServerName, View};

    use super::*;

    fn view(tools: usize) -> View {
        let entry = |number| {
            RawJson::trusted(format!(
                r#"{{"name":"tool_{number}","inputSchema":{{"type":"object"}}}}"#
            ))
        };
        let offers = Offers {
            tools: (0..tools).map(entry).collect(),
            ..Offers::default()
        };
        let listing = Listing {
            server: "git".parse::<ServerName>().expect("a name"),
            naming: Default::default(),
            overrides: Arc::default(),
            stateless_http: false,
            offers: Arc::new(offers),
        };
        let built = Catalog::build(&[listing], &Naming::default(), &Assignments::default());
        View::everything(Arc::new(built.catalog))
    }

    #[divan::bench(args = [10, 10_000])]
    fn find_a_tool(bencher: Bencher<'_, '_>, tools: usize) {
        let view = view(tools);
        let name = view
            .items(Kind::Tools)
            .nth(tools / 2)
            .expect("a tool")
            .exposed
            .clone();
        bencher.bench(|| view.tool(black_box(&name)).is_some());
    }

    #[divan::bench(args = [10, 500, 5_000])]
    fn build_and_render(bencher: Bencher<'_, '_>, tools: usize) {
        bencher.bench(|| view(black_box(tools)).list(Kind::Tools, mcpr_protocol::Era::Session));
    }
}

/// One whole call: from the bytes of a client over a gateway to a server and back, in one thread. What
/// the server does is not counted, it is another process.
mod core {
    use mcpr_tests::yardstick::{Scale, Yardstick};

    use super::*;

    #[divan::bench(sample_count = 20, sample_size = 20)]
    fn call(bencher: Bencher<'_, '_>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("a runtime");
        let scale = Scale {
            sessions: 1,
            tools: 10,
            tokens: 1,
        };
        let mut yardstick = runtime.block_on(Yardstick::set_up(scale));
        bencher.bench_local(|| runtime.block_on(yardstick.call(1)));
    }
}

mod telemetry {
    use super::*;

    const RECORD: CallRecord<'_> = CallRecord {
        request_id: 4711,
        correlation_id: "0b7e41aa",
        server: Some("git"),
        tool: Some("status"),
        method: "tools/call",
        version: "2025-11-25",
        duration: Duration::from_micros(12_345),
        status: Status::Ok,
        principal: Some("tk_7h2k9qmd"),
        client: Some("Claude Code"),
        project: None,
        http: Some(HttpFacts {
            method: "POST",
            path: "/mcp",
            status: 200,
        }),
        error: None,
        said: None,
        params: None,
        steps: None,
        trace: None,
    };

    #[divan::bench]
    fn count_a_call(bencher: Bencher<'_, '_>) {
        let metrics = mcpr_telemetry::Metrics::new();
        bencher.bench(|| metrics.count(black_box(&RECORD)));
    }

    #[divan::bench(args = SIZES)]
    fn scrub(bencher: Bencher<'_, '_>, size: usize) {
        let secrets = Secrets::default();
        secrets.add("S3CRET1");
        let text = "nothing that must not be told ".repeat(size / 30 + 1);
        bencher.bench(|| secrets.scrub(black_box(&text)).len());
    }
}

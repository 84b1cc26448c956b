//! All that server-everything can do, through every client, over each transport it has.

use ::rmcp::model::ProtocolVersion;
use mcpr_tests::drivers::{Client, Operation, Told};
use mcpr_tests::peers::{self, Served};
use mcpr_tests::{Brood, Gateway, gateway};
use serde_json::{Value, json};

use crate::rmcp::{List, Sdk};

/// The same server over stdio, streamable HTTP and old SSE.
const SERVERS: [&str; 3] = ["stdio", "http", "sse"];

/// The three behind one gateway.
struct World {
    gateway: Gateway,
    brood: Brood,
    _served: [Served; 2],
}

impl World {
    async fn start() -> Self {
        let (http, sse) = tokio::join!(Served::everything(), Served::everything_sse());
        let brood = Brood::new();
        let three = gateway()
            .server("stdio", brood.entry(&peers::ready().everything()))
            .server("http", json!({ "type": "http", "url": http.url() }))
            .server("sse", json!({ "type": "sse", "url": sse.url() }));
        Self {
            gateway: three.ready().await,
            brood,
            _served: [http, sse],
        }
    }

    async fn stop(self) {
        self.brood.stop(self.gateway).await;
    }

    /// What every client gets for these operations.
    async fn run(&self, operations: &[Operation]) -> Vec<(Client, Told)> {
        Client::run_all(&self.gateway.url(), &self.gateway.token, operations).await
    }
}

/// An operation with what it must bring: a place in the result, and what is there.
type Wanted = (Operation, &'static str, Value);

#[tokio::test(flavor = "multi_thread")]
async fn agg_09_resources_prompts_and_completions_of_a_real_server() {
    let world = World::start().await;
    let wanted: Vec<_> = SERVERS.iter().flat_map(|server| wanted(server)).collect();
    let operations: Vec<_> = wanted.iter().map(|(operation, _, _)| operation.clone()).collect();
    for (client, told) in world.run(&operations).await {
        for (index, (operation, place, value)) in wanted.iter().enumerate() {
            let found = told.ok(index).pointer(place);
            assert_eq!(found, Some(value), "{client:?} {operation:?}: {}", told.ok(index));
        }
    }
    world.stop().await;
}

fn wanted(server: &str) -> Vec<Wanted> {
    let uri = |path: &str| format!("resource://{server}/demo://resource/dynamic/{path}");
    let tool = |name: &str| format!("{server}_{name}");
    let prompt = |name: &str| json!({ "type": "ref/prompt", "name": tool(name) });
    let template = json!({ "type": "ref/resource", "uri": uri("text/{resourceId}") });
    let team = json!({ "department": "Engineering" });
    let third = json!({ "resourceType": "Text", "resourceId": "3" });
    let second = json!({ "resourceType": "Blob", "resourceId": 2 });
    vec![
        (
            Operation::read_resource(&uri("text/7")),
            "/contents/0/uri",
            json!(uri("text/7")),
        ),
        (
            Operation::read_resource(&uri("blob/7")),
            "/contents/0/uri",
            json!(uri("blob/7")),
        ),
        (
            Operation::complete(prompt("completable_prompt"), "name", "A", team),
            "/completion/values",
            json!(["Alice"]),
        ),
        (
            Operation::complete(template, "resourceId", "42", json!({})),
            "/completion/values",
            json!(["42"]),
        ),
        (
            Operation::get_prompt(&tool("resource_prompt"), third),
            "/messages/1/content/resource/uri",
            json!(uri("text/3")),
        ),
        (
            Operation::call_tool(&tool("get_resource_links"), json!({ "count": 2 })),
            "/content/2/uri",
            json!(uri("text/2")),
        ),
        (
            Operation::call_tool(&tool("get_resource_reference"), second),
            "/content/1/resource/uri",
            json!(uri("blob/2")),
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn b17_progress_and_cancel_between_real_peers() {
    let world = World::start().await;
    let tool = |server: &str| format!("{server}_trigger_long_running_operation");
    let short = json!({ "duration": 0.3, "steps": 3 });
    let long = json!({ "duration": 300, "steps": 1000 });
    let runs = SERVERS
        .iter()
        .map(|server| Operation::call_with_progress(&tool(server), short.clone()));
    let cancels = SERVERS
        .iter()
        .map(|server| Operation::call_and_cancel(&tool(server), long.clone()));
    // A client that leaves at once may leave before its cancel is on the wire.
    let operations: Vec<_> = runs.chain(cancels).chain([Operation::list_tools()]).collect();

    for (client, told) in world.run(&operations).await {
        for index in 0..SERVERS.len() {
            let notices = told.ok(index)["progress"].as_array().cloned().unwrap_or_default();
            let steps: Vec<_> = notices.iter().map(|notice| notice["progress"].as_f64()).collect();
            assert_eq!(
                steps,
                [Some(1.0), Some(2.0), Some(3.0)],
                "{client:?}: {}",
                told.ok(index)
            );
            let text = told.ok(index)["result"]["content"][0]["text"]
                .as_str()
                .unwrap_or_default();
            assert!(
                text.starts_with("Long running operation completed"),
                "{client:?}: {text}"
            );
            assert!(!told.failure(SERVERS.len() + index).is_empty(), "{client:?}");
        }
    }
    for server in SERVERS {
        world
            .gateway
            .await_server(server, |told| told["inFlight"] == 0)
            .await;
    }
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_10_a_new_resource_of_a_real_server_is_announced() {
    let world = World::start().await;
    for version in [ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2026_07_28] {
        let sdk = Sdk::connect(&world.gateway, &version).await;
        for server in SERVERS {
            let (name, mut notices) = (format!("{version}.gz"), sdk.notices(List::Resources).await);
            let arguments =
                json!({ "name": name, "data": "data:text/plain,Bern", "outputType": "resourceLink" });
            let told = sdk
                .call(&format!("{server}_gzip_file_as_resource"), &arguments)
                .await;
            let uri = told["content"][0]["uri"]
                .as_str()
                .expect("a link to the resource")
                .to_owned();
            assert_eq!(uri, format!("resource://{server}/demo://resource/session/{name}"));
            notices.next().await;
            assert!(sdk.resources().await.contains(&uri));
            assert_eq!(
                sdk.read(&uri).await["contents"][0]["mimeType"],
                "application/gzip"
            );
        }
    }
    world.stop().await;
}

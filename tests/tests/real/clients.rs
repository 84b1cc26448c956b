//! Every real client gets at every real server.

use mcpr_tests::Gateway;
use mcpr_tests::drivers::{Client, Operation, Told, inspect};
use serde_json::{Value, json};

use crate::world::{Sample, Servers};

/// A resource of server-everything under its exposed URI.
const FEATURES: &str = "resource://everything/demo://resource/static/document/features.md";

/// How many tools the nine have together.
const TOOLS: usize = 90;

#[tokio::test(flavor = "multi_thread")]
async fn http_01_every_sdk_client_uses_every_server() {
    let servers = Servers::new().await;
    let gateway = servers.gateway().ready().await;
    let operations = operations(&servers.samples());
    for (client, told) in Client::run_all(&gateway.url(), &gateway.token, &operations).await {
        check(client, &told, &servers.samples());
    }
    servers.stop(gateway).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn http_01_the_inspector_uses_every_server() {
    let servers = Servers::new().await;
    let gateway = servers.gateway().ready().await;
    let versions = inspected(&gateway, &["--method", "initialize"])
        .await
        .map(|told| told["protocolVersion"].clone());
    assert_eq!(versions, ["2025-11-25", "2026-07-28"]);
    for sample in servers.samples() {
        let arguments = sample.arguments.to_string();
        let call = [
            "--method",
            "tools/call",
            "--tool-name",
            sample.exposed,
            "--tool-args-json",
            &arguments,
        ];
        let told = inspected(&gateway, &call).await;
        told.iter().for_each(|told| sample.check(told, "the Inspector"));
    }
    for told in inspected(&gateway, &["--method", "tools/list"]).await {
        assert_eq!(told["tools"].as_array().map(Vec::len), Some(TOOLS));
    }
    let prompt = [
        "--method",
        "prompts/get",
        "--prompt-name",
        "everything_args_prompt",
        "--prompt-args",
        "city=Bern",
    ];
    for told in inspected(&gateway, &prompt).await {
        assert_eq!(told["messages"][0]["content"]["text"], "What's weather in Bern?");
    }
    for told in inspected(&gateway, &["--method", "resources/read", "--uri", FEATURES]).await {
        assert_eq!(told["contents"][0]["uri"], FEATURES);
    }
    servers.stop(gateway).await;
}

/// What the Inspector gets in each era.
async fn inspected(gateway: &Gateway, arguments: &[&str]) -> [Value; 2] {
    let (url, token) = (gateway.url(), Some(&*gateway.token));
    let eras = tokio::join!(
        inspect(&url, token, "legacy", arguments),
        inspect(&url, token, "modern", arguments)
    );
    [eras.0, eras.1].map(|told| told.unwrap_or_else(|error| panic!("{error:#}")))
}

fn operations(samples: &[Sample]) -> Vec<Operation> {
    let fixed = [
        Operation::list_tools(),
        Operation::list_prompts(),
        Operation::list_resources(),
        Operation::list_templates(),
        Operation::get_prompt("everything_args_prompt", json!({ "city": "Bern" })),
        Operation::read_resource(FEATURES),
    ];
    let calls = samples
        .iter()
        .map(|sample| Operation::call_tool(sample.exposed, sample.arguments.clone()));
    fixed.into_iter().chain(calls).collect()
}

fn check(client: Client, told: &Told, samples: &[Sample]) {
    let auto = matches!(client, Client::TypeScriptAuto | Client::PythonAuto);
    let version = if auto { "2026-07-28" } else { "2025-11-25" };
    assert_eq!(told.version.as_deref(), Some(version), "{client:?}");
    assert_eq!(told.server["name"], "mcpr", "{client:?}");
    let count = |index: usize, list: &str| told.ok(index)[list].as_array().map_or(0, Vec::len);
    let counts = [
        count(0, "tools"),
        count(1, "prompts"),
        count(2, "resources"),
        count(3, "resourceTemplates"),
    ];
    assert_eq!(counts, [TOOLS, 13, 22, 6], "{client:?}");
    assert_eq!(
        told.ok(4)["messages"][0]["content"]["text"],
        "What's weather in Bern?",
        "{client:?}"
    );
    assert_eq!(told.ok(5)["contents"][0]["uri"], FEATURES, "{client:?}");
    for (index, sample) in samples.iter().enumerate() {
        sample.check(told.ok(6 + index), &format!("{client:?}"));
    }
}

//! The real servers start and answer, and the real clients work against a real server: whatever fails with
//! a gateway between them is the gateway's fault.

use std::path::Path;
use std::process::Command;

use mcpr_tests::drivers::{Answers, Client, Operation, inspect};
use mcpr_tests::peers::{self, Served, Words};
use mcpr_tests::pipe::Pipe;
use mcpr_tests::{Eras, Reference};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Opens a session with a server, and gives its name, version and tools.
async fn introduced(words: &Words) -> (String, String, Vec<String>) {
    let mut server = Pipe::start(words);
    let answer = server.initialize("2025-11-25").await["result"].take();
    let list = server.request("tools/list", json!({})).await;
    assert_eq!(
        server.close().await,
        Some(0),
        "{words:?} leaves when its stdin ends"
    );
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let tools = list["result"]["tools"]
        .as_array()
        .unwrap_or_else(|| panic!("{words:?}: {list}"));
    let tools = tools.iter().map(|tool| text(&tool["name"])).collect();
    (
        text(&answer["serverInfo"]["name"]),
        text(&answer["protocolVersion"]),
        tools,
    )
}

fn repository(folder: &Path) {
    let git = Command::new("git").args(["init", "--quiet"]).arg(folder).status();
    assert!(
        git.expect("git is on PATH: install git for the test of mcp-server-git")
            .success()
    );
}

#[tokio::test]
async fn npm_servers_introduce_themselves() {
    let (peers, folder) = (peers::ready(), TempDir::new().unwrap());
    let servers = [
        (peers.everything(), "mcp-servers/everything", "echo"),
        (
            peers.filesystem(folder.path()),
            "secure-filesystem-server",
            "read_text_file",
        ),
        (
            peers.memory(&folder.path().join("memory.jsonl")),
            "memory-server",
            "create_entities",
        ),
        (
            peers.sequential_thinking(),
            "sequential-thinking-server",
            "sequentialthinking",
        ),
    ];
    for (words, name, tool) in servers {
        let (told, version, tools) = introduced(&words).await;
        assert_eq!((told.as_str(), version.as_str()), (name, "2025-11-25"));
        assert!(tools.iter().any(|own| own == tool), "{name}: {tools:?}");
    }
}

#[tokio::test]
async fn python_servers_introduce_themselves() {
    let (peers, folder) = (peers::ready(), TempDir::new().unwrap());
    repository(folder.path());
    let servers = [
        (peers.time(), "2025-11-25", "get_current_time"),
        (peers.git(folder.path()), "2025-11-25", "git_status"),
        (peers.fetch(), "2025-11-25", "fetch"),
        (peers.old_python_1_12(), "2025-06-18", "add"),
        (peers.old_python_1_2(), "2024-11-05", "add"),
    ];
    for (words, wanted, tool) in servers {
        let (name, version, tools) = introduced(&words).await;
        assert_eq!(version, wanted, "{name}");
        assert!(tools.iter().any(|own| own == tool), "{name}: {tools:?}");
    }
}

#[tokio::test]
async fn an_old_python_server_refuses_the_probe_and_goes_on() {
    let mut server = Pipe::start(&peers::ready().old_python_1_12());

    let probe = server.request("server/discover", json!({})).await;
    let answer = server.initialize("2025-11-25").await;

    assert_eq!(probe["error"]["code"], -32602);
    assert_eq!(answer["result"]["protocolVersion"], "2025-06-18");
}

#[tokio::test]
async fn every_client_works_directly() {
    let everything = Served::everything().await;
    let operations = [
        Operation::list_tools(),
        Operation::call_tool("echo", json!({ "message": "hi" })),
        Operation::list_prompts(),
        Operation::get_prompt("args-prompt", json!({ "city": "Bern" })),
        Operation::list_resources(),
        Operation::read_resource("demo://resource/static/document/features.md"),
        Operation::list_templates(),
    ];
    for client in Client::ALL {
        let told = client
            .run(&everything.url(), Some("token"), &operations)
            .await
            .unwrap();
        assert!(told.tools(0).contains(&"echo"), "{client:?}");
        assert_eq!(told.ok(1)["content"][0]["text"], "Echo: hi", "{client:?}");
        (2..operations.len()).for_each(|index| assert!(told.ok(index).is_object(), "{client:?} {index}"));
        assert_eq!(told.version.as_deref(), Some("2025-11-25"), "{client:?}");
    }
}

#[tokio::test]
async fn every_client_answers_directly() {
    let reference = Reference::start(Eras::Both);
    let ask = |name: &str| Operation::call_tool(&format!("test_input_required_result_{name}"), json!({}));
    let operations = [
        ask("elicitation"),
        ask("multi_round"),
        ask("sampling"),
        ask("list_roots"),
        Operation::call_with_log("test_tool_with_logging", json!({}), "info"),
    ];
    let work = |_| (Answers::of("Ada"), operations.to_vec());
    for (client, told) in Client::run_each(&Client::EACH, reference.url(), "", work).await {
        assert_eq!(told.text(0), "Hello, Ada!", "{client:?}");
        assert_eq!(told.text(1), "Ada likes Ada's blue.", "{client:?}");
        assert_eq!(told.text(2), "Ada's model", "{client:?}");
        assert!(told.text(3).contains("file:///home/Ada"), "{client:?}");
        assert_eq!(
            told.ok(4)["log"].as_array().map(Vec::len),
            Some(3),
            "{client:?}: {}",
            told.ok(4)
        );
        assert_eq!(told.asked.len(), 5, "{client:?}");
        let version = if client.is_stateless() {
            "2026-07-28"
        } else {
            "2025-11-25"
        };
        assert_eq!(told.version.as_deref(), Some(version), "{client:?}");
    }
}

#[tokio::test]
async fn the_inspector_works_directly() {
    let everything = Served::everything().await;
    for era in ["legacy", "auto"] {
        let list = inspect(&everything.url(), Some("token"), era, &["--method", "tools/list"])
            .await
            .unwrap();
        assert!(
            list["tools"].as_array().is_some_and(|tools| tools.len() > 10),
            "{list}"
        );
    }
    let call = [
        "--method",
        "tools/call",
        "--tool-name",
        "echo",
        "--tool-args-json",
        r#"{"message":"hi"}"#,
    ];
    let result = inspect(&everything.url(), None, "auto", &call).await.unwrap();
    assert_eq!(result["content"][0]["text"], "Echo: hi");
}

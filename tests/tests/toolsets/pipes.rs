//! The same session over standard input and output: each client starts a gateway of its own, and
//! those with the same configuration file are one principal.

use std::path::Path;

use mcpr_tests::pipe::Pipe;
use mcpr_tests::{Fake, binary};
use serde_json::{Value, json};

use crate::agents::{BUILT_INS, structured};

/// Starts a gateway on a pipe and opens a session.
async fn start(home: &Path, file: &Path) -> Pipe {
    let home = format!("MCPR_HOME={}", home.display());
    let (program, file) = (
        binary("mcpr-gateway").display().to_string(),
        file.display().to_string(),
    );
    let mut pipe = Pipe::start(&["env", &home, &program, "stdio", "--config", &file]);
    pipe.initialize("2025-11-25").await;
    pipe
}

async fn use_tool(pipe: &mut Pipe, tool: &str, arguments: Value) -> Value {
    structured(
        &pipe
            .request("tools/call", json!({ "name": tool, "arguments": arguments }))
            .await,
    )
}

/// The listed tools that are not built in.
async fn others(pipe: &mut Pipe) -> Vec<String> {
    let answer = pipe.request("tools/list", json!({})).await;
    let tools = answer["result"]["tools"].as_array().expect("a list").iter();
    let names = tools.map(|tool| tool["name"].as_str().expect("a name").to_owned());
    names.skip(BUILT_INS.len()).collect()
}

async fn hears_of_tools(pipe: &mut Pipe) {
    pipe.message(|message| message["method"] == "notifications/tools/list_changed")
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn set_02_set_05_the_session_of_a_toolset_over_pipes() {
    let (git, docker) = (
        Fake::script().tool("status").tool("push").stdio(),
        Fake::script().tool("ps").http(),
    );
    let folder = tempfile::tempdir().expect("a folder");
    let servers = json!({ "git": git.entry(), "docker": docker.entry() });
    let text = json!({ "mcpServers": servers, "mcpr": { "expose": "toolset" } }).to_string();
    let [file, other] = ["mcpr.json", "other.json"].map(|name| folder.path().join(name));
    for file in [&file, &other] {
        std::fs::write(file, &text).expect("a file");
    }
    let mut agent = start(folder.path(), &file).await;
    let mut colleague = start(folder.path(), &file).await;
    let mut stranger = start(folder.path(), &other).await;
    assert!(others(&mut agent).await.is_empty() && others(&mut stranger).await.is_empty());
    assert!(others(&mut colleague).await.is_empty());

    let tools = json!([{ "namespacedName": "git.status" }, { "namespacedName": "docker.*" }]);
    use_tool(
        &mut agent,
        "build-toolset",
        json!({ "name": "dev", "tools": tools }),
    )
    .await;
    let equipped = use_tool(&mut agent, "equip-toolset", json!({ "name": "dev" })).await;

    assert_eq!(equipped["tools"].as_array().map(Vec::len), Some(2), "{equipped}");
    hears_of_tools(&mut colleague).await;
    assert_eq!(others(&mut colleague).await, ["docker_ps", "git_status"]);
    assert_eq!(others(&mut agent).await, ["docker_ps", "git_status"]);
    assert!(others(&mut stranger).await.is_empty());
    let call = agent
        .request(
            "tools/call",
            json!({ "name": "git_status", "arguments": { "n": 1 } }),
        )
        .await;
    assert_eq!(call["result"]["content"][0]["text"], r#"{"n":1}"#);

    use_tool(&mut colleague, "unequip-toolset", json!({})).await;

    hears_of_tools(&mut agent).await; // Of its own equipping.
    while !others(&mut agent).await.is_empty() {
        hears_of_tools(&mut agent).await;
    }
    for pipe in [agent, colleague, stranger] {
        assert_eq!(pipe.close().await, Some(0));
    }
}

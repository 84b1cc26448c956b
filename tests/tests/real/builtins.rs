//! Real clients find, build, equip and take off toolsets. The SDKs compare structured results with the schemas
//! that the tools were listed with.

use mcpr_tests::drivers::{Answers, Client, Operation, Told, inspect};
use mcpr_tests::{Fake, Gateway, gateway};
use serde_json::{Value, json};

const BUILT_INS: [&str; 7] = [
    "discover-all-tools",
    "build-toolset",
    "list-toolsets",
    "equip-toolset",
    "unequip-toolset",
    "get-active-toolset",
    "delete-toolset",
];

/// Two servers, of which one has a tool whose results are not as its schema says.
fn servers() -> [Fake; 2] {
    let status = r#"{"name":"status","description":"Says what has changed. In short.","inputSchema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}"#;
    let liar = r#"{"name":"liar","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"n":{"type":"number"}},"required":["n"]}}"#;
    let git = Fake::script().tool_entry(status).tool_entry(liar);
    [
        git.raw(
            "tools/call:liar",
            r#"{"content":[],"structuredContent":{"n":"one"}}"#,
        )
        .stdio(),
        Fake::script().tool("ps").http(),
    ]
}

async fn in_front_of([git, docker]: &[Fake; 2]) -> Gateway {
    let builder = gateway().with_builtins();
    builder.fake("git", git).fake("docker", docker).ready().await
}

/// One of each built-in tool, with lists in between.
fn operations() -> Vec<Operation> {
    let tools = json!([{ "namespacedName": "git.status" }, { "namespacedName": "dock*" }]);
    let named = json!({ "name": "dev" });
    vec![
        Operation::list_tools(),
        Operation::call_tool("discover-all-tools", json!({ "detail": "full" })),
        Operation::call_tool(
            "build-toolset",
            json!({ "name": "dev", "description": "What I need", "tools": tools }),
        ),
        Operation::call_tool("list-toolsets", json!({})),
        Operation::call_tool("equip-toolset", named.clone()),
        Operation::list_tools(),
        Operation::call_tool("get-active-toolset", json!({})),
        Operation::call_tool("git_status", json!({ "path": "." })),
        Operation::call_tool("unequip-toolset", json!({})),
        Operation::call_tool("delete-toolset", named.clone()),
        Operation::call_tool("get-active-toolset", json!({})),
        Operation::call_tool("equip-toolset", named),
        Operation::list_tools(),
        Operation::call_tool("git_liar", json!({})),
    ]
}

fn check(client: Client, told: &Told) {
    let structure = |index: usize| {
        let structure = &told.ok(index)["structuredContent"];
        assert!(
            structure.is_object(),
            "{client:?}, operation {index}: {}",
            told.ok(index)
        );
        structure
    };
    let everything = [&BUILT_INS[..], &["git_status", "git_liar", "docker_ps"]].concat();
    assert_eq!(told.tools(0), everything, "{client:?}");
    assert_eq!(structure(1)["total"], 3, "{client:?}");
    assert_eq!(
        structure(1)["tools"][0]["definition"]["name"],
        "git_status",
        "{client:?}"
    );
    assert_eq!(structure(2)["toolset"]["tools"], 2, "{client:?}");
    assert_eq!(
        structure(3)["toolsets"].as_array().map(Vec::len),
        Some(1),
        "{client:?}"
    );
    assert_eq!(
        structure(4)["tools"][0]["signature"],
        "path: string",
        "{client:?}"
    );
    assert_eq!(
        told.tools(5),
        [&BUILT_INS[..], &["git_status", "docker_ps"]].concat(),
        "{client:?}"
    );
    assert_eq!(structure(6)["by"], "equipped", "{client:?}");
    assert_eq!(told.text(7), r#"{"path":"."}"#, "{client:?}");
    assert_eq!(
        structure(8)["toolset"],
        structure(2)["toolset"]["name"],
        "{client:?}"
    );
    assert_eq!(
        structure(9)["name"],
        structure(2)["toolset"]["name"],
        "{client:?}"
    );
    assert_eq!(structure(10)["by"], "all", "{client:?}");
    assert_eq!(told.ok(11)["isError"], true, "{client:?}");
    assert_eq!(told.tools(12), everything, "{client:?}");
    assert!(
        !told.failure(13).is_empty(),
        "{client:?} compares results with schemas"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn set_03_every_sdk_client_builds_equips_and_takes_off_a_toolset() {
    let servers = servers();
    let gateway = in_front_of(&servers).await;
    for client in Client::EACH {
        let token = gateway.another_token(&["read", "call"]).await;
        let told = client
            .run_with(&gateway.url(), Some(&token), &Answers::default(), &operations())
            .await;
        check(client, &told.unwrap_or_else(|error| panic!("{error:#}")));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn set_03_the_inspector_lists_and_calls_the_built_in_tools() {
    let servers = servers();
    let gateway = in_front_of(&servers).await;
    let inspected = async |era, arguments: &[&str]| {
        let told = inspect(&gateway.url(), Some(&gateway.token), era, arguments).await;
        told.unwrap_or_else(|error| panic!("{error:#}"))
    };
    for era in ["legacy", "modern"] {
        let listed = inspected(era, &["--method", "tools/list"]).await;
        let call = [
            "--method",
            "tools/call",
            "--tool-name",
            "discover-all-tools",
            "--tool-args-json",
            "{}",
        ];
        let found = inspected(era, &call).await;

        let names = listed["tools"]
            .as_array()
            .expect("tools")
            .iter()
            .map(|tool| &tool["name"]);
        let names: Vec<&Value> = names.take(BUILT_INS.len()).collect();
        assert_eq!(names, BUILT_INS, "{era}");
        assert_eq!(found["structuredContent"]["total"], 3, "{era}: {found}");
    }
}

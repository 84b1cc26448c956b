//! Clients on standard input and output: `stdio` and `connect`.

use std::time::{Duration, Instant};

use insta::assert_snapshot;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::stage::{Running, Stage, await_none, demo_server};

fn request(id: u64, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn opens_session(client: &mut Running) -> Value {
    let info = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info });
    client.says(&request(1, "initialize", params));
    let answer = client.answers_to(1);
    client.says(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    answer
}

/// The listed tools; the built-in ones, which come first, are left out.
fn tools(client: &mut Running) -> Vec<String> {
    client.says(&request(2, "tools/list", json!({})));
    let answer = client.answers_to(2);
    let tools = answer["result"]["tools"].as_array().unwrap();
    assert_eq!(tools[6]["name"], "delete-toolset");
    tools[7..]
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}

fn adds(client: &mut Running) -> i64 {
    client.says(&request(
        3,
        "tools/call",
        json!({ "name": "calc_add", "arguments": { "a": 2, "b": 40 } }),
    ));
    sum(&client.answers_to(3))
}

fn sum(answer: &Value) -> i64 {
    let sum = answer["result"]["structuredContent"]["result"].as_i64();
    sum.unwrap_or_else(|| panic!("no sum: {answer}"))
}

#[test]
fn http_07_stdio_is_a_whole_gateway_and_ends_with_its_client() {
    let stage = Stage::serving(&["calc", "clock"]);
    let mut client = stage.start(&["stdio"]);

    assert_eq!(
        opens_session(&mut client)["result"]["protocolVersion"],
        "2025-06-18"
    );
    assert_eq!(
        tools(&mut client),
        [
            "calc_add",
            "calc_multiply",
            "calc_divide",
            "calc_count",
            "clock_now",
            "clock_between"
        ]
    );
    assert_eq!(adds(&mut client), 42);
    let children = client.children();
    let left = Instant::now();
    client.leave();

    assert_eq!(client.exit_code(), 0);
    assert!(left.elapsed() < Duration::from_secs(3));
    assert_eq!(children.len(), 3, "two servers and the guardian");
    await_none(&children);
}

#[test]
fn b55_stdout_is_nothing_but_messages_at_any_level() {
    let noisy = json!({ "command": "sh", "args": ["-c", "echo noise; echo more >&2; exit 3"] });
    let config = json!({ "mcpServers": { "calc": demo_server("calc"), "noisy": noisy } });
    let stage = Stage::with(&config);
    let mut client = stage.start(&["stdio", "--log-level", "trace"]);

    opens_session(&mut client);
    tools(&mut client);
    adds(&mut client);
    client.leave();

    assert_eq!(client.exit_code(), 0);
    for line in client.rest() {
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(message["jsonrpc"], "2.0");
    }
    assert!(
        client
            .told
            .iter()
            .any(|line| line.contains("TRACE") || line.contains("DEBUG"))
    );
    assert!(
        !client.told.join("").contains('\u{1b}'),
        "no colours where there is no terminal"
    );
}

#[test]
fn http_07_stdio_needs_no_port_and_runs_beside_a_gateway_of_the_same_home() {
    let stage = Stage::serving(&["calc"]);
    let _gateway = stage.serve();
    let mut client = stage.start(&["stdio"]);

    opens_session(&mut client);

    // It lists what the other one has seen, and its own server may still be starting.
    assert!(tools(&mut client).contains(&"calc_add".to_owned()));
}

#[test]
fn a_client_that_is_asked_to_end_leaves_no_server_behind() {
    let stage = Stage::serving(&["calc"]);
    let mut client = stage.start(&["stdio"]);
    opens_session(&mut client);
    tools(&mut client);
    let children = client.children();

    client.signal(Signal::TERM);

    assert_eq!(client.exit_code(), 0);
    await_none(&children);
}

#[test]
fn http_07_connect_bridges_to_the_gateway_of_this_user_without_a_token() {
    let stage = Stage::serving(&["calc"]);
    let _gateway = stage.serve();
    let mut client = stage.start(&["connect"]);

    opens_session(&mut client);
    assert_eq!(adds_after_list(&mut client), 42);
    client.leave();

    assert_eq!(client.exit_code(), 0);
    assert!(client.rest().is_empty());
}

#[test]
fn http_07_connect_bridges_to_a_url_with_a_token() {
    let servers = json!({ "calc": demo_server("calc"), "clock": demo_server("clock") });
    let own = json!({ "projects": { "web": { "servers": ["calc"] } } });
    let stage = Stage::with(&json!({ "mcpServers": servers, "mcpr": own }));
    let gateway = stage.serve();
    let url = format!("http://127.0.0.1:{}", gateway.port());
    let elsewhere = Stage::new().set("MCPR_TOKEN", gateway.token());
    let mut client = elsewhere.start(&["connect", "--url", &url, "--project", "web"]);

    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} });
    client.says(&request(
        3,
        "tools/call",
        json!({ "name": "calc_add", "arguments": { "a": 2, "b": 40 }, "_meta": meta.clone() }),
    ));

    assert_eq!(sum(&client.answers_to(3)), 42);
    let clock = json!({ "name": "clock_now", "arguments": {}, "_meta": meta });
    client.says(&request(4, "tools/call", clock));
    let hidden = client.answers_to(4);
    assert_eq!(hidden["error"]["message"], "Unknown tool: clock_now");
}

#[test]
fn prj_01_a_pipe_works_in_the_project_and_with_the_toolset_it_was_started_with() {
    let servers = json!({ "calc": demo_server("calc"), "clock": demo_server("clock") });
    let sums = json!({ "tools": [{ "namespacedName": "*.add" }, { "namespacedName": "clock.now" }] });
    let own = json!({ "projects": { "web": { "servers": ["calc"] } }, "toolsets": { "sums": sums } });
    let stage = Stage::with(&json!({ "mcpServers": servers, "mcpr": own }));

    let mut whole = stage.start(&["stdio", "--toolset", "sums"]);
    opens_session(&mut whole);
    assert_eq!(tools(&mut whole), ["calc_add", "clock_now"]);
    whole.says(&request(
        9,
        "tools/list",
        json!({ "_meta": { "projectId": "web" } }),
    ));
    let within = whole.answers_to(9);
    let named: Vec<_> = within["result"]["tools"].as_array().unwrap()[7..]
        .iter()
        .map(|tool| &tool["name"])
        .collect();
    assert_eq!(named, ["calc_add"]);
    whole.leave();
    assert_eq!(whole.exit_code(), 0);

    let mut bound = stage.start(&["stdio", "--toolset", "sums", "--project", "web"]);
    opens_session(&mut bound);
    assert_eq!(tools(&mut bound), ["calc_add"]);
}

#[test]
fn connect_says_why_there_is_nothing_to_connect_to() {
    let stage = Stage::serving(&["calc"]);
    let gateway = stage.serve();
    let url = format!("http://127.0.0.1:{}", gateway.port());

    let ran = [
        Stage::new().run(&["connect"]),
        Stage::new().run(&["connect", "--url", "http://127.0.0.1:1"]),
        Stage::new().run(&["connect", "--url", "127.0.0.1"]),
        Stage::new().run(&["connect", "--url", &url]),
    ];

    assert_eq!(ran.each_ref().map(|ran| ran.code), [5, 5, 2, 4]);
    let told = ran.map(|ran| ran.to_string()).join("\n\n");
    assert_snapshot!(told.replace(&gateway.port().to_string(), "[PORT]"));
}

#[test]
fn a_gateway_that_goes_and_comes_back_is_found_again() {
    let stage = Stage::serving(&["calc"]);
    let mut gateway = stage.serve();
    let mut client = stage.start(&["connect"]);
    opens_session(&mut client);
    tools(&mut client); // The session is open on both sides before the gateway goes.
    gateway.signal(Signal::TERM);
    assert_eq!(gateway.exit_code(), 0);

    client.says(&request(2, "tools/list", json!({})));
    let lost = client.answers_to(2);
    assert_eq!(lost["error"]["data"]["reason"], "server_down", "{lost}");
    assert!(
        lost["error"]["message"]
            .as_str()
            .unwrap()
            .contains("start it with `mcpr-gateway`")
    );

    // Its session died with it; the client need not know.
    let _gateway = stage.serve();
    client.says(&request(4, "tools/list", json!({})));
    for list in ["tools", "prompts", "resources"] {
        let method = format!("notifications/{list}/list_changed");
        assert_eq!(client.answers(), json!({ "jsonrpc": "2.0", "method": method }));
    }
    assert!(client.answers_to(4)["result"]["tools"].is_array());
    assert_eq!(adds_after_list(&mut client), 42);
    client.leave();
    assert_eq!(client.exit_code(), 0);
}

fn adds_after_list(client: &mut Running) -> i64 {
    assert!(tools(client).contains(&"calc_add".to_owned()));
    adds(client)
}

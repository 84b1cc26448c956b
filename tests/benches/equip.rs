//! What equipping costs with 100 servers of 100 tools: time, the list after it, and memory (SET-12).
//!
//! `cargo bench -p mcpr-tests --bench equip` prints one line for each figure.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::time::{Duration, Instant};

use mcpr_tests::{Fake, Gateway, gateway};
use serde_json::{Value, json};

const SERVERS: usize = 100;
const TOOLS: usize = 100;
const CHOSEN: usize = 1000;
const ROUNDS: usize = 1000;
const MEASURED: usize = 50;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("a runtime").block_on(measure());
}

async fn measure() {
    let fake = server();
    let own = json!({ "naming": { "maxLength": 64 }, "expose": "toolset" });
    let mut builder = gateway().with_builtins();
    for (key, value) in own.as_object().expect("an object") {
        builder = builder.own(key, value.clone());
    }
    for server in 0..SERVERS {
        builder = builder.fake(&format!("server{server:02}"), &fake);
    }
    let gateway = builder.ready().await;
    build(&gateway, "thousand", CHOSEN).await;
    build(&gateway, "hundred", 100).await;
    report("tools in the catalog", SERVERS * TOOLS);

    let (equip, list) = rounds(&gateway, "thousand", MEASURED).await;
    told("equip of 1,000 tools", &equip);
    told("tools/list of 1,000 tools, first after an equip", &list);
    let (equip, _) = rounds(&gateway, "hundred", MEASURED).await;
    told("equip of 100 tools", &equip);

    rounds(&gateway, "thousand", 20).await; // What is kept for good is there now.
    let before = memory();
    rounds(&gateway, "thousand", ROUNDS).await;
    let after = memory();
    report("memory before 1,000 rounds, KiB", before);
    report("memory after them, KiB", after);
    println!(
        "{:<60}{:+.2} %",
        "difference",
        (after as f64 / before as f64 - 1.0) * 100.0
    );
    gateway.core.shutdown().await;
}

/// One server with all the tools; a hundred entries point at it.
fn server() -> Fake {
    let schema = json!({ "type": "object", "properties": { "path": { "type": "string", "description": "Where to look, from the top of the project." },
        "limit": { "type": "integer" }, "recursive": { "type": "boolean" } }, "required": ["path"] });
    let mut script = Fake::script();
    for tool in 0..TOOLS {
        let description =
            format!("Does the thing number {tool} with care. It says in detail what came of it, and why.");
        let entry =
            json!({ "name": format!("tool_{tool:02}"), "description": description, "inputSchema": schema });
        script = script.tool_entry(&entry.to_string());
    }
    script.http()
}

async fn build(gateway: &Gateway, name: &str, count: usize) {
    let tools: Vec<Value> = (0..count)
        .map(|index| json!({ "namespacedName": format!("server{:02}.tool_{:02}", index % SERVERS, index / SERVERS) }))
        .collect();
    let built = gateway
        .operate("toolsets/save", json!({ "name": name, "tools": tools }))
        .await;
    assert_eq!(built["toolset"]["tools"], count, "{built}");
}

/// Equips and unequips so often; how long each equip took, and the first list after it.
async fn rounds(gateway: &Gateway, name: &str, rounds: usize) -> (Vec<Duration>, Vec<Duration>) {
    let client = gateway.client().await;
    let (mut equips, mut lists) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let began = Instant::now();
        let equipped = client
            .call("equip-toolset", &json!({ "name": name }).to_string())
            .await;
        equips.push(began.elapsed());
        assert!(equipped["result"]["isError"].is_null(), "{equipped}");
        let began = Instant::now();
        let listed = client.request("tools/list", "{}").await;
        lists.push(began.elapsed());
        assert!(listed.body.len() > 1000);
        client.call("unequip-toolset", "{}").await;
    }
    (equips, lists)
}

fn told(what: &str, times: &[Duration]) {
    let mut times = times.to_vec();
    times.sort();
    let (median, worst) = (times[times.len() / 2], times[times.len() - 1]);
    println!(
        "{what:<60}{:.2} ms (worst {:.2} ms)",
        millis(median),
        millis(worst)
    );
}

fn report(what: &str, count: usize) {
    println!("{what:<60}{count}");
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// The memory of this process in use, in KiB.
fn memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells");
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .expect("a line");
    let number = line.split_whitespace().nth(1).expect("a number");
    number.parse().expect("digits")
}

//! Balance: several backends that are one server, and calls that find their way around those that fail.

mod crowd;
mod failover;
mod groups;
mod lost;
mod pins;
mod spread;
mod tags;

use std::collections::BTreeMap;

use futures_util::future::join_all;
use mcpr_tests::client::Session;
use mcpr_tests::{Fake, Script};
use serde_json::{Value, json};

/// A plain server with one tool.
fn echo() -> Script {
    Fake::script().tool("t")
}

/// Three servers at addresses of their own.
fn three(script: impl Fn() -> Script) -> [Fake; 3] {
    std::array::from_fn(|_| script().http())
}

/// The entry of a server that has all these addresses, and a treatment of its own.
fn entry(fakes: &[Fake], mut own: Value) -> Value {
    let mut entry = fakes[0].entry();
    let others: Vec<_> = fakes[1..].iter().map(Fake::url).collect();
    own["endpoints"] = json!(others);
    entry["mcpr"] = own;
    entry
}

/// Tries a lost backend again at once, so that no test waits for it.
fn impatient() -> Value {
    json!({ "restart": { "backoffMin": "20ms", "backoffMax": "50ms" } })
}

/// How many calls each of these got.
fn counts(fakes: &[Fake]) -> Vec<usize> {
    fakes
        .iter()
        .map(|fake| fake.received_of("tools/call").len())
        .collect()
}

/// How many calls each process of a server got.
fn by_process(fake: &Fake) -> Vec<usize> {
    let mut counts = BTreeMap::<u32, usize>::new();
    for pid in fake.called_processes() {
        *counts.entry(pid).or_default() += 1;
    }
    counts.into_values().collect()
}

/// Makes calls one after the other, each with its number.
async fn call_often(client: &Session, tool: &str, count: usize) -> Vec<Value> {
    let mut answers = Vec::new();
    for n in 0..count {
        answers.push(client.call(tool, &format!(r#"{{"n":{n}}}"#)).await);
    }
    answers
}

/// Makes calls all at once.
async fn call_at_once(client: &Session, tool: &str, count: usize) -> Vec<Value> {
    join_all((0..count).map(async |_| client.call(tool, "{}").await)).await
}

/// Whether these are answers of the tool, and not errors.
fn all_well(answers: &[Value]) -> bool {
    answers
        .iter()
        .all(|answer| answer["result"]["content"].is_array())
}

/// The reason that programs find in an error.
fn reason(answer: &Value) -> &str {
    let reason = &answer["error"]["data"]["reason"];
    reason.as_str().unwrap_or_else(|| panic!("no reason in {answer}"))
}

/// What operators see of a backend.
fn backend<'s>(server: &'s Value, name: &str) -> &'s Value {
    let backends = server["backends"].as_array().expect("a list of backends");
    let named = backends.iter().find(|backend| backend["backend"] == name);
    named.unwrap_or_else(|| panic!("no backend `{name}` in {server}"))
}

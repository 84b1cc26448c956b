//! A rule of the embedding program for which backend gets a call (EMB-03).

use mcpr_core::{Balance, Candidate, Choice};
use mcpr_tests::{Fake, Gateway, gateway};
use serde_json::{Value, json};

/// `render` goes where the graphics are; all else as the configuration says.
fn with_graphics(call: &Choice<'_>, candidates: &[Candidate<'_>]) -> usize {
    assert_eq!(call.server, "api");
    let can_render = |candidate: &Candidate<'_>| candidate.tags.iter().any(|tag| tag == "gpu");
    match call.item {
        Some("render") => candidates.iter().position(can_render).unwrap_or_default(),
        _ => call.usual.pick(call, candidates),
    }
}

fn member(fake: &Fake, tags: &[&str]) -> Value {
    let mut entry = fake.entry();
    entry["mcpr"] = json!({ "group": "api", "tags": tags });
    entry
}

/// A gateway in front of both, with that rule.
async fn balanced(fakes: &[Fake; 2]) -> Gateway {
    let gateway = gateway()
        .server("west", member(&fakes[0], &["cpu"]))
        .server("east", member(&fakes[1], &["gpu"]))
        .balance(with_graphics)
        .start()
        .await;
    gateway.await_state("api", "ok").await;
    gateway
}

/// Calls a tool four times; gives how many calls each of these has got by then.
async fn counts_after(gateway: &Gateway, tool: &str, fakes: &[Fake; 2]) -> [usize; 2] {
    let client = gateway.client().await;
    for _ in 0..4 {
        let answer = client.call(tool, "{}").await;
        assert!(answer["result"].is_object(), "{answer}");
    }
    fakes.each_ref().map(|fake| fake.received_of("tools/call").len())
}

#[tokio::test(flavor = "multi_thread")]
async fn emb_03_a_rule_of_the_program_has_the_last_word_on_each_call() {
    let fakes = [(); 2].map(|()| Fake::script().tool("render").tool("search").http());
    let gateway = balanced(&fakes).await;

    assert_eq!(counts_after(&gateway, "api_render", &fakes).await, [0, 4]);
    assert_eq!(counts_after(&gateway, "api_search", &fakes).await, [2, 6]);
}

#[tokio::test(flavor = "multi_thread")]
async fn emb_03_a_rule_never_chooses_who_cannot_take_the_call() {
    let fakes = [(); 2].map(|()| Fake::script().tool("render").http());
    let gateway = balanced(&fakes).await;

    fakes[1].kill();
    gateway.await_state("api", "degraded").await;

    assert_eq!(counts_after(&gateway, "api_render", &fakes).await, [4, 0]);
}

//! Real clients at once on one real server over stdio (`protocol.md` 20, row 7).

use mcpr_tests::drivers::{Answers, Client, Operation, Told};
use mcpr_tests::{Brood, Gateway, gateway, peers};
use serde_json::json;

use crate::rmcp::{STATELESS, Sdk};

/// How often each client calls.
const ROUNDS: usize = 10;

const FORM: &str = "everything_trigger_elicitation_request";
const MODEL: &str = "everything_trigger_sampling_request";

/// The calls of one client, elicitation and sampling in turn.
fn calls() -> Vec<Operation> {
    let call = |round: usize| match round % 2 {
        0 => Operation::call_tool(FORM, json!({})),
        _ => Operation::call_tool(MODEL, json!({ "prompt": "Hi" })),
    };
    (0..ROUNDS).map(call).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn row_07_each_of_several_stateless_clients_is_asked_for_its_own_calls_alone() {
    let brood = Brood::new();
    let gateway = gateway()
        .server("everything", brood.entry(&peers::ready().everything()))
        .ready()
        .await;
    let (able, (), mute) = tokio::join!(
        run(&gateway, &Client::STATELESS, |client| Answers::of(&format!(
            "{client:?}"
        ))),
        rmcp(&gateway),
        run(&gateway, &[Client::PythonStateless], |_| Answers::default()),
    );
    for (client, told) in &able {
        for round in 0..ROUNDS {
            let said = told.ok(round).to_string();
            assert!(said.contains(&format!("{client:?}")), "{client:?}: {said}");
        }
        assert!(told.asked.len() >= ROUNDS, "{client:?}");
    }
    for (_, told) in &mute {
        assert!(told.asked.is_empty(), "{:?}", told.asked);
        let all = (0..ROUNDS).map(|round| said(told, round));
        assert!(
            all.into_iter()
                .all(|said| !said.contains("Stateless") && !said.contains("rmcp"))
        );
    }
    brood.stop(gateway).await;
}

async fn run(
    gateway: &Gateway,
    clients: &[Client],
    answers: impl Fn(Client) -> Answers,
) -> Vec<(Client, Told)> {
    Client::run_each(clients, &gateway.url(), &gateway.token, |client| {
        (answers(client), calls())
    })
    .await
}

/// What came of a call, whatever it was.
fn said(told: &Told, index: usize) -> String {
    format!("{:?}", told.results[index])
}

/// The Rust SDK is a third one.
async fn rmcp(gateway: &Gateway) {
    let sdk = Sdk::connect_as(gateway, &STATELESS, &gateway.token, "rmcp's user").await;
    for _ in 0..ROUNDS / 2 {
        let filled = sdk.call(FORM, &json!({})).await.to_string();
        assert!(filled.contains("rmcp's user"), "{filled}");
        let sampled = sdk.call(MODEL, &json!({ "prompt": "Hi" })).await.to_string();
        assert!(sampled.contains("rmcp's user's model"), "{sampled}");
    }
}

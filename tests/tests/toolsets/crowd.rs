//! Many clients that equip and list at the same time.

use std::sync::Arc;
use std::time::Duration;

use mcpr_tests::client::Session;
use mcpr_tests::{Fake, Gateway, gateway};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::agents::{others, use_tool};

const PRINCIPALS: usize = 10;
/// Sessions of each.
const SESSIONS: usize = 3;
const WHILE: Duration = Duration::from_secs(3);

/// What can be seen: everything, or one of the toolsets.
const SIGHTS: [&[&str]; 4] = [
    &["a_t", "a_u", "b_t", "b_u"],
    &["a_t", "a_u"],
    &["b_t", "b_u"],
    &["a_t", "b_t"],
];

fn toolsets() -> serde_json::Value {
    let only = |entry: &str| json!({ "tools": [{ "namespacedName": entry }] });
    json!({ "a": only("a.*"), "b": only("b.*") })
}

/// A client that changes its mind again and again, and always sees one of what can be seen.
async fn restless(agent: Arc<Session>, mut step: usize) -> usize {
    let end = Instant::now() + WHILE;
    let mut equipped = 0;
    while Instant::now() < end {
        step += 1;
        let answer = match step % 5 {
            0 => agent.call("unequip-toolset", "{}").await,
            1 => agent.call("equip-toolset", r#"{"name":"a"}"#).await,
            2 => agent.call("equip-toolset", r#"{"name":"b"}"#).await,
            3 => {
                agent
                    .call(
                        "build-toolset",
                        r#"{"name":"own","tools":[{"namespacedName":"*.t"}]}"#,
                    )
                    .await
            }
            _ => agent.call("equip-toolset", r#"{"name":"own"}"#).await,
        };
        match answer["error"]["data"]["reason"].as_str() {
            None => equipped += usize::from(answer["result"]["structuredContent"].is_object()),
            reason => assert_eq!(reason, Some("operation_in_progress"), "{answer}"),
        }
        let seen = others(&agent).await;
        assert!(SIGHTS.iter().any(|sight| *sight == seen), "{seen:?}");
    }
    equipped
}

/// What a principal sees in each of its sessions, which must be the same, and what is said of it.
async fn sight(sessions: &[Arc<Session>]) -> (Vec<String>, String) {
    let active = use_tool(&sessions[0], "get-active-toolset", "{}").await;
    let name = active["toolset"]["toolset"]["name"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let seen = others(&sessions[0]).await;
    for session in sessions {
        assert_eq!(others(session).await, seen, "{active}");
    }
    (seen, name)
}

async fn sessions(gateway: &Gateway, tokens: &[String]) -> Vec<Vec<Arc<Session>>> {
    let mut all = Vec::new();
    for token in tokens {
        let mut own = Vec::new();
        for _ in 0..SESSIONS {
            own.push(Arc::new(Session::open(gateway.port, token, "2025-11-25").await));
        }
        all.push(own);
    }
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn set_06_thirty_clients_that_equip_and_list_at_once_end_with_what_is_stored() {
    let (a, b) = (
        Fake::script().tool("t").tool("u").stdio(),
        Fake::script().tool("t").tool("u").stdio(),
    );
    let builder = || {
        gateway()
            .with_builtins()
            .own("toolsets", toolsets())
            .fake("a", &a)
            .fake("b", &b)
    };
    let before = builder().ready().await;
    let mut tokens = Vec::new();
    for _ in 0..PRINCIPALS {
        tokens.push(before.another_token(&["read", "call"]).await);
    }
    let crowd = sessions(&before, &tokens).await;

    let mut running = JoinSet::new();
    for (step, session) in crowd.iter().flatten().enumerate() {
        running.spawn(restless(session.clone(), step));
    }
    let equipped: usize = running.join_all().await.into_iter().sum();

    assert!(equipped > PRINCIPALS * SESSIONS, "only {equipped}");
    let mut seen = Vec::new();
    for own in &crowd {
        let (tools, name) = sight(own).await;
        let place = ["", "a", "b", "own"]
            .iter()
            .position(|known| *known == name)
            .expect("a toolset");
        assert_eq!(tools, SIGHTS[place]);
        seen.push((tools, name));
    }
    before.core.shutdown().await;
    let after = builder().at_home_of(&before).ready().await;
    for (own, before) in sessions(&after, &tokens).await.iter().zip(seen) {
        assert_eq!(sight(own).await, before, "after a restart");
    }
}

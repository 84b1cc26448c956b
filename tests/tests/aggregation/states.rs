//! A list says how each server is, and waits for none.

use std::time::Duration;

use mcpr_tests::{Fake, gateway};
use serde_json::json;
use tokio::time::timeout;

use crate::common::{builder, in_front_of, tools};

const KINDS: [&str; 4] = [
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
];

#[tokio::test(flavor = "multi_thread")]
async fn agg_12_each_list_says_how_each_server_is_and_waits_for_none() {
    let ok = tools(&["x"]);
    let slow = Fake::script().tool("x").set("hang", json!(true)).http();
    let locked = Fake::script()
        .set("mask", json!({ "status": 401, "body": "who are you?" }))
        .http();
    let gateway = builder([("zok", &ok), ("slow", &slow), ("locked", &locked)])
        .server("bad", json!({ "command": "/no/such/program" }))
        .server("off", json!({ "type": "http", "url": "http://127.0.0.1:9/mcp" }))
        .server("odd", json!({ "command": "x", "mcpr": { "prefx": "y" } }))
        .start()
        .await;
    for (name, state) in [
        ("zok", "ok"),
        ("locked", "auth-required"),
        ("bad", "down"),
        ("off", "down"),
    ] {
        gateway.listed_as(name, state).await;
    }
    slow.await_received("server/discover", 1).await;

    for client in gateway.clients().await {
        for kind in KINDS {
            let answer = timeout(Duration::from_secs(1), client.ask(kind, ""))
                .await
                .expect("a list waits for nobody");
            let states = answer.message()["result"]["_meta"]["dev.mcpr/servers"].clone();
            assert_eq!(states["zok"], json!({ "state": "ok" }));
            assert_eq!(states["slow"], json!({ "state": "starting" }));
            for (name, state) in [
                ("locked", "auth-required"),
                ("bad", "down"),
                ("off", "down"),
                ("odd", "misconfigured"),
            ] {
                assert_eq!(states[name]["state"], state);
                assert!(
                    states[name]["reason"]
                        .as_str()
                        .is_some_and(|reason| !reason.is_empty()),
                    "{states}"
                );
            }
            assert!(
                states["bad"]["reason"]
                    .as_str()
                    .is_some_and(|reason| reason.contains("/no/such/program"))
            );
            assert!(
                states["odd"]["reason"]
                    .as_str()
                    .is_some_and(|reason| reason.contains("prefix")),
                "{states}"
            );
        }
        assert_eq!(client.tools().await, ["zok_x"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_12_what_an_earlier_run_saw_is_listed_at_once_and_called_stale() {
    let fake = tools(&["x"]);
    let first = in_front_of([("a", &fake)]).await;
    first.core.shutdown().await;
    fake.rescript(Fake::script().tool("y").delay("start", 0.5));
    let second = builder([("a", &fake)]).at_home_of(&first).start().await;

    let answer = second.client().await.request("tools/list", "{}").await.message();
    assert_eq!(answer["result"]["tools"][0]["name"], "a_x");
    assert_eq!(
        answer["result"]["_meta"]["dev.mcpr/servers"],
        json!({ "a": { "state": "stale" } })
    );

    second.listed_as("a", "ok").await;
    assert_eq!(second.client().await.tool_names().await, ["a_y"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_12_a_server_that_goes_down_takes_its_items_along_and_brings_them_back() {
    let (stays, goes) = (tools(&["x"]), Fake::script().tool("x").http());
    let own = json!({ "restart": { "backoffMin": "50ms", "backoffMax": "100ms" } });
    let gateway = gateway()
        .fake("stays", &stays)
        .fake_with("goes", &goes, own)
        .ready()
        .await;
    let client = gateway.client().await;

    goes.kill();
    client.call("goes_x", "{}").await; // Finds out that it is gone.
    let said = gateway.listed_as("goes", "down").await;
    assert!(
        said["reason"].as_str().is_some_and(|reason| !reason.is_empty()),
        "{said}"
    );
    assert_eq!(client.tool_names().await, ["stays_x"]);

    goes.restart();
    gateway.listed_as("goes", "ok").await;
    assert_eq!(client.tool_names().await, ["stays_x", "goes_x"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_12_a_list_that_is_about_to_grow_is_not_kept_by_stateless_clients() {
    let (ok, slow) = (tools(&["x"]), Fake::script().set("hang", json!(true)).http());
    let settled = in_front_of([("ok", &ok)]).await;
    let growing = builder([("ok", &ok), ("slow", &slow)]).start().await;
    growing.listed_as("ok", "ok").await;

    let list = |gateway: &mcpr_tests::Gateway| {
        let client = gateway.stateless();
        async move { client.request("tools/list", "", None).await.message()["result"].clone() }
    };
    let (kept, fresh) = (list(&settled).await, list(&growing).await);
    assert!(kept["ttlMs"].as_u64().is_some_and(|ttl| ttl > 0), "{kept}");
    assert_eq!(fresh["ttlMs"], 0);
    for result in [kept, fresh] {
        assert_eq!(result["cacheScope"], "private");
        assert_eq!(result["resultType"], "complete");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_12_session_lists_hold_nothing_of_the_stateless_era() {
    let fake = tools(&["x"]);
    let gateway = in_front_of([("a", &fake)]).await;
    let client = gateway.client().await;

    for kind in KINDS {
        let result = client.request(kind, "{}").await.message()["result"].clone();
        let of_the_other_era = |key: &&str| !result[*key].is_null();
        assert!(
            !["ttlMs", "cacheScope", "resultType"].iter().any(of_the_other_era),
            "{result}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_12_a_reason_tells_no_secret() {
    let secrets = tempfile::tempdir().expect("a folder");
    let file = secrets.path().join("key");
    std::fs::write(&file, "correct-horse-battery").expect("the file can be written");
    let reference = format!("${{file:{}}}", file.display());
    let fake = Fake::script()
        .tool("x")
        .with(r#"{"exit_on": "tools/call"}"#)
        .stdio();
    let [program, spec] = fake.command();
    let shell = |then: &str| format!("echo bad key $0 >&2; {then}");
    let entry = |args: &[&str]| json!({ "command": "sh", "args": args });
    let gateway = gateway()
        .server("dead", entry(&["-c", &shell("exit 1"), &reference]))
        .server(
            "dies",
            entry(&["-c", &shell("exec $1 $2"), &reference, &program, &spec]),
        )
        .ready()
        .await;

    let said = gateway.listed_as("dead", "down").await;
    let told = gateway.client().await.call("dies_x", "{}").await;
    for text in [&said["reason"], &told["error"]["message"]] {
        let text = text.as_str().expect("a reason");
        assert!(
            text.contains("bad key") && !text.contains("correct-horse"),
            "{text}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_12_a_server_that_is_down_stays_so_through_every_attempt() {
    let script = || Fake::script().tool("x");
    let fake = script().http();
    let first = in_front_of([("a", &fake)]).await;
    first.core.shutdown().await;
    fake.rescript(script().set("hang", json!(true)));
    fake.restart();
    let own = json!({ "timeouts": { "start": "200ms" }, "restart": { "backoffMin": "10ms", "backoffMax": "10ms" } });
    let second = gateway()
        .fake_with("a", &fake, own)
        .at_home_of(&first)
        .ready()
        .await;

    let client = second.client().await;
    let mut stream = client.stream().await;
    second
        .await_server("a", |server| server["starts"].as_u64() >= Some(4))
        .await;
    assert!(client.tool_names().await.is_empty());
    fake.rescript(script());
    fake.restart();
    second.listed_as("a", "ok").await;

    // The one notice is that of the return.
    stream.event().await.expect("a notice");
    assert_eq!(client.tool_names().await, ["a_x"]);
    second.core.shutdown().await;
    assert_eq!(stream.event().await, None);
}

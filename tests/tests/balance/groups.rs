//! Several entries of one group, and what operators see of them.

use mcpr_tests::{Fake, gateway};
use serde_json::{Value, json};

use crate::{all_well, backend, call_often, counts, echo, entry, three};

fn member(fake: &Fake, own: Value) -> Value {
    let mut entry = fake.entry();
    entry["mcpr"] = own;
    entry["mcpr"]["group"] = "pair".into();
    entry
}

#[tokio::test(flavor = "multi_thread")]
async fn lb_01_entries_of_one_group_are_one_server() {
    let (one, two) = (echo().http(), echo().stdio());
    let gateway = gateway()
        .server("one", member(&one, json!({ "prefix": "p" })))
        .server("two", member(&two, json!({ "replicas": 2 })))
        .start()
        .await;
    let all_up = |server: &Value| server["state"] == "ok" && server["starts"] == 3;
    let server = gateway.await_server("pair", all_up).await;
    let client = gateway.client().await;

    assert_eq!(client.tool_names().await, ["p_t"]);
    assert!(all_well(&call_often(&client, "p_t", 9).await));

    assert_eq!((counts(&[one]), counts(&[two])), (vec![3], vec![6]));
    let labels = server["backends"]
        .as_array()
        .unwrap()
        .iter()
        .map(|backend| &backend["backend"]);
    assert_eq!(labels.collect::<Vec<_>>(), ["one", "two/1", "two/2"]);
    assert_eq!(
        gateway.operate("servers/list", json!({})).await["servers"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    let member = gateway.operate("servers/disable", json!({ "name": "one" })).await;
    assert_eq!(
        member["error"]["hint"],
        "`one` is an entry of the group `pair`, which is one server"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn b53_a_bad_entry_of_a_group_leaves_the_others_alone() {
    let well = echo().http();
    let off = echo().stdio();
    let mut turned_off = member(&off, json!({}));
    turned_off["disabled"] = true.into();
    let gateway = gateway()
        .server("off", turned_off)
        .server(
            "broken",
            json!({ "command": "/no/such/bin", "mcpr": { "group": "pair" } }),
        )
        .server(
            "bad",
            json!({ "command": "${NO_SUCH_VARIABLE}", "mcpr": { "group": "pair" } }),
        )
        .server("well", member(&well, json!({})))
        .start()
        .await;
    let server = gateway
        .await_server("pair", |server| {
            server["state"] == "degraded" && server["backends"][0]["state"] == "down"
        })
        .await;
    let client = gateway.client().await;

    assert!(all_well(&call_often(&client, "pair_t", 3).await));

    assert!(
        off.received().is_empty(),
        "AGG-13: what is turned off is never started"
    );
    let broken = backend(&server, "broken");
    assert!(
        broken["reason"].as_str().unwrap().contains("/no/such/bin"),
        "{broken}"
    );
    assert!(
        server["reason"].as_str().unwrap().contains("broken: "),
        "{server}"
    );
    let listed = client.request("tools/list", "{}").await.message();
    let states = &listed["result"]["_meta"]["dev.mcpr/servers"];
    assert_eq!(states["pair"]["state"], "ok", "it is to be had: {states}");
}

#[tokio::test(flavor = "multi_thread")]
async fn b46_a_change_of_one_backend_leaves_the_processes_of_the_others_alone() {
    let fake = echo().stdio();
    let gateway = gateway()
        .fake_with("git", &fake, json!({ "replicas": 2 }))
        .start()
        .await;
    let up = |count: u64| {
        move |server: &Value| {
            server["state"] == "ok"
                && server["backends"].as_array().map_or(count == 1, |all| {
                    all.len() as u64 == count && all.iter().all(|backend| backend["state"] == "ok")
                })
        }
    };
    let before = gateway.await_server("git", up(2)).await;
    let with = |own: Value| {
        let mut entry = fake.entry();
        entry["mcpr"] = own;
        entry
    };

    gateway.configure(
        &[("git", with(json!({ "replicas": 3, "tags": ["x"] })))],
        &json!({ "builtins": false }),
    );
    gateway.operate("reload", json!({})).await;
    let three = gateway.await_server("git", up(3)).await;
    gateway.configure(&[("git", with(json!({})))], &json!({ "builtins": false }));
    gateway.operate("reload", json!({})).await;
    let one = gateway.await_server("git", up(1)).await;

    assert_eq!(backend(&before, "1")["pid"], backend(&three, "1")["pid"]);
    assert_eq!(backend(&before, "2")["pid"], backend(&three, "2")["pid"]);
    assert_eq!(one["pid"], backend(&before, "1")["pid"]);
    mcpr_tests::wait_until(std::time::Duration::from_secs(10), "one process", || {
        (mcpr_tests::processes(&fake.spec_path().display().to_string()).len() == 1).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_13_a_server_with_several_backends_is_turned_off_and_on_as_one() {
    let fakes = three(echo);
    let gateway = gateway().server("api", entry(&fakes, json!({}))).start().await;
    gateway.await_state("api", "ok").await;
    let client = gateway.client().await;

    gateway.operate("servers/disable", json!({ "name": "api" })).await;
    assert!(client.tool_names().await.is_empty());
    gateway.operate("servers/enable", json!({ "name": "api" })).await;
    gateway.await_state("api", "ok").await;

    assert!(all_well(&call_often(&client, "api_t", 3).await));
}

#[tokio::test(flavor = "multi_thread")]
async fn lb_03_a_tool_that_one_backend_does_not_have_yet_is_called_where_it_is() {
    let fakes = [echo().http(), echo().tool("new").http()];
    let gateway = gateway().server("api", entry(&fakes, json!({}))).start().await;
    let both = |server: &Value| server["tools"] == 2 && server["state"] == "ok";
    gateway.await_server("api", both).await;
    let client = gateway.client().await;

    assert_eq!(client.tool_names().await, ["api_t", "api_new"]);
    assert!(all_well(&call_often(&client, "api_new", 4).await));
    assert!(all_well(&call_often(&client, "api_t", 4).await));

    let called = |fake: &Fake, tool: &str| {
        let calls = fake.received_of("tools/call").into_iter();
        calls.filter(|call| call.params()["name"] == tool).count()
    };
    assert_eq!([called(&fakes[0], "new"), called(&fakes[1], "new")], [0, 4]);
    assert!(called(&fakes[0], "t") >= 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_11_a_change_that_any_backend_tells_of_is_told() {
    let script =
        || Fake::script().with(r#"{"resources": [{"uri":"memo:///a","name":"a"}], "touch_tool": true}"#);
    let fakes = [script().http(), script().http()];
    let gateway = gateway().server("api", entry(&fakes, json!({}))).start().await;
    gateway.await_state("api", "ok").await;
    let client = gateway.client().await;
    let mut stream = client.stream().await;
    client
        .request("resources/subscribe", r#"{"uri":"memo:///a"}"#)
        .await;
    for fake in &fakes {
        fake.await_received("resources/subscribe", 1).await;
    }

    for _ in 0..2 {
        client.call("api_touch", r#"{"uri":"memo:///a"}"#).await;
        let updated = |message: &Value| message["method"] == "notifications/resources/updated";
        let told = stream.message(updated).await.expect("the update is told");
        assert_eq!(told["params"]["uri"], "memo:///a");
    }

    assert_eq!(counts(&fakes), [1, 1]);
}

//! What leaves a row, and what stands in it.

use mcpr_tests::http::Request;
use mcpr_tests::{Fake, gateway};
use serde_json::{Value, json};

use crate::stage::{await_newest, await_stored, history, only, server, stored};

fn about(calls: &[Value]) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let line = |call: &Value| {
        let [method, server, tool, status] =
            ["method", "server", "tool", "status"].map(|key| text(&call[key]));
        format!("{method} {server} {tool} {status}")
    };
    calls.iter().rev().map(line).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn log_06_a_call_leaves_one_row_with_who_called_what_and_how_it_went() {
    let fake = server().stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let client = gateway.client().await;
    let tokens = gateway.operate("tokens/list", json!({})).await;

    client.call("a_x", r#"{"secret":"S3CRET1"}"#).await;

    let call = only(&gateway).await;
    assert_eq!(call["principal"], tokens["tokens"][0]["id"]);
    assert_eq!(
        (&call["server"], &call["tool"], &call["method"]),
        (&json!("a"), &json!("x"), &json!("tools/call"))
    );
    assert_eq!((&call["status"], &call["client"]), (&json!("ok"), &json!("test")));
    assert!(call["durationUs"].as_u64().unwrap() > 0);
    assert!(client.id.starts_with(call["correlationId"].as_str().unwrap()));
    assert!(call["id"].as_str().unwrap().starts_with("h_"));
    assert!(!call.to_string().contains("S3CRET1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn log_06_a_server_is_found_by_its_name_also_where_a_variable_says_the_same() {
    let fake = server().stdio();
    let mut entry = fake.entry();
    entry["env"]["PGUSER"] = json!("postgres");
    let gateway = gateway().server("postgres", entry).ready().await;
    gateway.client().await.call("postgres_x", "{}").await;

    let calls = history(&gateway, json!({ "server": "postgres" })).await;

    assert_eq!(about(&calls), ["tools/call postgres x ok"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn log_06_an_error_and_a_failing_tool_leave_rows_that_say_so() {
    for fake in [server().stdio(), server().with(r#"{"era":"stateless"}"#).http()] {
        let gateway = gateway().fake("a", &fake).ready().await;
        gateway.client().await.call("a_bad", "{}").await;
        gateway.stateless().call("a_broken", "{}").await;

        let calls = history(&gateway, json!({})).await;

        assert_eq!(
            about(&calls),
            ["tools/call a bad tool_error", "tools/call a broken error"]
        );
        assert_eq!(
            (&calls[0]["code"], &calls[0]["error"]),
            (&json!(-32001), &json!("the disk is full"))
        );
        assert_eq!(
            (&calls[1]["code"], &calls[1]["error"]),
            (&Value::Null, &Value::Null)
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn log_06_a_call_that_is_cancelled_leaves_a_row_that_says_so() {
    let fake = server().stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let stateless = gateway.stateless();
    let text = stateless.text("1", "tools/call", r#""name":"a_slow","arguments":{}"#);
    let request = stateless.post(&text, "tools/call", Some("a_slow"));
    let connection = request.start(gateway.port).await;
    fake.await_received("tools/call", 1).await;

    drop(connection);

    let call = await_newest(&gateway, "cancelled").await;
    assert_eq!(call["tool"], "slow");
}

#[tokio::test(flavor = "multi_thread")]
async fn log_06_built_in_tools_leave_rows_of_the_server_mcpr() {
    let gateway = gateway().with_builtins().start().await;
    let client = gateway.client().await;
    client.call("list-toolsets", "{}").await;
    client.call("equip-toolset", r#"{"name":"none"}"#).await;
    client.call("equip-toolset", "5").await;

    let calls = history(&gateway, json!({ "server": "mcpr" })).await;

    assert_eq!(
        about(&calls),
        [
            "tools/call mcpr list-toolsets ok",
            "tools/call mcpr equip-toolset tool_error",
            "tools/call mcpr equip-toolset error"
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn log_06_what_uses_a_server_leaves_a_row_and_what_only_looks_does_not() {
    let fake = server()
        .with(r#"{"capabilities":{"tools":{},"prompts":{},"resources":{},"completions":{}}}"#)
        .raw("completion/complete", r#"{"completion":{"values":[]}}"#)
        .stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let client = gateway.client().await;
    for (method, params) in [
        ("ping", "{}"),
        ("tools/list", "{}"),
        ("prompts/get", r#"{"name":"a_p"}"#),
        ("resources/list", "{}"),
        ("resources/read", r#"{"uri":"file:///r"}"#),
        ("tools/call", r#"{"name":"a_none"}"#),
        (
            "completion/complete",
            r#"{"ref":{"type":"ref/prompt","name":"a_p"},"argument":{"name":"n","value":"v"}}"#,
        ),
    ] {
        client.request(method, params).await;
    }

    let calls = history(&gateway, json!({})).await;

    assert_eq!(
        about(&calls),
        [
            "prompts/get a - ok",
            "resources/read a - ok",
            "completion/complete a - ok"
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn log_06_a_row_names_the_project_of_the_request_or_of_the_token() {
    let fake = server().stdio();
    let gateway = gateway()
        .fake("a", &fake)
        .own("projects", json!({ "web": { "servers": ["a"] } }))
        .ready()
        .await;
    let bound = json!({ "name": "bound", "project": "web" });
    let bound = gateway.operate("tokens/create", bound).await;
    let call = |token: &str| {
        let stateless = gateway.stateless();
        let text = stateless.text("1", "tools/call", r#""name":"a_x","arguments":{}"#);
        stateless
            .post(&text, "tools/call", Some("a_x"))
            .replace("authorization", &format!("Bearer {token}"))
    };

    call(&gateway.token).send(gateway.port).await;
    let asking: Request = call(&gateway.token).header("x-mcpr-project", "web");
    asking.send(gateway.port).await;
    call(bound["secret"].as_str().unwrap()).send(gateway.port).await;

    let calls = history(&gateway, json!({})).await;
    let projects: Vec<_> = calls.iter().rev().map(|call| call["project"].clone()).collect();
    assert_eq!(projects, [Value::Null, json!("web"), json!("web")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn log_06_an_operator_s_call_leaves_a_row_too() {
    let fake = server().stdio();
    let gateway = gateway().fake("a", &fake).ready().await;

    gateway.operate("tools/call", json!({ "name": "a.x" })).await;

    let call = only(&gateway).await;
    assert_eq!(
        (&call["principal"], &call["client"]),
        (&json!("local"), &json!("mcpr-ctl"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn log_06_a_row_is_in_the_database_soon_though_nobody_asks_for_it() {
    let fake = server().stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let client = gateway.client().await;
    for _ in 0..3 {
        client.call("a_x", "{}").await;
    }

    let rows = await_stored(&gateway.home(), 3).await;

    assert!(rows.is_sorted_by(|one, other| one.id > other.id && one.at_ms >= other.at_ms));
    assert!(rows.iter().all(|row| row.arguments.is_none()), "{rows:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn log_06_what_ended_before_the_gateway_did_is_kept() {
    let fake = server().stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let client = gateway.client().await;
    client.call("a_x", "{}").await;
    client.call("a_broken", "{}").await;

    let home = gateway.stop().await;

    let rows = stored(home.path()).await;
    let statuses: Vec<_> = rows.iter().map(|row| row.status.as_str()).collect();
    assert_eq!(statuses, ["error", "ok"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn log_06_a_call_that_the_end_of_the_gateway_ended_is_kept() {
    let fake = server().stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let client = gateway.client().await;
    let text = client.text("tools/call", r#"{"name":"a_slow","arguments":{}}"#);
    let _connection = client.post(&text).start(gateway.port).await;
    fake.await_received("tools/call", 1).await;

    let home = gateway.stop().await;

    let rows = stored(home.path()).await;
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(rows[0].tool.as_deref(), Some("slow"));
    assert_ne!(rows[0].status, "ok");
}

#[tokio::test(flavor = "multi_thread")]
async fn log_06_calls_of_many_clients_each_leave_their_row() {
    let fake = Fake::script().tool("x").stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let client = gateway.client().await;
    let calls = (0..200).map(|_| client.call("a_x", "{}"));

    futures_util::future::join_all(calls).await;

    let rows = await_stored(&gateway.home(), 200).await;
    let mut ids: Vec<_> = rows.iter().map(|row| row.request_id.clone()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 200);
}

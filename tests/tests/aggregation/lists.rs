//! The lists of all servers form one.

use mcpr_tests::{Fake, Script, gateway};
use serde_json::json;

use crate::common::{in_front_of, tools};

/// One item of each kind.
fn of_all_kinds() -> Script {
    Fake::script().tool("t").with(
        r#"{"prompts": [{"name": "p"}], "resources": [{"name": "r", "uri": "file:///r"}],
            "templates": [{"name": "f", "uriTemplate": "file:///{+path}"}]}"#,
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_01_tools_of_two_servers_form_one_list() {
    let (a, b) = (Fake::script().tool("x").stdio(), Fake::script().tool("x").http());
    let gateway = gateway().fake("a", &a).fake("b", &b).ready().await;
    let client = gateway.client().await;

    assert_eq!(client.tool_names().await, ["a_x", "b_x"]);
    let told = client
        .call("a_x", r#"{"n":123456789012345678901234567890}"#)
        .await;
    assert_eq!(
        told["result"]["content"][0]["text"],
        r#"{"n":123456789012345678901234567890}"#
    );
    let told = client.call("b_x", r#"{"n":1}"#).await;
    assert_eq!(told["result"]["content"][0]["text"], r#"{"n":1}"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_01_each_of_the_four_kinds_forms_one_list() {
    let (a, b) = (
        of_all_kinds().stdio(),
        of_all_kinds().set("era", json!("stateless")).http(),
    );
    let gateway = in_front_of([("a", &a), ("b", &b)]).await;

    for client in gateway.clients().await {
        assert_eq!(client.tools().await, ["a_t", "b_t"]);
        assert_eq!(
            client.listed("prompts/list", "prompts", "name").await,
            ["a_p", "b_p"]
        );
        let resources = client.listed("resources/list", "resources", "uri").await;
        assert_eq!(resources, ["resource://a/file:///r", "resource://b/file:///r"]);
        let templates = client
            .listed("resources/templates/list", "resourceTemplates", "uriTemplate")
            .await;
        assert_eq!(
            templates,
            ["resource://a/file:///{+path}", "resource://b/file:///{+path}"]
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_01_servers_come_in_the_order_of_the_file() {
    let (last, first) = (tools(&["b", "a"]), tools(&["c"]));
    let gateway = in_front_of([("z", &last), ("a", &first)]).await;

    assert_eq!(gateway.client().await.tool_names().await, ["z_b", "z_a", "a_c"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_01_a_disabled_server_is_neither_started_nor_listed() {
    let (on, off) = (tools(&["x"]), tools(&["x"]));
    let mut entry = off.entry();
    entry["disabled"] = json!(true);
    let gateway = gateway().fake("on", &on).server("off", entry).ready().await;

    let answer = gateway.client().await.request("tools/list", "{}").await;
    assert_eq!(
        answer.message()["result"]["tools"].as_array().map(Vec::len),
        Some(1)
    );
    assert_eq!(
        answer.raw(&["result", "_meta", "dev.mcpr/servers"]),
        r#"{"on":{"state":"ok"}}"#
    );
    assert!(off.received().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn b42_every_kind_works_with_one_two_and_three_servers() {
    let main = Fake::script().with(
        r#"{"prompts": [{"name": "p"}], "resources": [{"name": "r", "uri": "file:///r"}],
            "templates": [{"name": "t", "uriTemplate": "file:///{name}"}]}"#,
    );
    let (main, templates) = (
        main.stdio(),
        Fake::script()
            .with(r#"{"templates": [{"name": "t", "uriTemplate": "x://{y}"}]}"#)
            .http(),
    );
    let more = tools(&["t"]);
    for servers in 1..=3 {
        let all = [("main", &main), ("templates", &templates), ("more", &more)];
        let some = all[..servers]
            .iter()
            .fold(gateway(), |builder, (name, fake)| builder.fake(name, fake));
        let gateway = some.ready().await;
        for client in gateway.clients().await {
            assert_eq!(client.listed("prompts/list", "prompts", "name").await, ["main_p"]);
            assert_eq!(
                client.listed("resources/list", "resources", "uri").await,
                ["resource://main/file:///r"]
            );
            let templates = client
                .listed("resources/templates/list", "resourceTemplates", "uriTemplate")
                .await;
            let expected = ["resource://main/file:///{name}", "resource://templates/x://{y}"];
            assert_eq!(templates, expected[..servers.min(2)]);
            let prompt = client.prompt("main_p").await.message();
            assert_eq!(prompt["result"]["messages"][0]["content"]["text"], "p {}");
            let read = client.read("file:///r").await.message();
            assert_eq!(read["result"]["contents"][0]["text"], "read file:///r");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b43_what_is_announced_works_without_any_server_and_with_one_that_has_only_tools() {
    let fake = tools(&["x"]);
    for gateway in [gateway().ready().await, in_front_of([("a", &fake)]).await] {
        let session = gateway.client().await;
        let discovered = gateway
            .stateless()
            .request("server/discover", "", None)
            .await
            .message();
        for announced in [
            &session.welcome["capabilities"],
            &discovered["result"]["capabilities"],
        ] {
            let kinds: Vec<&String> = announced.as_object().expect("capabilities").keys().collect();
            assert_eq!(kinds, ["completions", "logging", "prompts", "resources", "tools"]);
            assert!(
                ["tools", "prompts", "resources"]
                    .iter()
                    .all(|kind| announced[*kind]["listChanged"] == true)
            );
        }
        let level = session
            .request("logging/setLevel", r#"{"level":"info"}"#)
            .await
            .message();
        assert_eq!(level["result"], json!({}));
        for client in gateway.clients().await {
            for (method, member) in [
                ("prompts/list", "prompts"),
                ("resources/list", "resources"),
                ("resources/templates/list", "resourceTemplates"),
            ] {
                assert!(client.items(method, member).await.is_empty(), "{method}");
            }
            let reference = r#""ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}"#;
            let completed = client.ask("completion/complete", reference).await.message();
            assert_eq!(completed["error"]["code"], -32602, "{completed}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b43_what_is_not_announced_does_not_exist() {
    let gateway = gateway().ready().await;
    let announced = gateway.client().await.welcome["capabilities"].clone();
    assert!(announced["resources"]["subscribe"] == true && announced["tasks"].is_null());

    for client in gateway.clients().await {
        for method in ["tasks/list", "no/such"] {
            let told = client.ask(method, r#""uri":"x:y""#).await.message();
            assert_eq!(told["error"]["code"], -32601, "{method}: {told}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b44_a_server_with_tools_alone_is_not_asked_for_more() {
    let log = || {
        mcpr_tests::logged()
            .into_iter()
            .filter(|line| line.contains("b44tools"))
            .collect::<Vec<_>>()
    };
    log();
    let (only, other) = (tools(&["t"]), of_all_kinds().stdio());
    let gateway = in_front_of([("b44tools", &only), ("other", &other)]).await;

    let client = gateway.client().await;
    for _ in 0..10 {
        assert_eq!(client.list("resources/list", "resources").await.len(), 1);
    }
    let asked = |fake: &Fake, method| fake.received_of(method).len();
    assert_eq!(
        ["prompts/list", "resources/list", "resources/templates/list"].map(|kind| asked(&only, kind)),
        [0; 3]
    );
    assert_eq!(
        ["tools/list", "resources/list"].map(|kind| asked(&other, kind)),
        [1; 2]
    );
    assert!(!log().is_empty());
    assert!(
        !log()
            .iter()
            .any(|line| line.contains("WARN") || line.contains("ERROR")),
        "{:?}",
        log()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn b44_a_list_that_does_not_exist_after_all_is_empty() {
    let script = Fake::script().tool("t").with(
        r#"{"capabilities": {"tools": {}, "prompts": {}, "resources": {}},
            "error": {"prompts/list": {"code": -32601, "message": "no"}, "resources/list": {"code": -32601, "message": "no"}}}"#,
    );
    let (odd, other) = (script.stdio(), of_all_kinds().stdio());
    let gateway = in_front_of([("odd", &odd), ("other", &other)]).await;

    let client = gateway.client().await;
    assert_eq!(client.tool_names().await, ["odd_t", "other_t"]);
    assert_eq!(client.list("prompts/list", "prompts").await.len(), 1);
    assert_eq!(client.list("resources/list", "resources").await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn b50_a_list_that_fails_is_not_taken_for_an_empty_one() {
    let log = || {
        mcpr_tests::logged()
            .into_iter()
            .filter(|line| line.contains("b50lists"))
            .collect::<Vec<_>>()
    };
    log();
    let broken = of_all_kinds()
        .error("prompts/list", json!({ "code": -32000, "message": "out of ink" }))
        .stdio();
    let gateway = in_front_of([("b50lists", &broken)]).await;

    let client = gateway.client().await;
    assert_eq!(client.tool_names().await, ["b50lists_t"]);
    assert!(client.list("prompts/list", "prompts").await.is_empty());
    assert!(
        log().iter().any(|line| line.contains("out of ink")),
        "{:?}",
        log()
    );
}

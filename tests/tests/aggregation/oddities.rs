//! Items that are not what they should be cost nobody but themselves.

use mcpr_tests::{Fake, raw};
use serde_json::{Value, json};

use crate::common::{called, in_front_of, schemas};

#[tokio::test(flavor = "multi_thread")]
async fn b11_an_odd_schema_is_repaired_and_a_hopeless_one_costs_only_its_tool() {
    let warned = || {
        mcpr_tests::logged()
            .into_iter()
            .filter(|line| line.contains("b11server"))
            .collect::<Vec<_>>()
    };
    warned();
    let odd = schemas(&[
        ("a", "{}"),
        ("b", ""),
        ("c", "null"),
        ("d", r#"{"type":"string"}"#),
        ("e", r#"{ "anyOf" : [{"type":"object"},{}], "n":1E400 }"#),
        ("f", "[]"),
        ("good", r#"{"type": "object" }"#),
    ]);
    let fake = odd.stdio();
    let gateway = in_front_of([("b11server", &fake)]).await;

    for client in gateway.clients().await {
        let listed = client.items("tools/list", "tools").await;
        let seen: Vec<String> = listed
            .iter()
            .map(|item| raw::member(item, &["name"]) + &raw::member(item, &["inputSchema"]))
            .collect();
        let object = r#"{"type":"object"}"#;
        let expected = [
            format!(r#""b11server_a"{object}"#),
            format!(r#""b11server_b"{object}"#),
            format!(r#""b11server_c"{object}"#),
            r#""b11server_e"{ "anyOf" : [{"type":"object"},{}], "n":1E400,"type":"object" }"#.to_owned(),
            r#""b11server_good"{"type": "object" }"#.to_owned(),
        ];
        assert_eq!(seen, expected);
        client.call("b11server_a", "{}").await;
        let told: Value = client.call("b11server_d", "{}").await.message();
        assert_eq!(told["error"]["message"], "Unknown tool: b11server_d");
    }
    let of_tool = |tool: &str| {
        warned()
            .iter()
            .filter(|line| line.contains("WARN") && line.contains(&format!("`{tool}`")))
            .count()
    };
    assert_eq!(
        ["a", "b", "c", "d", "e", "f", "good"].map(of_tool),
        [1, 1, 1, 1, 1, 1, 0],
        "{:?}",
        warned()
    );
    assert_eq!(called(&fake), ["a", "a"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_03_an_oddity_is_told_once_however_often_the_list_is_read() {
    let told = || {
        mcpr_tests::logged()
            .iter()
            .filter(|line| line.contains("agg03again") && line.contains("WARN"))
            .count()
    };
    told();
    let notify = json!([{ "method": "notifications/tools/list_changed" }]);
    let fake = schemas(&[("a", "{}")]).set("notify", notify).stdio();
    let gateway = in_front_of([("agg03again", &fake)]).await;
    let client = gateway.client().await;
    let mut stream = client.stream().await;

    for _ in 0..2 {
        client.call("agg03again_a", "{}").await;
        stream
            .message(|message| message["method"] == "notifications/tools/list_changed")
            .await;
    }
    assert_eq!(fake.received_of("tools/list").len(), 3);
    assert_eq!(told(), 1, "{:?}", mcpr_tests::logged());
}

#[tokio::test(flavor = "multi_thread")]
async fn b11_items_that_are_none_cost_nobody_else() {
    let tools = r#"{"tools":[null,7,{"title":"nameless"},{"name":""},{"name":5},{"name":"t","name":"u"},{"name":"ok"},{"name":"ok","title":"again"}]}"#;
    let fake = Fake::script().tool("ok").raw("tools/list", tools).stdio();
    let other = Fake::script().tool("x").stdio();
    let gateway = in_front_of([("odd", &fake), ("other", &other)]).await;

    for client in gateway.clients().await {
        assert_eq!(client.tools().await, ["odd_ok", "other_x"]);
    }
}

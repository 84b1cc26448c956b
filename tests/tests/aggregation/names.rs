//! Names that every client takes, and that stay.

use std::collections::BTreeSet;

use mcpr_tests::{Fake, Gateway, gateway};
use serde_json::json;

use crate::common::{builder, called, in_front_of, tools};

/// What every known client accepts.
fn is_legal(name: &str, longest: usize) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    name.chars().all(legal)
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && (1..=longest).contains(&name.len())
}

async fn names(gateway: &Gateway) -> Vec<String> {
    gateway.client().await.tool_names().await
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_02_every_name_is_legal_and_unique_and_leads_to_its_tool() {
    let long = "x".repeat(120);
    let odd = [
        "a.b",
        "a b",
        "a-b",
        "a_b",
        "A_B",
        "ünï",
        "9lives",
        "検索",
        "/",
        "-",
        long.as_str(),
    ];
    let (one, two) = (tools(&odd), tools(&odd));
    let gateway = in_front_of([("9 ärger.x", &one), ("9_ärger-x", &two)]).await;

    for client in gateway.clients().await {
        let names = client.tools().await;
        assert_eq!(
            names.iter().collect::<BTreeSet<_>>().len(),
            odd.len() * 2,
            "{names:?}"
        );
        assert!(names.iter().all(|name| is_legal(name, 50)), "{names:?}");
        for name in &names {
            client.call(name, "{}").await;
        }
    }
    let twice = [odd, odd].concat();
    assert_eq!(called(&one), twice);
    assert_eq!(called(&two), twice);
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_02_names_survive_a_restart_in_whatever_order_servers_come_then() {
    let (dot, line) = (tools(&["x"]), tools(&["x"]));
    // Whoever lists first keeps the plain name, so one starts after the other.
    let in_turn = json!({ "order": "sequential" });
    let first = builder([("a.b", &dot), ("a_b", &line)])
        .own("startup", in_turn)
        .ready()
        .await;
    assert_eq!(names(&first).await, ["a_b_x", "a_b_x_xpimre"]);
    first.core.shutdown().await;

    let second = builder([("a_b", &line), ("a.b", &dot)])
        .at_home_of(&first)
        .ready()
        .await;
    assert_eq!(names(&second).await, ["a_b_x_xpimre", "a_b_x"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn b101_names_stay_when_servers_join_and_leave_and_come_back() {
    let [line, dot, other] = [tools(&["x"]), tools(&["x"]), tools(&["x"])];
    let alone = in_front_of([("a_b", &line)]).await;
    assert_eq!(names(&alone).await, ["a_b_x"]);
    alone.core.shutdown().await;

    let joined = builder([("a.b", &dot), ("other", &other), ("a_b", &line)])
        .at_home_of(&alone)
        .ready()
        .await;
    assert_eq!(names(&joined).await, ["a_b_x_y344oo", "other_x", "a_b_x"]);
    joined.core.shutdown().await;

    let left = builder([("a.b", &dot)]).at_home_of(&alone).ready().await;
    assert_eq!(names(&left).await, ["a_b_x_y344oo"]);
    left.core.shutdown().await;

    let back = builder([("a.b", &dot), ("a_b", &line)])
        .at_home_of(&alone)
        .ready()
        .await;
    assert_eq!(names(&back).await, ["a_b_x_y344oo", "a_b_x"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn b101_a_server_that_is_down_keeps_its_names_reserved() {
    let [late, early] = [Fake::script().tool("x").http(), tools(&["x"])];
    let first = in_front_of([("a.b", &late)]).await;
    first.core.shutdown().await;
    late.kill();

    let second = builder([("a.b", &late), ("a_b", &early)])
        .at_home_of(&first)
        .ready()
        .await;
    assert_eq!(names(&second).await, ["a_b_x_xpimre"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn b04_over_long_names_are_cut_stay_apart_and_stay_the_same() {
    let warned = |tool: &str| {
        let said = format!("server `my-very-long-internal-company-server`, tool `{tool}`");
        mcpr_tests::logged()
            .iter()
            .any(|line| line.contains("WARN") && line.contains(&said) && line.contains("too long"))
    };
    assert!(!warned(""));
    let start = "y".repeat(55);
    let (one, two) = (format!("{start}.one."), format!("{start}_two_"));
    let fake = tools(&[&one, &two]);
    let server = "my-very-long-internal-company-server";
    let gateway = in_front_of([(server, &fake)]).await;

    let before = names(&gateway).await;
    assert!(
        before.iter().all(|name| is_legal(name, 50) && name.len() == 50),
        "{before:?}"
    );
    assert_ne!(before[0], before[1]);
    for client in gateway.clients().await {
        for name in &before {
            client.call(name, "{}").await;
        }
    }
    assert_eq!(called(&fake), [&one, &two, &one, &two].map(String::as_str));
    assert!(warned(&one) && warned(&two), "{:?}", mcpr_tests::logged());
    gateway.core.shutdown().await;
    let again = builder([(server, &fake)]).at_home_of(&gateway).ready().await;
    assert_eq!(names(&again).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn b04_the_limit_is_the_operators() {
    let fake = tools(&["a_name_of_30_characters_exactly"]);
    let short = builder([("s", &fake)])
        .own("naming", json!({ "maxLength": 20 }))
        .ready()
        .await;
    let long = builder([("s", &fake)])
        .own("naming", json!({ "maxLength": 64 }))
        .ready()
        .await;

    let cut = names(&short).await;
    assert!(
        is_legal(&cut[0], 20) && cut[0].starts_with("s_a_name_of_3"),
        "{cut:?}"
    );
    assert_eq!(names(&long).await, ["s_a_name_of_30_characters_exactly"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn b05_dots_are_for_the_server_alone() {
    let fake = tools(&["calendar.read", "Node.js_restart"]);
    let gateway = in_front_of([("s", &fake)]).await;

    for client in gateway.clients().await {
        assert_eq!(client.tools().await, ["s_calendar_read", "s_Node_js_restart"]);
        client.call("s_calendar_read", "{}").await;
        client.call("s_Node_js_restart", "{}").await;
    }
    assert_eq!(
        called(&fake),
        [
            "calendar.read",
            "Node.js_restart",
            "calendar.read",
            "Node.js_restart"
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_05_names_are_flattened_as_promised() {
    let [context7, master, server] = [
        tools(&["resolve-library-id"]),
        tools(&["get_tasks"]),
        tools(&["tool.with.multiple.dots"]),
    ];
    let all = || {
        builder([
            ("context7", &context7),
            ("task-master", &master),
            ("server", &server),
        ])
    };
    let (flat, kept) = (
        all().ready().await,
        all().own("naming", json!({ "hyphens": "keep" })).ready().await,
    );

    let expected = [
        "context7_resolve_library_id",
        "task_master_get_tasks",
        "server_tool_with_multiple_dots",
    ];
    assert_eq!(names(&flat).await, expected);
    let expected = [
        "context7_resolve-library-id",
        "task-master_get_tasks",
        "server_tool_with_multiple_dots",
    ];
    assert_eq!(names(&kept).await, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_05_raw_names_stay_untouched() {
    let (raw, flat) = (tools(&["a.b-c", "ä"]), tools(&["a.b-c"]));
    let gateway = gateway()
        .fake_with("raw", &raw, json!({ "naming": { "style": "raw" } }))
        .fake("flat", &flat)
        .ready()
        .await;

    for client in gateway.clients().await {
        assert_eq!(client.tools().await, ["a.b-c", "ä", "flat_a_b_c"]);
        client.call("a.b-c", "{}").await;
        client.call("ä", "{}").await;
    }
    assert_eq!(called(&raw), ["a.b-c", "ä", "a.b-c", "ä"]);
    assert!(called(&flat).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_05_without_prefixes_what_is_legal_in_mcp_stays() {
    let fake = tools(&["a.b-c", "7up", "no good"]);
    let gateway = builder([("s", &fake)])
        .own("naming", json!({ "prefix": "never" }))
        .ready()
        .await;

    assert_eq!(names(&gateway).await, ["a.b-c", "7up", "no_good"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn b109_case_counts_and_servers_that_flatten_alike_all_work() {
    let fakes = [(); 3].map(|()| tools(&["GetUser", "getuser"]));
    let [dot, line, upper] = &fakes;
    let gateway = in_front_of([("a.b", dot), ("a_b", line), ("A_b", upper)]).await;

    let client = gateway.client().await;
    let names = client.tool_names().await;
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), 6, "{names:?}");
    assert_eq!(names[4..], ["A_b_GetUser", "A_b_getuser"]);
    for name in &names {
        client.call(name, "{}").await;
    }
    assert!(fakes.iter().all(|fake| called(fake) == ["GetUser", "getuser"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn b109_no_tool_takes_the_name_of_a_built_in_one() {
    let fake = tools(&["equip-toolset", "other"]);
    let plain = json!({ "prefix": "" });
    let gateway = gateway()
        .fake_with("s", &fake, plain)
        .own("naming", json!({ "hyphens": "keep" }))
        .ready()
        .await;

    let client = gateway.client().await;
    assert_eq!(client.tool_names().await, ["equip-toolset_2rvqq7", "other"]);
    client.call("equip-toolset_2rvqq7", "{}").await;
    assert_eq!(called(&fake), ["equip-toolset"]);
}

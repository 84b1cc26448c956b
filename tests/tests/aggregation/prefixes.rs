//! Which names get the prefix of their server.

use mcpr_tests::{Fake, gateway};
use serde_json::json;

use crate::common::{builder, called, in_front_of, tools};

#[tokio::test(flavor = "multi_thread")]
async fn b15_tools_of_one_name_on_two_servers_are_both_reachable() {
    let (a, b) = (
        tools(&["search"]),
        Fake::script()
            .tool("search")
            .set("era", json!("stateless"))
            .http(),
    );
    let gateway = in_front_of([("a", &a), ("b", &b)]).await;

    let client = gateway.client().await;
    assert_eq!(client.tool_names().await, ["a_search", "b_search"]);
    client.call("a_search", "{}").await;
    client.call("b_search", "{}").await;
    assert_eq!([called(&a), called(&b)], [["search"], ["search"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_04_conflict_gives_every_member_of_a_conflict_its_prefix_and_nobody_else() {
    let [a, b] = [tools(&["search", "only_a"]), tools(&["search", "only_b"])];
    let gateway = builder([("a", &a), ("b", &b)])
        .own("naming", json!({ "prefix": "conflict" }))
        .ready()
        .await;

    for client in gateway.clients().await {
        let names = client.tools().await;
        assert_eq!(names, ["a_search", "only_a", "b_search", "only_b"]);
        for name in &names {
            client.call(name, "{}").await;
        }
    }
    assert_eq!(called(&a), ["search", "only_a", "search", "only_a"]);
    assert_eq!(called(&b), ["search", "only_b", "search", "only_b"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_04_never_lets_the_later_server_override_with_a_warning_of_both() {
    let warning = || {
        mcpr_tests::logged()
            .into_iter()
            .find(|line| line.contains("zlater") && line.contains("earlier1"))
    };
    assert!(warning().is_none());
    let [earlier, later] = [tools(&["search", "mine"]), tools(&["search"])];
    let gateway = builder([("earlier1", &earlier), ("zlater", &later)])
        .own("naming", json!({ "prefix": "never" }))
        .ready()
        .await;

    for client in gateway.clients().await {
        assert_eq!(client.tools().await, ["mine", "search"]);
        client.call("search", "{}").await;
    }
    assert_eq!(called(&later), ["search", "search"]);
    assert!(called(&earlier).is_empty());
    assert!(warning().is_some_and(|line| line.contains("search") && line.contains("WARN")));
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_04_later_is_by_the_order_of_the_file() {
    let [a, z] = [tools(&["search"]), tools(&["search"])];
    let gateway = builder([("z", &z), ("a", &a)])
        .own("naming", json!({ "prefix": "never" }))
        .ready()
        .await;

    gateway.client().await.call("search", "{}").await;
    assert_eq!([called(&a).len(), called(&z).len()], [1, 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_04_a_server_has_the_prefix_it_was_given() {
    let [long, bare] = [tools(&["status"]), tools(&["status"])];
    let gateway = gateway()
        .fake_with("github", &long, json!({ "prefix": "gh" }))
        .fake_with("git", &bare, json!({ "prefix": "" }))
        .ready()
        .await;

    for client in gateway.clients().await {
        assert_eq!(client.tools().await, ["gh_status", "status"]);
        client.call("gh_status", "{}").await;
        client.call("status", "{}").await;
    }
    assert_eq!([called(&long).len(), called(&bare).len()], [2, 2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_04_without_a_prefix_a_collision_gets_the_hash() {
    let [first, second] = [tools(&["x"]), tools(&["x"])];
    let none = || json!({ "prefix": "" });
    let gateway = gateway()
        .fake_with("a", &first, none())
        .fake_with("a_b", &second, none())
        .own("startup", json!({ "order": "sequential" }))
        .ready()
        .await;

    let client = gateway.client().await;
    assert_eq!(client.tool_names().await, ["x", "x_xpimre"]);
    client.call("x_xpimre", "{}").await;
    client.call("x", "{}").await;
    assert_eq!([called(&first).len(), called(&second).len()], [1, 1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_04_the_separator_is_the_operators() {
    let fake = tools(&["x-y"]);
    for (separator, name) in [
        ("_", "git_x_y"),
        ("__", "git__x_y"),
        ("-", "git-x_y"),
        ("mcp", "gitmcpx_y"),
    ] {
        let gateway = builder([("git", &fake)])
            .own("naming", json!({ "separator": separator }))
            .ready()
            .await;
        assert_eq!(gateway.client().await.tool_names().await, [name]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_04_prompts_follow_the_same_rules() {
    let prompts = || {
        Fake::script()
            .with(r#"{"prompts": [{"name": "re-view"}]}"#)
            .stdio()
    };
    let [a, b] = [prompts(), prompts()];
    for (policy, names) in [
        ("always", &["a_re_view", "b_re_view"][..]),
        ("conflict", &["a_re_view", "b_re_view"]),
        ("never", &["re-view"]),
    ] {
        let gateway = builder([("a", &a), ("b", &b)])
            .own("naming", json!({ "prefix": policy }))
            .ready()
            .await;
        for client in gateway.clients().await {
            assert_eq!(client.listed("prompts/list", "prompts", "name").await, names);
        }
    }
}

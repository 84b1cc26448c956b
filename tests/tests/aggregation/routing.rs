//! Whose a call is, and what is nobody's.

use mcpr_tests::{Fake, Received, gateway};
use serde_json::{Value, json};

use crate::common::{Everywhere, called, in_front_of, tools};

#[tokio::test(flavor = "multi_thread")]
async fn agg_06_a_tool_is_called_by_its_exposed_its_origin_or_its_only_name() {
    let [git, notes] = [tools(&["status", "log.show"]), tools(&["status", "note.add"])];
    let gateway = in_front_of([("git", &git), ("notes", &notes)]).await;

    for client in gateway.clients().await {
        for name in [
            "git_status",
            "git.status",
            "log.show",
            "git.log.show",
            "notes.status",
            "note.add",
        ] {
            let told = client.call(name, "{}").await.message();
            assert_eq!(told["result"]["content"][0]["text"], "{}", "{name}: {told}");
        }
    }
    let git_calls = ["status", "status", "log.show", "log.show"];
    assert_eq!(called(&git), [git_calls, git_calls].concat());
    assert_eq!(called(&notes), ["status", "note.add", "status", "note.add"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_06_a_bare_name_that_two_tools_have_means_neither() {
    let [a, b] = [tools(&["status"]), tools(&["status"])];
    let gateway = in_front_of([("a", &a), ("b", &b)]).await;

    for client in gateway.clients().await {
        assert_eq!(
            client.call("status", "{}").await.message()["error"]["message"],
            "Unknown tool: status"
        );
    }
    assert!(called(&a).is_empty() && called(&b).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_06_an_origin_form_is_not_taken_apart_at_a_dot() {
    let [short, long] = [tools(&["b.c", "d"]), tools(&["c", "e.f"])];
    let gateway = in_front_of([("a", &short), ("a.b", &long)]).await;

    let client = gateway.client().await;
    let told = client.call("a.b.c", "{}").await;
    assert_eq!(
        told["error"]["message"], "Unknown tool: a.b.c",
        "two tools are called that"
    );
    client.call("a.d", "{}").await;
    client.call("a.b.e.f", "{}").await;
    assert_eq!([called(&short), called(&long)], [["d"], ["e.f"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn b16_hyphenated_names_reach_the_right_server() {
    let [backstage, get] = [tools(&["get-catalog-entity"]), tools(&["catalog-entity"])];
    for separator in ["-", "_"] {
        let naming = json!({ "separator": separator, "hyphens": "keep" });
        let gateway = gateway()
            .fake("backstage", &backstage)
            .fake("get", &get)
            .own("naming", naming)
            .ready()
            .await;
        let client = gateway.client().await;
        for name in client.tool_names().await {
            client.call(&name, "{}").await;
        }
    }
    assert_eq!(called(&backstage), ["get-catalog-entity"; 2]);
    assert_eq!(called(&get), ["catalog-entity"; 2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_07_an_unknown_tool_is_said_to_be_unknown_and_no_server_hears_of_it() {
    let fakes = Everywhere::new(|| Fake::script().tool("x"));
    let gateway = fakes.gateway().await;

    for client in gateway.clients().await {
        for name in ["nope", "old_nope", "old.nope", "old_", "", "OLD_X"] {
            let answer = client.call(name, "{}").await;
            assert_eq!(answer.status(), 200);
            let error = answer.message()["error"].clone();
            assert_eq!(error["code"], -32602);
            assert_eq!(error["message"], format!("Unknown tool: {name}"));
            assert_eq!(
                [&error["data"]["reason"], &error["data"]["retry"]],
                ["unknown_tool", "no"]
            );
        }
        for (name, _) in fakes.each() {
            client.call(&format!("{name}_x"), "{}").await;
        }
    }
    assert!(fakes.each().all(|(_, fake)| called(fake) == ["x", "x"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_07_a_tool_of_a_server_that_still_starts_can_be_asked_for_again() {
    let silent = Fake::script()
        .tool("x")
        .with(r#"{"silent": ["initialize"]}"#)
        .stdio();
    let gateway = gateway().fake("s", &silent).start().await;

    let told = gateway.client().await.call("s_x", "{}").await;

    let error = &told["error"];
    assert_eq!(
        (&error["code"], &error["message"]),
        (&json!(-32602), &json!("Unknown tool: s_x"))
    );
    let data = ["reason", "server", "retry"].map(|key| error["data"][key].clone());
    assert_eq!(data, ["starting", "s", "safe"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_07_an_unknown_prompt_too() {
    let fake = Fake::script().with(r#"{"prompts": [{"name": "p"}]}"#).stdio();
    let gateway = in_front_of([("a", &fake)]).await;

    for client in gateway.clients().await {
        let error = client.prompt("nope").await.message()["error"].clone();
        assert_eq!(
            (&error["code"], &error["message"]),
            (&json!(-32602), &json!("Unknown prompt: nope"))
        );
        client.prompt("a_p").await;
    }
    assert_eq!(fake.received_of("prompts/get").len(), 2);
}

/// The arguments as a server got them: their text, or none.
fn arguments(call: &Received) -> Option<String> {
    let params = mcpr_tests::raw::member(&call.text, &["params"]);
    let has = call.params().get("arguments").is_some();
    has.then(|| mcpr_tests::raw::member(&params, &["arguments"]))
}

#[tokio::test(flavor = "multi_thread")]
async fn b40_no_arguments_are_never_null() {
    let fakes = Everywhere::new(|| Fake::script().tool("x"));
    let gateway = fakes.gateway().await;

    for client in gateway.clients().await {
        for (name, _) in fakes.each() {
            for arguments in [
                "",
                r#","arguments":null"#,
                r#","arguments":{}"#,
                r#", "arguments" : { "n" : 1E400 }"#,
            ] {
                let answer = client
                    .ask("tools/call", &format!(r#""name":"{name}_x"{arguments}"#))
                    .await;
                assert!(
                    answer.text().contains(r#""content":[{"type":"text""#),
                    "{name}: {}",
                    answer.text()
                );
            }
        }
    }
    for (name, fake) in fakes.each() {
        let calls = fake.received_of("tools/call");
        let texts: Vec<_> = calls.iter().map(|call| call.text.clone()).collect();
        let once = |text: &String| !text.contains("null");
        assert!(texts.iter().all(once), "{name}: {texts:?}");
        assert!(
            texts[3].contains(r#""arguments" : { "n" : 1E400 }"#),
            "{name}: {}",
            texts[3]
        );
        let seen = [0, 1, 2].map(|index| arguments(&calls[index]));
        assert_eq!(seen, [None, None, Some("{}".to_owned())], "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b40_arguments_that_are_no_object_are_refused_before_any_server() {
    let fake = Fake::script()
        .tool("x")
        .with(r#"{"prompts": [{"name": "p"}]}"#)
        .stdio();
    let gateway = in_front_of([("a", &fake)]).await;

    for client in gateway.clients().await {
        for arguments in ["[]", r#""x""#, "1", "true"] {
            for (method, name) in [("tools/call", "a_x"), ("prompts/get", "a_p")] {
                let params = format!(r#""name":"{name}","arguments":{arguments}"#);
                let told: Value = client.ask(method, &params).await.message();
                assert_eq!(told["error"]["code"], -32602, "{method} {arguments}: {told}");
            }
        }
        client.call("a_x", "{}").await;
        client.prompt("a_p").await;
    }
    assert_eq!(
        [
            fake.received_of("tools/call").len(),
            fake.received_of("prompts/get").len()
        ],
        [2, 2]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn b40_a_prompt_without_arguments_is_asked_for_without() {
    let fake = Fake::script().with(r#"{"prompts": [{"name": "p"}]}"#).stdio();
    let gateway = in_front_of([("a", &fake)]).await;

    for client in gateway.clients().await {
        client
            .ask("prompts/get", r#""name":"a_p","arguments":null"#)
            .await;
        client.ask("prompts/get", r#""name":"a_p""#).await;
    }
    let asked = fake.received_of("prompts/get");
    assert_eq!(
        asked.iter().map(arguments).collect::<Vec<_>>(),
        [None, None, None, None]
    );
}

//! Completion of arguments, end to end.

use mcpr_tests::{Client, Fake, Script, raw};
use serde_json::{Value, json};

use crate::common::{Everywhere, in_front_of};

/// A server with a prompt and a template, whose arguments it completes.
fn completing() -> Script {
    Fake::script().with(r#"{"prompts": [{"name": "re-view"}], "templates": [{"name": "t", "uriTemplate": "file:///{+path}"}]}"#)
}

const ARGUMENT: &str = r#""argument":{ "value":"a\u00e9", "name":"path" }"#;

async fn complete(client: &Client, reference: &str, more: &str) -> Value {
    client
        .ask(
            "completion/complete",
            &format!(r#""ref":{reference},{ARGUMENT}{more}"#),
        )
        .await
        .message()
}

/// The `ref` of each completion that a server was asked for, as text.
fn references(fake: &Fake) -> Vec<String> {
    let asked = fake.received_of("completion/complete");
    asked
        .iter()
        .map(|asked| raw::member(&asked.text, &["params", "ref"]))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_09_prompts_and_templates_are_completed_in_all_four_pairings() {
    let fakes = Everywhere::new(completing);
    let gateway = fakes.gateway().await;

    for client in gateway.clients().await {
        for (name, _) in fakes.each() {
            let prompt = format!(r#"{{ "type":"ref/prompt","name":"{name}_re_view", "x":1.0}}"#);
            let template =
                format!(r#"{{"uri":"resource://{name}/file:///{{+path}}", "type":"ref/resource"}}"#);
            for reference in [prompt, template] {
                let told = complete(&client, &reference, "").await;
                let expected = json!({ "values": ["aéone", "aétwo"], "hasMore": false });
                assert_eq!(told["result"]["completion"], expected, "{name}: {told}");
            }
        }
    }
    let expected = [
        r#"{ "type":"ref/prompt","name":"re-view", "x":1.0}"#,
        r#"{"uri":"file:///{+path}", "type":"ref/resource"}"#,
    ];
    for (name, fake) in fakes.each() {
        assert_eq!(references(fake), [expected, expected].concat(), "{name}");
        let asked = fake.received_of("completion/complete");
        let argument = raw::member(&asked[0].text, &["params", "argument"]);
        assert_eq!(argument, r#"{ "value":"a\u00e9", "name":"path" }"#);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_09_a_template_is_completed_by_its_original_form_unless_two_servers_have_it() {
    let other = r#"{"templates": [{"name": "t", "uriTemplate": "x:{y}"}]}"#;
    let (a, b, c) = (
        completing().stdio(),
        completing().stdio(),
        Fake::script().with(other).stdio(),
    );
    let gateway = in_front_of([("a", &a), ("b", &b), ("c", &c)]).await;

    for client in gateway.clients().await {
        let told = complete(&client, r#"{"type":"ref/resource","uri":"x:{y}"}"#, "").await;
        assert_eq!(told["result"]["completion"]["values"][0], "aéone", "{told}");
        let told = complete(&client, r#"{"type":"ref/resource","uri":"file:///{+path}"}"#, "").await;
        assert_eq!(told["error"]["data"]["servers"], json!(["a", "b"]), "{told}");
    }
    assert_eq!(
        [references(&a).len(), references(&b).len(), references(&c).len()],
        [0, 0, 2]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn b43_a_server_that_completes_nothing_is_not_asked() {
    let fakes =
        Everywhere::new(|| completing().set("capabilities", json!({ "prompts": {}, "resources": {} })));
    let gateway = fakes.gateway().await;

    for client in gateway.clients().await {
        for (name, _) in fakes.each() {
            let told = complete(
                &client,
                &format!(r#"{{"type":"ref/prompt","name":"{name}_re_view"}}"#),
                "",
            )
            .await;
            assert_eq!(
                told["result"]["completion"],
                json!({ "values": [], "total": 0, "hasMore": false }),
                "{told}"
            );
        }
    }
    assert!(fakes.each().all(|(_, fake)| references(fake).is_empty()));
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_09_a_reference_to_nothing_is_refused() {
    let fake = completing().stdio();
    let gateway = in_front_of([("a", &fake)]).await;

    for client in gateway.clients().await {
        for reference in [
            r#"{"type":"ref/prompt","name":"nope"}"#,
            r#"{"type":"ref/tool","name":"x"}"#,
            r#"{"type":"ref/prompt"}"#,
            "[]",
        ] {
            let told = complete(&client, reference, "").await;
            assert_eq!(told["error"]["code"], -32602, "{reference}: {told}");
        }
        complete(&client, r#"{"type":"ref/prompt","name":"a_re_view"}"#, "").await;
    }
    assert_eq!(references(&fake).len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_09_the_context_of_a_completion_goes_to_servers_that_know_it() {
    let (old, new) = (
        completing().set("version", json!("2025-03-26")).stdio(),
        completing().stdio(),
    );
    let gateway = in_front_of([("old", &old), ("new", &new)]).await;

    let context = r#","context":{"arguments":{"z":"1","a":"2"}}"#;
    for client in gateway.clients().await {
        for name in ["old", "new"] {
            let told = complete(
                &client,
                &format!(r#"{{"type":"ref/prompt","name":"{name}_re_view"}}"#),
                context,
            )
            .await;
            assert_eq!(told["result"]["completion"]["values"][1], "aétwo", "{told}");
        }
    }
    let has = |fake: &Fake| {
        fake.received_of("completion/complete")
            .iter()
            .map(|asked| asked.text.contains(context))
            .collect::<Vec<_>>()
    };
    assert_eq!([has(&old), has(&new)], [[false, false], [true, true]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn b43_a_server_older_than_the_word_for_completions_is_asked() {
    let old = |version: &str| {
        let script = completing().set("capabilities", json!({ "prompts": {}, "resources": {} }));
        script.set("version", json!(version)).stdio()
    };
    let (oldest, newer) = (old("2024-11-05"), old("2025-03-26"));
    let gateway = in_front_of([("oldest", &oldest), ("newer", &newer)]).await;

    for client in gateway.clients().await {
        for (name, values) in [("oldest", json!(["aéone", "aétwo"])), ("newer", json!([]))] {
            let reference = format!(r#"{{"type":"ref/prompt","name":"{name}_re_view"}}"#);
            let told = complete(&client, &reference, "").await;
            assert_eq!(told["result"]["completion"]["values"], values, "{name}: {told}");
        }
    }
}

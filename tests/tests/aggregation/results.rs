//! Results and errors are what servers said.

use mcpr_tests::{Client, Fake};
use serde_json::{Value, json};

use crate::common::{Everywhere, builder, in_front_of};

/// Calls the tool `t` of each server as each client, and compares the texts of what came back.
async fn passes_unchanged(fakes: &Everywhere, expected: impl Fn(&Client, bool) -> String) {
    let gateway = fakes.gateway().await;
    for client in gateway.clients().await {
        for (name, _) in fakes.each() {
            let answer = client.call(&format!("{name}_t"), "{}").await;
            assert_eq!(answer.status(), 200);
            let expected = expected(&client, Everywhere::is_stateless(name));
            assert_eq!(answer.raw(&["result"]), expected, "{name} {client:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b41_a_tool_error_is_not_replaced_by_one_about_its_output_schema() {
    let tool =
        r#"{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"object","required":["id"]}}"#;
    for result in [
        r#"{"isError":true,"content":[{"type":"text","text":"over limit"}]"#,
        r#"{"content":[],"structuredContent":{"no":"id"}"#,
        r#"{"structuredContent":{"no":"id"}"#,
    ] {
        let fakes = Everywhere::new(|| {
            Fake::script()
                .tool_entry(tool)
                .raw("tools/call", &format!("{result}}}"))
        });
        passes_unchanged(&fakes, |client, stateless| {
            format!("{result}{}}}", client.tail(stateless))
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b41_a_result_with_members_of_its_own_about_it_keeps_them() {
    let result = |meta: &str| format!(r#"{{"structuredContent":{{"no":"id"}},"_meta":{{{meta}}}"#);
    let fakes = Everywhere::new(|| {
        Fake::script()
            .tool("t")
            .raw("tools/call", &format!("{}}}", result(r#""x":1"#)))
    });
    passes_unchanged(&fakes, |client, stateless| {
        let (meta, tail) = client.with_meta(r#""x":1"#, stateless);
        format!("{}{tail}}}", result(&meta))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b45_numbers_keep_their_digits() {
    let result = r#"{ "content" : [ ],"structuredContent":{"id":1915883588174806058,"u":18446744073709551615,"h":123456789012345678901234567890,"f":1.0,"e":1E400,"z":-0}"#;
    let fakes = Everywhere::new(|| {
        Fake::script()
            .tool("t")
            .raw("tools/call", &format!("{result} }}"))
    });
    passes_unchanged(&fakes, |client, stateless| {
        format!("{result}{} }}", client.tail(stateless))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b13_unknown_members_and_blocks_of_a_result_pass() {
    let result = r#"{"x_future":{"b":1,"a":2},"content":[{"type":"hologram","z":1,"a":null},{"type":"audio","data":"+/","mimeType":"a/b"},{"text":"\u00e9\/","annotations":{"audience":[ "user" ]},"type":"text"}],"isError":false"#;
    let fakes = Everywhere::new(|| Fake::script().tool("t").raw("tools/call", &format!("{result}}}")));
    passes_unchanged(&fakes, |client, stateless| {
        format!("{result}{}}}", client.tail(stateless))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b41_a_result_that_says_its_type_keeps_it_for_those_who_know_types() {
    let result = r#"{"resultType":"complete","content":[]}"#;
    let fakes = Everywhere::new(|| Fake::script().tool("t").raw("tools/call", result));
    let gateway = fakes.gateway().await;
    let [session, stateless] = gateway.clients().await;

    for name in ["new", "net", "two"] {
        assert_eq!(
            stateless.call(&format!("{name}_t"), "{}").await.raw(&["result"]),
            result
        );
        assert_eq!(
            session.call(&format!("{name}_t"), "{}").await.raw(&["result"]),
            r#"{"content":[]}"#
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b50_an_error_of_a_server_is_the_same_object() {
    for error in [
        r#"{ "code":-32602,"message":"m \u00e9","data":{"z":1E400,"a":[1]} }"#,
        r#"{"message":"own","x":1,"code":17}"#,
        r#"{"code":-32603,"message":"","data":null}"#,
        r#"{"code":-32601,"message":"Method not found"}"#,
    ] {
        let fakes = Everywhere::new(|| {
            Fake::script()
                .tool("t")
                .with(&format!(r#"{{"error":{{"tools/call":{error}}}}}"#))
        });
        let gateway = fakes.gateway().await;
        for client in gateway.clients().await {
            for (name, _) in fakes.each() {
                let answer = client.call(&format!("{name}_t"), "{}").await;
                assert_eq!(answer.raw(&["error"]), error, "{name}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b50_an_error_of_the_other_era_keeps_its_code_in_the_data() {
    let error = r#"{"code":-32001,"message":"m","data":{"a":[1]}}"#;
    let fakes = Everywhere::new(|| {
        Fake::script()
            .tool("t")
            .with(&format!(r#"{{"error":{{"tools/call":{error}}}}}"#))
    });
    let gateway = fakes.gateway().await;
    let [session, stateless] = gateway.clients().await;

    for name in ["old", "web", "sse"] {
        let tool = format!("{name}_t");
        assert_eq!(session.call(&tool, "{}").await.raw(&["error"]), error);
        let told = stateless.call(&tool, "{}").await.message()["error"].clone();
        assert_eq!((&told["code"], &told["message"]), (&json!(-32603), &json!("m")));
        assert_eq!(
            told["data"],
            json!({ "upstreamCode": -32001, "upstreamData": { "a": [1] } })
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b50_errors_of_reads_name_the_uri_that_was_asked_for() {
    let error = json!({ "code": -32002, "message": "gone", "data": { "uri": "x:1", "why": [1] } });
    let script = || {
        Fake::script()
            .with(r#"{"resources": [{"name": "r", "uri": "x:1"}]}"#)
            .error("resources/read", error.clone())
    };
    let fakes = Everywhere::new(script);
    let gateway = fakes.gateway().await;

    for (client, code) in gateway.clients().await.iter().zip([-32002, -32602]) {
        for (name, _) in fakes.each() {
            let uri = format!("resource://{name}/x:1");
            let told = client.read(&uri).await.message()["error"].clone();
            let expected = json!({ "code": code, "message": "gone", "data": { "uri": uri, "why": [1] } });
            assert_eq!(told, expected, "{name}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b50_a_server_that_is_gone_is_named_and_its_call_is_no_success() {
    let (goes, stays) = (Fake::script().tool("t").http(), Fake::script().tool("t").stdio());
    let before = in_front_of([("goes", &goes), ("stays", &stays)]).await;
    before.core.shutdown().await;
    goes.kill();
    let gateway = builder([("goes", &goes), ("stays", &stays)])
        .at_home_of(&before)
        .ready()
        .await;

    for client in gateway.clients().await {
        let told = client.call("goes_t", "{}").await.message();
        assert!(told["result"].is_null());
        let error: &Value = &told["error"];
        assert_eq!(
            (&error["code"], &error["data"]["server"]),
            (&json!(-32603), &json!("goes")),
            "{told}"
        );
        assert_eq!(
            [&error["data"]["reason"], &error["data"]["retry"]],
            ["server_down", "safe"]
        );
        assert!(
            error["message"]
                .as_str()
                .is_some_and(|text| text.contains("`goes`")),
            "{told}"
        );
        assert_eq!(
            client.call("stays_t", "{}").await.message()["result"]["content"][0]["text"],
            "{}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_oldest_clients_are_told_of_audio_in_words() {
    let audio = r#"{"content":[{"type":"audio","data":"+/","mimeType":"audio/wav"}]}"#;
    let fakes = Everywhere::new(|| Fake::script().tool("t").raw("tools/call", audio));
    let gateway = fakes.gateway().await;
    let (oldest, newer) = (
        gateway.client_of("2024-11-05").await,
        gateway.client_of("2025-03-26").await,
    );

    for (name, _) in fakes.each() {
        let told = oldest.call(&format!("{name}_t"), "{}").await["result"]["content"][0].clone();
        let text = told["text"].as_str().unwrap_or_default();
        assert!(
            told["type"] == "text" && text.contains("audio/wav"),
            "{name}: {told}"
        );
        let told = newer.call(&format!("{name}_t"), "{}").await;
        assert_eq!(told["result"]["content"][0]["type"], "audio", "{name}");
    }
}

//! Prompts.

use mcpr_auth::Principal;
use mcpr_core::Asked;
use mcpr_core::front::pipe;
use mcpr_tests::{Fake, Script, raw};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, split};

use crate::common::{Everywhere, in_front_of};

fn review() -> Script {
    Fake::script().with(r#"{"prompts": [{"name": "review", "arguments": [{"name": "path"}]}]}"#)
}

#[tokio::test(flavor = "multi_thread")]
async fn b82_prompts_of_one_name_on_two_servers_are_both_reachable_in_all_four_pairings() {
    let fakes = Everywhere::new(review);
    let gateway = fakes.gateway().await;

    for client in gateway.clients().await {
        let names: Vec<String> = fakes.each().map(|(name, _)| format!("{name}_review")).collect();
        assert_eq!(client.listed("prompts/list", "prompts", "name").await, names);
        for name in names {
            let params = format!(r#""name":"{name}","arguments":{{ "path" : "\u00e9 \/" }}"#);
            let result = client
                .ask("prompts/get", &params)
                .await
                .raw(&["result", "messages"]);
            let said: Value = serde_json::from_str(&result).expect("messages");
            assert_eq!(
                said[0]["content"]["text"], r#"review { "path" : "\u00e9 \/" }"#,
                "{name}"
            );
        }
    }
    for (name, fake) in fakes.each() {
        let asked = fake.received_of("prompts/get");
        assert_eq!(asked.len(), 2, "{name}");
        assert!(
            asked
                .iter()
                .all(|asked| raw::member(&asked.text, &["params", "name"]) == r#""review""#),
            "{name}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b82_prompts_are_the_same_on_a_pipe() {
    let (a, b) = (review().stdio(), review().http());
    let gateway = in_front_of([("a", &a), ("b", &b)]).await;
    let over_http = gateway.clients().await[0].items("prompts/list", "prompts").await;

    let (near, far) = tokio::io::duplex(1 << 16);
    let (input, output) = split(far);
    let serving = tokio::spawn(pipe::serve(
        gateway.core.clone(),
        Principal::local(),
        Asked::default(),
        input,
        output,
    ));
    let (reader, mut writer) = split(near);
    let stateless = gateway.stateless();
    let list = stateless.text("1", "prompts/list", "");
    let get = stateless.text("2", "prompts/get", r#""name":"b_review""#);
    let mut lines = BufReader::new(reader).lines();
    writer
        .write_all(format!("{list}\n").as_bytes())
        .await
        .expect("the pipe is open");
    let listed = lines
        .next_line()
        .await
        .expect("the pipe is open")
        .expect("an answer");
    writer
        .write_all(format!("{get}\n").as_bytes())
        .await
        .expect("the pipe is open");
    let got = lines
        .next_line()
        .await
        .expect("the pipe is open")
        .expect("an answer");

    assert_eq!(
        raw::elements(&raw::member(&listed, &["result", "prompts"])),
        over_http
    );
    assert!(got.contains("review {}"), "{got}");
    assert_eq!(
        [
            a.received_of("prompts/get").len(),
            b.received_of("prompts/get").len()
        ],
        [0, 1]
    );
    serving.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn b82_a_prompt_is_found_by_its_origin_form_and_its_only_name() {
    let (a, b) = (
        review().stdio(),
        Fake::script()
            .with(r#"{"prompts": [{"name": "plan.day"}]}"#)
            .stdio(),
    );
    let gateway = in_front_of([("a", &a), ("b", &b)]).await;

    for client in gateway.clients().await {
        for (name, origin) in [
            ("a.review", "review"),
            ("review", "review"),
            ("b.plan.day", "plan.day"),
            ("b_plan_day", "plan.day"),
        ] {
            let told = client.prompt(name).await.message();
            assert_eq!(
                told["result"]["messages"][0]["content"]["text"],
                format!("{origin} {{}}"),
                "{name}: {told}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b45_a_prompt_passes_byte_for_byte() {
    let result = r#"{ "messages" : [{"role":"user","content":{"text":"\u00e9\/","type":"text"}, "n":1E400}],"x":123456789012345678901234567890"#;
    let fakes = Everywhere::new(|| review().raw("prompts/get", &format!("{result}}}")));
    let gateway = fakes.gateway().await;

    for client in gateway.clients().await {
        for (name, _) in fakes.each() {
            let answer = client.prompt(&format!("{name}_review")).await;
            assert_eq!(
                answer.raw(&["result"]),
                format!("{result}{}}}", client.tail(Everywhere::is_stateless(name))),
                "{name}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b50_what_a_server_says_of_a_missing_argument_reaches_the_client() {
    let error = json!({ "code": -32602, "data": { "missing": ["path"] }, "message": "path is required" });
    let fakes = Everywhere::new(|| review().error("prompts/get", error.clone()));
    let gateway = fakes.gateway().await;

    for client in gateway.clients().await {
        for (name, _) in fakes.each() {
            assert_eq!(
                client.prompt(&format!("{name}_review")).await.message()["error"],
                error,
                "{name}"
            );
        }
    }
}

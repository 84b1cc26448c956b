//! What servers list that would harm whoever reads the list, and answers that would harm whoever waits for them.

use mcpr_tests::{Fake, Script, gateway, logged};
use serde_json::{Value, json};

use crate::assert_unharmed;

fn tool(name: &str, more: &str) -> String {
    format!(
        r#"{{"name":{},"inputSchema":{{"type":"object"}}{more}}}"#,
        json!(name)
    )
}

fn nested(levels: usize) -> String {
    format!("{}{}", "[".repeat(levels), "]".repeat(levels))
}

/// The names of what is listed of a server of this name, read as strictly as any client does.
async fn names(server: &str, script: Script, own: Value) -> Vec<String> {
    let (bad, good) = (script.stdio(), Fake::script().tool("echo").stdio());
    let gateway = gateway()
        .fake("good", &good)
        .fake_with(server, &bad, own)
        .ready()
        .await;
    assert_unharmed(&gateway).await;
    gateway.client().await.tool_names().await
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_a_tool_that_clients_could_not_read_is_left_out_alone() {
    logged();
    let script = Fake::script()
        .tool_entry(&tool("a", ""))
        .tool_entry(&tool("deep", &format!(r#","x":{}"#, nested(300))))
        .tool_entry(&tool("half", r#","description":"\ud800""#))
        .tool_entry(&tool("whole", r#","description":"\ud83d\udda5""#))
        .tool_entry(&tool("flat", &format!(r#","x":{}"#, nested(90))));

    assert_eq!(
        names("warped", script, json!({})).await,
        ["good_echo", "warped_a", "warped_whole", "warped_flat"]
    );

    for reason in ["nested more than 100 levels deep", "holds half of a character"] {
        // Other tests log of servers by other names.
        let told = |line: &String| line.contains("warped") && line.contains(reason);
        assert!(logged().iter().any(told), "{reason}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_names_that_mislead_are_flattened_or_left_out() {
    let script = || {
        Fake::script()
            .tool_entry(&tool("a\u{1b}[2Jb", ""))
            .tool_entry(&tool("c\u{202e}d", ""))
            .tool_entry(&tool("e\u{e0041}f", ""))
            .tool_entry(&tool("plain", ""))
    };
    let blanks = |script: Script| {
        // A filler that has no shape, blanks of other kinds, and a choice of shape.
        let odd = ["\u{3164}", "\u{2800}", "\u{a0}", "\u{34f}", "\u{fe0f}"];
        odd.iter().fold(script, |script, odd| {
            script.tool_entry(&tool(&format!("plain{odd}"), ""))
        })
    };

    let flat = names("bad", script(), json!({})).await;
    let raw = names("bad", blanks(script()), json!({ "naming": { "style": "raw" } })).await;

    assert_eq!(
        flat,
        ["good_echo", "bad_a__2Jb", "bad_c_d", "bad_e_f", "bad_plain"]
    );
    assert_eq!(raw, ["good_echo", "plain"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_an_answer_that_is_nested_without_bounds_fails_its_own_call() {
    let script = || {
        Fake::script()
            .tool("t")
            .tool("ok")
            .raw("tools/call:t", &nested(100_000))
    };
    let (pipe, web, sse) = (script().stdio(), script().http(), script().sse());
    let good = Fake::script().tool("echo").stdio();
    let all = gateway()
        .fake("good", &good)
        .fake("pipe", &pipe)
        .fake("web", &web)
        .fake("sse", &sse);
    let gateway = all.ready().await;
    let client = gateway.client().await;

    for server in ["pipe", "web", "sse"] {
        let answer = client.call(&format!("{server}_t"), "{}").await;
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(
            message.contains("nested more than 512 levels deep"),
            "{server}: {answer}"
        );
        assert!(
            client.call(&format!("{server}_ok"), "{}").await["result"].is_object(),
            "{server}"
        );
    }
    assert_unharmed(&gateway).await;
}

//! Servers on a pipe: what they write, how much, and what they are given.

use std::time::Instant;

use mcpr_tests::{Fake, Gateway, gateway, logged};
use serde_json::{Value, json};

use crate::{AT_ONCE, text};

/// What a tool without arguments says.
async fn told(gateway: &Gateway, tool: &str) -> String {
    text(&gateway.client().await.call(tool, "{}").await).to_owned()
}

/// The environment of a server that has the tool `env`.
async fn environment(gateway: &Gateway, server: &str) -> Value {
    let text = told(gateway, &format!("{server}_env")).await;
    serde_json::from_str(&text).expect("the tool answers in JSON")
}

#[tokio::test(flavor = "multi_thread")]
async fn b03_lines_that_are_no_messages_are_passed_over() {
    logged();
    let noise = json!([
        "Starting v1.2",
        "🖥 mode: STDIO",
        "[1]",
        "\"x\"",
        "{}",
        "",
        "{\"jsonrpc\":\"1.0\"}"
    ]);
    let fake = Fake::script().tool("t").set("noise", noise).stdio();
    let gateway = gateway().fake("noisy", &fake).ready().await;

    assert_eq!(told(&gateway, "noisy_t").await, "{}");
    assert_eq!(gateway.server("noisy").await["starts"], 1);
    assert!(
        logged()
            .iter()
            .any(|line| line.contains("Starting v1.2") && line.contains("server=noisy"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn b90_bytes_that_are_no_text_and_other_line_ends_do_no_harm() {
    let odd = json!({ "hex": "efbbbf0a", "eol": "\r\n", "mid": ["…", "été"], "mid_hex": "b4d80a" });
    let fake = Fake::script().tool("t").with(&odd.to_string()).stdio();
    let gateway = gateway().fake("a", &fake).ready().await;

    for _ in 0..3 {
        assert_eq!(told(&gateway, "a_t").await, "{}");
    }
    assert_eq!(gateway.server("a").await["starts"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn b07_a_server_that_writes_much_to_stderr_never_stops() {
    let fake = Fake::script().tool("t").with(r#"{"stderr": 262144}"#).stdio();
    let began = Instant::now();
    let gateway = gateway().fake("a", &fake).ready().await;

    for _ in 0..3 {
        assert_eq!(told(&gateway, "a_t").await, "{}");
    }
    assert!(began.elapsed() < AT_ONCE);
}

#[tokio::test(flavor = "multi_thread")]
async fn b89_an_answer_beyond_the_limit_fails_its_own_call_only() {
    let huge = format!(
        r#"{{"content":[{{"type":"text","text":"{}"}}]}}"#,
        "x".repeat(2 << 20)
    );
    let script = || {
        Fake::script()
            .tool("t")
            .tool("huge")
            .raw("tools/call:huge", &huge)
            .delay("tools/call:t", 0.5)
    };
    for fake in [
        script().stdio(),
        script().http(),
        script().with(r#"{"sse": true}"#).http(),
    ] {
        let builder = gateway().own("limits", json!({ "serverMessage": "1mb" }));
        let gateway = builder.fake("a", &fake).ready().await;
        let client = gateway.client().await;

        let (other, huge) = tokio::join!(client.call("a_t", r#"{"n":1}"#), client.call("a_huge", "{}"));

        assert_eq!(text(&other), r#"{"n":1}"#);
        let message = huge["error"]["message"].as_str().unwrap();
        assert!(
            message.contains("`a`") && message.contains("longer than"),
            "{message}"
        );
        assert_eq!(gateway.server("a").await["starts"], 1);
    }
}

/// Sends ten megabytes to a tool that gives them back.
async fn ten_megabytes_both_ways(fake: &Fake) {
    let builder = gateway().own("limits", json!({ "requestBody": "32mb" }));
    let gateway = builder.fake("a", fake).ready().await;
    let arguments = format!(r#"{{"x":"{}"}}"#, "y".repeat(10_000_000));

    let answer = gateway.client().await.call("a_t", &arguments).await;

    assert!(
        text(&answer) == arguments,
        "{} bytes came back",
        text(&answer).len()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn b36_ten_megabytes_go_both_ways_on_a_pipe() {
    ten_megabytes_both_ways(&Fake::script().tool("t").stdio()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b36_ten_megabytes_go_both_ways_over_http() {
    ten_megabytes_both_ways(&Fake::script().tool("t").http()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b09_the_environment_of_an_entry_is_added_and_wins() {
    let fake = Fake::script().with(r#"{"env_tool": true}"#).stdio();
    let [program, spec] = fake.command();
    let script = format!("exec {program} {spec}");
    let entry = json!({ "command": "sh", "args": ["-c", script], "env": { "X": "1", "LANG": "C" } });
    let gateway = gateway().server("a", entry).ready().await;

    let environment = environment(&gateway, "a").await;

    assert_eq!(
        (&environment["X"], &environment["LANG"]),
        (&json!("1"), &json!("C"))
    );
    assert_eq!(environment["PATH"], std::env::var("PATH").unwrap());
    assert!(environment["HOME"].is_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn b09_a_command_that_does_not_exist_is_named_with_the_places_looked_at() {
    let gateway = gateway()
        .command("a", &["no-such-command-anywhere"])
        .start()
        .await;

    let server = gateway.await_state("a", "down").await;

    let reason = server["reason"].as_str().unwrap();
    assert!(
        reason.contains("no-such-command-anywhere") && reason.contains("PATH"),
        "{reason}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn b10_references_are_filled_in_everywhere() {
    let home = std::env::var("HOME").unwrap();
    let (stdio, http) = (
        Fake::script().with(r#"{"env_tool": true}"#).stdio(),
        Fake::script().tool("t").http(),
    );
    let [program, spec] = stdio.command();
    let entry = json!({ "command": "sh", "args": ["-c", format!("exec {program} {spec}"), "${HOME}"], "env": { "K": "k-${HOME}" } });
    let web = json!({ "url": format!("{}?home=${{HOME}}", http.url()), "headers": { "Authorization": "Bearer ${HOME}" } });
    let gateway = gateway().server("a", entry).server("b", web).ready().await;

    assert_eq!(environment(&gateway, "a").await["K"], format!("k-{home}"));
    assert_eq!(told(&gateway, "b_t").await, "{}");
    for received in http.received() {
        assert_eq!(received.header("authorization"), [format!("Bearer {home}")]);
        assert_eq!(received.http.unwrap().path, format!("/mcp?home={home}"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b10_a_variable_that_is_not_set_fails_its_own_server_only() {
    let fake = Fake::script().tool("t").http();
    let entry = json!({ "url": fake.url(), "headers": { "Authorization": "Bearer ${NO_SUCH_VARIABLE}" } });
    let gateway = gateway().server("bad", entry).fake("good", &fake).ready().await;

    let server = gateway.server("bad").await;

    assert_eq!(server["state"], "misconfigured");
    let reason = server["reason"].as_str().unwrap();
    assert!(
        reason.contains("NO_SUCH_VARIABLE") && reason.contains("headers.Authorization"),
        "{reason}"
    );
    assert_eq!(told(&gateway, "good_t").await, "{}");
}

#[tokio::test(flavor = "multi_thread")]
async fn b61_srv_02_a_server_sees_its_own_variables_and_those_of_the_allow_list() {
    let fake = || Fake::script().with(r#"{"env_tool": true}"#).stdio();
    let (a, b, c) = (fake(), fake(), fake());
    let mut secret = a.entry();
    secret["env"] = json!({ "SECRET_A": "1" });
    let builder = gateway()
        .server("a", secret)
        .fake("b", &b)
        .fake_with("c", &c, json!({ "env": "inherit" }));
    let gateway = builder.ready().await;

    assert_eq!(environment(&gateway, "a").await["SECRET_A"], "1");
    let clean = environment(&gateway, "b").await;
    let inherited = environment(&gateway, "c").await;
    // cargo sets it for this process, and it is on no list.
    assert_eq!(
        (clean.get("CARGO_PKG_NAME"), &inherited["CARGO_PKG_NAME"]),
        (None, &json!("mcpr-tests"))
    );
    for environment in [clean, inherited] {
        assert!(environment.get("SECRET_A").is_none());
        let own: Vec<_> = environment
            .as_object()
            .unwrap()
            .keys()
            .filter(|name| name.starts_with("MCPR_"))
            .collect();
        assert_eq!(own, ["MCPR_CHILD", "MCPR_DEPTH"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b61_a_relative_folder_starts_at_the_file_that_names_it() {
    let fake = Fake::script().with(r#"{"env_tool": true}"#).stdio();
    let mut entry = fake.entry();
    entry["cwd"] = json!("./sub");
    let gateway = gateway().folder("sub").server("a", entry).ready().await;

    let folder = told(&gateway, "a_cwd").await;

    assert_eq!(
        folder,
        gateway
            .home()
            .canonicalize()
            .unwrap()
            .join("sub")
            .display()
            .to_string()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn b05_a_server_that_closes_its_stdout_is_not_said_to_have_been_killed() {
    let gateway = gateway()
        .command(
            "mute",
            &["sh", "-c", "exec >&-; read -r line; read -r line; exit 0"],
        )
        .start()
        .await;

    gateway.await_state("mute", "down").await;

    let reason = gateway.server("mute").await["reason"].to_string();
    assert!(reason.contains("closed its stdout"), "{reason}");
}

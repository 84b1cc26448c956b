//! The level of the log while the gateway runs (LOG-01).

use mcpr_tests::{Brood, Program, gateway};
use serde_json::{Value, json};

async fn program() -> Program {
    let program = gateway().with_builtins().program(&Brood::new()).await;
    program.run().await;
    program
}

/// The lines about calls of this method on stderr.
fn lines_of(program: &Program, method: &str) -> usize {
    let about = format!(r#""method":"{method}""#);
    let lines = program.complaints();
    lines.lines().filter(|line| line.contains(&about)).count()
}

#[tokio::test]
async fn log_01_the_level_can_be_changed_while_the_gateway_runs() {
    let program = program().await;
    let client = program.client().await;

    let shown = program.ctl(&["logs", "level"]).await;
    let set = program.ctl(&["log", "level", "warn"]).await;
    client.request("made/up", "{}").await;
    program.ctl(&["logs", "level", "debug"]).await;
    client.request("another/one", "{}").await;
    program.says(r#""method":"another/one""#).await;

    assert_eq!(shown["level"], "info");
    assert_eq!(
        (&set["level"], &set["configured"]),
        (&json!("warn"), &json!("info"))
    );
    assert_eq!(lines_of(&program, "made/up"), 0);
    program.says(r#""before":"warn","now":"debug""#).await;
}

#[tokio::test]
async fn log_01_a_level_that_is_none_is_refused_and_the_known_ones_are_named() {
    let program = program().await;

    let refused = program.operate("log/level", &json!({ "level": "loud" })).await;

    let message = refused["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("use trace, debug, info, warn, error or fatal"),
        "{message}"
    );
    assert_eq!(program.operate("log/show", &json!({})).await["level"], "info");
}

#[tokio::test]
async fn log_01_a_level_in_the_file_counts_from_the_next_reload_on() {
    let program = program().await;
    let write = |level: &str| {
        let text = program.configuration(&[], &json!({ "log": { "level": level } }));
        std::fs::write(program.file(), text).unwrap();
    };
    let level = async || program.operate("log/show", &json!({})).await["level"].clone();

    write("error");
    let reloaded = program.ctl(&["reload"]).await;
    let after_reload = level().await;
    program.ctl(&["logs", "level", "trace"]).await;
    program.ctl(&["reload"]).await;

    assert_eq!(after_reload, "error");
    assert_eq!(reloaded["needsRestart"], Value::Null, "{reloaded}");
    assert_eq!(
        level().await,
        "trace",
        "what an operator chose stays until the file says something new"
    );
}

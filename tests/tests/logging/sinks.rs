//! Destinations of the log that take nothing (LOG-02, LOG-03).

use std::io::Read;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use mcpr_tests::client::Session;
use mcpr_tests::{Brood, Program, gateway, wait_for};
use serde_json::json;

/// Requests whose lines are so long that some thousand fill what may wait for a destination.
const MOUTHFUL: usize = 2048;

/// How long it may take until lines are lost.
const PATIENCE: Duration = Duration::from_secs(60);

async fn program() -> Program {
    gateway().with_builtins().program(&Brood::new()).await
}

/// Asks for something long that is not there, so often.
async fn babble(client: &Session, times: usize) {
    let method = "x".repeat(MOUTHFUL);
    for _ in 0..times {
        let answer = client.request(&method, "{}").await.message();
        assert_eq!(answer["error"]["code"], -32601, "{answer}");
    }
}

/// How many lines were left out.
async fn figure(program: &Program, member: &str) -> u64 {
    let log = program.operate("log/show", &json!({})).await;
    log[member]
        .as_u64()
        .unwrap_or_else(|| panic!("no {member} in {log}"))
}

fn log_file(program: &Program) -> PathBuf {
    let mut files = std::fs::read_dir(program.home().join("logs")).unwrap();
    files.next().unwrap().unwrap().path()
}

#[tokio::test(flavor = "multi_thread")]
async fn log_03_a_reader_of_stderr_who_never_reads_holds_no_call_and_the_loss_is_told() {
    let program = program().await;
    let (mut reader, writer) = std::io::pipe().unwrap();
    program.launch_onto(Stdio::from(writer), &["--log-format", "json"]);
    program.listening().await;
    let client = program.client().await;

    wait_for(PATIENCE, "a line that is left out", async || {
        babble(&client, 100).await;
        (figure(&program, "shed").await > 0).then_some(())
    })
    .await;
    client.request("the/last/one", "{}").await;
    let file = log_file(&program);
    let told = tokio::task::spawn_blocking(move || read_until(&mut reader, "stderr was too slow"));

    assert!(told.await.unwrap().contains("shed "));
    program.terminate().await;
    let all = std::fs::read_to_string(file).unwrap();
    assert!(all.contains("the/last/one"), "the file has what stderr has not");
}

/// Reads until this was said; gives the line.
fn read_until(from: &mut impl Read, part: &str) -> String {
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(from));
    lines
        .find_map(|line| line.ok().filter(|line| line.contains(part)))
        .unwrap()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn log_02_a_full_disk_is_told_once_on_stderr_which_goes_on() {
    let program = program().await;
    program.launch_with(&[], &["--log-file", "/dev/full"]);
    program.listening().await;
    let client = program.client().await;

    for _ in 0..3 {
        let before = figure(&program, "lost").await;
        client.request("made/up", "{}").await;
        wait_for(PATIENCE, "a line that is lost", async || {
            (figure(&program, "lost").await > before).then_some(())
        })
        .await;
    }

    let told = program.complaints();
    assert_eq!(told.matches("the disk cannot be written").count(), 1, "{told}");
    assert!(told.contains("No space left on device"), "{told}");
    assert!(told.matches(r#""method":"made/up""#).count() >= 2, "{told}");
}

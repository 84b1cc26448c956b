//! What a gateway leaves alone in the process that embeds it (EMB-01). A test program of its own: other tests in the
//! same process open what they need.
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::fs;

use mcpr_core::{Config, Gateway, Process};
use mcpr_tests::Fake;
use serde_json::json;

/// What this process holds of the system.
#[derive(PartialEq, Eq, Debug)]
struct Held {
    /// The signals that it catches, as the system writes them.
    caught: String,
    /// The files of the disk that are open; those of the tests' own standard streams too.
    files: BTreeSet<String>,
    /// The addresses that it listens on.
    listening: usize,
}

impl Held {
    fn now() -> Self {
        let status = fs::read_to_string("/proc/self/status").expect("Linux tells");
        let caught = status
            .lines()
            .find(|line| line.starts_with("SigCgt"))
            .expect("a line");
        let open: BTreeSet<String> = open().collect();
        let is_listening = |row: &&str| row.split_whitespace().nth(3) == Some("0A");
        let is_ours = |row: &&str| {
            let inode = row.split_whitespace().nth(9).unwrap_or_default();
            open.contains(&format!("socket:[{inode}]"))
        };
        let tables = ["/proc/self/net/tcp", "/proc/self/net/tcp6"].map(|table| {
            let table = fs::read_to_string(table).unwrap_or_default();
            table.lines().filter(is_listening).filter(is_ours).count()
        });
        let on_disk = |path: &String| {
            path.starts_with('/') && !path.starts_with("/dev/") && !path.starts_with("/proc/")
        };
        Self {
            caught: caught.to_owned(),
            listening: tables.iter().sum(),
            files: open.into_iter().filter(on_disk).collect(),
        }
    }
}

/// What the descriptors of this process stand for.
fn open() -> impl Iterator<Item = String> {
    let all = fs::read_dir("/proc/self/fd").expect("Linux tells").flatten();
    let targets = all.filter_map(|entry| fs::read_link(entry.path()).ok());
    targets.map(|target| target.to_string_lossy().into_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn emb_01_a_gateway_takes_no_socket_file_signal_or_subscriber_of_its_program() {
    let fake = Fake::script().tool("x").stdio();
    let before = Held::now();
    let text = json!({ "mcpServers": { "a": fake.entry() } }).to_string();

    let config = Config::from_text(&text, &Process).expect("a configuration");
    let gateway = Gateway::builder(config).start().await.expect("it starts");
    gateway.settled().await;
    let result = gateway.client().call("a_x", &json!({})).await;

    assert!(result.is_ok(), "{result:?}");
    assert_eq!(Held::now(), before);
    assert!(!tracing::dispatcher::has_been_set());
    gateway.shutdown().await;
}

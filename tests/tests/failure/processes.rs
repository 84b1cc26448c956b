//! Child processes, and that none is left behind.

use std::path::Path;
use std::time::Duration;

use mcpr_tests::{Fake, await_no_process, gateway, processes, wait_until};
use serde_json::json;

use crate::{impatient, text};

fn mark(fake: &Fake) -> String {
    fake.spec_path().display().to_string()
}

/// Whether a process is there, be it as a zombie that nobody has collected.
fn exists(pid: &u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

#[tokio::test(flavor = "multi_thread")]
async fn b06_srv_04_a_stop_leaves_no_process_and_no_zombie() {
    let (plain, deep) = (Fake::script().tool("t").stdio(), Fake::script().tool("t").stdio());
    let gateway = gateway()
        .fake("a", &plain)
        .server("b", deep.grandchild(""))
        .ready()
        .await;
    assert_eq!(text(&gateway.client().await.call("b_t", "{}").await), "{}");
    let pids = [processes(&mark(&plain)), processes(&mark(&deep))].concat();
    assert_eq!(pids.len(), 3, "a server, a shell, and its server");

    gateway.core.shutdown().await;

    assert_eq!(pids.iter().filter(|pid| exists(pid)).count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn b06_srv_04_a_gateway_that_is_dropped_leaves_nothing() {
    let deep = Fake::script().tool("t").stdio();
    let gateway = gateway().server("b", deep.grandchild("")).ready().await;
    let pids = processes(&mark(&deep));

    drop(gateway);

    let gone = || (!pids.iter().any(exists)).then_some(());
    wait_until(Duration::from_secs(10), "neither a process nor a zombie", gone).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b06_a_server_that_left_its_group_is_found_too() {
    let deep = Fake::script().tool("t").stdio();
    let gateway = gateway().server("b", deep.grandchild("setsid")).ready().await;
    assert_eq!(text(&gateway.client().await.call("b_t", "{}").await), "{}");

    gateway.core.shutdown().await;

    assert!(processes(&mark(&deep)).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn b06_what_a_dead_server_leaves_behind_is_gone_before_it_is_started_again() {
    let deep = Fake::script().tool("t").stdio();
    let mut entry = deep.grandchild("");
    entry["mcpr"] = impatient();
    let gateway = gateway().server("b", entry).ready().await;
    let shell = gateway.server("b").await["pid"].to_string();

    let killed = std::process::Command::new("kill").args(["-9", &shell]).status();
    assert!(killed.is_ok_and(|status| status.success()));
    gateway
        .await_server("b", |server| server["state"] == "ok" && server["starts"] == 2)
        .await;

    assert_eq!(processes(&mark(&deep)).len(), 2, "the new ones only");
}

#[tokio::test(flavor = "multi_thread")]
async fn b06_a_start_that_fails_leaves_nothing() {
    let fake = Fake::script().with(r#"{"silent": ["initialize"]}"#).stdio();
    let mut entry = fake.grandchild("");
    entry["mcpr"] =
        json!({ "timeouts": { "start": "300ms" }, "restart": { "backoffMin": "1h", "backoffMax": "1h" } });
    let gateway = gateway().server("a", entry).start().await;

    gateway.await_state("a", "down").await;

    await_no_process(&mark(&fake)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b06_srv_04_a_server_that_hears_nothing_is_killed_within_the_grace() {
    let deaf = Fake::script().tool("t").with(r#"{"stubborn": true}"#).stdio();
    let gateway = gateway().fake("a", &deaf).ready().await;
    let began = std::time::Instant::now();

    gateway.core.shutdown().await;

    assert!(processes(&mark(&deaf)).is_empty());
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn srv_01_every_server_has_its_own_process_and_its_own_request_ids() {
    let fakes = ["a", "b"].map(|name| (name, Fake::script().with(r#"{"env_tool": true}"#).stdio()));
    let gateway = fakes
        .iter()
        .fold(gateway(), |all, (name, fake)| all.fake(name, fake))
        .ready()
        .await;
    let client = gateway.client().await;

    for (name, fake) in &fakes {
        let told = client.call(&format!("{name}_pid"), "{}").await;
        assert_eq!(text(&told), gateway.server(name).await["pid"].to_string());
        let ids: Vec<_> = fake
            .received()
            .iter()
            .map(|received| received.message()["id"].clone())
            .filter(|id| !id.is_null())
            .collect();
        assert_eq!(ids, (1..=ids.len()).map(|id| json!(id)).collect::<Vec<_>>());
    }
    assert_ne!(gateway.server("a").await["pid"], gateway.server("b").await["pid"]);
}

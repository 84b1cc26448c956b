//! The Rust SDK on either side of the gateway, in both eras.

mod client;
mod ears;
mod server;

use std::time::Duration;

use ::rmcp::model::ProtocolVersion;
use mcpr_tests::{Gateway, gateway};
use serde_json::json;
use tokio::time::timeout;

pub(crate) use client::{List, Sdk};
use server::Probe;

use crate::world::Servers;

pub(crate) const SESSION: ProtocolVersion = ProtocolVersion::V_2025_11_25;
pub(crate) const STATELESS: ProtocolVersion = ProtocolVersion::V_2026_07_28;

/// How long anything that must happen may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread")]
async fn http_01_rmcp_uses_every_server_in_both_eras() {
    let servers = Servers::new().await;
    let gateway = servers.gateway().ready().await;
    for version in [SESSION, STATELESS] {
        let sdk = Sdk::connect(&gateway, &version).await;
        assert_eq!(sdk.version(), version);
        assert_eq!(sdk.tools().await.len(), 90);
        for sample in servers.samples() {
            let told = sdk.call(sample.exposed, &sample.arguments).await;
            sample.check(&told, "rmcp");
        }
    }
    assert_eq!(Sdk::automatic(&gateway).await.version(), STATELESS);
    servers.stop(gateway).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sdk_on_both_sides_in_all_four_pairings() {
    for server_version in [SESSION, STATELESS] {
        let probe = Probe::serve(&server_version).await;
        let gateway = gateway()
            .server("probe", json!({ "type": "http", "url": probe.url() }))
            .ready()
            .await;
        assert_eq!(gateway.server("probe").await["protocol"], server_version.as_str());
        for client_version in [SESSION, STATELESS] {
            four_things_work(&gateway, &probe, &client_version).await;
        }
        gateway.stop().await;
    }
}

/// A call, progress, a cancel that reaches the server, and a list that grows.
async fn four_things_work(gateway: &Gateway, probe: &Probe, version: &ProtocolVersion) {
    let mut sdk = Sdk::connect(gateway, version).await;
    let said = sdk
        .call("probe_echo", &json!({ "n": 1.5, "text": "Grüezi" }))
        .await;
    assert_eq!(said["content"][0]["text"], r#"{"n":1.5,"text":"Grüezi"}"#);

    let waiting = sdk.begin("probe_wait").await;
    let progress = sdk.next_progress(&waiting).await;
    assert_eq!(
        (progress.progress, progress.message.as_deref()),
        (0.5, Some("half"))
    );
    waiting
        .cancel(Some("enough".into()))
        .await
        .expect("a cancel can be sent");
    timeout(PATIENCE, probe.cancelled())
        .await
        .expect("the cancel reaches the server");

    let before = sdk.tools().await.len();
    let mut notices = sdk.notices(List::Tools).await;
    sdk.call("probe_grow", &json!({})).await;
    notices.next().await;
    assert_eq!(sdk.tools().await.len(), before + 1);
}

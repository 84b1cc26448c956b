//! Servers on old releases of the Python SDK, one of which does not survive the question for its era.

use mcpr_tests::{Brood, Client, gateway, peers};

#[tokio::test(flavor = "multi_thread")]
async fn old_sdk_servers_serve_clients_of_both_eras() {
    let (peers, brood) = (peers::ready(), Brood::new());
    let (v1_2, v1_12) = (
        brood.entry(&peers.old_python_1_2()),
        brood.entry(&peers.old_python_1_12()),
    );
    let gateway = gateway()
        .server("v1-2", v1_2)
        .server("v1-12", v1_12)
        .ready()
        .await;
    for (server, version) in [("v1-2", "2024-11-05"), ("v1-12", "2025-06-18")] {
        assert_eq!(gateway.server(server).await["protocol"], version);
        for client in gateway.clients().await {
            serves(&client, server).await;
        }
    }
    brood.stop(gateway).await;
}

async fn serves(client: &Client, server: &str) {
    let told = client
        .call(&format!("{server}.add"), r#"{"a":2,"b":40}"#)
        .await
        .message();
    assert_eq!(told["result"]["content"][0]["text"], "42", "{told}");
    let told = client
        .read(&format!("resource://{server}/note://today"))
        .await
        .message();
    assert_eq!(told["result"]["contents"][0]["text"], "old but alive", "{told}");
    let told = client
        .ask(
            "prompts/get",
            &format!(r#""name":"{server}.review","arguments":{{"code":"x"}}"#),
        )
        .await
        .message();
    assert!(
        told["result"]["messages"][0]["content"]["text"]
            .as_str()
            .is_some_and(|text| text.ends_with(": x")),
        "{told}"
    );
}

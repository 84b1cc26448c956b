//! How many sessions there may be, of one principal and of all (SEC-05).

use mcpr_tests::client::Session;
use mcpr_tests::http::{Answer, Request};
use mcpr_tests::{Gateway, gateway};
use serde_json::json;

use crate::{assert_busy, per_principal};

async fn status(client: &Session) -> u16 {
    client.request("ping", "{}").await.status()
}

/// Asks for a session.
async fn initialize(gateway: &Gateway) -> Answer {
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    Request::post("/mcp", message.to_string())
        .token(&gateway.token)
        .send(gateway.port)
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_a_principal_with_too_many_sessions_loses_its_idlest_and_others_lose_none() {
    let gateway = gateway()
        .own("limits", per_principal("sessions", 2))
        .start()
        .await;
    let token = gateway.another_token(&["read"]).await;
    let other = Session::open(gateway.port, &token, "2025-11-25").await;
    let (first, second) = (gateway.client().await, gateway.client().await);
    assert_eq!(status(&first).await, 200);

    let third = gateway.client().await;

    let all = [&other, &first, &second, &third];
    let mut statuses = Vec::new();
    for client in all {
        statuses.push(status(client).await);
    }
    assert_eq!(statuses, [200, 200, 404, 200]);
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_sessions_that_are_in_use_give_way_to_none() {
    let limits = [
        (per_principal("sessions", 2), "`limits.perPrincipal.sessions`"),
        (json!({ "sessions": 2 }), "`limits.sessions`"),
    ];
    for (limits, setting) in limits {
        let gateway = gateway().own("limits", limits).start().await;
        let clients = [gateway.client().await, gateway.client().await];
        let _streams = [clients[0].stream().await, clients[1].stream().await];

        let refused = initialize(&gateway).await;

        assert_busy(&refused.message(), setting);
        assert_eq!(
            (refused.status(), refused.head.header("mcp-session-id")),
            (200, None)
        );
        assert_eq!([status(&clients[0]).await, status(&clients[1]).await], [200, 200]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_a_session_that_ends_makes_room() {
    let gateway = gateway()
        .own("limits", per_principal("sessions", 1))
        .start()
        .await;
    let client = gateway.client().await;
    let _stream = client.stream().await;
    assert_busy(&initialize(&gateway).await.message(), "sessions");

    client
        .in_session(Request::new("DELETE", "/mcp"))
        .send(gateway.port)
        .await;

    assert_eq!(
        initialize(&gateway).await.message()["result"]["protocolVersion"],
        "2025-11-25"
    );
}

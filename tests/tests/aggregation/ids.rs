//! Ids come back as they were sent.

use mcpr_tests::{Fake, gateway};
use serde_json::json;

use crate::common::Everywhere;

const IDS: [&str; 9] = [
    r#""1""#,
    "1",
    r#""req-é""#,
    "0",
    "-1",
    "9007199254740993",
    r#""""#,
    r#""\u00e9\/""#,
    "123456789012345678901234567890",
];

#[tokio::test(flavor = "multi_thread")]
async fn b49_an_answer_of_the_gateway_has_the_id_of_its_request() {
    let gateway = gateway().ready().await;
    let (session, stateless) = (gateway.client().await, gateway.stateless());

    for id in IDS {
        let ping = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        assert_eq!(session.post(&ping).send(gateway.port).await.raw(&["id"]), id);
        let list = stateless.text(id, "tools/list", "");
        assert_eq!(
            stateless
                .post(&list, "tools/list", None)
                .send(gateway.port)
                .await
                .raw(&["id"]),
            id
        );
        let unknown = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"no/such"}}"#);
        assert_eq!(session.post(&unknown).send(gateway.port).await.raw(&["id"]), id);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b49_an_answer_of_a_server_has_the_id_of_the_clients_request() {
    let fakes = Everywhere::new(|| Fake::script().tool("t"));
    let gateway = fakes.gateway().await;
    let (session, stateless) = (gateway.client().await, gateway.stateless());

    for (name, fake) in fakes.each() {
        for id in IDS {
            let params = format!(r#""name":"{name}_t""#);
            let call =
                format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{{params}}}}}"#);
            assert_eq!(session.post(&call).send(gateway.port).await.raw(&["id"]), id);
            let call = stateless.text(id, "tools/call", &params);
            let request = stateless.post(&call, "tools/call", Some(&format!("{name}_t")));
            assert_eq!(request.send(gateway.port).await.raw(&["id"]), id);
        }
        let calls = fake.received_of("tools/call");
        let own: std::collections::BTreeSet<_> = calls
            .iter()
            .map(|call| mcpr_tests::raw::member(&call.text, &["id"]))
            .collect();
        assert_eq!(
            own.len(),
            IDS.len() * 2,
            "the server sees ids of the gateway's own"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b49_an_answer_with_a_wrong_id_harms_nothing_but_its_request() {
    let script = || {
        Fake::script()
            .tool("bad")
            .tool("good")
            .set("wrong_id", json!(["tools/call:bad"]))
    };
    let (pipe, web, net) = (
        script().stdio(),
        script().http(),
        script().set("era", json!("stateless")).http(),
    );
    let limit = || json!({ "timeouts": { "call": "400ms" } });
    let gateway = gateway()
        .fake_with("pipe", &pipe, limit())
        .fake_with("web", &web, limit())
        .fake_with("net", &net, limit())
        .ready()
        .await;

    for client in gateway.clients().await {
        for name in ["pipe", "web", "net"] {
            let told = client.call(&format!("{name}_bad"), "{}").await.message();
            assert_eq!(
                (&told["error"]["code"], &told["error"]["data"]["server"]),
                (&json!(-32603), &json!(name)),
                "{told}"
            );
            let told = client.call(&format!("{name}_good"), "{}").await.message();
            assert_eq!(told["result"]["content"][0]["text"], "{}", "{name}: {told}");
        }
    }
    assert_eq!(
        [&pipe, &web, &net]
            .map(|fake| fake.received_of("initialize").len() + fake.received_of("server/discover").len()),
        [2, 2, 1]
    );
}

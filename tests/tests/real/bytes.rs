//! What real servers say arrives as they said it, byte for byte.

use mcpr_tests::{Client, Fake, gateway, raw};
use serde_json::{Value, json};

use crate::direct::Direct;
use crate::world::Servers;

/// The lists, with what names an item in each.
const LISTS: [(&str, &str, &str); 4] = [
    ("tools/list", "tools", "name"),
    ("prompts/list", "prompts", "name"),
    ("resources/list", "resources", "uri"),
    ("resources/templates/list", "resourceTemplates", "uriTemplate"),
];

#[tokio::test(flavor = "multi_thread")]
async fn agg_03_b45_real_definitions_and_results_are_byte_equal() {
    let servers = Servers::new().await;
    let gateway = servers.gateway().ready().await;
    for (server, words) in servers.commands() {
        let mut direct = Direct::open(&words).await;
        for client in gateway.clients().await {
            for list in LISTS {
                compare_lists(&client, &mut direct, server, list).await;
            }
            for (tool, arguments) in calls(server, &servers) {
                compare_calls(&client, &mut direct, server, tool, &arguments).await;
            }
        }
    }
    servers.stop(gateway).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b45_number_texts_and_key_order_survive() {
    let entry = r#"{"z":1E400,"name":"n","inputSchema":{"type":"object","$id":"x","maximum":123456789012345678901234567890},"a":1.0}"#;
    let result =
        r#"{ "content":[],"structuredContent":{"z":123456789012345678901234567890,"a":1E400,"f":1.0} }"#;
    let fake = Fake::script()
        .tool_entry(entry)
        .raw("tools/call:n", result)
        .stdio();
    let gateway = gateway().fake("fake", &fake).ready().await;
    let session = Client::Session(gateway.client().await);

    let listed = session.items("tools/list", "tools").await;
    assert_eq!(as_sent(&listed[0], "fake", "name"), entry);
    assert_eq!(session.call("fake_n", "{}").await.raw(&["result"]), result);
}

async fn compare_lists(client: &Client, direct: &mut Direct, server: &str, list: (&str, &str, &str)) {
    let (method, member, key) = list;
    let mark = format!(r#""dev.mcpr/server":"{server}","#);
    let listed = client
        .items(method, member)
        .await
        .into_iter()
        .filter(|item| item.contains(&mark));
    let listed: Vec<_> = listed.map(|item| as_sent(&item, server, key)).collect();
    let sent = direct.items(method, member).await;
    let sent: Vec<_> = sent.into_iter().map(|item| without_tasks(item, client)).collect();
    assert_eq!(listed, sent, "{method} of {server}");
}

/// An item without what the gateway changes: the text that its server must have sent.
fn as_sent(item: &str, server: &str, key: &str) -> String {
    let origin = raw::member(item, &["_meta", "dev.mcpr/origin"]);
    let own = format!(r#""dev.mcpr/server":"{server}","dev.mcpr/origin":{origin}"#);
    let alone = format!(r#","_meta":{{{own}}}"#);
    let added = if item.contains(&alone) {
        alone
    } else {
        format!(",{own}")
    };
    let exposed = raw::member(item, &[key]);
    let item = item.replacen(&added, "", 1);
    item.replacen(
        &format!(r#""{key}":{exposed}"#),
        &format!(r#""{key}":{origin}"#),
        1,
    )
}

/// `execution` speaks of the tasks of 2025-11-25, which the stateless era does not have. Where a tool must
/// be called as one the gateway does that, and its clients see a tool like any other.
fn without_tasks(item: String, client: &Client) -> String {
    let Some(execution) = raw::try_member(&item, &["execution"]) else {
        return item;
    };
    match matches!(client, Client::Stateless(_)) || execution.contains(r#""required""#) {
        true => item.replacen(&format!(r#","execution":{execution}"#), "", 1),
        false => item,
    }
}

async fn compare_calls(client: &Client, direct: &mut Direct, server: &str, tool: &str, arguments: &Value) {
    let name = format!("{server}.{tool}");
    let told = client.call(&name, &arguments.to_string()).await.raw(&["result"]);
    let said = direct.call(tool, arguments).await;
    let said = match (client, direct.is_stateless()) {
        (Client::Session(_), true) => said.replacen(r#""resultType":"complete","#, "", 1),
        (Client::Stateless(_), false) => format!("{}{}}}", &said[..said.len() - 1], client.tail(false)),
        _ => said,
    };
    assert_eq!(told, said, "{name}");
}

/// Calls that bring the same at any time.
fn calls(server: &str, servers: &Servers) -> Vec<(&'static str, Value)> {
    let samples = servers
        .samples()
        .into_iter()
        .filter(|sample| sample.server == server);
    let mut calls: Vec<_> = samples.map(|sample| (sample.tool, sample.arguments)).collect();
    calls.extend(match server {
        "everything" => vec![
            ("get-tiny-image", json!({})),
            ("get-structured-content", json!({ "location": "Chicago" })),
            (
                "get-annotated-message",
                json!({ "messageType": "error", "includeImage": true }),
            ),
            ("get-sum", json!({ "a": "two" })),
        ],
        "filesystem" => vec![("read_text_file", json!({ "path": "/etc/passwd" }))],
        "time" => vec![("get_current_time", json!({ "timezone": "Nowhere/Land" }))],
        _ => Vec::new(),
    });
    calls
}

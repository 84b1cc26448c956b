//! Long lists come in pages, under cursors that only the gateway can make.

use mcpr_tests::{Client, Fake, Gateway, Script, gateway};
use serde_json::{Value, json};

/// Every list, with the member that holds its items and the one that names them.
const LISTS: [(&str, &str, &str); 4] = [
    ("tools/list", "tools", "name"),
    ("prompts/list", "prompts", "name"),
    ("resources/list", "resources", "uri"),
    ("resources/templates/list", "resourceTemplates", "uriTemplate"),
];

/// A server with so many items of each kind.
fn items(count: usize) -> Script {
    let items = |key: &str| {
        let item = |n| json!({ "name": format!("i{n}"), key: format!("x:{n}") });
        json!((0..count).map(item).collect::<Vec<_>>())
    };
    (0..count)
        .fold(Fake::script(), |script, n| script.tool(&format!("i{n}")))
        .set("prompts", items("x"))
        .set("resources", items("uri"))
        .set("templates", items("uriTemplate"))
}

/// A gateway with pages of three in front of two servers.
async fn in_pages(a: &Fake, b: &Fake) -> Gateway {
    let limits = json!({ "pageSize": 3 });
    gateway()
        .fake("a", a)
        .fake("b", b)
        .own("limits", limits)
        .ready()
        .await
}

/// The same with every list on one page.
async fn gateway_on_one_page(a: &Fake, b: &Fake) -> Gateway {
    let limits = json!({ "pageSize": "off" });
    let builder = gateway().fake("a", a).fake("b", b);
    builder.own("limits", limits).ready().await
}

/// One page, and the cursor of the next.
async fn page(client: &Client, method: &str, cursor: Option<&str>) -> (Value, Option<String>) {
    let params = cursor.map_or_else(String::new, |cursor| format!(r#""cursor":{}"#, json!(cursor)));
    let message = client.ask(method, &params).await.message();
    let next = message["result"]["nextCursor"].as_str().map(str::to_owned);
    (message, next)
}

/// The second page's cursor.
async fn cursor(client: &Client, method: &str) -> String {
    page(client, method, None).await.1.expect("a further page")
}

/// The code and the text of a refusal.
async fn refusal(client: &Client, method: &str, cursor: &str) -> (i64, String) {
    let (message, _) = page(client, method, Some(cursor)).await;
    let error = &message["error"];
    let text = error["message"].as_str().unwrap_or_default().to_owned();
    (error["code"].as_i64().unwrap_or_default(), text)
}

/// What every cursor is told that is no good.
fn invalid() -> (i64, String) {
    (-32602, "Invalid cursor: start again without one".to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_01_the_pages_together_are_exactly_the_whole_list() {
    let (a, b) = (items(4).stdio(), items(4).set("era", json!("stateless")).http());
    let gateway = in_pages(&a, &b).await;
    let whole = gateway_on_one_page(&a, &b).await;

    for (client, all_at_once) in gateway.clients().await.iter().zip(&whole.clients().await) {
        for (method, member, key) in LISTS {
            let (mut listed, mut sizes, mut from) = (Vec::new(), Vec::new(), None);
            loop {
                let (message, next) = page(client, method, from.as_deref()).await;
                let items = message["result"][member].as_array().expect("a list").clone();
                sizes.push(items.len());
                listed.extend(items.iter().map(|item| item[key].as_str().unwrap().to_owned()));
                match next {
                    Some(next) => from = Some(next),
                    None => break,
                }
            }
            assert_eq!(sizes, [3, 3, 2], "{method}");
            assert_eq!(listed, all_at_once.listed(method, member, key).await, "{method}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_01_usual_lists_have_no_further_page() {
    let fake = items(30).stdio();
    let gateway = gateway().fake("a", &fake).ready().await;

    for client in gateway.clients().await {
        for (method, member, _) in LISTS {
            let (message, next) = page(&client, method, None).await;
            assert_eq!(message["result"][member].as_array().map(Vec::len), Some(30));
            assert_eq!(next, None);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_03_a_cursor_is_good_for_its_list_alone() {
    let (a, b) = (items(4).stdio(), items(4).stdio());
    let gateway = in_pages(&a, &b).await;

    for client in gateway.clients().await {
        let good = cursor(&client, "tools/list").await;
        assert!(page(&client, "tools/list", Some(&good)).await.1.is_some());
        assert_eq!(refusal(&client, "prompts/list", &good).await, invalid());
        for place in [0, good.len() / 2, good.len() - 1] {
            let mut other = good.clone().into_bytes();
            other[place] = if other[place] == b'A' { b'B' } else { b'A' };
            let other = String::from_utf8(other).unwrap();
            assert_eq!(refusal(&client, "tools/list", &other).await, invalid());
        }
        assert_eq!(refusal(&client, "tools/list", "").await, invalid());
        let told = client.ask("tools/list", r#""cursor":3"#).await.message();
        assert_eq!(told["error"]["code"], -32602);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_03_a_cursor_of_another_principal_reads_as_unknown() {
    let (a, b) = (items(4).stdio(), items(4).stdio());
    let gateway = in_pages(&a, &b).await;
    let mine = Client::Stateless(gateway.stateless());
    let mut theirs = gateway.stateless();
    theirs.token = gateway.another_token(&["read"]).await;
    let theirs = Client::Stateless(theirs);

    let good = cursor(&mine, "tools/list").await;
    assert_eq!(refusal(&theirs, "tools/list", &good).await, invalid());
    assert!(page(&mine, "tools/list", Some(&good)).await.1.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_01_a_cursor_does_not_outlive_the_list_it_was_made_for() {
    let (a, b) = (items(4).stdio(), Fake::script().tool("goes").http());
    let gateway = in_pages(&a, &b).await;
    let client = Client::Stateless(gateway.stateless());
    let tools = cursor(&client, "tools/list").await;
    let prompts = cursor(&client, "prompts/list").await;

    b.kill();
    client.call("b_goes", "{}").await; // Finds out that it is gone.
    gateway.listed_as("b", "down").await;

    assert_eq!(refusal(&client, "tools/list", &tools).await, invalid());
    let (message, _) = page(&client, "prompts/list", Some(&prompts)).await;
    assert_eq!(message["result"]["prompts"].as_array().map(Vec::len), Some(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_01_a_cursor_outlives_the_gateway() {
    let (a, b) = (items(4).stdio(), items(4).stdio());
    let first = in_pages(&a, &b).await;
    let good = cursor(&Client::Stateless(first.stateless()), "tools/list").await;
    first.core.shutdown().await;
    let limits = json!({ "pageSize": 3 });
    let second = gateway().fake("a", &a).fake("b", &b).own("limits", limits);
    let second = second.at_home_of(&first).ready().await;

    let mut client = second.stateless();
    client.token.clone_from(&first.token);
    let (message, _) = page(&Client::Stateless(client), "tools/list", Some(&good)).await;
    assert_eq!(message["result"]["tools"][0]["name"], "a_i3");
}

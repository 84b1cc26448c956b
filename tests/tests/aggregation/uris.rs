//! URIs inside of what servers answer, and contents that stay as they are.

use mcpr_tests::{Client, Fake, Script};
use serde_json::json;

use crate::common::{Everywhere, in_front_of};

/// The end of a result with what a stateless client finds in what it read besides.
fn read_tail(client: &Client, tail: &str) -> String {
    let kept = r#""resultType":"complete","ttlMs":0,"cacheScope":"private""#;
    match client {
        Client::Session(_) => tail.into(),
        Client::Stateless(_) => tail.replacen(r#""resultType":"complete""#, kept, 1),
    }
}

fn reading(result: &str) -> Script {
    Fake::script()
        .with(r#"{"resources": [{"name": "r", "uri": "x:1"}]}"#)
        .raw("resources/read", result)
}

#[tokio::test(flavor = "multi_thread")]
async fn b77_contents_stay_what_they_are_and_in_order() {
    let contents = r#"{"contents":[ {"uri":"x:1","blob":"+/8=","mimeType":"image/png"} ,{"text":"+\/8= \u00e9","uri":"x:1#2"}, {"uri":"x:1","blob":""}]"#;
    let fakes = Everywhere::new(|| reading(&format!("{contents}}}")));
    for (name, fake) in fakes.each() {
        let gateway = in_front_of([(name, fake)]).await;
        for client in gateway.clients().await {
            let asked = format!("resource://{name}/x:1");
            let expected = contents.replace(r#""uri":"x:1"#, &format!(r#""uri":"resource://{name}/x:1"#));
            let answer = client.read(&asked).await;
            let tail = read_tail(&client, &client.tail(Everywhere::is_stateless(name)));
            assert_eq!(answer.raw(&["result"]), format!("{expected}{tail}}}"));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b78_contents_keep_every_member_but_the_uri_asked_for() {
    let content = r#"{ "uri":"x:1" , "mimeType":"text/html;profile=mcp-app","text":"…","_meta":{"ui":{"csp":{}}},"annotations":{"priority":0.50},"x_future":1E400}"#;
    let meta = r#""n":123456789012345678901234567890"#;
    let result = |meta: &str| format!(r#"{{"contents":[{content}],"_meta":{{{meta}}}"#);
    let fakes = Everywhere::new(|| reading(&format!("{}}}", result(meta))));
    for (name, fake) in fakes.each() {
        let gateway = in_front_of([(name, fake)]).await;
        for client in gateway.clients().await {
            let (meta, tail) = client.with_meta(meta, Everywhere::is_stateless(name));
            let expected = format!("{}{}}}", result(&meta), read_tail(&client, tail));
            assert_eq!(client.read("x:1").await.raw(&["result"]), expected);
            let asked = format!("resource://{name}/x:1");
            let exposed = client.read(&asked).await.raw(&["result"]);
            assert_eq!(exposed, expected.replacen("x:1", &asked, 1));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b78_how_long_contents_hold_is_for_those_who_ask_in_the_stateless_era() {
    let result = r#"{"resultType":"complete", "contents":[],"ttlMs":5,"cacheScope":"public"}"#;
    let fakes = Everywhere::new(|| reading(result));
    let gateway = fakes.gateway().await;
    let [session, stateless] = gateway.clients().await;

    for name in ["new", "net", "two"] {
        let uri = format!("resource://{name}/x:1");
        assert_eq!(stateless.read(&uri).await.raw(&["result"]), result);
        assert_eq!(session.read(&uri).await.raw(&["result"]), r#"{"contents":[]}"#);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_09_parts_of_what_was_read_are_exposed_and_readable() {
    let folder =
        r#"{"contents":[{"uri":"x:1","text":""},{"uri":"x:1/a","text":""},{"uri":"ui://a","text":""}]}"#;
    let script = || Fake::script().with(r#"{"templates": [{"name": "t", "uriTemplate": "x:{+p}"}]}"#);
    let (fake, other) = (
        script().raw("resources/read:x:1", folder).stdio(),
        script().stdio(),
    );
    let gateway = in_front_of([("a", &fake), ("b", &other)]).await;

    for client in gateway.clients().await {
        let contents = client.read("resource://a/x:1").await.message()["result"]["contents"].clone();
        let uris: Vec<&str> = contents
            .as_array()
            .expect("contents")
            .iter()
            .filter_map(|part| part["uri"].as_str())
            .collect();
        assert_eq!(uris, ["resource://a/x:1", "resource://a/x:1/a", "ui://a"]);
        let part = client.read(uris[1]).await.message();
        assert_eq!(part["result"]["contents"][0]["text"], "read x:1/a");
    }
}

/// Content blocks with URIs in them, `*` before each that is exposed.
const BLOCKS: &str = r#"{"type":"text","text":"\"resource\" file:///a"} , { "type" : "resource_link" , "uri":"*file:///a b","name":"n","x":1E400},{"type":"resource","resource":{"uri":"*memo://é","_meta":{"a":1.0},"blob":"+/"},"annotations":{"priority":1.0}},{"resource":{"uri":"ui://x","text":"t"},"type":"resource"},{"type":"resource_link","name":"m","uri":"*resource://a/b"}"#;

#[tokio::test(flavor = "multi_thread")]
async fn agg_09_links_and_embedded_resources_in_tool_results_are_exposed() {
    let result = |mark: &str| {
        let blocks = BLOCKS.replace('*', mark);
        format!(r#"{{"content":[ {blocks}],"structuredContent":{{"uri":"file:///a"}},"isError":false"#)
    };
    let fakes = Everywhere::new(|| {
        Fake::script()
            .tool("t")
            .raw("tools/call", &format!("{}}}", result("")))
    });
    let gateway = fakes.gateway().await;

    for client in gateway.clients().await {
        for (name, _) in fakes.each() {
            let answer = client.call(&format!("{name}_t"), "{}").await;
            let expected = result(&format!("resource://{name}/"));
            assert_eq!(
                answer.raw(&["result"]),
                format!("{expected}{}}}", client.tail(Everywhere::is_stateless(name))),
                "{name}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_09_links_and_embedded_resources_in_prompts_are_exposed() {
    let result = |mark: &str| {
        let blocks = BLOCKS.replace('*', mark);
        let one = r#"{"resource":{"uri":"*y:1"},"type":"resource"}"#.replace('*', mark);
        format!(
            r#"{{"description":"d","messages":[{{"role":"user","content":{one}}} , {{"content":[{blocks}],"role":"assistant","x":1E400}}]"#
        )
    };
    let script = || {
        Fake::script()
            .with(r#"{"prompts": [{"name": "p"}]}"#)
            .raw("prompts/get", &format!("{}}}", result("")))
    };
    let fakes = Everywhere::new(script);
    let gateway = fakes.gateway().await;

    for client in gateway.clients().await {
        for (name, _) in fakes.each() {
            let answer = client.prompt(&format!("{name}_p")).await;
            let expected = result(&format!("resource://{name}/"));
            assert_eq!(
                answer.raw(&["result"]),
                format!("{expected}{}}}", client.tail(Everywhere::is_stateless(name))),
                "{name}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_09_a_link_in_a_result_can_be_read() {
    let link = r#"{"content":[{"type":"resource_link","name":"n","uri":"resource://a/report"}]}"#;
    let script = || {
        Fake::script()
            .tool("t")
            .raw("tools/call", link)
            .with(r#"{"templates": [{"name": "t", "uriTemplate": "resource://a/{x}"}]}"#)
    };
    let (a, b) = (script().stdio(), script().http());
    let gateway = in_front_of([("a", &a), ("b", &b)]).await;

    for client in gateway.clients().await {
        for name in ["a", "b"] {
            let told = client.call(&format!("{name}_t"), "{}").await.message();
            let uri = told["result"]["content"][0]["uri"]
                .as_str()
                .expect("a URI")
                .to_owned();
            assert_eq!(uri, format!("resource://{name}/resource://a/report"));
            let read = client.read(&uri).await.message();
            assert_eq!(read["result"]["contents"][0]["text"], "read resource://a/report");
        }
    }
    assert_eq!(
        [
            a.received_of("resources/read").len(),
            b.received_of("resources/read").len()
        ],
        [2, 2]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_09_raw_servers_and_older_clients_get_links_as_they_can() {
    let link = r#"{"content":[{"type":"resource_link","name":"n","title":"T","uri":"x:1"}]}"#;
    let fake = Fake::script().tool("t").raw("tools/call", link).stdio();
    let raw = json!({ "resources": { "uris": "raw" } });
    let gateway = mcpr_tests::gateway()
        .fake_with("raw", &fake, raw)
        .fake("a", &fake)
        .ready()
        .await;

    for client in gateway.clients().await {
        assert_eq!(
            client.call("raw_t", "{}").await.message()["result"]["content"][0]["uri"],
            "x:1"
        );
    }
    let old = gateway.client_of("2025-03-26").await;
    let told = old.call("a_t", "{}").await;
    assert_eq!(
        told["result"]["content"],
        json!([{ "type": "text", "text": "T: resource://a/x:1" }])
    );
}

//! Resources: listed, found, read.

use mcpr_tests::{Builder, Fake, Script, gateway};
use serde_json::{Value, json};

use crate::common::{Everywhere, builder, in_front_of};

/// A server with resources at these URIs.
fn at(uris: &[&str]) -> Script {
    let entries: Vec<Value> = uris
        .iter()
        .map(|uri| json!({ "name": "r", "uri": uri }))
        .collect();
    Fake::script().set("resources", json!(entries))
}

/// The URIs that a server was asked to read.
fn read(fake: &Fake) -> Vec<String> {
    let reads = fake.received_of("resources/read");
    reads
        .iter()
        .map(|read| read.params()["uri"].as_str().expect("a URI").to_owned())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_09_both_forms_are_readable_in_all_four_pairings() {
    let fakes =
        Everywhere::new(|| at(&[]).with(r#"{"templates": [{"name": "t", "uriTemplate": "x://{who}"}]}"#));
    for (name, fake) in fakes.each() {
        let gateway = in_front_of([(name, fake)]).await;
        for client in gateway.clients().await {
            for asked in [format!("resource://{name}/x://me"), "x://me".to_owned()] {
                let result = client.read(&asked).await.message()["result"].clone();
                assert_eq!(
                    result["contents"],
                    json!([{ "uri": asked, "mimeType": "text/plain", "text": "read x://me" }])
                );
            }
        }
        assert_eq!(read(fake), ["x://me"; 4], "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b51_each_uri_of_each_server_is_one_of_its_own() {
    let uris = [
        "file:///a",
        "memo:///a",
        "memo://a",
        "http://h/a?x=1#f",
        "x:opaque",
    ];
    let (a, b) = (at(&uris).stdio(), at(&uris).set("era", json!("stateless")).http());
    let gateway = in_front_of([("a", &a), ("b", &b)]).await;

    for client in gateway.clients().await {
        let listed = client.listed("resources/list", "resources", "uri").await;
        let expected = ["a", "b"]
            .iter()
            .flat_map(|server| uris.iter().map(move |uri| format!("resource://{server}/{uri}")));
        assert_eq!(listed, expected.collect::<Vec<_>>());
        for uri in &listed {
            let told = client.read(uri).await.message();
            assert_eq!(told["result"]["contents"][0]["uri"], **uri, "{told}");
        }
    }
    assert_eq!(
        [read(&a), read(&b)],
        [[uris, uris].concat(), [uris, uris].concat()]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_09_an_original_that_two_servers_have_is_an_error_that_names_them() {
    let (a, b, c) = (
        at(&["x:1", "x:a"]).stdio(),
        at(&["x:1"]).http(),
        Fake::script().tool("t").stdio(),
    );
    let gateway = in_front_of([("a", &a), ("b", &b), ("c", &c)]).await;

    for client in gateway.clients().await {
        for uri in ["x:1", "x:unlisted"] {
            let error = client.read(uri).await.message()["error"].clone();
            assert_eq!(error["code"], -32602);
            assert_eq!(error["data"], json!({ "uri": uri, "servers": ["a", "b"] }));
            assert!(
                error["message"]
                    .as_str()
                    .is_some_and(|text| text.contains("a, b")),
                "{error}"
            );
        }
        assert_eq!(
            client.read("x:a").await.message()["result"]["contents"][0]["uri"],
            "x:a"
        );
        assert_eq!(
            client.read("resource://b/x:1").await.message()["result"]["contents"][0]["uri"],
            "resource://b/x:1"
        );
    }
    assert_eq!([read(&a), read(&b)], [["x:a"; 2], ["x:1"; 2]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn b79_uris_are_opaque_texts() {
    let uris = [
        "file:///my docs/a.txt",
        "file:///caf%C3%A9",
        "file:///café",
        "kb://a/b%2Fc",
        "KB://A/..",
        "x:\u{7}\"\\",
        "//no-scheme",
    ];
    let fakes = Everywhere::new(|| at(&uris));
    for (name, fake) in fakes.each() {
        let gateway = in_front_of([(name, fake)]).await;
        for client in gateway.clients().await {
            for uri in uris {
                for asked in [uri.to_owned(), format!("resource://{name}/{uri}")] {
                    let told = client.read(&asked).await.message();
                    assert_eq!(told["result"]["contents"][0]["uri"], asked, "{name}: {told}");
                }
            }
        }
        let twice: Vec<&str> = uris.iter().flat_map(|uri| [*uri, *uri]).collect();
        assert_eq!(read(fake), [twice.clone(), twice].concat(), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b80_a_template_with_a_query_can_be_read_by_both_forms() {
    let template =
        |text: &str| Fake::script().set("templates", json!([{ "name": "t", "uriTemplate": text }]));
    let (data, other) = (
        template("data://{id}{?format}").http(),
        template("other://{+path}").stdio(),
    );
    let gateway = in_front_of([("data", &data), ("other", &other)]).await;

    for client in gateway.clients().await {
        let listed = client
            .listed("resources/templates/list", "resourceTemplates", "uriTemplate")
            .await;
        assert_eq!(
            listed,
            [
                "resource://data/data://{id}{?format}",
                "resource://other/other://{+path}"
            ]
        );
        for uri in [
            "resource://data/data://123?format=xml",
            "data://123?format=xml",
            "data://123",
            "resource://data/data://1",
        ] {
            let told = client.read(uri).await.message();
            assert_eq!(told["result"]["contents"][0]["uri"], uri, "{told}");
        }
    }
    let expected = [
        "data://123?format=xml",
        "data://123?format=xml",
        "data://123",
        "data://1",
    ];
    assert_eq!(read(&data), [expected, expected].concat());
    assert!(read(&other).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_09_a_server_name_is_encoded_where_a_uri_could_not_hold_it() {
    let fake = at(&["x:1"]).stdio();
    let gateway = in_front_of([("my {docs} é", &fake)]).await;

    for client in gateway.clients().await {
        let listed = client.listed("resources/list", "resources", "uri").await;
        assert_eq!(listed, ["resource://my%20%7Bdocs%7D%20%C3%A9/x:1"]);
        for uri in [listed[0].as_str(), "resource://my {docs} é/x:1"] {
            assert_eq!(
                client.read(uri).await.message()["result"]["contents"][0]["uri"],
                uri
            );
        }
    }
    assert_eq!(read(&fake), ["x:1"; 4]);
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_09_raw_schemes_stay_as_they_are() {
    let (a, b) = (
        at(&["ui://x/y", "doc:1", "x:1"]).stdio(),
        at(&["ui://x/y"]).stdio(),
    );
    let listed = async |builder: Builder| {
        let gateway = builder.ready().await;
        gateway.clients().await[0]
            .listed("resources/list", "resources", "uri")
            .await
    };
    let two = || builder([("a", &a), ("b", &b)]);
    assert_eq!(
        listed(two()).await,
        ["ui://x/y", "resource://a/doc:1", "resource://a/x:1", "ui://x/y"]
    );
    let own = two().own("resources", json!({ "rawSchemes": ["doc"] }));
    assert_eq!(
        listed(own).await,
        [
            "resource://a/ui://x/y",
            "doc:1",
            "resource://a/x:1",
            "resource://b/ui://x/y"
        ]
    );

    let gateway = two().ready().await;
    for client in gateway.clients().await {
        let error = client.read("ui://x/y").await.message()["error"].clone();
        assert_eq!(error["data"]["servers"], json!(["a", "b"]));
        assert_eq!(
            client.read("resource://b/ui://x/y").await.message()["result"]["contents"][0]["text"],
            "read ui://x/y"
        );
    }
    assert_eq!([read(&a).len(), read(&b).len()], [0, 2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_09_raw_uris_of_the_gateway_or_of_one_server() {
    let uris = ["x:1"];
    let (a, b) = (
        at(&uris)
            .with(r#"{"templates": [{"name": "t", "uriTemplate": "t:{x}"}]}"#)
            .stdio(),
        at(&["y:1"]).stdio(),
    );
    let raw = || json!({ "resources": { "uris": "raw" } });
    let all = builder([("a", &a), ("b", &b)])
        .own("resources", json!({ "uris": "raw" }))
        .ready()
        .await;
    let one = gateway().fake_with("a", &a, raw()).fake("b", &b).ready().await;
    for (gateway, expected) in [(all, ["x:1", "y:1"]), (one, ["x:1", "resource://b/y:1"])] {
        for client in gateway.clients().await {
            assert_eq!(
                client.listed("resources/list", "resources", "uri").await,
                expected
            );
            let templates = client
                .listed("resources/templates/list", "resourceTemplates", "uriTemplate")
                .await;
            assert_eq!(templates, ["t:{x}"]);
            for uri in expected.iter().chain(&["t:5"]) {
                assert_eq!(
                    client.read(uri).await.message()["result"]["contents"][0]["uri"],
                    *uri
                );
            }
        }
    }
    assert_eq!(read(&a), ["x:1", "t:5"].repeat(4));
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_09_a_resource_that_is_not_there_is_said_so_in_the_words_of_each_era() {
    let fakes = Everywhere::new(|| at(&["x:1"]));
    for (name, fake) in fakes.each() {
        let gateway = in_front_of([(name, fake)]).await;
        let clients = gateway.clients().await;
        for (client, code) in clients.iter().zip([-32002, -32602]) {
            for uri in ["x:2".to_owned(), format!("resource://{name}/x:2")] {
                let error = client.read(&uri).await.message()["error"].clone();
                assert_eq!(
                    (&error["code"], &error["data"]),
                    (&json!(code), &json!({ "uri": uri })),
                    "{name}"
                );
            }
        }
    }
    let without = gateway().ready().await;
    for (client, code) in without.clients().await.iter().zip([-32002, -32602]) {
        let error = client.read("x:1").await.message()["error"].clone();
        assert_eq!(
            (&error["code"], &error["data"]["uri"]),
            (&json!(code), &json!("x:1"))
        );
    }
}

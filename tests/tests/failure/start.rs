//! The start: what works is served, what does not is told, and nobody waits for it.

use mcpr_tests::{Fake, gateway};
use serde_json::json;

use crate::{impatient, text};

#[tokio::test(flavor = "multi_thread")]
async fn b01_dead_servers_take_nothing_with_them_and_are_shown_with_their_reasons() {
    let ok = Fake::script().tool("t").stdio();
    let gateway = gateway()
        .fake("ok", &ok)
        .command("bad", &["/no/such/bin"])
        .server("off", json!({ "url": "http://127.0.0.1:9/mcp" }))
        .ready()
        .await;
    let client = gateway.client().await;

    assert_eq!(client.tool_names().await, ["ok_t"]);
    assert_eq!(text(&client.call("ok_t", r#"{"a":1}"#).await), r#"{"a":1}"#);
    let reasons = [gateway.server("bad").await, gateway.server("off").await].map(|server| {
        assert_eq!(server["state"], "down");
        server["reason"].as_str().unwrap().to_owned()
    });
    assert!(reasons[0].contains("/no/such/bin"), "{reasons:?}");
    assert!(reasons[1].contains("127.0.0.1:9"), "{reasons:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn b01_a_dead_server_is_tried_again_in_the_background() {
    let late = Fake::script().tool("t").http();
    late.kill();
    let gateway = gateway().fake_with("late", &late, impatient()).ready().await;
    let client = gateway.client().await;
    assert!(client.tool_names().await.is_empty());

    late.restart();

    gateway.await_state("late", "ok").await;
    assert!(text(&client.call("late_t", "{}").await).contains("{}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn b08_a_slow_start_keeps_nobody_waiting_and_is_announced_when_it_is_done() {
    let slow = Fake::script().tool("t").delay("initialize", 0.5).stdio();
    let gateway = gateway().fake("slow", &slow).start().await;
    slow.await_received("initialize", 1).await;
    let client = gateway.client().await;
    let mut stream = client.stream().await;
    assert!(client.tool_names().await.is_empty());

    let notice = stream
        .message(|message| message["method"] == "notifications/tools/list_changed")
        .await;

    assert!(notice.is_some());
    assert_eq!(client.tool_names().await, ["slow_t"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn b08_a_start_beyond_its_limit_fails_with_the_limit_and_the_last_words() {
    let slow = Fake::script()
        .with(r#"{"silent": ["initialize"], "stderr_text": "fetching 40 packages\n"}"#)
        .stdio();
    let own = json!({ "timeouts": { "start": "1500ms" } });
    let gateway = gateway().fake_with("slow", &slow, own).start().await;

    let server = gateway.await_state("slow", "down").await;

    let reason = server["reason"].as_str().unwrap();
    for part in ["1.5s", "timeouts.start", "fetching 40 packages"] {
        assert!(reason.contains(part), "no {part} in {reason}");
    }
    assert!(server["retryInMs"].is_u64(), "{server}");
}

#[tokio::test(flavor = "multi_thread")]
async fn b53_one_bad_entry_disables_no_other() {
    let good = Fake::script().tool("t").stdio();
    let bad = [
        (
            "type",
            json!({ "type": "foo", "url": "http://127.0.0.1:9/" }),
            "foo",
        ),
        ("empty", json!({}), "command"),
        ("number", json!({ "command": 5 }), "command"),
        ("args", json!({ "command": "x", "args": "-y" }), "args"),
        ("url", json!({ "url": "notaurl" }), "url"),
        ("typo", json!({ "comand": "x" }), "comand"),
    ];
    let builder = bad
        .iter()
        .fold(gateway().fake("good", &good), |all, (name, entry, _)| {
            all.server(name, entry.clone())
        });
    let gateway = builder.ready().await;

    assert_eq!(gateway.client().await.tool_names().await, ["good_t"]);
    for (name, _, word) in bad {
        let server = gateway.server(name).await;
        assert_eq!(server["state"], "misconfigured");
        assert!(server["reason"].as_str().unwrap().contains(word), "{server}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn srv_03_a_strict_start_fails_with_the_reason_and_leaves_nothing_behind() {
    let ok = Fake::script().tool("t").stdio();
    let builder = gateway().own("startup", json!({ "mode": "strict" }));

    let error = builder
        .fake("ok", &ok)
        .command("bad", &["/no/such/bin"])
        .refused()
        .await;

    let told = error.to_string();
    assert!(told.contains("`bad`") && told.contains("/no/such/bin"), "{told}");
    mcpr_tests::await_no_process(&ok.spec_path().display().to_string()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn srv_03_a_strict_start_is_over_when_all_servers_are_ready() {
    let slow = Fake::script().tool("t").delay("initialize", 0.2).stdio();

    let gateway = gateway()
        .own("startup", json!({ "mode": "strict" }))
        .fake("slow", &slow)
        .start()
        .await;

    assert_eq!(gateway.server("slow").await["state"], "ok");
}

#[tokio::test(flavor = "multi_thread")]
async fn srv_03_a_sequential_start_takes_one_after_the_other_in_their_order() {
    let fakes =
        ["d", "b", "c", "a"].map(|name| (name, Fake::script().tool("t").delay("tools/list", 0.1).stdio()));
    let builder = gateway().own("startup", json!({ "order": "sequential" }));
    let gateway = fakes
        .iter()
        .fold(builder, |all, (name, fake)| all.fake(name, fake))
        .start()
        .await;
    gateway.await_state("a", "ok").await;

    for pair in fakes.windows(2) {
        let listed = pair[0].1.received_of("tools/list")[0].at;
        let begun = pair[1].1.received()[0].at;
        assert!(
            listed + 0.1 <= begun,
            "{} had not ended when {} began",
            pair[0].0,
            pair[1].0
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn srv_03_in_parallel_a_slow_server_holds_up_no_other() {
    let slow = Fake::script()
        .tool("t")
        .with(r#"{"silent": ["initialize"]}"#)
        .stdio();
    let quick = Fake::script().tool("t").stdio();
    let gateway = gateway().fake("a", &slow).fake("b", &quick).start().await;

    gateway.await_state("b", "ok").await;

    assert_eq!(gateway.server("a").await["state"], "starting");
}

#[tokio::test(flavor = "multi_thread")]
async fn b110_a_gateway_that_is_its_own_server_is_refused() {
    let ok = Fake::script().tool("t").stdio();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let itself = json!({ "url": format!("http://localhost:{port}/mcp/") });

    let gateway = gateway()
        .fake("ok", &ok)
        .server("itself", itself)
        .on_port(port)
        .ready()
        .await;

    let server = gateway.server("itself").await;
    assert_eq!(
        (&server["state"], &server["starts"]),
        (&json!("misconfigured"), &json!(0))
    );
    assert!(
        server["reason"].as_str().unwrap().contains("this gateway itself"),
        "{server}"
    );
    assert_eq!(gateway.client().await.tool_names().await, ["ok_t"]);
}

//! One text of instructions for all servers.

use mcpr_tests::{Client, Fake, Gateway, gateway};
use serde_json::json;

use crate::common::{Everywhere, in_front_of};

/// What each client is told: at the opening of a session, and by `server/discover`.
async fn told(gateway: &Gateway) -> [String; 2] {
    let text = |value: &serde_json::Value| value["instructions"].as_str().expect("instructions").to_owned();
    let [Client::Session(session), stateless] = gateway.clients().await else {
        panic!("one of each era")
    };
    [
        text(&session.welcome),
        text(&stateless.ask("server/discover", "").await.message()["result"]),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_15_each_server_has_one_line_in_both_eras() {
    let fakes = Everywhere::new(|| {
        Fake::script()
            .tool("t")
            .set("instructions", json!("First line.\n\n  Second \t line.\r\n"))
    });
    let gateway = fakes.gateway().await;

    for text in told(&gateway).await {
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 1 + fakes.each().count(), "{text}");
        for ((name, _), line) in fakes.each().zip(&lines[1..]) {
            assert_eq!(*line, format!("- {name} (1 tool): First line. Second line."));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_15_long_instructions_are_cut_and_short_ones_are_not() {
    let saying = |text: String| Fake::script().tool("t").set("instructions", json!(text)).stdio();
    let (long, wide, short) = (
        saying("word ".repeat(4000)),
        saying("é".repeat(5000)),
        saying("Be brief.".to_owned()),
    );
    let gateway = in_front_of([("long", &long), ("wide", &wide), ("short", &short)]).await;

    for text in told(&gateway).await {
        assert!((1900..=2000).contains(&text.len()), "{} bytes", text.len());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4, "{text}");
        assert_eq!(lines[3], "- short (1 tool): Be brief.");
        assert!(lines[1].ends_with('…') && lines[2].ends_with('…'), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_15_a_server_that_says_nothing_and_one_that_is_not_there_are_named_as_far_as_known() {
    let (silent, off) = (
        Fake::script().tool("t").tool("u").stdio(),
        Fake::script().tool("t").http(),
    );
    off.kill();
    let gateway = gateway().fake("silent", &silent).fake("off", &off).ready().await;

    for text in told(&gateway).await {
        assert!(text.contains("\n- silent (2 tools)"), "{text}");
        assert!(!text.contains("- off"), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_15_without_servers_the_text_is_short_and_one_line() {
    let gateway = gateway().ready().await;
    for text in told(&gateway).await {
        assert!(
            !text.is_empty() && text.len() < 300 && text.lines().count() == 1,
            "{text}"
        );
    }
}

//! Servers that write without end.

use mcpr_tests::{Fake, Gateway, gateway};

use crate::Alone;

/// Calls the tool `t` of the server `a`.
async fn call(gateway: &Gateway) {
    let answer = gateway.client().await.call("a_t", "{}").await;
    assert_eq!(answer["result"]["content"][0]["text"], "{}");
}

#[tokio::test(flavor = "multi_thread")]
async fn b58_b89_endless_lines_are_thrown_away_and_all_goes_on() {
    let mut alone = Alone::begin().await;
    let stderr = Fake::script().tool("t").with(r#"{"stderr": 20000000}"#).stdio();
    let gateway_of_stderr = gateway().fake("a", &stderr).ready().await;
    alone.forget();
    for _ in 0..5 {
        call(&gateway_of_stderr).await;
    }
    let grown = alone.grown();
    assert!(
        grown < 20_000_000,
        "100 MB of stderr went by and {grown} bytes stayed"
    );

    let flood = r#"{"flood": 40000000, "junk_on": "tools/call"}"#;
    let stdout = Fake::script().tool("t").with(flood).stdio();
    let gateway_of_stdout = gateway().fake("a", &stdout).ready().await;
    alone.forget();
    call(&gateway_of_stdout).await;
    call(&gateway_of_stdout).await;
    assert_eq!(gateway_of_stdout.server("a").await["starts"], 1);
    let grown = alone.grown();
    assert!(
        grown < 45_000_000,
        "{grown} bytes for a line of 40 MB with a limit of 16 MiB"
    );
}

//! What measures the cost of calls is held to work, not to any figure.

use mcpr_tests::yardstick::{Scale, Yardstick};

#[tokio::test]
async fn perf_01_the_yardstick_calls_a_tool_whatever_else_there_is() {
    let scale = Scale {
        sessions: 3,
        tools: 20,
        tokens: 50,
    };
    let mut yardstick = Yardstick::set_up(scale).await;

    let length = yardstick.call(3).await;

    let said = yardstick.said(length);
    assert!(
        said.starts_with("HTTP/1.1 200") && said.contains(r#""id":1,"result""#),
        "{said}"
    );
}

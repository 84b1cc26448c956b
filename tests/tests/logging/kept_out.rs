//! Who is not let in is told of, at a pace that floods nothing (LOG-03).

use std::time::Instant;

use mcpr_tests::http::Request;
use mcpr_tests::{gateway, logged};

#[tokio::test(flavor = "multi_thread")]
async fn log_03_who_is_not_let_in_is_told_of_once_a_second_and_each_at_debug() {
    logged();
    let (gateway, other) = (gateway().start().await, gateway().start().await);
    let admin = gateway.another_token(&["admin"]).await;
    let post = Request::post("/mcp", "{}");
    let unknown = post.clone().token(&other.token);
    let foreign = post.token(&gateway.token).replace("host", "rebound.example");
    let began = Instant::now();

    for _ in 0..20 {
        assert_eq!(unknown.send(gateway.port).await.status(), 401);
        assert_eq!(foreign.send(gateway.port).await.status(), 403);
    }

    let seconds = began.elapsed().as_secs();
    let prefix = &other.token[..12];
    let about = |line: &String| line.contains(prefix) || line.contains("`rebound.example`");
    let lines: Vec<String> = logged().into_iter().filter(about).collect();
    assert_eq!(lines.len(), 40, "{lines:#?}");
    assert!(
        lines[0].contains(" WARN ") && lines[0].contains("reason=unknown count=1 "),
        "{}",
        lines[0]
    );
    let warned = lines.iter().filter(|line| line.contains(" WARN ")).count() as u64;
    assert!(warned <= seconds + 1, "{warned} in {seconds} s");
    assert!(
        lines.iter().any(|line| line.contains("reason=foreign")),
        "{lines:#?}"
    );
    assert!(
        !lines.concat().contains(&other.token),
        "no more of a token than its beginning"
    );
    let metrics = Request::get("/metrics")
        .token(&admin)
        .send(gateway.port)
        .await
        .text();
    for line in [
        "mcpr_auth_failures_total 20",
        r#"mcpr_refused_total{reason="foreign"} 20"#,
    ] {
        assert!(metrics.lines().any(|told| told == line), "{metrics}");
    }
}

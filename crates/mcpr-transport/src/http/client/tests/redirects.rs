//! Where a server may lead us, and where not.

use super::*;
use crate::{FailedKind, Sent};

#[tokio::test]
async fn b67_a_redirect_within_the_origin_is_followed_with_everything_and_remembered() {
    let stub = Stub::start(|seen| match seen.path.as_str() {
        "/mcp" => Reply::status(307).with("location", "/mcp/"),
        _ => in_session(seen),
    })
    .await;
    let (client, _events) = client_of(&stub.url("/mcp"), &[("Authorization", "Bearer t0ken")]);
    introduce(&client).await.unwrap();

    let expected = [
        "POST /mcp initialize",
        "POST /mcp/ initialize",
        "POST /mcp/ notifications/initialized",
    ];
    assert_eq!(stub.story(), expected);
    assert!(
        stub.seen()
            .iter()
            .all(|seen| seen.header("authorization") == "Bearer t0ken")
    );
    assert_eq!(stub.seen()[0].body, stub.seen()[1].body);
}

#[tokio::test]
async fn b67_another_origin_never_hears_of_us() {
    let other = Stub::start(in_session).await;
    let elsewhere = other.url("/mcp?key=s3cret");
    let stub = Stub::start(move |_| Reply::status(308).with("location", elsewhere.clone())).await;
    let (client, _events) = client(&stub);

    let failed = introduce(&client).await.unwrap_err();
    assert_eq!((failed.kind, failed.sent), (FailedKind::Redirected, Sent::No));
    assert!(
        failed.detail.contains(&other.url("/mcp")) && !failed.detail.contains("s3cret"),
        "{failed}"
    );
    assert!(other.seen().is_empty());
}

#[tokio::test]
async fn b67_redirects_that_would_lose_the_body_or_go_round_in_circles_are_refused() {
    for (status, location) in [
        (301, "/mcp/"),
        (302, "/mcp/"),
        (303, "/mcp/"),
        (307, "/mcp"),
        (307, "http://h:x/"),
    ] {
        let stub = Stub::start(move |_| Reply::status(status).with("location", location)).await;
        let (client, _events) = client(&stub);
        let failed = introduce(&client).await.unwrap_err();
        // A 303 points to what came of the request.
        let sent = if status == 303 { Sent::Maybe } else { Sent::No };
        assert_eq!(
            (failed.kind, failed.sent),
            (FailedKind::Redirected, sent),
            "{status} {location}"
        );
    }
}

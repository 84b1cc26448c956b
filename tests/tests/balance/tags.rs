//! LB-02: clients may say which backends they would like.

use mcpr_tests::{Fake, gateway};
use serde_json::{Value, json};

use crate::{all_well, counts, echo};

fn member(fake: &Fake, tags: &[&str]) -> Value {
    let mut entry = fake.entry();
    entry["mcpr"] = json!({ "group": "api", "tags": tags });
    entry
}

#[tokio::test(flavor = "multi_thread")]
async fn lb_02_a_liked_backend_wins_while_it_is_there_by_header_and_by_meta() {
    let fakes = [echo().http(), echo().http()];
    let gateway = gateway()
        .server("west", member(&fakes[0], &["us"]))
        .server("east", member(&fakes[1], &["eu", "gpu"]))
        .start()
        .await;
    gateway.await_state("api", "ok").await;
    let client = gateway.client().await;
    let call = |meta: &str| client.text("tools/call", &format!(r#"{{"name":"api_t"{meta}}}"#));

    for _ in 0..4 {
        let by_header = client.post(&call("")).header("x-mcpr-prefer", "mars, eu");
        assert!(all_well(&[by_header.send(gateway.port).await.message()]));
        let by_meta = call(r#","_meta":{"dev.mcpr/prefer":["us"]}"#);
        assert!(all_well(&[client
            .post(&by_meta)
            .send(gateway.port)
            .await
            .message()]));
    }

    assert_eq!(counts(&fakes), [4, 4]);
    let east = fakes[1].received_of("tools/call");
    assert!(
        east.iter()
            .all(|call| !call.text.contains("prefer") && call.header("x-mcpr-prefer").is_empty())
    );
    let west = fakes[0].received_of("tools/call");
    assert!(
        west.iter().all(|call| !call.text.contains("prefer")),
        "PRJ-04: what is for mcpr stays here"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn lb_02_without_a_liked_backend_any_will_do() {
    let fakes = [echo().http(), echo().http()];
    let gateway = gateway()
        .server("west", member(&fakes[0], &["us"]))
        .server("east", member(&fakes[1], &["eu"]))
        .start()
        .await;
    gateway.await_state("api", "ok").await;
    fakes[1].kill();
    let client = gateway.client().await;
    let liked = |tags: &str| {
        let text = client.text("tools/call", r#"{"name":"api_t"}"#);
        client.post(&text).header("x-mcpr-prefer", tags)
    };

    for tags in ["eu", "mars", ",,", "eu,us"] {
        let answer = liked(tags).send(gateway.port).await.message();
        assert!(all_well(std::slice::from_ref(&answer)), "{tags}: {answer}");
    }

    assert_eq!(counts(&fakes)[0], 4);
}

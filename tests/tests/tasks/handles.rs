//! Ids of tasks are good for their caller, and nobody else can use them (SEC-03).

use mcpr_tests::client::Stateless;
use mcpr_tests::talk::Able;
use mcpr_tests::{Gateway, gateway};
use serde_json::json;

use crate::place::{FIRST, about, get, knows_tasks, place, text_of, working};

const METHODS: [&str; 3] = ["tasks/get", "tasks/update", "tasks/cancel"];

/// The same client with another token.
async fn stranger(gateway: &Gateway) -> Able {
    let token = gateway.another_token(&["read", "call"]).await;
    let client = Stateless {
        port: gateway.port,
        token,
    };
    Able {
        client,
        ..gateway.able(&knows_tasks())
    }
}

/// All requests about a task, as one text for each.
async fn all_answers(client: &Able, id: &str) -> Vec<String> {
    let mut answers = Vec::new();
    for method in METHODS {
        let params = format!(r#"{},"inputResponses":{{}}"#, about(id));
        let answer = client.ask(method, &params).await;
        assert_eq!(answer.status(), 200);
        answers.push(answer.message()["error"].to_string());
    }
    answers
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_03_the_task_of_somebody_else_is_unknown() {
    let place = place(working(&json!({})).http()).await;
    let (client, id) = place.begun("{}").await;

    let other = stranger(&place.gateway).await;
    let other_id = crate::place::begin(&other, "a_work", "{}").await;

    let answers = [
        all_answers(&other, &id).await,
        all_answers(&client, &other_id).await,
    ];

    for answer in answers.concat() {
        assert!(
            answer.contains("-32602") && answer.contains("Unknown task"),
            "{answer}"
        );
    }
    for method in METHODS {
        assert!(
            place.fake.received_of(method).is_empty(),
            "{method} did not reach the server"
        );
    }
    for (owner, id) in [(&client, &id), (&other, &other_id)] {
        assert_eq!(get(owner, id).await["result"]["status"], "completed");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_03_an_id_that_was_altered_or_made_up_is_unknown() {
    let ask = json!({ "method": "roots/list" });
    let interview = json!({ "on": ["tools/call:plain"], "rounds": [[ask]] });
    let place = place(working(&json!({})).interview(interview).http()).await;
    let (client, id) = place.begun("{}").await;
    let middle = id.len() / 2;
    let other = if id.as_bytes()[middle] == b'A' { "B" } else { "A" };
    let altered = format!("{}{other}{}", &id[..middle], &id[middle + 1..]);
    let state = client.call("a_plain", "{}", "").await.message()["result"]["requestState"].clone();
    let state = state.as_str().unwrap();

    for id in [&altered, &id[1..], &format!("{id}A"), FIRST, "", "1", state] {
        for answer in all_answers(&client, id).await {
            assert!(answer.contains("-32602"), "{id}: {answer}");
        }
    }
    assert!(place.fake.received_of("tasks/get").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_in_the_header_that_is_not_the_one_in_the_body_is_refused() {
    let place = place(working(&json!({})).http()).await;
    let (client, id) = place.begun("{}").await;
    for method in METHODS {
        let text = client.text("1", method, &about(&id));
        for name in [None, Some("another")] {
            let answer = client
                .client
                .post(&text, method, name)
                .send(place.gateway.port)
                .await;
            assert_eq!(
                (answer.status(), &answer.message()["error"]["code"]),
                (400, &json!(-32020))
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_03_an_id_says_nothing_of_the_server_and_is_never_the_same() {
    let place = place(working(&json!({})).http()).await;
    let ids = [place.begun("{}").await.1, place.begun("{}").await.1];
    assert_ne!(ids[0], ids[1]);
    for id in ids {
        assert!(
            id.bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)),
            "{id}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_03_ids_outlive_the_gateway_that_made_them() {
    let fake = working(&json!({})).http();
    let before = gateway().fake("a", &fake).ready().await;
    let client = before.able(&knows_tasks());
    let id = crate::place::begin(&client, "a_work", r#"{"n":1}"#).await;
    let builder = gateway().fake("a", &fake).at_home_of(&before);
    before.stop().await;

    let after = builder.ready().await;
    let client = Able {
        client: Stateless {
            port: after.port,
            ..client.client
        },
        ..client
    };

    assert_eq!(
        text_of(&get(&client, &id).await["result"]["result"]),
        r#"{"n":1}"#
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_task_of_a_server_that_is_no_longer_configured_is_unknown() {
    let (fake, other) = (working(&json!({})).http(), working(&json!({})).http());
    let before = gateway().fake("a", &fake).ready().await;
    let client = before.able(&knows_tasks());
    let id = crate::place::begin(&client, "a_work", "{}").await;
    let builder = gateway().fake("b", &other).at_home_of(&before);
    before.stop().await;

    let after = builder.ready().await;
    let client = Able {
        client: Stateless {
            port: after.port,
            ..client.client
        },
        ..client
    };

    assert_eq!(get(&client, &id).await["error"]["code"], -32602);
    assert!(other.received_of("tasks/get").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_say_that_it_knows_tasks_is_told_what_to_say() {
    let place = place(working(&json!({})).http()).await;
    let (_, id) = place.begun("{}").await;
    let unaware = place.gateway.able(&json!({ "elicitation": {} }));

    let call = r#""name":"a_work","arguments":{}"#.to_owned();
    let requests = METHODS.map(|method| (method, about(&id)));
    for (method, params) in requests.into_iter().chain([("tools/call", call)]) {
        let answer = unaware.ask(method, &params).await;
        let error = answer.message()["error"].clone();
        assert_eq!(
            (answer.status(), &error["code"]),
            (400, &json!(-32021)),
            "{method}: {error}"
        );
        assert_eq!(error["data"]["requiredCapabilities"], knows_tasks(), "{method}");
    }
    assert!(place.fake.received_of("tasks/get").is_empty());
}

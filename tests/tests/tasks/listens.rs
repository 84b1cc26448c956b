//! Clients that listen to how their tasks stand.

use serde_json::{Value, json};

use crate::ear::{Ear, LISTEN, SUBSCRIPTION};
use crate::place::{FIRST, Place, about, before, begin, knows_tasks, place, place_with, text_of, working};
use crate::wire::Wire;

fn held() -> Value {
    json!({ "held": true })
}

/// What the server was asked to tell of, in the order of its listens.
fn asked(place: &Place) -> Vec<Value> {
    let listens = place.fake.received_of(LISTEN).into_iter();
    let filters = listens.map(|listen| listen.params()["notifications"]["taskIds"].clone());
    filters.filter(|ids| !ids.is_null()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_listen_hears_of_the_tasks_it_has_named_and_of_no_others() {
    for place in before(|| working(&held())).await {
        let (client, first) = place.begun(r#"{"n":1}"#).await;
        let second = begin(&client, "a_work", r#"{"n":2}"#).await;
        let mut one = Ear::of(&client, &[&first]).await;
        let mut two = Ear::of(&client, &[&second]).await;
        let mut both = Ear::of(&client, &[&second, &first]).await;
        assert_eq!(both.accepted, json!({ "taskIds": [second, first] }));

        place.finish(2).await;
        place.finish(1).await;

        for (ear, id, text) in [
            (&mut one, &first, r#"{"n":1}"#),
            (&mut two, &second, r#"{"n":2}"#),
        ] {
            let task = ear.hears_of().await;
            assert_eq!(
                (&task["taskId"], &task["status"]),
                (&json!(id), &json!("completed"))
            );
            assert_eq!(text_of(&task["result"]), text, "all that tasks/get would say");
            assert!(task["resultType"].is_null() && task["ttlMs"] == 60000, "{task}");
        }
        let heard = [
            both.hears_of().await["taskId"].clone(),
            both.hears_of().await["taskId"].clone(),
        ];
        assert!(heard.contains(&json!(first)) && heard.contains(&json!(second)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listen_on_a_pipe_hears_under_its_own_id() {
    let place = place(working(&held()).stdio()).await;
    let (mut wire, stateless) = (Wire::new(&place.gateway), place.gateway.stateless());
    let meta = format!(
        r#""io.modelcontextprotocol/clientCapabilities":{}"#,
        knows_tasks()
    );
    let text = |id: &str, method: &str, params: &str| stateless.text_with(id, method, params, &meta);
    wire.send(&text("1", "tools/call", r#""name":"a_work","arguments":{}"#))
        .await;
    let id = wire.next().await["result"]["taskId"].clone();

    let filter = format!(r#""notifications":{}"#, json!({ "taskIds": [id] }));
    wire.send(&text("\"l\"", LISTEN, &filter)).await;
    assert_eq!(
        wire.next().await["params"]["notifications"]["taskIds"],
        json!([id])
    );
    place.finish(1).await;

    let note = wire.next().await;
    assert_eq!(
        (&note["params"]["taskId"], &note["params"]["_meta"]),
        (&id, &json!({ SUBSCRIPTION: "l" }))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_03_only_what_the_caller_may_know_of_is_accepted() {
    for place in before(|| working(&held())).await {
        let (client, id) = place.begun("{}").await;
        let token = place.gateway.another_token(&["read", "call"]).await;
        let mut stranger = client.clone();
        stranger.client.token = token;
        let foreign = begin(&stranger, "a_work", "{}").await;
        let altered = format!("{}x", &id[..id.len() - 1]);

        let mut ear = Ear::of(&client, &["", &foreign, FIRST, &id, &altered, &id]).await;
        let nothing = Ear::of(&stranger, &[&id]).await;

        assert_eq!(ear.accepted, json!({ "taskIds": [id] }));
        assert_eq!(nothing.accepted, json!({}));
        place.finish(2).await;
        place.finish(1).await;
        assert_eq!(
            ear.hears_of().await["taskId"],
            id,
            "and not of the stranger's before"
        );
        assert_eq!(
            asked(&place),
            [json!([FIRST])],
            "only this was asked of the server"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_stream_at_the_server_is_for_all_tasks_and_gives_way_to_the_next() {
    let place = place(working(&held()).http()).await;
    let (client, first) = place.begun("{}").await;
    let second = begin(&client, "a_work", "{}").await;
    let mut one = Ear::of(&client, &[&first]).await;
    let two = Ear::of(&client, &[&second]).await;
    assert_eq!(asked(&place), [json!([FIRST]), json!([FIRST, r#"task/2 "é""#])]);

    place.finish(1).await;
    assert_eq!(one.hears_of().await["status"], "completed");
    client.ask("tasks/cancel", &about(&first)).await;
    assert_eq!(
        one.hears_of().await["status"],
        "cancelled",
        "and not the same a second time"
    );
    drop((one, two));

    let all_closed = || {
        let closed = place
            .fake
            .received()
            .into_iter()
            .filter(|line| line.closed.is_some())
            .count();
        (closed == asked(&place).len()).then_some(())
    };
    mcpr_tests::wait_until(
        std::time::Duration::from_secs(10),
        "all streams closed",
        all_closed,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_09_what_is_told_of_a_task_names_resources_as_clients_know_them() {
    let result = json!({ "content": [{ "type": "resource_link", "name": "n", "uri": "memo:///a" }] });
    for place in before(|| working(&json!({ "held": true, "result": result }))).await {
        let (client, id) = place.begun("{}").await;
        let mut ear = Ear::of(&client, &[&id]).await;
        place.finish(1).await;
        let task = ear.hears_of().await;
        assert_eq!(
            task["result"]["content"][0]["uri"], "resource://a/memo:///a",
            "{task}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_asks_is_told_of_with_what_it_asks() {
    let ask = json!({ "method": "roots/list" });
    let place = place(working(&json!({ "asks": [ask], "linger": 9, "held": true })).http()).await;
    let (client, id) = place.begun("{}").await;
    let mut ear = Ear::of(&client, &[&id]).await;

    place.finish(1).await;

    let task = ear.hears_of().await;
    assert_eq!(
        (&task["taskId"], &task["status"]),
        (&json!(id), &json!("input_required"))
    );
    assert_eq!(task["inputRequests"]["t0"]["method"], "roots/list");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_say_that_it_knows_tasks_cannot_listen_to_them() {
    let place = place(working(&held()).http()).await;
    let (_, id) = place.begun("{}").await;
    let unaware = place.gateway.able(&json!({}));

    let answer = unaware
        .ask(LISTEN, &format!(r#""notifications":{{"taskIds":["{id}"]}}"#))
        .await;

    let error = answer.message()["error"].clone();
    assert_eq!(
        (answer.status(), &error["code"]),
        (400, &json!(-32021)),
        "{error}"
    );
    assert_eq!(error["data"]["requiredCapabilities"], knows_tasks());
    let ear = Ear::with(&unaware, json!({ "taskIds": [], "toolsListChanged": true })).await;
    assert_eq!(ear.accepted, json!({ "toolsListChanged": true }));
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_resources_and_lists_are_heard_on_one_stream() {
    let script = || {
        let resources = json!([{ "uri": "memo:///a", "name": "a" }]);
        working(&held())
            .with(r#"{"env_tool":true,"touch_tool":true}"#)
            .set("resources", resources)
    };
    for place in before(script).await {
        let (client, id) = place.begun("{}").await;
        let filter = json!({ "toolsListChanged": true, "resourceSubscriptions": ["resource://a/memo:///a"], "taskIds": [id] });
        let mut ear = Ear::with(&client, filter.clone()).await;
        assert_eq!(ear.accepted, filter);
        let stateless = place.gateway.stateless();

        place.finish(1).await;
        assert_eq!(ear.hears_of().await["taskId"], id);
        stateless.call("a_touch", r#"{"uri":"memo:///a"}"#).await;
        let touched = ear
            .connection
            .message(|message| !message.is_null())
            .await
            .unwrap();
        assert_eq!(touched["params"]["uri"], "resource://a/memo:///a", "{touched}");
        stateless.call("a_add", "{}").await;
        let added = ear
            .connection
            .message(|message| !message.is_null())
            .await
            .unwrap();
        assert_eq!(added["method"], "notifications/tools/list_changed", "{added}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_became_of_a_task_while_its_server_was_away_is_told_afterwards() {
    let fake = working(&json!({ "held": true, "revives": true })).http();
    let own = json!({ "restart": { "backoffMin": "20ms", "backoffMax": "100ms" } });
    let place = place_with(fake, own).await;
    let (client, id) = place.begun("{}").await;
    let mut ear = Ear::of(&client, &[&id]).await;

    let after = json!({ "on": ["tools/call:work"], "revives": true });
    place.fake.rescript(working(&after));
    place.fake.restart();

    let task = ear.hears_of().await;
    assert_eq!(
        (&task["taskId"], &task["status"]),
        (&json!(id), &json!("completed"))
    );
    assert_eq!(text_of(&task["result"]), r#"{"revived":true}"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_tasks_count_among_the_subscriptions_of_a_listen() {
    let fake = working(&held()).http();
    let limits = json!({ "subscriptions": 2 });
    let gateway = mcpr_tests::gateway()
        .fake("a", &fake)
        .own("limits", limits)
        .ready()
        .await;
    let client = gateway.able(&knows_tasks());
    let filter = |uris: &[&str]| json!({ "taskIds": ["x", "y"], "resourceSubscriptions": uris });

    let refused = client
        .ask(LISTEN, &format!(r#""notifications":{}"#, filter(&["memo:///a"])))
        .await;

    assert_eq!(refused.message()["error"]["code"], -32602, "{}", refused.text());
    assert_eq!(Ear::with(&client, filter(&[])).await.accepted, json!({}));
    for wrong in [r#"{"taskIds":"x"}"#, r#"{"taskIds":[1]}"#] {
        let answer = client.ask(LISTEN, &format!(r#""notifications":{wrong}"#)).await;
        assert_eq!(answer.message()["error"]["code"], -32602, "{wrong}");
    }
}

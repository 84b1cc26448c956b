//! A file system that takes no changes.

use serde_json::json;

use crate::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn sec_02_on_a_read_only_file_system_the_tokens_that_are_there_count_and_none_can_be_made() {
    let stage = Stage::of("3m").await;
    stage.outside_ctl(&["tokens", "create", "--name", "old"]).await;
    stage.outside_ctl(&["tokens", "revoke", "old"]).await;
    let stage = stage.ran_before().await.then("mount -o remount,ro HOME");

    let stage = stage.run().await;

    stage.says("is on a read-only file system").await;
    assert!(stage.calls_work().await);
    let refused = stage.operate("tokens/create", json!({ "name": "new" })).await;
    let told = refused.message()["error"]["message"].to_string();
    assert_ne!(refused.status(), 200);
    assert!(told.contains("read-only"), "{told}");
    let list = stage.operate("tokens/list", json!({})).await.message();
    assert_eq!(list["tokens"].as_array().unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_02_a_database_that_was_not_closed_is_not_read_without_its_log() {
    let stage = Stage::of("3m").await;
    // A revocation may stand there and nowhere else.
    std::fs::write(stage.seeded("mcpr.db-wal"), "what a killed gateway left").unwrap();
    let mut stage = stage.then("mount -o remount,ro HOME");
    stage.launch();

    let code = stage.ended().await;

    assert_eq!(code, Some(1), "{}", stage.said());
    assert!(
        stage.said().contains("make it writable and start mcpr again"),
        "{}",
        stage.said()
    );
}

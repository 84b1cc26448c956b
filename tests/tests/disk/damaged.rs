//! A database that is damaged: from the start, or from some moment on.

use std::fs;
use std::os::unix::fs::FileExt;

use serde_json::json;

use crate::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn sec_02_a_database_that_is_damaged_is_left_alone_and_the_message_says_what_to_do() {
    let mut stage = Stage::of("3m").await;
    let mut bytes = fs::read(stage.seeded("mcpr.db")).unwrap();
    bytes[..4096].fill(0xaa);
    fs::write(stage.seeded("mcpr.db"), &bytes).unwrap();
    stage.launch();

    let code = stage.ended().await;

    assert_eq!(code, Some(1), "{}", stage.said());
    for part in ["is damaged or not a database", "move the file", "mcpr-ctl backup"] {
        assert!(stage.said().contains(part), "{part}: {}", stage.said());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_02_a_database_that_is_damaged_while_it_is_used_stops_no_call() {
    let stage = Stage::of("3m").await;
    let stage = stage.run().await;
    // What is in the log goes to the file, which then loses all but its first page; and something is
    // written, so that nobody trusts what he remembers of it.
    stage.meddle("PRAGMA wal_checkpoint(TRUNCATE)").await;
    let file = fs::File::options()
        .write(true)
        .open(stage.path("mcpr.db"))
        .unwrap();
    let length = file.metadata().unwrap().len();
    file.write_all_at(&vec![0xaa; usize::try_from(length).unwrap() - 4096], 4096)
        .unwrap();
    stage.meddle("PRAGMA application_id = 1835233394").await;

    stage
        .says("the database cannot be read: tokens count as they were")
        .await;

    let listed = stage.operate("tokens/list", json!({})).await;
    let told = listed.message()["error"]["message"].to_string();
    assert!(listed.status() != 200 && told.contains("damaged"), "{told}");
    assert!(stage.calls_work().await);
}

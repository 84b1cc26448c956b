//! A disk that fills up while the gateway runs.

use serde_json::{Value, json};

use crate::stage::Stage;

/// What came of an operation: its status, and what it says.
async fn outcome(stage: &Stage, path: &str, body: Value) -> (u16, Value) {
    let answer = stage.operate(path, body).await;
    (answer.status(), answer.message())
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_02_on_a_full_disk_calls_go_on_and_a_token_that_cannot_be_kept_is_not_shown() {
    let stage = Stage::of("3m").await;
    let stage = stage.run().await;
    stage.fill();

    let mut refused = None;
    for number in 0..200 {
        let (status, said) = outcome(&stage, "tokens/create", json!({ "name": format!("t{number}") })).await;
        if status != 200 {
            refused = Some(said);
            break;
        }
    }

    let refused = refused.expect("there is no room for so many tokens");
    let told = refused["error"]["message"].as_str().unwrap();
    assert!(
        told.contains("the disk is full; make room and try again"),
        "{told}"
    );
    assert_eq!(refused.get("secret"), None);
    assert!(stage.calls_work().await);
    stage.make_room();
    let (status, _) = outcome(&stage, "tokens/create", json!({ "name": "later" })).await;
    assert_eq!(status, 200, "without a restart");
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_02_what_was_answered_on_a_disk_that_filled_up_holds_after_the_gateway_was_killed() {
    let stage = Stage::of("3m").await;
    let stage = stage.run().await;
    let mut made = Vec::new();
    for number in 0..20 {
        let token = outcome(&stage, "tokens/create", json!({ "name": format!("t{number}") }))
            .await
            .1;
        made.push(token["secret"].as_str().unwrap().to_owned());
    }
    stage.fill();
    let mut revoked = Vec::new();
    for number in 0..20 {
        let (status, _) = outcome(&stage, "tokens/revoke", json!({ "which": format!("t{number}") })).await;
        revoked.push(status == 200);
    }

    let stage = stage.killed_and_run_again().await;

    for (token, revoked) in made.iter().zip(revoked) {
        let request = mcpr_tests::http::Request::post("/mcp", "{}").token(token);
        let status = request.send(stage.port).await.status();
        assert_eq!(status == 401, revoked, "{token}: {status}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn log_06_calls_that_cannot_be_written_down_are_told_once_and_are_written_again_when_there_is_room() {
    let stage = Stage::of("3m").await;
    let stage = stage.run().await;
    stage.fill();
    let told = "calls could not be written to the history";
    stage.says_while_called(told).await;
    for _ in 0..20 {
        assert!(stage.calls_work().await);
    }
    stage.make_room();

    stage
        .says_while_called("calls are written to the history again")
        .await;

    assert_eq!(stage.said().matches(told).count(), 1, "{}", stage.said());
}

#[tokio::test(flavor = "multi_thread")]
async fn log_06_files_that_may_grow_no_more_stop_no_call() {
    // 256 KiB each, as a limit of the shell (POSIX, `ulimit`).
    let stage = Stage::of("8m").await.then("ulimit -f 512").run().await;

    stage
        .says_while_called("calls could not be written to the history")
        .await;

    assert!(stage.calls_work().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn log_04_a_secret_that_cannot_be_kept_leaves_the_one_that_was_there() {
    let stage = Stage::of("3m").await;
    let stage = stage.run().await;
    let set =
        async |value: &str| outcome(&stage, "secrets/set", json!({ "name": "key", "value": value })).await;
    assert_eq!(set("first").await.0, 200);
    let before = std::fs::read(stage.path("secrets.json")).unwrap();
    stage.fill();

    let (status, said) = set(&"x".repeat(60_000)).await;

    let told = said["error"]["message"].as_str().unwrap();
    assert!(
        status != 200 && told.contains("the disk is full: make room and try again"),
        "{told}"
    );
    assert_eq!(std::fs::read(stage.path("secrets.json")).unwrap(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn set_04_a_toolset_that_cannot_be_kept_is_refused_with_the_reason_to_operators_and_clients() {
    let stage = Stage::of("3m").await;
    stage.configure(json!({ "builtins": true }));
    let stage = stage.run().await;
    stage.fill();

    let wanted = |name: &str| json!({ "name": name, "tools": [{ "namespacedName": "a.*" }] });
    let to_operator = refused(async |name| {
        let (_, said) = outcome(&stage, "toolsets/save", wanted(name)).await;
        said["error"]["message"].as_str().map(str::to_owned)
    });
    let told = to_operator.await;
    let to_client = refused(async |name| {
        let said = stage
            .client()
            .call("build-toolset", &wanted(name).to_string())
            .await;
        said.get("error").cloned()
    });
    let error = to_client.await;

    let full = "cannot grow because the disk is full; make room and try again";
    assert!(told.starts_with("nothing was changed: the database `/"), "{told}");
    assert!(told.ends_with(&format!("mcpr.db` {full}")), "{told}");
    assert_eq!(
        error["message"],
        format!("nothing was changed: the database {full}")
    );
    assert_eq!(
        (&error["data"]["reason"], &error["data"]["retry"]),
        (&json!("internal"), &json!("safe"))
    );
}

/// What is refused of many that are made, one after the other, while there is a little room.
async fn refused<T>(make: impl AsyncFn(&str) -> Option<T>) -> T {
    for number in 0..200 {
        if let Some(refused) = make(&format!("t{number}")).await {
            return refused;
        }
    }
    panic!("there is no room for so many");
}

#[tokio::test(flavor = "multi_thread")]
async fn ctl_01_a_backup_for_which_there_is_no_room_names_the_copy_and_leaves_nothing() {
    let stage = Stage::of("3m").await;
    let stage = stage.run().await;
    stage.fill();

    let ran = stage
        .ctl(&["backup", stage.path("copy.db").to_str().unwrap()])
        .await;

    let told = String::from_utf8(ran.stderr).unwrap();
    assert_eq!(ran.status.code(), Some(1), "{told}");
    assert!(
        told.contains("copy.db` cannot grow because the disk is full"),
        "{told}"
    );
    let left = std::fs::read_dir(stage.path("")).unwrap().flatten();
    let left: Vec<_> = left
        .filter(|file| file.file_name().to_string_lossy().starts_with("copy"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn log_02_a_gateway_that_finds_its_disk_full_ends_and_says_so() {
    let stage = Stage::of("3m").await;
    let mut stage = stage.then("dd if=/dev/zero of=HOME/ballast bs=1k");
    stage.launch();

    let code = stage.ended().await;

    assert_eq!(code, Some(1), "{}", stage.said());
    assert!(stage.said().contains("the disk is full"), "{}", stage.said());
}

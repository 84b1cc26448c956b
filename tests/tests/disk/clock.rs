//! A clock that is set while the gateway runs: forward, and back.

use std::fs;
use std::path::Path;
use std::process::Command;

use mcpr_tests::http::Request;
use serde_json::json;

use crate::stage::Stage;

/// Has the time of day be off by the seconds that stand in a file, and leaves the time that passes alone.
const SHIFT: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t which, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int told = real(which, now);
    const char *path = getenv("CLOCK_SHIFT");
    if (told != 0 || which != CLOCK_REALTIME || !path) return told;
    FILE *file = fopen(path, "re");
    long long seconds = 0;
    if (file) {
        if (fscanf(file, "%lld", &seconds) == 1) now->tv_sec += seconds;
        fclose(file);
    }
    return told;
}
"#;

const HOUR: i64 = 3600;

/// Builds it with what Rust itself links with.
fn shift(folder: &Path) -> String {
    let (source, library) = (folder.join("shift.c"), folder.join("shift.so"));
    fs::write(&source, SHIFT).unwrap();
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .args([&library, &source])
        .status()
        .expect("`cc` is there: install a C compiler (Debian, Ubuntu: `apt-get install gcc libc6-dev`)");
    assert!(built.success(), "{built}: {}", source.display());
    library.display().to_string()
}

/// A gateway whose clock is off by what stands in the file `shift` of the folder.
async fn with_clock(folder: &Path) -> Stage {
    let library = shift(folder);
    let file = folder.join("shift");
    fs::write(&file, "0").unwrap();
    let stage = Stage::of("8m").await;
    stage
        .set("LD_PRELOAD", &library)
        .set("CLOCK_SHIFT", &file.display().to_string())
}

async fn status_of(stage: &Stage, token: &str) -> (u16, String) {
    let answer = Request::post("/mcp", "{}").token(token).send(stage.port).await;
    (answer.status(), answer.text())
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_02_a_token_ends_when_the_clock_says_so_and_calls_go_on_across_a_jump() {
    let folder = tempfile::tempdir().unwrap();
    let stage = with_clock(folder.path()).await;
    let stage = stage.run().await;
    let set = |seconds: i64| fs::write(folder.path().join("shift"), seconds.to_string()).unwrap();
    let now = mcpr_auth::Timestamp::now();
    let expires = mcpr_auth::Timestamp::from_unix(now.unix() + HOUR).to_string();
    let made = stage
        .operate("tokens/create", json!({ "name": "short", "expires": expires }))
        .await;
    let token = made.message()["secret"].as_str().unwrap().to_owned();
    assert_ne!(status_of(&stage, &token).await.0, 401);

    set(2 * HOUR);

    let (status, said) = status_of(&stage, &token).await;
    assert!(status == 401 && said.contains("expired"), "{status} {said}");
    assert!(
        stage.calls_work().await,
        "one without an end is as good as before"
    );
    set(-24 * HOUR);
    assert!(stage.calls_work().await);
    assert_ne!(
        status_of(&stage, &token).await.0,
        401,
        "its time has not come yet"
    );
    set(0);
    assert!(stage.calls_work().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn log_06_a_jump_of_the_clock_forgets_no_call() {
    let folder = tempfile::tempdir().unwrap();
    let stage = with_clock(folder.path()).await;
    // So small that old calls are looked for with nearly every one that is written.
    stage.configure(json!({ "history": { "keep": "1h", "maxSize": "16kb" } }));
    let stage = stage.run().await;
    let count = async || {
        let list = stage
            .operate("history/list", json!({ "limit": 1000 }))
            .await
            .message();
        list["calls"].as_array().unwrap().len()
    };
    assert!(stage.calls_work().await);
    assert_eq!(count().await, 1);

    fs::write(folder.path().join("shift"), (365 * 24 * HOUR).to_string()).unwrap();
    for _ in 0..30 {
        assert!(stage.calls_work().await);
    }

    stage.says("the clock of this machine has jumped").await;
    assert_eq!(count().await, 31);
}

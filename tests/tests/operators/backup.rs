//! A backup of a gateway that runs, and the gateway that is made of it.

use mcpr_tests::http::Request;
use mcpr_tests::{Brood, Program, gateway};

async fn token(program: &Program, name: &str) -> String {
    let made = program.ctl(&["tokens", "create", "--name", name]).await;
    made["secret"].as_str().unwrap().to_owned()
}

async fn is_let_in(program: &Program, token: &str) -> bool {
    let answer = Request::post("/mcp", "{}").token(token).send(program.port).await;
    answer.status() != 401
}

#[tokio::test(flavor = "multi_thread")]
async fn ctl_01_a_backup_of_a_running_gateway_brings_back_what_was_at_that_time() {
    let program = gateway().program(&Brood::new()).await;
    program.run().await;
    let before = token(&program, "before").await;
    let copy = program.home().join("copy.db");

    let made = program.ctl(&["backup", copy.to_str().unwrap()]).await;

    assert_eq!(made["file"], copy.to_str().unwrap());
    let after = token(&program, "after").await;
    assert!(is_let_in(&program, &before).await && is_let_in(&program, &after).await);
    program.terminate().await;
    std::fs::rename(&copy, program.home().join("mcpr.db")).unwrap();
    program.run().await;
    assert!(is_let_in(&program, &before).await);
    assert!(!is_let_in(&program, &after).await);
}

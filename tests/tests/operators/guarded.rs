//! A control socket that asks for a token too: `control.token`.

use std::process::Output;

use mcpr_tests::{Brood, Program, gateway};
use serde_json::json;

async fn program() -> Program {
    let builder = gateway().own("control", json!({ "token": true }));
    let program = builder.program(&Brood::new()).await;
    program.run().await;
    program
}

async fn status(program: &Program, variables: &[(&str, &str)]) -> (Option<i32>, String) {
    let Output { status, stderr, .. } = program.ctl_with(&["status"], "", variables).await;
    (status.code(), String::from_utf8(stderr).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_06_a_guarded_socket_lets_nobody_in_without_an_admin_token() {
    let program = program().await;

    let (code, told) = status(&program, &[]).await;

    assert_eq!(code, Some(4), "{told}");
    for part in [
        "control.token",
        "MCPR_TOKEN",
        "tokens create --name NAME --scope admin",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let (code, told) = status(&program, &[("MCPR_TOKEN", "mcpr_pat_nonsense")]).await;
    assert_eq!(code, Some(4), "{told}");
    assert_eq!(
        status(&program, &[("MCPR_TOKEN", &program.token)]).await.0,
        Some(0)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_06_at_a_guarded_socket_a_token_may_do_what_its_scopes_say() {
    let program = program().await;
    let made = program
        .operate("tokens/create", &json!({ "name": "reader" }))
        .await;
    let reader = made["secret"].as_str().unwrap().to_owned();

    let (code, told) = status(&program, &[("MCPR_TOKEN", &reader)]).await;

    assert_eq!(code, Some(4), "{told}");
    assert!(told.contains("lacks the scope `admin`"), "{told}");
    program
        .operate("tokens/revoke", &json!({ "which": "reader" }))
        .await;
    let (_, told) = status(&program, &[("MCPR_TOKEN", &reader)]).await;
    assert!(told.contains("was revoked"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn ctl_01_the_doctor_knows_a_guarded_socket_from_a_gateway_that_is_ill() {
    let program = program().await;

    let told = program.ctl(&["doctor"]).await;

    let checks = told["checks"].as_array().unwrap();
    let gateway = checks.iter().find(|check| check["check"] == "gateway").unwrap();
    assert_eq!(gateway["fix"], "put a token with the scope admin into MCPR_TOKEN");
    assert!(!checks.iter().any(|check| check["check"] == "port"), "{told}");
}

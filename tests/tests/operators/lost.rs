//! A gateway whose socket a cleaner of files has taken away (CTL-02).

use mcpr_tests::{Brood, gateway};

#[tokio::test(flavor = "multi_thread")]
async fn ctl_02_a_gateway_that_lost_its_socket_is_named_by_its_process() {
    let program = gateway().program(&Brood::new()).await;
    program.run().await;
    // Else it would soon make its socket again.
    program.signal("STOP");
    std::fs::remove_file(program.home().join("ctl.sock")).unwrap();
    let runs = format!("a gateway runs (process {})", program.pid());

    let (code, made) = program
        .told(&["tokens", "create", "--name", "ops", "--scope", "admin"])
        .await;
    let (missing, status) = program.told(&["status"]).await;
    let (_, doctor) = program.told(&["doctor"]).await;

    assert_eq!((code, missing), (0, 5), "{made}\n{status}");
    assert!(
        made.contains(&runs) && made.contains("used the database"),
        "{made}"
    );
    assert!(
        status.contains(&runs) && status.contains("start it anew"),
        "{status}"
    );
    assert!(doctor.contains(&runs), "{doctor}");
    program.signal("CONT");
}

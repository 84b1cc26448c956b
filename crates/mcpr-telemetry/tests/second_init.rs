//! One process has one subscriber, so this test has a process of its own.

use mcpr_telemetry::{InitError, Level, Options, init};

#[test]
fn a_second_init_is_refused() {
    let telemetry = init(Options {
        level: Level::Fatal,
        ..Options::default()
    })
    .unwrap();

    let error = init(Options::default()).unwrap_err();

    assert!(matches!(error, InitError::Installed));
    assert_eq!(
        format!("{telemetry:?}"),
        "Telemetry { level: Fatal, log_path: None, .. }"
    );
}

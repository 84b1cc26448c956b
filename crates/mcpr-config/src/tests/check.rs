//! The report of `mcpr-gateway check`.

use std::path::PathBuf;

use mcpr_upstream::StdioSpec;

use super::*;
use crate::check;

fn resolve(process: &StdioSpec) -> Result<PathBuf, String> {
    match process.command.as_str() {
        "npx" => Ok("/usr/bin/npx".into()),
        name => Err(format!("no `{name}` in PATH (/usr/bin)")),
    }
}

fn report(env: Fixed, text: &str) -> crate::Report {
    let env = env.file("/base/mcpr.json", text);
    check(
        &Locations::from_env(&[FILE.into()], &env).unwrap(),
        &env,
        &resolve,
    )
}

#[test]
fn cfg_06_a_check_tells_everything_that_is_wrong() {
    let report = report(
        Fixed::default(),
        r#"{
  // mine
  "mcpServers": {
    "good": {"command": "npx", "args": ["-y", "server with space"]},
    "off": {"command": "gone", "disabled": true},
    "gone": {"command": "gone"},
    "joined": {"command": "npx -y thing"},
    "web": {"url": "https://h/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
    "a/b": {"command": "npx"}
  }
}"#,
    );

    assert!(!report.valid);
    insta::assert_json_snapshot!(report);
}

#[test]
fn cfg_06_a_file_without_faults_is_valid() {
    let report = report(
        Fixed::default(),
        r#"{"mcpServers": {"good": {"command": "npx"}}}"#,
    );
    assert!(report.valid && report.findings.is_empty());
}

#[test]
fn cfg_06_a_broken_file_and_a_broken_variable_are_both_told() {
    let report = report(
        Fixed::default().with("MCPR_PORT", "x"),
        "{\n  \"mcpr\": {\"lisen\": \"\"}\n}",
    );
    insta::assert_json_snapshot!(report);
}

#[test]
fn cfg_06_a_certificate_that_is_not_there_is_told() {
    let text = r#"{"mcpr": {"tls": {"cert": "cert.pem", "key": "key.pem"}}}"#;
    let report = report(Fixed::default().file("/base/cert.pem", "…"), text);

    let told: Vec<_> = report.findings.iter().map(ToString::to_string).collect();
    assert!(!report.valid);
    assert!(
        matches!(&told[..], [one] if one.contains("`mcpr.tls.key`") && one.contains("/base/key.pem")),
        "{told:?}"
    );
}

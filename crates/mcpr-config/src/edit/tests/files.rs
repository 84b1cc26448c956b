//! Opening and judging.

use super::*;
use crate::ServerState;

fn refused(text: impl Into<Vec<u8>>) -> String {
    let env = Fixed::default().file("/base/mcpr.json", text);
    Document::open(Path::new("mcpr.json"), &env)
        .unwrap_err()
        .to_string()
}

#[test]
fn ctl_04_what_is_no_json_is_refused_with_its_place() {
    assert_eq!(
        refused("{\n  \"mcpServers\": {\n    git: {}\n  }\n}"),
        "mcpr.json:3:5: not valid JSON: expected string for object property"
    );
    assert_eq!(refused("[]"), "mcpr.json:1:1: the file must hold an object");
    assert_eq!(
        refused("// nothing"),
        "mcpr.json:1:11: not valid JSON: there is no value"
    );
    assert!(refused(&b"\xff\xfe{\0"[..]).contains("UTF-16"));
}

#[test]
fn a_file_that_is_not_there_is_empty_and_new() {
    let mut document = Document::open(Path::new("absent.json"), &Fixed::default()).unwrap();
    assert!(document.is_new() && !document.is_changed() && document.servers().is_empty());

    document.set_server("a", &raw("{}")).unwrap();
    assert!(document.is_changed() && document.has_server("a"));
}

#[test]
fn an_empty_file_that_nothing_was_put_into_is_unchanged() {
    assert!(!document("").is_changed());
    assert!(!document("{}").is_changed());
}

#[test]
fn cfg_04_a_document_is_judged_before_it_is_written() {
    let mut document = document("");
    document
        .set_server("a", &raw(r#"{"command":"x","mcpr":{"prefx":"a"}}"#))
        .unwrap();

    let config = document.judge(&Fixed::default()).unwrap();

    let ServerState::Misconfigured(fault) = &config.servers[0].state else {
        panic!("{:?}", config.servers);
    };
    assert_eq!(
        fault.to_string(),
        "mcpr.json:6:9: unknown key `prefx` in `mcpr`; did you mean `prefix`?"
    );
    document.set(&["mcpr", "lisen"], Some(&raw("1"))).unwrap();
    let error = document.judge(&Fixed::default()).unwrap_err().to_string();
    assert!(error.contains("did you mean `listen`?"), "{error}");
}

#[test]
fn cfg_03_what_references_stand_for_does_not_matter_to_the_form() {
    let entries = [
        (
            r#"{"command":"${RUNNER}","args":["${file:/absent}"],"env":{"A":"${secret:absent}"},"envFile":"${X}/.env"}"#,
            true,
        ),
        (
            r#"{"url":"${BASE}/mcp","headers":{"Authorization":"Bearer ${TOKEN}"}}"#,
            true,
        ),
        (
            r#"{"url":"${BASE}/mcp","mcpr":{"timeouts":{"call":"soon"}}}"#,
            false,
        ),
        (r#"{"url":"example.com"}"#, false),
        (r#"{"command":"${1}"}"#, false),
    ];
    for (entry, fine) in entries {
        let mut document = document("");
        document.set_server("a", &raw(entry)).unwrap();
        let config = document.judge(&Fixed::default()).unwrap();
        let enabled = matches!(config.servers[0].state, ServerState::Enabled(_));
        assert_eq!(enabled, fine, "{entry}: {:?}", config.servers[0].state);
    }
}

#[test]
fn log_04_what_may_be_secret_is_not_shown_and_comments_are() {
    let text = r#"{
  "mcpServers": {
    // mine
    "a": { "command": "x", "env": { "KEY": "abc", "N": 5, "FROM": "${FROM}" } },
    "b": { "url": "https://u:p@example.com/mcp?k=v", "headers": { "Authorization": "Bearer ${T}" } }
  },
  "elsewhere": { "env": { "KEY": "def" }, "apiKey": "ghi" }
}"#;
    insta::assert_snapshot!(document(text).veiled());
}

#[test]
fn log_04_what_is_not_shown_in_one_place_is_not_shown_in_another() {
    let text = r#"{"mcpServers": {"a": { "command": "x", "args": ["--to", "S3CRET1", "--level=info"], "env": { "KEY": "S3CRET1" } }}}"#;
    let shown = document(text).veiled();
    assert!(
        shown.contains(r#"["--to", "[redacted]", "--level=info"]"#),
        "{shown}"
    );
    assert!(!shown.contains("S3CRET1"), "{shown}");
}

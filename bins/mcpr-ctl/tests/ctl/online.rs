//! Every command against a running gateway.

use insta::assert_snapshot;

use crate::samples::*;
use crate::stage::{Ran, Stage};

/// Runs a command against a gateway that has one answer, once for people and once for scripts.
pub(crate) fn both(path: &'static str, answer: &'static str, words: &[&str]) -> (Ran, Ran) {
    let stage = Stage::gateway(&[(path, 200, answer)]);
    let people = stage.ctl(words);
    let scripts = stage.ctl(&[words, &["--json"]].concat());
    (people, scripts)
}

/// The members of the answer, whatever its white space.
pub(crate) fn value(answer: &str) -> serde_json::Value {
    serde_json::from_str(answer).unwrap()
}

#[test]
fn ctl_01_status_names_each_server_that_is_not_well_with_its_reason_and_next_try() {
    let (people, scripts) = both("status", STATUS, &["status"]);

    assert_snapshot!(people);
    assert_eq!(scripts.json(), value(STATUS));
}

#[test]
fn ctl_01_status_tells_scripts_whether_all_is_well() {
    let ill = Stage::gateway(&[("status", 200, STATUS)]);
    let well = Stage::gateway(&[("status", 200, ALL_WELL)]);

    assert_eq!(ill.ctl(&["status", "--exit-code"]).code, 6);
    assert_eq!(ill.ctl(&["status", "--exit-code", "--json"]).code, 6);
    assert_eq!(ill.ctl(&["status"]).code, 0);
    assert_snapshot!(well.ctl(&["status", "--exit-code"]));
}

#[test]
fn ctl_01_servers_are_listed() {
    let (people, scripts) = both("servers/list", SERVERS, &["servers", "ls"]);

    assert_snapshot!(people);
    assert_eq!(scripts.json(), value(SERVERS));
}

#[test]
fn ctl_01_tools_are_listed() {
    let stage = Stage::gateway(&[("tools/list", 200, TOOLS)]);

    assert_snapshot!(stage.ctl(&["tools", "ls"]));
    assert_snapshot!(stage.ctl(&["tool", "list", "--server", "git", "--json"]));
    assert_eq!(stage.asked(), ["tools/list {}", r#"tools/list {"server":"git"}"#]);
}

#[test]
fn ctl_01_no_tools_are_an_empty_table_and_a_note() {
    let stage = Stage::gateway(&[("tools/list", 200, r#"{"tools":[]}"#)]);

    assert_snapshot!(stage.ctl(&["tools", "ls"]));
    assert_eq!(stage.ctl(&["tools", "ls", "-q"]).stderr, "");
}

#[test]
fn ctl_01_a_tool_is_shown_with_its_definition_as_it_is() {
    let (people, scripts) = both("tools/show", TOOL, &["tools", "show", "git_status"]);

    assert_snapshot!(people);
    let definition = TOOL.split_once(r#""definition":"#).unwrap().1;
    assert!(scripts.out().ends_with(&format!("{definition}\n")), "{scripts}");
}

#[test]
fn ctl_01_a_tool_is_called() {
    let (people, scripts) = both("tools/call", RESULT, &["tools", "call", "git_status"]);

    assert_snapshot!(people);
    assert_eq!(
        scripts.out(),
        format!("{RESULT_LINE}\n"),
        "the result is not byte for byte as it was"
    );
}

#[test]
fn ctl_01_arguments_are_taken_as_json_if_they_are_json() {
    let stage = Stage::gateway(&[("tools/call", 200, STRUCTURED)]);

    let ran = stage.ctl(&[
        "tools",
        "call",
        "t",
        "--arg",
        "path=.",
        "--arg",
        "n=1E400",
        "--arg",
        "deep=true",
    ]);

    assert_snapshot!(ran);
    assert_eq!(
        stage.asked(),
        [r#"tools/call {"name":"t","arguments":{"path":".","n":1E400,"deep":true}}"#]
    );
}

#[test]
fn ctl_01_all_arguments_come_as_text_from_a_file_or_from_standard_input() {
    let stage = Stage::gateway(&[("tools/call", 200, STRUCTURED)]);
    let object = r#"{ "n" : 123456789012345678901234567890 }"#;
    std::fs::write(stage.path("args.json"), format!("{object}\n")).unwrap();

    stage.ctl(&["tools", "call", "t", "--json-args", object]);
    stage.ctl(&["tools", "call", "t", "--json-args", "@args.json"]);
    stage.ctl_reading(&["tools", "call", "t", "--json-args", "-"], object);

    let sent = format!(r#"tools/call {{"name":"t","arguments":{object}}}"#);
    assert_eq!(stage.asked(), [sent.clone(), sent.clone(), sent]);
}

#[test]
fn ctl_01_a_tool_that_says_it_failed_ends_with_1() {
    let (people, scripts) = both("tools/call", TOOL_FAILED, &["tools", "call", "git_status"]);

    assert_snapshot!(people);
    assert_snapshot!(scripts);
}

#[test]
fn ctl_01_resources_and_templates_are_listed() {
    let (people, scripts) = both("resources/list", RESOURCES, &["resources", "ls"]);

    assert_snapshot!(people);
    assert_eq!(scripts.json(), value(RESOURCES));
}

#[test]
fn ctl_01_a_resource_is_written_byte_for_byte() {
    let (people, scripts) = both(
        "resources/read",
        READ,
        &["resources", "read", "resource://docs/u"],
    );

    assert_eq!(
        (people.code, &*people.stdout),
        (0, &b"one\x1b[31m\n\x00\xffa"[..])
    );
    assert_eq!(scripts.json(), value(READ)["result"]);
}

#[test]
fn ctl_01_prompts_are_listed() {
    let (people, scripts) = both("prompts/list", PROMPTS, &["prompts", "ls"]);

    assert_snapshot!(people);
    assert_eq!(scripts.json(), value(PROMPTS));
}

#[test]
fn ctl_01_a_prompt_is_got() {
    let stage = Stage::gateway(&[("prompts/get", 200, PROMPT)]);

    assert_snapshot!(stage.ctl(&[
        "prompts",
        "get",
        "git_review",
        "--arg",
        "path=src",
        "--arg",
        "n=5"
    ]));
    assert_eq!(
        stage.ctl(&["prompts", "get", "git_review", "--json"]).json(),
        value(PROMPT)["result"]
    );
    assert_eq!(
        stage.asked()[0],
        r#"prompts/get {"name":"git_review","arguments":{"n":"5","path":"src"}}"#
    );
}

#[test]
fn http_03_a_token_is_made_by_the_gateway_and_its_text_stands_alone() {
    let stage = Stage::gateway(&[("tokens/create", 200, CREATED)]);
    let words = [
        "tokens",
        "create",
        "--name",
        "laptop",
        "--client",
        "cursor",
        "--project",
        "web",
    ];
    let ends = ["--scope", "read", "--expires", "2027-04-15T08:00:00Z"];

    assert_snapshot!(stage.ctl(&[&words[..], &ends].concat()));
    assert_eq!(
        stage.ctl(&[&words[..], &["--json"]].concat()).json(),
        value(CREATED)
    );
    assert_snapshot!(stage.asked().join("\n"));
    assert!(
        !stage.path("mcpr.db").exists(),
        "the database was touched beside the gateway"
    );
}

#[test]
fn http_03_tokens_are_listed() {
    let (people, scripts) = both("tokens/list", TOKENS, &["tokens", "ls"]);

    assert_snapshot!(people);
    assert_eq!(scripts.json(), value(TOKENS));
}

#[test]
fn sec_02_a_token_is_revoked() {
    let (people, scripts) = both("tokens/revoke", REVOKED, &["tokens", "revoke", "laptop"]);

    assert_snapshot!(people);
    assert_eq!(scripts.json(), value(REVOKED));
}

#[test]
fn ctl_01_stop_returns_when_the_gateway_has_ended() {
    let stage = Stage::gateway(&[("stop", 200, STOPPING)]);

    assert_snapshot!(stage.ctl(&["stop"]));
    assert_eq!(stage.asked()[0], "stop {}");
    assert_eq!(stage.ctl(&["status"]).code, 5);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let stage = Stage::gateway(&[("tools/list", 200, TOOLS)]);

    assert_eq!(stage.unread(&["tools", "ls", "-q"]), (0, String::new()));
}

#[test]
fn colours_come_when_asked_for() {
    let stage = Stage::gateway(&[("servers/list", 200, SERVERS)]).set("NO_COLOR", "1");

    assert!(!stage.ctl(&["servers", "ls"]).out().contains('\x1b'));
    assert!(
        stage
            .ctl(&["servers", "ls", "--color", "always"])
            .out()
            .contains("\x1b[32mok\x1b[0m")
    );
}

#[test]
fn sec_02_a_token_that_others_can_read_on_its_way_is_told_of() {
    let elsewhere = ["status", "--gateway", "http://gateway.invalid:3282"];
    let stage = Stage::new().set("MCPR_TOKEN", "mcpr_adm_x7Qa0Tn");

    let told = stage.ctl(&elsewhere);

    let note = "the token in MCPR_TOKEN goes to http://gateway.invalid:3282 unencrypted";
    assert!(told.stderr.contains(note), "{told}");
    assert!(!told.stderr.contains("x7Qa0Tn"), "{told}");
    let others = [
        stage.ctl(&["status", "--gateway", "http://127.0.0.1:1"]),
        stage.ctl(&["status", "--gateway", "https://gateway.invalid"]),
        Stage::new().ctl(&elsewhere),
    ];
    assert!(
        others.iter().all(|ran| !ran.stderr.contains("unencrypted")),
        "{}",
        others[0]
    );
}

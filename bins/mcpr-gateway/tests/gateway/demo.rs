//! `demo`: the first minute of a newcomer.

use rustix::process::Signal;
use serde_json::json;

use crate::http::ask;
use crate::stage::{Running, Stage, await_none};

fn demo(stage: &Stage) -> Running {
    let mut demo = stage.start(&["demo", "--port", "0"]);
    demo.hears("Ctrl-C ends the demo");
    demo
}

#[test]
fn the_demo_shows_one_list_a_call_and_a_resource() {
    let demo = demo(&Stage::new());
    let (port, token) = (demo.port(), demo.token());
    let ask = |method, params| ask(port, Some(&token), method, params).1["result"].clone();

    let tools = ask("tools/list", json!({}));
    // The seven tools of mcpr itself come first.
    let names: Vec<_> = tools["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names[7..],
        [
            "calc_add",
            "calc_multiply",
            "calc_divide",
            "calc_count",
            "clock_now",
            "clock_between",
            "notes_add"
        ]
    );
    let sum = ask(
        "tools/call",
        json!({ "name": "calc_add", "arguments": { "a": 2, "b": 40 } }),
    );
    assert_eq!(
        (&sum["structuredContent"]["result"], &sum["content"][0]["text"]),
        (&json!(42), &json!("42"))
    );
    let uri = "resource://notes/note://welcome";
    let note = ask("resources/read", json!({ "uri": uri }));
    assert_eq!(note["contents"][0]["uri"], uri);
    assert!(
        note["contents"][0]["text"]
            .as_str()
            .unwrap()
            .starts_with("Three servers stand behind this gateway")
    );
    let added = ask(
        "tools/call",
        json!({ "name": "notes_add", "arguments": { "text": "buy milk" } }),
    );
    assert_eq!(added["content"][1]["uri"], "resource://notes/note://note-3");
    let prompt = ask(
        "prompts/get",
        json!({ "name": "calc_solve", "arguments": { "problem": "1+1" } }),
    );
    assert!(
        prompt["messages"][0]["content"]["text"]
            .as_str()
            .unwrap()
            .ends_with(": 1+1")
    );
}

#[test]
fn the_demo_touches_nothing_of_the_user_s_and_leaves_nothing() {
    let stage = Stage::new().set("MCPR_HOME", "").set("XDG_RUNTIME_DIR", "");
    let mut demo = demo(&stage);
    let home = demo
        .word("MCPR_HOME=")
        .trim_start_matches("MCPR_HOME=")
        .to_owned();
    let home = std::path::Path::new(&home);
    assert!(home.join("ctl.sock").exists() && home.join("mcpr.json").exists());
    let children = demo.children();
    assert_eq!(children.len(), 4, "three servers and the guardian");

    demo.signal(Signal::INT);

    assert_eq!(demo.exit_code(), 0);
    await_none(&children);
    assert!(!home.exists());
    assert!(stage.files().is_empty());
}

#[test]
fn the_demo_lives_in_a_home_that_is_chosen() {
    let stage = Stage::new();
    let demo = demo(&stage);

    assert!(demo.told.join("\n").contains(&format!(
        "MCPR_HOME={} mcpr-ctl status",
        stage.path("").display().to_string().trim_end_matches('/')
    )));
    let text = demo.told.join("\n");
    assert!(
        text.contains("what it kept stays in") && text.contains("until tomorrow"),
        "{text}"
    );
    let mut files = stage.files();
    files.retain(|name| !name.starts_with("mcpr.db-"));
    assert_eq!(files, ["ctl.sock", "logs", "mcpr.db", "mcpr.lock"]);
}

#[test]
fn the_demo_ends_with_its_terminal() {
    let mut demo = demo(&Stage::new());

    demo.signal(Signal::HUP);

    assert_eq!(demo.exit_code(), 0);
}

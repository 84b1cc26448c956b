//! What goes wrong, and what is said then.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use insta::assert_snapshot;

use crate::samples::*;
use crate::stage::Stage;

#[test]
fn ctl_04_a_mistyped_tool_is_recognised() {
    let stage = Stage::gateway(&[
        ("tools/call", 404, NO_TOOL),
        ("tools/show", 404, NO_TOOL),
        ("tools/list", 200, TOOLS),
    ]);

    assert_snapshot!(stage.ctl(&["tools", "call", "git_statsu"]));
    assert_snapshot!(stage.ctl(&["tools", "show", "git.statsu", "--json"]));
    assert_snapshot!(stage.ctl(&["tools", "show", "something_else"]));
}

#[test]
fn ctl_04_mistyped_servers_prompts_and_resources_are_recognised() {
    let stage = Stage::gateway(&[
        ("tools/list", 404, NO_SERVER),
        ("prompts/get", 404, NO_TOOL),
        ("resources/read", 404, NO_TOOL),
        ("servers/list", 200, SERVERS),
        ("prompts/list", 200, PROMPTS),
        ("resources/list", 200, RESOURCES),
    ]);

    for (words, meant) in [
        (&["tools", "ls", "--server", "gti"][..], "did you mean `git`?"),
        (&["prompts", "get", "git_reviw"], "did you mean `git_review`?"),
        (
            &["resources", "read", "resource://docs/file:///REDME.md"],
            "did you mean `resource://docs/file:///README.md`?",
        ),
    ] {
        let ran = stage.ctl(words);
        assert_eq!(ran.code, 3, "{ran}");
        assert!(ran.stderr.contains(meant), "{ran}");
    }
}

#[test]
fn ctl_04_what_the_gateway_says_is_passed_on() {
    let stage = Stage::gateway(&[("tools/call", 503, DOWN)]);

    assert_snapshot!(stage.ctl(&["tools", "call", "docs_search"]));
    assert_snapshot!(stage.ctl(&["tools", "call", "docs_search", "--json"]));
}

#[test]
fn ctl_04_an_answer_of_another_version_is_explained() {
    let stage = Stage::gateway(&[("status", 200, "{}")]);

    assert_snapshot!(stage.ctl(&["status"]));
}

#[test]
fn ctl_04_a_silent_gateway_is_given_up() {
    let stage = Stage::new();
    let listener = std::os::unix::net::UnixListener::bind(stage.path("ctl.sock")).unwrap();

    assert_snapshot!(stage.ctl(&["status", "--timeout", "100ms"]));
    drop(listener);
}

#[test]
fn ctl_02_a_gateway_elsewhere_is_shown_the_token_of_the_variable() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let asked = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = vec![0; 4096];
        let length = stream.read(&mut request).unwrap();
        let body =
            r#"{"error":"unauthorized","message":"the token tk_1 was revoked","hint":"make a new one"}"#;
        write!(
            stream,
            "HTTP/1.1 401 Unauthorized\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        String::from_utf8_lossy(&request[..length]).into_owned()
    });
    let stage = Stage::new()
        .set("MCPR_TOKEN", "mcpr_adm_secret")
        .set("MCPR_GATEWAY", url);

    let ran = stage.ctl(&["status"]);

    assert!(
        asked
            .join()
            .unwrap()
            .contains("authorization: Bearer mcpr_adm_secret\r\n")
    );
    assert_snapshot!(ran);
}

#[test]
fn ctl_04_wrong_usage_ends_with_2() {
    let stage = Stage::new();

    for words in [
        &["statsu"][..],
        &["tokens", "create"],
        &["tokens", "create", "--name", "a", "--scope", "write"],
        &["tokens", "create", "--name", "a", "--expires", "soon"],
        &["tokens", "create", "--name", " a"],
        &["tools", "call", "t", "--arg", "path"],
        &["tools", "call", "t", "--arg", "a=1", "--arg", "a=2"],
        &["tools", "call", "t", "--json-args", "[1]"],
        &["tools", "call", "t", "--json-args", "{"],
        &["tools", "call", "t", "--json-args", "@absent.json"],
        &["status", "--gateway", "wss://box"],
        &["status", "--timeout", "5"],
    ] {
        let ran = stage.ctl(words);
        assert_eq!(ran.code, 2, "{ran}");
        assert_snapshot!(ran.name(), ran);
    }
}

#[test]
fn ctl_04_wrong_usage_is_json_too_when_that_is_wanted() {
    let stage = Stage::new();

    assert_snapshot!(stage.ctl(&["--json", "tokens", "create"]));
    assert_eq!(
        stage.ctl(&["--json", "statsu"]).json()["error"]["code"],
        "invalid"
    );
}

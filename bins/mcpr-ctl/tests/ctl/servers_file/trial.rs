//! `servers test`: one server, with no gateway around.

use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::path::Path;
use std::process::Child;
use std::thread;

use insta::assert_snapshot;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::json;

use crate::stage::{Ran, Stage, until};

/// A small server of the session era.
const SERVER: &str = r#"
while IFS= read -r line; do
    id=${line#*'"id":'}; id=${id%%[,\}]*}
    answer() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
    case $line in
    *'"server/discover"'*) answer '"error":{"code":-32601,"message":"unknown method"}' ;;
    *'"initialize"'*) answer '"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"resources":{}},"serverInfo":{"name":"small","version":"1.2"}}' ;;
    *'"tools/list"'*) answer '"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}},{"name":"b","inputSchema":{"type":"object"}}]}' ;;
    *'"resources/list"'*) answer '"result":{"resources":[{"uri":"file:///a","name":"a"}]}' ;;
    *'"resources/templates/list"'*) answer '"result":{"resourceTemplates":[{"uriTemplate":"file:///{x}","name":"x"}]}' ;;
    esac
done
"#;

/// Writes down who it is and whom it has started, says nothing, and does not want to end.
const STUBBORN: &str = r#"
trap '' TERM HUP INT
sleep 1000 &
echo "$$ $!" > "$PIDS"
echo 'loading the model' >&2
while :; do sleep 1; done
"#;

/// A home with one server `s`, which is this script.
fn script(text: &str, more: serde_json::Value) -> Stage {
    let stage = Stage::new();
    fs::write(stage.path("server.sh"), text).unwrap();
    let mut entry = json!({
        "command": "/bin/sh", "args": [stage.path("server.sh")],
        "env": { "PIDS": stage.path("pids"), "KEY": "${KEY:-s3cret-value}" }
    });
    entry
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    configure(&stage, entry);
    stage
}

fn configure(stage: &Stage, entry: serde_json::Value) {
    let file = json!({ "mcpServers": { "s": entry } }).to_string();
    fs::write(stage.path("mcpr.json"), file).unwrap();
}

/// The transcript with `N` in the place of every time.
fn timeless(ran: &Ran) -> String {
    let text = ran.to_string();
    let mut words: Vec<_> = text
        .split_inclusive([' ', '\n', ','])
        .map(str::to_owned)
        .collect();
    for index in 0..words.len() {
        let follows = words.get(index + 1).is_some_and(|next| next.trim() == "ms");
        if follows && words[index].trim().parse::<u64>().is_ok() {
            words[index] = "N ".to_owned();
        }
    }
    words.concat()
}

/// The processes that a server has written down, once it has.
fn written_down(file: &Path) -> Vec<Pid> {
    until("the server has started", || {
        let text = fs::read_to_string(file).ok()?;
        let pids: Vec<_> = text
            .split_whitespace()
            .map(|pid| Pid::from_raw(pid.parse().unwrap()).unwrap())
            .collect();
        (pids.len() == 2).then_some(pids)
    })
}

/// Waits until they have ended. They have been killed, which the system may still be at.
fn are_gone(pids: &[Pid]) {
    until("the server is ended", || {
        (!pids.iter().copied().any(is_there)).then_some(())
    });
}

fn is_there(pid: Pid) -> bool {
    // A process that has ended and whom nobody has asked for yet is gone too.
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    test_kill_process(pid).is_ok() && !stat.contains(") Z ")
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
fn ctl_01_a_server_that_works_tells_who_it_is_and_what_it_has() {
    let stage = script(SERVER, json!({}));

    let people = stage.ctl(&["servers", "test", "s"]);
    let mut scripts = stage.ctl(&["servers", "test", "s", "--json"]).json();

    assert_snapshot!(timeless(&people));
    for step in scripts["steps"].as_array_mut().unwrap() {
        assert!(step["ms"].take().is_u64());
    }
    assert_snapshot!(scripts);
    assert!(!stage.path("mcpr.db").exists() && !stage.path("logs").exists());
}

#[test]
fn ctl_01_a_server_that_is_switched_off_or_lazy_is_tried_all_the_same() {
    let off = script(SERVER, json!({ "disabled": true })).ctl(&["servers", "test", "s"]);
    let lazy = script(SERVER, json!({ "mcpr": { "lazy": true } })).ctl(&["servers", "test", "s"]);

    assert_eq!((off.code, lazy.code), (0, 0), "{off} {lazy}");
    assert_snapshot!(timeless(&off));
}

#[test]
fn ctl_04_a_server_that_is_not_there_ends_with_3() {
    let stage = script(SERVER, json!({}));

    assert_snapshot!(stage.ctl(&["servers", "test", "z"]));
    assert_snapshot!(Stage::new().ctl(&["servers", "test", "z"]));
}

#[test]
fn ctl_04_a_server_that_is_misconfigured_ends_with_7() {
    let stage = Stage::new();
    configure(
        &stage,
        json!({ "url": "https://example.com/mcp", "headers": { "X-Key": "${KEY}" } }),
    );

    assert_snapshot!(stage.ctl(&["servers", "test", "s"]));
    fs::write(stage.path("mcpr.json"), "{").unwrap();
    assert_snapshot!(stage.ctl(&["servers", "test", "s"]));
}

#[test]
fn ctl_04_a_program_that_is_not_there_or_ends_is_explained_with_its_last_words() {
    let absent = Stage::new();
    configure(&absent, json!({ "command": "/nowhere/server" }));
    let ends = script(
        "echo 'cannot open the database' >&2; echo \"key: $KEY\" >&2; exit 3",
        json!({}),
    );

    assert_snapshot!(absent.ctl(&["servers", "test", "s"]));
    assert_snapshot!(ends.ctl(&["servers", "test", "s"]));
    let scripts = ends.ctl(&["servers", "test", "s", "--json"]).json();
    assert_eq!(
        scripts["error"]["data"]["stderr"],
        json!(["cannot open the database", "key: [env KEY]"])
    );
}

#[test]
fn ctl_04_a_url_that_nobody_answers_at_or_that_wants_credentials_is_explained() {
    let stage = Stage::new();
    configure(&stage, json!({ "type": "http", "url": "http://127.0.0.1:1/mcp" }));
    assert_snapshot!(stage.ctl(&["servers", "test", "s"]));

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    configure(
        &stage,
        json!({ "type": "http", "url": format!("http://{address}/mcp") }),
    );
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 8192]).unwrap();
            let answer = b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            std::io::Write::write_all(&mut stream, answer).unwrap();
        }
    });
    let ran = stage.ctl(&["servers", "test", "s"]);
    assert_snapshot!(ran.to_string().replace(&address, "ADDRESS"));
}

#[test]
fn ctl_04_a_list_that_is_not_to_be_had_is_a_failure_and_is_explained() {
    let answer = r#"'"result":{"tools":["#;
    let error = SERVER.replace(
        answer,
        r#"'"error":{"code":-32603,"message":"no database"},"x":{"tools":["#,
    );
    let no_list = SERVER.replace(answer, r#"'"result":{"items":["#);

    assert_snapshot!(script(&error, json!({})).ctl(&["servers", "test", "s"]));
    assert_snapshot!(script(&no_list, json!({})).ctl(&["servers", "test", "s"]));
}

#[test]
fn ctl_04_a_server_that_takes_too_long_ends_with_124_and_is_ended() {
    let stage = script(STUBBORN, json!({}));

    let ran = stage.ctl(&["servers", "test", "s", "--timeout", "1500ms"]);

    assert_eq!(ran.code, 124, "{ran}");
    assert_snapshot!(ran);
    are_gone(&written_down(&stage.path("pids")));
}

#[test]
fn srv_04_nothing_stays_behind_when_the_test_is_interrupted() {
    let stage = script(STUBBORN, json!({}));
    let mut child = stage.start(&["servers", "test", "s"]);
    let pids = written_down(&stage.path("pids"));

    signal(&child, Signal::INT);

    assert_eq!(child.wait().unwrap().code(), Some(130));
    are_gone(&pids);
}

#[test]
fn srv_04_nothing_stays_behind_when_the_test_is_killed() {
    let stage = script(STUBBORN, json!({}));
    let mut child = stage.start(&["servers", "test", "s"]);
    let pids = written_down(&stage.path("pids"));

    signal(&child, Signal::KILL);
    child.wait().unwrap();

    are_gone(&pids);
}

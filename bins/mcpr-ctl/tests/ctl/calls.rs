//! Calls of tools: what is said meanwhile, the result, and the ways in which there is none.

use std::io::Read;
use std::process::Stdio;

use insta::assert_snapshot;

use crate::open::{Open, interrupt};
use crate::samples::NO_TOOL;
use crate::stage::Stage;
use crate::terminal::{shown_on, terminal};

const TALK: &str = concat!(
    r#"data: {"notification":{"method":"notifications/progress","params":{"progressToken":1,"progress":21,"total":50,"message":"cloning…"}}}"#,
    "\n\n:\n\n",
    r#"data: {"notification":{"method":"notifications/message","params":{"level":"warning","logger":"disk","data":"almost\u001b[2J full"}}}"#,
    "\n\n",
    r#"data: {"notification":{"method":"notifications/odd"}}"#,
    "\n\n",
    r#"data: {"notification":{"method":"notifications/message","params":{"level":"info","data":{"free":1E400}}}}"#,
    "\n\n",
);

const RESULT: &str =
    "data: {\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"done\"}],\"n\":1E400}}\n\n";

const FAILED: &str = "data: {\"error\":{\"code\":\"timed_out\",\"message\":\"the server `git` did not answer in 5 m\",\"hint\":\"raise timeouts.call\"}}\n\n";

fn stream(parts: &[&str]) -> &'static str {
    parts.concat().leak()
}

#[test]
fn ctl_01_what_a_server_says_meanwhile_goes_to_standard_error() {
    let stage = Stage::gateway(&[("tools/call", 200, stream(&[TALK, RESULT]))]);

    assert_snapshot!(stage.ctl(&["tools", "call", "git_clone"]));
    assert_snapshot!(stage.ctl(&["tools", "call", "git_clone", "--json"]));
    assert_snapshot!(stage.ctl(&["tools", "call", "git_clone", "--quiet"]));
    assert_snapshot!(stage.ctl(&["tools", "call", "git_clone", "--raw", "-q"]));
}

#[test]
fn ctl_01_a_call_that_fails_after_all_says_why() {
    let failed = Stage::gateway(&[("tools/call", 200, stream(&[TALK, FAILED]))]);
    let broken = Stage::gateway(&[("tools/call", 200, TALK)]);
    let unknown = Stage::gateway(&[("tools/call", 404, NO_TOOL)]);

    assert_snapshot!(failed.ctl(&["tools", "call", "git_clone"]));
    assert_snapshot!(broken.ctl(&["tools", "call", "git_clone", "-q"]));
    assert_eq!(unknown.ctl(&["tools", "call", "git_clone"]).code, 3);
}

#[test]
fn ctl_01_ctrl_c_gives_a_call_up_with_130() {
    let open = Open::saying(TALK);
    let mut child = open.stage.start(&["tools", "call", "git_clone"]);
    let mut said = child.stderr.take().unwrap();
    let mut begin = [0; "warning disk".len()];
    said.read_exact(&mut begin).unwrap();

    interrupt(&child);

    let mut rest = String::new();
    said.read_to_string(&mut rest).unwrap();
    assert!(rest.ends_with("`git_clone` was given up\n"), "{rest}");
    let ended = child.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), ended.stdout.len()), (Some(130), 0));
    open.left();
}

#[test]
fn ctl_01_a_call_is_given_up_in_time() {
    let open = Open::saying(TALK);

    let ran = open
        .stage
        .ctl(&["tools", "call", "git_clone", "--timeout", "200ms"]);

    assert_eq!(ran.code, 124, "{ran}");
    open.left();
}

#[test]
fn ctl_01_on_a_terminal_the_progress_is_one_line_that_goes_away() {
    let stage = Stage::gateway(&[("tools/call", 200, stream(&[TALK, RESULT]))]);
    let (terminal, end) = terminal();
    let mut command = stage.command(&["tools", "call", "git_clone"]);
    command.env("COLUMNS", "40").stderr(Stdio::from(end));

    let output = command.output().unwrap();
    drop(command); // And with it the program's end of the terminal.

    assert_eq!(String::from_utf8(output.stdout).unwrap(), "done\n");
    let seen = shown_on(terminal)
        .replace("\x1b[2K", "[clear]")
        .replace('\r', "[home]");
    assert_snapshot!(seen);
}

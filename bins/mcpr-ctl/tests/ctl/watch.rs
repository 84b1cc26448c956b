//! Reports that are looked at again and again.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, ChildStdout, Stdio};

use crate::open::interrupt;
use crate::samples::{ALL_WELL, PROJECTS, SERVERS, STATUS, TOOLS};
use crate::stage::{Stage, until};
use crate::terminal::{shown_until, terminal};

/// A command that goes on, with what it says.
struct Watching {
    child: Child,
    stdout: BufReader<ChildStdout>,
    stderr: BufReader<ChildStderr>,
}

impl Watching {
    fn start(stage: &Stage, words: &[&str]) -> Self {
        let mut child = stage.start(words);
        Self {
            stdout: BufReader::new(child.stdout.take().unwrap()),
            stderr: BufReader::new(child.stderr.take().unwrap()),
            child,
        }
    }

    /// The next line that is data.
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line
    }

    /// The next line that is talk.
    fn told(&mut self) -> String {
        let mut line = String::new();
        self.stderr.read_line(&mut line).unwrap();
        line
    }

    /// Ends it by Ctrl-C, and gives what else it has written, and its exit code.
    fn interrupted(mut self) -> (String, i32) {
        interrupt(&self.child);
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        (rest, self.child.wait().unwrap().code().unwrap())
    }
}

#[test]
fn ctl_01_scripts_get_a_line_for_each_change_while_gateways_come_and_go() {
    let mut stage = Stage::gateway(&[("status", 200, ALL_WELL)]);
    let mut watching = Watching::start(&stage, &["status", "--watch", "0.1", "--json"]);
    assert!(watching.line().contains(r#""uptimeSeconds":59"#));

    let later = ALL_WELL.replace("59", "60").leak();
    stage.answer("status", 200, later);
    stage.answer("status", 200, STATUS);
    assert!(watching.line().contains(r#""name":"docs""#));

    stage.end_gateway();
    assert!(watching.told().starts_with("error: no gateway is running"));
    assert!(watching.told().starts_with(" help: "));
    stage.run_gateway(&[("status", 200, ALL_WELL)]);
    assert!(watching.line().contains(r#""name":"git""#));

    assert_eq!(watching.interrupted(), (String::new(), 130));
}

#[test]
fn ctl_01_what_changes_only_with_time_is_no_change() {
    let stage = Stage::gateway(&[("servers/list", 200, SERVERS)]);
    let mut watching = Watching::start(&stage, &["servers", "ls", "-w", "100ms"]);
    let heads = watching.line();
    assert!(heads.starts_with("SERVER\tSTATE"), "{heads}");

    let sooner = SERVERS.replace(r#""retryInMs":0"#, r#""retryInMs":1000"#);
    stage.answer("servers/list", 200, sooner.clone().leak());
    let asked = stage.asked().len();
    until("it asks thrice", || {
        (stage.asked().len() >= asked + 3).then_some(())
    });
    stage.answer("servers/list", 200, sooner.replace("down", "stale").leak());

    let lines: Vec<_> = (0..5).map(|_| watching.line()).collect();
    assert!(
        lines[0].starts_with("git\t") && lines[1].starts_with("docs\tdown"),
        "{lines:?}"
    );
    assert_eq!((&*lines[2], &*lines[3]), ("\n", &*heads));
    assert!(lines[4].starts_with("git\t"), "{lines:?}");
    assert!(watching.line().starts_with("docs\tstale"));
    assert_eq!(watching.interrupted(), (String::new(), 130));
}

#[test]
fn ctl_02_files_do_not_stand_in_for_a_gateway_that_was_there() {
    let mut stage = Stage::gateway(&[("projects/list", 200, PROJECTS)]);
    let mut watching = Watching::start(&stage, &["projects", "ls", "--watch", "0.1", "--json"]);
    assert!(watching.line().contains(r#""name":"shop""#));

    stage.end_gateway();

    assert!(watching.told().starts_with("error: no gateway is running"));
    assert_eq!(watching.interrupted(), (String::new(), 130));
    assert!(!stage.path("mcpr.db").exists());
}

#[test]
fn ctl_01_on_a_terminal_the_page_is_drawn_in_the_same_place() {
    let stage = Stage::gateway(&[("tools/list", 200, TOOLS)]);
    let (terminal, end) = terminal();
    let mut command = stage.command(&["tools", "ls", "-w", "0.1"]);
    command
        .env("COLUMNS", "60")
        .env("LINES", "20")
        .stdout(Stdio::from(end));
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut terminal = File::from(terminal);

    let first = shown_until(&mut terminal, "\x1b[J");
    let second = shown_until(&mut terminal, "\x1b[J");
    interrupt(&child);

    assert_eq!(second, format!("\x1b[4A\r{first}"));
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn ctl_01_a_gateway_that_is_not_there_to_begin_with_is_not_waited_for() {
    let ran = Stage::new().ctl(&["status", "--watch"]);

    assert_eq!(ran.code, 5, "{ran}");
}

#[test]
fn ctl_01_who_has_read_enough_ends_the_watching() {
    let stage = Stage::gateway(&[("status", 200, STATUS)]);

    assert_eq!(stage.unread(&["status", "-w", "0.1"]), (0, String::new()));
}

#[test]
fn ctl_04_an_interval_that_is_none_is_wrong_usage() {
    let stage = Stage::new();

    for words in [
        &["status", "--watch", "soon"][..],
        &["status", "-w", "0.01"],
        &["status", "--watch", "--exit-code"],
    ] {
        assert_eq!(stage.ctl(words).code, 2);
    }
}

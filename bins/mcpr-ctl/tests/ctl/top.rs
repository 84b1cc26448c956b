//! The gateway and its servers at work.

use std::fs::File;
use std::io::Write;
use std::process::{Child, Stdio};

use insta::assert_snapshot;
use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{LocalModes, tcgetattr};

use crate::open::interrupt;
use crate::samples::STATUS;
use crate::stage::Stage;
use crate::terminal::{shown_on, shown_until, terminal};

const ENTERED: &str = "\x1b[?1049h\x1b[?25l";
const LEFT: &str = "\x1b[?25h\x1b[?1049l";

/// `top` on a terminal, of which the other end is given, and the program's end again.
fn on_a_terminal(stage: &Stage) -> (Child, File, File) {
    let (terminal, end) = terminal();
    let end = File::from(end);
    let mut command = stage.command(&["top", "--interval", "100ms"]);
    command.env("COLUMNS", "90").env("LINES", "12");
    command
        .stdin(end.try_clone().unwrap())
        .stdout(Stdio::from(end.try_clone().unwrap()));
    (command.spawn().unwrap(), terminal.into(), end)
}

#[test]
fn ctl_01_one_interval_is_shown() {
    // No system has processes of these numbers, whose memory would show.
    let status = STATUS.replace("81", "99999981").leak();
    let stage = Stage::gateway(&[("status", 200, status)]);

    assert_snapshot!(stage.ctl(&["top", "--once", "--interval", "100ms"]));
    assert_snapshot!(stage.ctl(&["top", "--once", "--interval", "0.1", "--json"]));
}

#[test]
fn ctl_01_scripts_get_a_line_for_each_interval() {
    let stage = Stage::gateway(&[("status", 200, STATUS)]);
    let mut child = stage.start(&["top", "--interval", "100ms", "--json"]);
    let mut stdout = child.stdout.take().unwrap();

    let busier = STATUS.replace("412", "9412").leak();
    let first = shown_until(&mut stdout, "\n");
    stage.answer("status", 200, busier);
    while !shown_until(&mut stdout, "\n").contains(r#""callsTotal":9412"#) {}
    interrupt(&child);

    assert!(
        first.contains(r#""callsTotal":412,"callsPerSecond":0.0"#),
        "{first}"
    );
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn ctl_01_on_a_terminal_it_fills_the_screen_until_q_and_gives_it_back() {
    let stage = Stage::gateway(&[("status", 200, STATUS)]);
    let (mut child, mut terminal, end) = on_a_terminal(&stage);

    let mut seen = shown_until(&mut terminal, "q or Ctrl-C ends");
    assert!(!tcgetattr(&end).unwrap().local_modes.contains(LocalModes::ICANON));
    terminal.write_all(b"xq").unwrap();

    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(
        tcgetattr(&end)
            .unwrap()
            .local_modes
            .contains(LocalModes::ICANON | LocalModes::ECHO)
    );
    drop(end);
    seen += &shown_on(terminal.into());
    assert!(seen.starts_with(ENTERED) && seen.ends_with(LEFT), "{seen}");
}

#[test]
fn ctl_01_ctrl_c_and_the_end_of_a_session_give_the_screen_back_too() {
    for signal in [Signal::INT, Signal::TERM] {
        let stage = Stage::gateway(&[("status", 200, STATUS)]);
        let (mut child, mut terminal, end) = on_a_terminal(&stage);
        shown_until(&mut terminal, "q or Ctrl-C ends");

        kill_process(Pid::from_child(&child), signal).unwrap();

        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert!(tcgetattr(&end).unwrap().local_modes.contains(LocalModes::ICANON));
        drop(end);
        let rest = shown_on(terminal.into());
        assert!(rest.ends_with(LEFT), "{rest}");
    }
}

#[test]
fn ctl_01_without_a_gateway_the_screen_is_not_taken() {
    let (mut child, terminal, end) = on_a_terminal(&Stage::new());

    assert_eq!(child.wait().unwrap().code(), Some(5));
    drop(end);
    assert_eq!(shown_on(terminal.into()), "");
}

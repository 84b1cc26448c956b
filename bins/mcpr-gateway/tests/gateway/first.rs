//! A gateway as the first process of a container (B47).

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::stage::{Running, Stage, offspring, program, until};

/// What makes a process the first one, with a `/proc` of its own.
const FIRST: [&str; 4] = ["unshare", "-pf", "--mount-proc", "--kill-child"];
/// The same for those who are not root.
const MAPPED: [&str; 5] = ["unshare", "-Urpf", "--mount-proc", "--kill-child", "--"];

/// The way to be the first process here; none where the system lets nobody be that.
fn way() -> Option<&'static [&'static str]> {
    let works = |way: &&[&str]| {
        let mut command = Command::new(way[0]);
        command.args(&way[1..]).arg("true").stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    [&FIRST[..], &MAPPED[..]].into_iter().find(works)
}

/// Starts a gateway as the first process; gives its id as it is seen from outside.
fn serve(stage: &Stage) -> Option<(Running, u32)> {
    let mut outer = stage.start_under(way()?, &["serve", "--port", "0"]);
    outer.hears("; `mcpr-ctl status` shows more");
    let first = until("unshare has its child", || {
        offspring(outer.pid()).first().map(|(pid, _)| *pid)
    });
    Some((outer, first))
}

fn signal(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    kill_process(pid.unwrap(), signal).unwrap();
}

#[test]
fn b47_as_the_first_process_it_hears_signals_and_ends_in_time() {
    for told in [Signal::TERM, Signal::INT] {
        let stage = Stage::serving(&["calc"]);
        let Some((mut outer, first)) = serve(&stage) else {
            return;
        };

        let asked = Instant::now();
        signal(first, told);

        assert_eq!(outer.exit_code(), 0);
        assert!(asked.elapsed() < Duration::from_secs(4), "{:?}", asked.elapsed());
    }
}

#[test]
fn srv_04_as_the_first_process_it_buries_what_it_inherits_and_keeps_its_own() {
    // The inner shell ends at once, so that what it has started becomes an orphan.
    let script = format!("sh -c 'sleep 1 & exit 0'; exec {} __demo-server calc", program());
    let stage =
        Stage::with(&json!({ "mcpServers": { "calc": { "command": "sh", "args": ["-c", script] } } }));
    let Some((mut outer, first)) = serve(&stage) else {
        return;
    };
    let is_there = |name: &str| offspring(first).into_iter().any(|(_, known)| known == name);
    until("the orphan is inherited", || is_there("sleep").then_some(()));

    until("the orphan is buried", || (!is_there("sleep")).then_some(()));

    assert_eq!(offspring(first).len(), 2, "the server and the guardian live on");
    signal(first, Signal::TERM);
    assert_eq!(outer.exit_code(), 0);
}

//! What is left when the gateway is killed: nothing.
//!
//! The gateway and its guardian are processes of this test program, which run one test with a part to play.

use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use super::*;

/// The test in which the other processes play their parts, which the last word of the command line names.
const STAGE: &str = "child::tests::killed::a_guardian_ends_with_its_pipe";
const AS_GATEWAY: &str = "as-gateway";
const AS_GUARDIAN: &str = "as-guardian";

/// What the gateway process runs, and whether its guardian dies once.
const SCRIPT: &str = "CHILD_TEST_SCRIPT";
const UNLUCKY: &str = "CHILD_TEST_UNLUCKY";
const UNGUARDED: &str = "CHILD_TEST_UNGUARDED";

/// What the program is told. No other test has a part for a name, so that only the stage is run.
fn playing(part: &str) -> [&str; 4] {
    [STAGE, "--exact", "--nocapture", part]
}

fn gateway(script: &str, modes: &[&str]) -> std::process::Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(playing(AS_GATEWAY))
        .env(SCRIPT, script)
        .envs(modes.iter().map(|mode| (mode, "1")));
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

fn guardian() -> Guardian {
    Guardian::start(&std::env::current_exe().unwrap(), &playing(AS_GUARDIAN)).unwrap()
}

fn kill(pid: u32) {
    let pid = Pid::from_raw(pid.try_into().unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
}

async fn eventually<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let mut ticks = tokio::time::interval(Duration::from_millis(5));
    soon(async {
        loop {
            ticks.tick().await;
            if let Some(found) = look() {
                return found;
            }
        }
    })
    .await
}

#[tokio::test]
async fn a_guardian_ends_with_its_pipe() {
    match std::env::args().next_back().as_deref() {
        Some(AS_GATEWAY) => play_gateway().await,
        Some(AS_GUARDIAN) => guardian::run(std::io::stdin().lock()),
        _ => {
            let mut guardian = Command::new(std::env::current_exe().unwrap())
                .args(playing(AS_GUARDIAN))
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            assert_eq!(guardian.try_wait().unwrap(), None, "it watches");
            drop(guardian.stdin.take());
            let ended = eventually(|| guardian.try_wait().unwrap()).await;
            assert!(ended.success(), "{ended}");
        }
    }
}

/// Runs the script as a child, until it is killed.
async fn play_gateway() {
    let script = std::env::var(SCRIPT).unwrap();
    let is = |mode: &str| std::env::var_os(mode).is_some();
    let guardian = if is(UNGUARDED) {
        Guardian::none()
    } else {
        guardian()
    };
    if is(UNLUCKY) {
        let first = guardian.pid().unwrap();
        kill(first);
        eventually(|| guardian.pid().filter(|pid| *pid != first)).await;
    }
    let _child = Child::spawn(&sh(&script), &guardian).await.unwrap();
    std::future::pending::<()>().await;
}

/// A leader and a grandchild that mind nothing but SIGKILL, and one that has left the group.
const FAMILY: &str = "trap '' TERM; \
    sh -c 'UP; while :; do sleep 1000; done' & \
    setsid sh -c 'UP; while :; do sleep 1000; done' & \
    UP; while :; do wait; done";

#[tokio::test]
async fn b06_a_killed_gateway_leaves_nothing() {
    let mut presence = Presence::new();
    let mut gateway = gateway(&presence.script(FAMILY), &[]);
    presence.all_up(3).await;
    kill(gateway.id());
    gateway.wait().unwrap();
    presence.all_gone().await;
}

#[tokio::test]
async fn b06_a_guardian_that_was_killed_has_a_successor() {
    let mut presence = Presence::new();
    let mut gateway = gateway(&presence.script(FAMILY), &[UNLUCKY]);
    presence.all_up(3).await;
    kill(gateway.id());
    gateway.wait().unwrap();
    presence.all_gone().await;
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn b06_without_a_guardian_the_kernel_kills_the_server_itself() {
    let mut presence = Presence::new();
    let mut gateway = gateway(
        &presence.script("trap '' TERM; UP; while :; do read line; done"),
        &[UNGUARDED],
    );
    presence.all_up(1).await;
    kill(gateway.id());
    gateway.wait().unwrap();
    presence.all_gone().await;
}

#[test]
#[cfg(target_os = "linux")]
fn a_guardian_outlives_what_ends_a_gateway() {
    let guardian = guardian();
    let status = std::fs::read_to_string(format!("/proc/{}/status", guardian.pid().unwrap())).unwrap();
    let ignored = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .unwrap();
    let ignored = u64::from_str_radix(ignored.trim(), 16).unwrap();
    for signal in [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM] {
        assert!(ignored & (1 << (signal.as_raw() - 1)) != 0, "{signal:?}");
    }
}

#[tokio::test]
async fn a_guardian_goes_when_it_is_no_longer_needed() {
    let guardian = guardian();
    let pid = guardian.pid().unwrap();
    assert!(guardian.watches());
    drop(guardian);
    eventually(|| (!std::path::Path::new(&format!("/proc/{pid}")).exists()).then_some(())).await;
}

#[tokio::test]
async fn a_successor_knows_the_children_of_before() {
    let guardian = guardian();
    let (child, mut stdout) = soon(Child::spawn(&ChildSpec::new("test", "cat"), &guardian))
        .await
        .unwrap();
    let first = guardian.pid().unwrap();
    kill(first);
    eventually(|| guardian.pid().filter(|pid| *pid != first)).await;
    child.writer().send("still here".to_owned().into()).await.unwrap();
    assert_eq!(next_line(&mut stdout).await, text("still here"));
    soon(child.stop(AT_ONCE)).await;
}

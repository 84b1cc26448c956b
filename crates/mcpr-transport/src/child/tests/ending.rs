//! How children end, and what they leave behind: nothing.

use super::*;

/// A leader that minds nothing but SIGTERM, a grandchild that minds nothing but SIGKILL, and one
/// that has left the group.
const FAMILY: &str = "sh -c 'trap \"\" TERM; UP; while :; do sleep 1000; done' & \
    setsid sh -c 'UP; exec sleep 1000' & \
    UP; wait";

fn is_zombie_or_alive(pid: i32) -> bool {
    std::path::Path::new(&format!("/proc/{pid}")).exists()
}

#[tokio::test]
async fn a_server_that_ends_with_its_input_ends_by_itself() {
    let (child, _stdout) = start(&ChildSpec::new("test", "cat")).await;
    let exit = soon(child.stop(Grace {
        input: DEADLINE,
        term: DEADLINE,
    }))
    .await;
    assert_eq!(exit.to_string(), "exit code 0");
    assert!(!is_zombie_or_alive(child.pid()));
}

#[tokio::test]
async fn queued_messages_are_written_before_the_input_ends() {
    let (child, mut stdout) = start(&ChildSpec::new("test", "cat")).await;
    let long = "x".repeat(1 << 20);
    child.writer().send(long.clone().into()).await.unwrap();
    child.writer().close();
    assert_eq!(next_line(&mut stdout).await, text(&long));
    assert!(soon(child.wait()).await.is_success());
}

#[tokio::test]
async fn a_server_is_asked_to_end_before_it_is_killed() {
    let (child, mut stdout) = start(&sh("trap 'exit 7' TERM; echo up; while :; do sleep 0.05; done")).await;
    assert_eq!(next_line(&mut stdout).await, text("up"));
    let exit = soon(child.stop(Grace {
        input: Duration::ZERO,
        term: DEADLINE,
    }))
    .await;
    assert_eq!(exit.to_string(), "exit code 7");
}

#[tokio::test]
async fn a_stopped_server_hears_that_it_should_end() {
    let (child, mut stdout) = start(&sh(
        "trap 'exit 7' TERM; echo up; kill -STOP $$; while :; do sleep 0.05; done",
    ))
    .await;
    assert_eq!(next_line(&mut stdout).await, text("up"));
    let exit = soon(child.stop(Grace {
        input: Duration::ZERO,
        term: DEADLINE,
    }))
    .await;
    assert_eq!(exit.to_string(), "exit code 7");
}

#[tokio::test]
async fn b47_a_server_that_will_not_end_is_killed_when_its_time_is_over() {
    let (child, mut stdout) = start(&sh("trap '' TERM; echo up; while :; do sleep 1000; done")).await;
    assert_eq!(next_line(&mut stdout).await, text("up"));
    let exit = soon(child.stop(AT_ONCE)).await;
    assert_eq!(exit.to_string(), "killed by SIGKILL");
}

#[tokio::test]
async fn b06_a_stop_ends_grandchildren_and_what_has_left_the_group() {
    let mut presence = Presence::new();
    let (child, _stdout) = start(&sh(presence.script(FAMILY))).await;
    presence.all_up(3).await;
    soon(child.stop(Grace {
        input: Duration::ZERO,
        term: Duration::from_millis(50),
    }))
    .await;
    presence.all_gone().await;
    assert!(!is_zombie_or_alive(child.pid()));
}

#[tokio::test]
async fn b06_dropping_a_child_kills_all_it_has_started() {
    let mut presence = Presence::new();
    let (child, _stdout) = start(&sh(presence.script(FAMILY))).await;
    presence.all_up(3).await;
    drop(child);
    presence.all_gone().await;
}

#[tokio::test]
async fn b06_dropping_a_stop_and_the_child_kills_all_it_has_started() {
    let mut presence = Presence::new();
    let (child, _stdout) = start(&sh(presence.script(FAMILY))).await;
    presence.all_up(3).await;
    let mut stop = Box::pin(child.stop(Grace {
        input: DEADLINE,
        term: DEADLINE,
    }));
    assert!(futures_util::poll!(&mut stop).is_pending());
    drop(stop);
    drop(child);
    presence.all_gone().await;
}

#[tokio::test]
async fn b06_the_runtime_may_go_first() {
    let mut presence = Presence::new();
    let spec = sh(presence.script(FAMILY));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let child = runtime.spawn(async move { start(&spec).await }).await.unwrap();
    presence.all_up(3).await;
    runtime.shutdown_background();
    drop(child);
    presence.all_gone().await;
}

#[tokio::test]
async fn srv_04_what_a_server_leaves_behind_when_it_exits_is_ended() {
    let mut presence = Presence::new();
    let script = FAMILY.replace("wait", "read line; exit 3");
    let (child, _stdout) = start(&sh(presence.script(&script))).await;
    presence.all_up(3).await;
    child.writer().send("go".to_owned().into()).await.unwrap();
    assert_eq!(soon(child.wait()).await.to_string(), "exit code 3");
    soon(child.kill()).await;
    presence.all_gone().await;
}

#[tokio::test]
async fn b20_an_exit_is_told_at_once_with_the_last_words() {
    let (child, _stdout) = start(&sh("sleep 1000 & echo 'no such database' >&2; exit 3")).await;
    assert_eq!(soon(child.wait()).await.to_string(), "exit code 3");
    assert_eq!(
        child.exit(),
        Some(Exit {
            code: Some(3),
            signal: None
        })
    );
    assert_eq!(child.last_words().await, "no such database");
}

#[tokio::test]
async fn b66_writing_to_a_server_that_has_exited_is_an_ordinary_error() {
    let (child, _stdout) = start(&ChildSpec::new("test", "false")).await;
    soon(child.gone()).await;
    let error = loop {
        match child.writer().send("{}".to_owned().into()).await {
            Ok(_) => tokio::task::yield_now().await,
            Err(error) => break error,
        }
    };
    assert!(error.is_unsent());
}

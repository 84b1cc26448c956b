//! The thread that keeps a child: it spawns it, waits for it, ends what it has left behind, and
//! only then reaps it.
//!
//! A thread of its own for three reasons. The parent-death signal of Linux comes when the thread
//! that spawned ends, so that thread must outlive the child. Waiting needs no handler for SIGCHLD,
//! which would be global to the process. And what is begun is carried through even when the
//! runtime is gone. The child stays a zombie until its group is empty: so long its id, which is
//! the group's, names nothing else, and every signal goes where it should.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::sync::{oneshot, watch};
use tracing::{debug, warn};

use super::exit::Exit;
use super::guardian::Guardian;
use super::herd::Herd;

/// How far a child has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// It runs.
    Running,
    /// It has ended; processes that it started may be left.
    Exited(Exit),
    /// It has ended, and so have all that it started.
    Gone(Exit),
}

/// What the thread hands out when the child runs.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) leash: Leash,
    pub(super) phase: watch::Receiver<Phase>,
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
    pub(super) stderr: ChildStderr,
}

/// Holds a child and all that it starts; dropping it kills them.
#[derive(Debug)]
pub(super) struct Leash(Arc<Life>);

/// What is shared about the life of a child.
#[derive(Debug)]
struct Life {
    pid: Pid,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    /// When it was asked to end.
    asked: Option<Instant>,
    /// How long it may take from then on.
    grace: Duration,
    /// It may take no time at all.
    forced: bool,
    /// Its id means nothing any more.
    reaped: bool,
}

/// How long the processes of a child that has ended by itself may take to end too.
const GRACE: Duration = Duration::from_secs(2);
const STACK: usize = 256 << 10;

/// Starts `command` in a process group of its own and keeps it.
///
/// # Errors
///
/// When it cannot be started, as [`Command::spawn`] says.
pub(super) async fn keep(mut command: Command, mark: String, guardian: Guardian) -> io::Result<Kept> {
    prepare(&mut command, guardian.watches());
    let (reply, kept) = oneshot::channel();
    let thread = thread::Builder::new().name("mcpr-child".into()).stack_size(STACK);
    thread.spawn(move || match command.spawn() {
        Ok(child) => attend(child, mark, &guardian, reply),
        // Nobody listens when the start was given up.
        Err(error) => drop(reply.send(Err(error))),
    })?;
    kept.await
        .unwrap_or_else(|_| Err(io::Error::other("the thread that starts it ended")))
}

fn prepare(command: &mut Command, guarded: bool) {
    command
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    #[cfg(target_os = "linux")]
    follow_parent(command, if guarded { Signal::TERM } else { Signal::KILL });
    #[cfg(not(target_os = "linux"))]
    let _ = guarded;
}

/// Lets the kernel signal the child when this process dies. Where a guardian kills what is left,
/// the signal is one that lets the child tidy up.
#[cfg(target_os = "linux")]
fn follow_parent(command: &mut Command, signal: Signal) {
    let parent = rustix::process::getpid();
    let follow = move || {
        rustix::process::set_parent_process_death_signal(Some(signal))?;
        // The parent may have died before the call.
        let orphaned = rustix::process::getppid() != Some(parent);
        if orphaned {
            Err(rustix::io::Errno::SRCH.into())
        } else {
            Ok(())
        }
    };
    #[expect(unsafe_code, reason = "code between fork and exec")]
    // SAFETY: the closure makes two system calls and neither allocates nor locks.
    unsafe {
        command.pre_exec(follow);
    }
}

/// Keeps a child that has just been started, to its end.
fn attend(
    mut child: std::process::Child,
    mark: String,
    guardian: &Guardian,
    reply: oneshot::Sender<io::Result<Kept>>,
) {
    let life = Arc::new(Life::new(Pid::from_child(&child)));
    guardian.enter(life.pid);
    let (phase, watching) = watch::channel(Phase::Running);
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
        unreachable!("all three are piped")
    };
    // When nobody takes it any more, dropping the leash kills the child.
    drop(reply.send(Ok(Kept {
        leash: Leash(life.clone()),
        phase: watching,
        stdin,
        stdout,
        stderr,
    })));

    let exit = Exit::of(life.pid);
    phase.send_replace(Phase::Exited(exit));
    life.sweep(&mark);
    guardian.leave(life.pid);
    life.reap(&mut child);
    phase.send_replace(Phase::Gone(exit));
}

impl Leash {
    /// The id of the child.
    pub(super) fn pid(&self) -> i32 {
        self.0.pid.as_raw_nonzero().get()
    }

    /// Asks the group to end, once; what is left after `grace` is killed.
    pub(super) fn ask(&self, grace: Duration) {
        self.0.ask(grace);
    }

    /// Says how long the rest may take when the child ends by itself.
    pub(super) fn allow(&self, grace: Duration) {
        self.0.state.lock().grace = grace;
    }

    /// Kills the group, and has the rest killed when the child has ended.
    pub(super) fn kill(&self) {
        self.0.kill();
    }
}

impl Drop for Leash {
    fn drop(&mut self) {
        self.0.kill();
    }
}

impl Life {
    fn new(pid: Pid) -> Self {
        let state = State {
            asked: None,
            grace: GRACE,
            forced: false,
            reaped: false,
        };
        Self {
            pid,
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    fn ask(&self, grace: Duration) {
        let mut state = self.state.lock();
        if !state.reaped && state.asked.is_none() {
            (state.asked, state.grace) = (Some(Instant::now()), grace);
            self.herd("").terminate();
        }
    }

    fn kill(&self) {
        let mut state = self.state.lock();
        if !state.reaped {
            state.forced = true;
            // It fails when the group is empty, which is what is wanted.
            let _ = kill_process_group(self.pid, Signal::KILL);
            self.changed.notify_all();
        }
    }

    /// Ends all that the child has left behind.
    fn sweep(&self, mark: &str) {
        let herd = self.herd(mark);
        // Where processes cannot be listed, a group may have members that do not show.
        if cfg!(target_os = "linux") && !herd.is_alive() && !herd.may_be_alive() {
            return;
        }
        // Those that were asked before are asked again: a process may have been born too late to hear it.
        herd.terminate();
        if herd.end(self.deadline(), |step| self.pause(step)) {
            debug!(
                pid = self.pid.as_raw_nonzero(),
                "ended what a server had left behind"
            );
        } else {
            warn!(
                pid = self.pid.as_raw_nonzero(),
                "processes that a server left behind cannot be killed"
            );
        }
    }

    fn deadline(&self) -> Instant {
        let state = self.state.lock();
        let asked = state.asked.unwrap_or_else(Instant::now);
        if state.forced { asked } else { asked + state.grace }
    }

    /// Waits for so long, or until there is no more patience; true in that case.
    fn pause(&self, step: Duration) -> bool {
        let mut state = self.state.lock();
        self.changed.wait_for(&mut state, step);
        state.forced
    }

    fn reap(&self, child: &mut std::process::Child) {
        self.state.lock().reaped = true;
        // It fails when somebody else has reaped it, which is as good.
        let _ = child.wait();
    }

    fn herd(&self, mark: &str) -> Herd {
        Herd {
            groups: vec![self.pid],
            mark: mark.to_owned(),
        }
    }
}

impl Phase {
    /// How the child has ended, if it has.
    pub(super) fn exit(self) -> Option<Exit> {
        match self {
            Self::Running => None,
            Self::Exited(exit) | Self::Gone(exit) => Some(exit),
        }
    }
}

//! Ends the children of a gateway that was killed (SRV-04).
//!
//! A gateway that gets SIGKILL cannot tidy up, and the kernel tells only its direct children that
//! it has died. So a small process, the guardian, holds the reading end of a pipe on which the
//! gateway tells which process groups there are. When the pipe ends, the gateway is gone, and the
//! guardian ends what is left: see [`run`].

mod helper;

use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{self, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::process::{Pid, Signal, kill_process};
use tracing::warn;

use super::env::MARK;
use super::exit::Exit;

pub use helper::run;

/// Watches over all children of one gateway. Clones are the same guardian.
///
/// It ends when the last clone is dropped; each child holds one.
#[derive(Clone, Debug)]
pub struct Guardian(Arc<Owner>);

#[derive(Debug)]
struct Owner {
    /// Tells the children of this gateway from those of others.
    run: String,
    children: AtomicU64,
    post: Option<Arc<Post>>,
}

/// The gateway's end of the pipe.
#[derive(Debug)]
struct Post {
    program: PathBuf,
    args: Vec<String>,
    run: String,
    state: Mutex<State>,
    closed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    groups: BTreeSet<i32>,
    /// The guardian process, while it lives.
    helper: Option<(Pid, ChildStdin)>,
    closing: bool,
}

const RESTART: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(60));
const STACK: usize = 128 << 10;

impl Guardian {
    /// Starts a guardian process: `program` with `args`, which must do nothing but call [`run`]
    /// with its standard input, first thing in `main` and before it starts threads.
    ///
    /// It ignores the signals with which a terminal or a service manager ends the gateway: its work
    /// is to outlive it.
    ///
    /// A guardian that ends is started again.
    ///
    /// # Errors
    ///
    /// When the process cannot be started. [`Guardian::none`] does without.
    pub fn start(program: &Path, args: &[&str]) -> io::Result<Self> {
        let run = run_id();
        let args = args.iter().map(|&arg| arg.to_owned()).collect();
        let post = Arc::new(Post {
            program: program.to_owned(),
            args,
            run: run.clone(),
            state: Mutex::default(),
            closed: Condvar::new(),
        });
        let helper = post.launch()?;
        let thread = thread::Builder::new()
            .name("mcpr-guardian".into())
            .stack_size(STACK);
        let supervised = post.clone();
        thread.spawn(move || supervised.supervise(helper))?;
        Ok(Self(Arc::new(Owner {
            run,
            children: AtomicU64::new(0),
            post: Some(post),
        })))
    }

    /// Starts the running program itself as the guardian process, with these arguments.
    ///
    /// # Errors
    ///
    /// As for [`Guardian::start`].
    pub fn start_own(args: &[&str]) -> io::Result<Self> {
        Self::start(&own_program(), args)
    }

    /// No guardian: for programs that embed mcpr and must not start a process of their own kind.
    ///
    /// If such a program is killed, Linux kills the children, but not what they have started.
    pub fn none() -> Self {
        Self(Arc::new(Owner {
            run: run_id(),
            children: AtomicU64::new(0),
            post: None,
        }))
    }

    /// Whether there is a guardian process.
    pub fn watches(&self) -> bool {
        self.0.post.is_some()
    }

    /// The id of the guardian process, while there is one.
    pub fn pid(&self) -> Option<u32> {
        let post = self.0.post.as_ref()?;
        let pid = post.state.lock().helper.as_ref()?.0;
        u32::try_from(pid.as_raw_nonzero().get()).ok()
    }

    /// Whether a process is the guardian process or one of the children.
    pub(super) fn is_own(&self, pid: i32) -> bool {
        let Some(post) = &self.0.post else { return false };
        let state = post.state.lock();
        let helper = state
            .helper
            .as_ref()
            .map(|(helper, _)| helper.as_raw_nonzero().get());
        helper == Some(pid) || state.groups.contains(&pid)
    }

    /// The mark of the next child.
    pub(super) fn next_mark(&self) -> String {
        format!(
            "{}.{}",
            self.0.run,
            self.0.children.fetch_add(1, Ordering::Relaxed)
        )
    }

    /// A process group that is to be ended with the gateway.
    pub(super) fn enter(&self, group: Pid) {
        let group = group.as_raw_nonzero().get();
        self.tell(|state| {
            state.groups.insert(group);
            format!("+{group}\n")
        });
    }

    /// The process group has ended.
    pub(super) fn leave(&self, group: Pid) {
        let group = group.as_raw_nonzero().get();
        self.tell(|state| {
            state.groups.remove(&group);
            format!("-{group}\n")
        });
    }

    fn tell(&self, change: impl FnOnce(&mut State) -> String) {
        if let Some(post) = &self.0.post {
            let mut state = post.state.lock();
            let line = change(&mut state);
            state.say(&line);
        }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        if let Some(post) = &self.post {
            post.close();
        }
    }
}

impl Post {
    /// Starts the guardian process and tells it all.
    fn launch(&self) -> io::Result<process::Child> {
        let mut state = self.state.lock();
        let mut helper = self.command().spawn()?;
        let Some(pipe) = helper.stdin.take() else {
            unreachable!("stdin is piped")
        };
        // A guardian that does not read must not stop the gateway.
        fcntl_setfl(&pipe, OFlags::NONBLOCK)?;
        state.helper = Some((Pid::from_child(&helper), pipe));
        let groups: String = state.groups.iter().map(|group| format!("+{group}\n")).collect();
        state.say(&format!("run {}\n{groups}", self.run));
        Ok(helper)
    }

    /// A group of its own keeps the keys of a terminal from it; without the mark the guardian of
    /// an outer gateway does not take it for one of its children.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .env_remove(MARK)
            .current_dir("/")
            .process_group(0);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        #[expect(
            unsafe_code,
            reason = "code between fork and exec: before there is a moment to be ended in"
        )]
        // SAFETY: `signal` is safe to call there, and nothing allocates or locks.
        unsafe {
            command.pre_exec(ignore_signals);
        }
        command
    }

    /// Starts the guardian again each time it ends, until the post is closed.
    fn supervise(&self, helper: process::Child) {
        let mut pause = RESTART.0;
        let (mut helper, mut started) = (Some(helper), Instant::now());
        loop {
            if let Some(helper) = helper.take() {
                self.attend(helper);
            }
            pause = if started.elapsed() > RESTART.1 {
                RESTART.0
            } else {
                pause
            };
            if self.closed_within(pause) {
                return;
            }
            pause = (pause * 2).min(RESTART.1);
            started = Instant::now();
            helper = self
                .launch()
                .inspect_err(|error| warn!(%error, "the guardian process cannot be started"))
                .ok();
        }
    }

    /// Waits for the end of the guardian process.
    fn attend(&self, mut helper: process::Child) {
        let exit = Exit::of(Pid::from_child(&helper));
        let mut state = self.state.lock();
        state.helper = None;
        // It fails when somebody else has reaped it, which is as good.
        let _ = helper.wait();
        if !state.closing {
            warn!(%exit, "the guardian process has ended, starting another");
        }
    }

    fn close(&self) {
        let mut state = self.state.lock();
        state.closing = true;
        // The guardian sees the end of the pipe; its process is reaped by the thread.
        state.helper = None;
        self.closed.notify_all();
    }

    fn closed_within(&self, time: Duration) -> bool {
        let mut state = self.state.lock();
        self.closed
            .wait_while_for(&mut state, |state| !state.closing, time);
        state.closing
    }
}

impl State {
    fn say(&mut self, text: &str) {
        let Some((pid, pipe)) = &mut self.helper else {
            return;
        };
        if pipe.write_all(text.as_bytes()).is_err() {
            // It is dead or does not read. It must be dead before it sees the end of the pipe,
            // which to it is the end of the gateway.
            let _ = kill_process(*pid, Signal::KILL);
        }
    }
}

/// The running program; on Linux under a name that holds even when its file has been replaced.
fn own_program() -> PathBuf {
    let found = || std::env::current_exe().unwrap_or_default();
    if cfg!(target_os = "linux") {
        "/proc/self/exe".into()
    } else {
        found()
    }
}

/// A name for this run that no other has. It is no secret.
fn run_id() -> String {
    format!("{:016x}", RandomState::new().build_hasher().finish())
}

/// Ignores the signals with which a terminal or a service manager ends a gateway.
fn ignore_signals() -> io::Result<()> {
    for signal in [
        libc::SIGHUP,
        libc::SIGINT,
        libc::SIGQUIT,
        libc::SIGTERM,
        libc::SIGTSTP,
    ] {
        #[expect(unsafe_code, reason = "the standard library sets no signal dispositions")]
        // SAFETY: ignoring a signal installs no code that could run at a wrong moment.
        unsafe {
            libc::signal(signal, libc::SIG_IGN);
        }
    }
    Ok(())
}

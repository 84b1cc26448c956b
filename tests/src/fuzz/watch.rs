//! Ends a process that hangs.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// How long a round may take: hundreds of inputs, each of which takes less than a millisecond.
const PATIENCE: Duration = Duration::from_secs(120);

/// Wants to hear something now and then, until it is dropped.
#[derive(Debug)]
pub(super) struct Watch(Sender<()>);

impl Watch {
    pub(super) fn begin(target: &'static str) -> Self {
        let (signs, heard) = channel();
        thread::spawn(move || watch(target, &heard));
        Self(signs)
    }

    /// It goes on.
    pub(super) fn lives(&self) {
        self.0.send(()).expect("the watch lives as long");
    }
}

/// No panic of another thread would end a test that hangs.
fn watch(target: &str, signs: &Receiver<()>) {
    loop {
        match signs.recv_timeout(PATIENCE) {
            Ok(()) => {}
            Err(RecvTimeoutError::Timeout) => give_up(target),
            Err(RecvTimeoutError::Disconnected) => return, // It has ended.
        }
    }
}

fn give_up(target: &str) -> ! {
    #[expect(clippy::print_stderr, reason = "the last words of a test")]
    {
        eprintln!("the target {target} has hung for {PATIENCE:?}");
    }
    std::process::abort()
}

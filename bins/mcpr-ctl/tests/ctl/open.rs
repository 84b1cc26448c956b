//! A gateway whose answer does not end: it says something and stays until its client goes.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixListener;
use std::process::Child;
use std::thread::{self, JoinHandle};

use rustix::process::{Pid, Signal, kill_process};

use crate::stage::Stage;

/// A home with such a gateway.
pub(crate) struct Open {
    pub(crate) stage: Stage,
    left: JoinHandle<()>,
}

impl Open {
    /// Says these events to the first that asks.
    pub(crate) fn saying(events: &'static str) -> Self {
        let stage = Stage::new();
        let listener = UnixListener::bind(stage.path("ctl.sock")).unwrap();
        let left = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]).unwrap();
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
            write!(stream, "{head}{events}").unwrap();
            let _ = stream.read(&mut [0; 1]);
        });
        Self { stage, left }
    }

    /// Waits until the client has gone.
    pub(crate) fn left(self) {
        self.left.join().unwrap();
    }
}

/// Does to a program what Ctrl-C does.
pub(crate) fn interrupt(child: &Child) {
    kill_process(Pid::from_child(child), Signal::INT).unwrap();
}

/// The first line that comes.
pub(crate) fn first_line(from: impl Read) -> String {
    let mut line = String::new();
    BufReader::new(from).read_line(&mut line).unwrap();
    line
}

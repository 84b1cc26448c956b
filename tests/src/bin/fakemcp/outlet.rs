//! Where the messages of a fake server go.

use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::mpsc::UnboundedSender;

use crate::message::{Request, one_line};
use crate::spec::{Spec, bytes_of};

/// A way to the client.
#[derive(Clone, Debug)]
pub(crate) enum Outlet {
    /// Stdout.
    Pipe(Arc<Pipe>),
    /// A stream of HTTP.
    Stream(UnboundedSender<String>),
}

/// Stdout with the noise of the spec.
#[derive(Debug)]
pub(crate) struct Pipe {
    eol: String,
    junk: Vec<u8>,
    junk_on: Option<String>,
    between: Vec<u8>,
    quiet: AtomicBool,
    turn: Mutex<()>,
}

impl Outlet {
    /// Sends a message; false once nobody reads any more.
    pub(crate) fn send(&self, text: &str) -> bool {
        match self {
            Self::Pipe(pipe) => pipe.write(&pipe.line(text)),
            Self::Stream(stream) => stream.send(text.to_owned()).is_ok(),
        }
    }

    /// Sends the answer to `request`, with the noise that goes before it.
    pub(crate) fn reply(&self, request: &Request, text: &str) -> bool {
        match self {
            Self::Pipe(pipe) => pipe.reply(request, text),
            Self::Stream(_) => self.send(text),
        }
    }
}

impl Pipe {
    /// Prepares the noise.
    pub(crate) fn new(spec: &Spec) -> Self {
        let eol = spec.eol.clone().unwrap_or_else(|| "\n".to_owned());
        let mut junk = lines(&spec.noise, &eol);
        junk.extend(bytes_of(&spec.hex));
        if spec.flood > 0 {
            junk.extend(std::iter::repeat_n(b'x', spec.flood).chain([b'\n']));
        }
        let mut between = lines(&spec.mid, &eol);
        between.extend(bytes_of(&spec.mid_hex));
        let junk_on = spec.junk_on.clone();
        Self {
            eol,
            junk,
            junk_on,
            between,
            quiet: AtomicBool::new(false),
            turn: Mutex::new(()),
        }
    }

    fn reply(&self, request: &Request, text: &str) -> bool {
        let mut bytes = self.between.clone();
        if self.junk_on.as_ref().is_none_or(|key| request.is(key))
            && !self.quiet.swap(true, Ordering::Relaxed)
        {
            bytes.extend(&self.junk);
        }
        bytes.extend(self.line(text));
        self.write(&bytes)
    }

    fn line(&self, text: &str) -> Vec<u8> {
        [one_line(text).as_bytes(), self.eol.as_bytes()].concat()
    }

    /// Blocks while the client does not read, as a simple server does.
    fn write(&self, bytes: &[u8]) -> bool {
        let _turn = self.turn.lock();
        let mut stdout = io::stdout().lock();
        stdout.write_all(bytes).and_then(|()| stdout.flush()).is_ok()
    }
}

fn lines(lines: &[String], eol: &str) -> Vec<u8> {
    lines
        .iter()
        .flat_map(|line| [line.as_bytes(), eol.as_bytes()].concat())
        .collect()
}

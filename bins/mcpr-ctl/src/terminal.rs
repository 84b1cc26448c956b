//! Standard input of a person, set so that it shows nothing and does not wait for the end of a line.

use std::io::{self, Stdin};

use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};

/// The terminal at standard input, which is as it was again at the end of this value.
#[derive(Debug)]
pub(crate) struct Terminal {
    input: Stdin,
    before: Termios,
}

/// What a terminal does beside that.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Manner {
    /// Reading waits for a key, and Ctrl-C is one.
    Waits,
    /// Reading waits for nothing, and Ctrl-C interrupts as ever.
    Glances,
}

impl Terminal {
    /// Takes standard input; an error if it is no terminal.
    pub(crate) fn take(manner: Manner) -> io::Result<Self> {
        let input = io::stdin();
        let before = tcgetattr(&input)?;
        let mut now = before.clone();
        now.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
        let least = match manner {
            Manner::Waits => {
                // Without a signal there is no end at which it would not be set back.
                now.local_modes -= LocalModes::ISIG;
                1
            }
            Manner::Glances => 0,
        };
        now.special_codes[SpecialCodeIndex::VMIN] = least;
        now.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(&input, OptionalActions::Now, &now)?;
        Ok(Self { input, before })
    }

    /// Reads what was typed, and gives how much that is.
    pub(crate) fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::retry_on_intr(|| {
            rustix::io::read(&self.input, &mut *into)
        })?)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Nobody is left to tell if that fails.
        let _ = tcsetattr(&self.input, OptionalActions::Now, &self.before);
    }
}

//! The keys that a person presses.

#[cfg(unix)]
use std::time::Duration;

#[cfg(unix)]
use tokio::time::sleep;

/// How long a key may take to be seen.
#[cfg(unix)]
const PAUSE: Duration = Duration::from_millis(50);

/// The keyboard, each key of which is read at once. Ctrl-C still is a signal.
#[cfg(unix)]
#[derive(Debug)]
pub(super) struct Keys(Option<tty::Terminal>);

/// No keys are read on this system.
#[cfg(not(unix))]
#[derive(Debug)]
pub(super) struct Keys;

#[cfg(unix)]
impl Keys {
    /// Takes the keyboard until the end of this value, if standard input is one.
    pub(super) fn take() -> Self {
        Self(tty::Terminal::take())
    }

    /// Waits for q.
    pub(super) async fn quit(&self) {
        while let Some(Ok(typed)) = self.0.as_ref().map(tty::Terminal::typed) {
            if typed.iter().any(|key| matches!(key, b'q' | b'Q')) {
                return;
            }
            sleep(PAUSE).await;
        }
        std::future::pending().await
    }
}

#[cfg(not(unix))]
impl Keys {
    pub(super) fn take() -> Self {
        Self
    }

    pub(super) async fn quit(&self) {
        std::future::pending().await
    }
}

#[cfg(unix)]
mod tty {
    use std::io::{self, IsTerminal, Stdin};

    use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};

    /// Standard input, without waiting for the end of a line, or for anything, and without showing what is typed.
    #[derive(Debug)]
    pub(super) struct Terminal {
        input: Stdin,
        before: Termios,
    }

    impl Terminal {
        pub(super) fn take() -> Option<Self> {
            let input = io::stdin();
            let before = input.is_terminal().then(|| tcgetattr(&input).ok())??;
            let mut now = before.clone();
            now.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
            now.special_codes[SpecialCodeIndex::VMIN] = 0;
            now.special_codes[SpecialCodeIndex::VTIME] = 0;
            tcsetattr(&input, OptionalActions::Now, &now).ok()?;
            Some(Self { input, before })
        }

        /// What has been typed since.
        pub(super) fn typed(&self) -> io::Result<Vec<u8>> {
            let mut typed = [0; 256];
            let count = rustix::io::read(&self.input, &mut typed)?;
            Ok(typed[..count].to_vec())
        }
    }

    impl Drop for Terminal {
        fn drop(&mut self) {
            // Nobody is left to tell if that fails.
            let _ = tcsetattr(&self.input, OptionalActions::Now, &self.before);
        }
    }
}

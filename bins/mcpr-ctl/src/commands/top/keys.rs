//! The keys that a person presses.

use std::time::Duration;

use tokio::time::sleep;

use crate::terminal::{Manner, Terminal};

/// How long a key may take to be seen.
const PAUSE: Duration = Duration::from_millis(50);

/// The keyboard, each key of which is read at once. Ctrl-C still is a signal.
#[derive(Debug)]
pub(super) struct Keys(Option<Terminal>);

impl Keys {
    /// Takes the keyboard until the end of this value, if standard input is one.
    pub(super) fn take() -> Self {
        Self(Terminal::take(Manner::Glances).ok())
    }

    /// Waits for q.
    pub(super) async fn quit(&self) {
        let mut typed = [0; 256];
        while let Some(Ok(count)) = self.0.as_ref().map(|keyboard| keyboard.read(&mut typed)) {
            if typed[..count].iter().any(|key| matches!(key, b'q' | b'Q')) {
                return;
            }
            sleep(PAUSE).await;
        }
        std::future::pending().await
    }
}

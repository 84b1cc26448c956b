//! What a gateway keeps of what others pour out. The memory of a process is measured here, so the tests
//! of this binary run one after the other.

mod deaf;
mod endless;
#[expect(dead_code, reason = "shared with the tests of the client side")]
#[path = "../front/wire.rs"]
mod wire;

use mcpr_tests::{forget_peak, peak_memory};
use tokio::sync::{Mutex, MutexGuard};

static TURN: Mutex<()> = Mutex::const_new(());

/// The only test that runs while it is kept.
struct Alone {
    _turn: MutexGuard<'static, ()>,
    before: usize,
}

impl Alone {
    async fn begin() -> Self {
        let mut alone = Self {
            _turn: TURN.lock().await,
            before: 0,
        };
        alone.forget();
        alone
    }

    /// Counts from here on.
    fn forget(&mut self) {
        forget_peak();
        self.before = peak_memory();
    }

    /// How many bytes the process has used beyond what it used then.
    fn grown(&self) -> usize {
        peak_memory().saturating_sub(self.before)
    }
}

//! Whose roots a server believes to be its client's.
//!
//! A server of the session era may ask for roots whenever it likes, and keep what it hears for as
//! long as its connection lives (2025-11-25, roots). Here many clients share a connection, so it is
//! remembered whose roots were told on it last: before a call of anybody else the server is told
//! that they have changed, and given the time to ask again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Who has no roots, and who has none to tell.
pub const NOBODY: u64 = 0;

/// The roots of one connection.
#[derive(Debug, Default)]
pub struct Roots {
    /// Whether the server has ever asked, on any of its connections.
    asked: Arc<AtomicBool>,
    told: AtomicU64,
}

impl Roots {
    /// The roots of a fresh connection to a server; `asked` is common to all of its connections.
    pub(crate) fn new(asked: Arc<AtomicBool>) -> Arc<Self> {
        let told = AtomicU64::new(NOBODY);
        Arc::new(Self { asked, told })
    }

    /// Whether the server asks for roots at all.
    pub fn matter(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// The server has asked, and is told the roots of `owner`.
    pub fn tell(&self, owner: u64) {
        self.asked.store(true, Ordering::Relaxed);
        self.told.store(owner, Ordering::Relaxed);
    }

    /// Whose the server was told last.
    pub fn told(&self) -> u64 {
        self.told.load(Ordering::Relaxed)
    }

    /// Whether the server may take somebody else's roots for those of `owner`.
    pub fn are_others(&self, owner: u64) -> bool {
        self.matter() && self.told() != owner
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_matter_once_a_server_asks_and_are_those_it_was_told_last() {
        let server = Arc::<AtomicBool>::default();
        let (one, two) = (Roots::new(server.clone()), Roots::new(server));
        assert!(!one.are_others(7));

        one.tell(7);

        assert!(one.are_others(8) && one.are_others(NOBODY) && !one.are_others(7));
        assert!(two.are_others(7) && !two.are_others(NOBODY));
    }
}

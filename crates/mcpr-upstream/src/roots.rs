//! Whose roots a server believes to be its client's.
//!
//! A server of the session era may ask for roots whenever it likes, and keep what it hears for as
//! long as its connection lives (2025-11-25, roots). Here many clients share a connection, so it is
//! remembered whose roots were told on it last: before a call of anybody else the server is told
//! that they have changed, and given the time to ask again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

/// Who has no roots, and who has none to tell.
pub const NOBODY: u64 = 0;

/// The roots of one connection.
#[derive(Debug, Default)]
pub struct Roots {
    /// Whether the server has ever asked, on any of its connections.
    asked: Arc<AtomicBool>,
    told: Mutex<Told>,
}

/// Whose roots a server was told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Told {
    /// Which roots of whose; they are others once they have changed.
    pub owner: u64,
    /// The client whose they are.
    pub client: u64,
}

impl Roots {
    /// The roots of a fresh connection to a server; `asked` is common to all of its connections.
    pub(crate) fn new(asked: Arc<AtomicBool>) -> Arc<Self> {
        let told = Mutex::default();
        Arc::new(Self { asked, told })
    }

    /// Whether the server asks for roots at all.
    pub fn matter(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// The server has asked, and is told these.
    pub fn tell(&self, told: Told) {
        self.asked.store(true, Ordering::Relaxed);
        *self.told.lock() = told;
    }

    /// Whether the server may take other roots for those of a call: for one without roots, those of
    /// another client.
    pub fn are_others(&self, call: Told) -> bool {
        if !self.matter() {
            return false;
        }
        let told = *self.told.lock();
        match call.owner {
            NOBODY => told.owner != NOBODY && told.client != call.client,
            owner => told.owner != owner,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_matter_once_a_server_asks_and_are_those_it_was_told_last() {
        let server = Arc::<AtomicBool>::default();
        let (one, two) = (Roots::new(server.clone()), Roots::new(server));
        let of = |owner, client| Told { owner, client };
        assert!(!one.are_others(of(7, 1)));

        one.tell(of(7, 1));

        assert!(!one.are_others(of(7, 1)) && !one.are_others(of(NOBODY, 1)));
        assert!(one.are_others(of(8, 1)) && one.are_others(of(NOBODY, 2)));
        assert!(two.are_others(of(7, 1)) && !two.are_others(of(NOBODY, 2)));
    }
}

//! What outlives the process: tokens, assigned names, last good listings, era verdicts and the
//! sealing key.
//!
//! [`open`] gives the SQLite database, which a running gateway and an offline command may use at
//! the same time; [`Memory`] behaves the same and forgets everything at the end. Nothing is read
//! while a request waits: the owners load what they need at start and write changes back.

mod error;
mod memory;
mod records;
mod select;
#[cfg(feature = "sqlite")]
mod sqlite;
mod store;

pub use error::{DatabaseError, DatabaseFault, Source, StoreError};
pub use memory::Memory;
pub use records::{Assignment, SavedListing, SealingKey, Verdict};
#[cfg(feature = "sqlite")]
pub use sqlite::open;
pub use store::Store;

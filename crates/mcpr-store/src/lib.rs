//! What outlives the process: tokens, assigned names, last good listings, era verdicts, the sealing
//! key, what is changed at run time, and past calls.
//!
//! [`open`] gives the SQLite database, which a running gateway and an offline command may use at
//! the same time; [`Memory`] behaves the same and forgets everything at the end. Nothing is read
//! while a request waits: the owners load what they need at start and write changes back.

mod error;
mod history;
mod memory;
mod records;
mod select;
#[cfg(feature = "sqlite")]
mod sqlite;
mod state;
mod store;

pub use error::{DatabaseError, DatabaseFault, Source, StoreError};
pub use history::{CallBatch, CallQuery, CallRow, HistoryStore};
pub use memory::Memory;
pub use records::{Assignment, SavedListing, SealingKey, SealingKeys, Verdict};
#[cfg(feature = "sqlite")]
pub use sqlite::{Inspection, backup, inspect, inspect_pages, open};
pub use state::{
    DEFAULT, Definition, FILED, OPERATOR, SavedEquip, SavedPin, SavedPins, SavedProject, SavedToolset,
    StateStore, Switch,
};
pub use store::Store;

//! From a demand to a leased replica.
//!
//! A [`Lease`] is the right to use a replica for one call. Taking one is the only place where a
//! call may wait: for a server that sleeps to wake up, or for its turn at a server that is busy.

mod connections;
mod error;
mod gate;
mod router;

pub use connections::Pin;
pub use error::{Blame, Retry, RouteError, RouteErrorKind};
pub use router::{Demand, Lease, Router, unavailable};

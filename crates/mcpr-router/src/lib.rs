//! From a demand to a leased replica.
//!
//! A [`Lease`] is the right to use a replica for one call. Taking one is the only place where a
//! call may wait: for a server that sleeps to wake up, or for its turn at a server that is busy. Where
//! a server has several backends, `balance` decides which of them gets the call.

mod backend;
mod balance;
mod connections;
mod error;
mod line;
mod router;
mod tried;
mod trust;

pub use balance::{Balance, Candidate, Choice, LeastBusy, RoundRobin};
pub use connections::Pin;
pub use error::{BackendFault, Blame, Retry, RouteError, RouteErrorKind, unavailable};
pub use mcpr_upstream::Spread;
pub use router::{BackendSeen, Demand, Home, Lease, Router};
pub use tried::Tried;

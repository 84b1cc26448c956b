//! The contract as both sides see it: the JSON of every operation, and the client against a gateway.
#![expect(clippy::unwrap_used, reason = "a story ends at its first surprise")]

#[cfg(unix)]
mod client;
mod operations;
mod page;
mod sample;
#[cfg(unix)]
mod streams;

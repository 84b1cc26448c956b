//! What servers ask of clients, and what clients answer, for every pairing of their eras.

#![expect(
    clippy::unwrap_used,
    reason = "a test that does not find what it looks for has failed"
)]

mod cancels;
mod isolation;
mod kinds;
mod loops;
mod oddities;
mod pairs;
mod processes;
mod refusals;
mod states;
mod suspension;
mod telling;
mod together;
mod wrapped;

//! The history of calls (LOG-06): what leaves a row, what stands in it, how long it stays.

#![expect(
    clippy::unwrap_used,
    reason = "a test that does not find what it looks for has failed"
)]

mod arguments;
mod export;
mod operations;
mod retention;
mod rows;
mod slow;
mod stage;

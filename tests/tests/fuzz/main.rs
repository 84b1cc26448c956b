//! Everything that reads bytes of others, tried with bytes that nobody meant (SEC-05). How it is done:
//! `mcpr_tests::fuzz`. Each target holds a property that an independent reading of the same bytes confirms.

#![expect(
    clippy::unwrap_used,
    reason = "a test that does not find what it looks for has failed"
)]

mod answers;
mod config;
mod envelope;
mod guard;
mod lines;
mod redaction;
mod requests;
mod sealed;
mod splice;
mod sse;
mod token;

use bytes::Bytes;
use mcpr_protocol::RawJson;

/// The bytes as JSON, if they are that.
fn json(bytes: &[u8]) -> Option<RawJson> {
    RawJson::parse(Bytes::copy_from_slice(bytes)).ok()
}

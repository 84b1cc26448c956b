//! What mcpr knows about servers and what they offer; no I/O, nothing asynchronous.

mod options;
mod server;

pub use options::{Hyphens, Naming, PrefixPolicy, ServerNaming, UriPolicy};
pub use server::{InvalidName, ServerName};

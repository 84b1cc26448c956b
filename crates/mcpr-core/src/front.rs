//! Where clients come in: HTTP and pipes.

mod batch;
pub mod bridge;
pub mod http;
mod lines;
pub mod pipe;

/// How deep a message of a client may be nested; what servers and databases read JSON with goes no deeper.
const LEVELS: usize = 128;

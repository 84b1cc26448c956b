//! Where clients come in: HTTP and pipes.

mod batch;
pub mod bridge;
pub mod http;
mod lines;
pub mod pipe;

//! Where clients come in: HTTP and pipes.

mod batch;
pub mod bridge;
pub mod http;
pub mod pipe;

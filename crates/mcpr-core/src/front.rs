//! Where clients come in: HTTP and pipes.

pub mod bridge;
pub mod http;
pub mod pipe;

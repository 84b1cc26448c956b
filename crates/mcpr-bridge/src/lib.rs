//! Translates between versions and eras of MCP.
//!
//! Pure functions on raw texts: what need not change is the same bytes afterwards, and where
//! nothing needs to change the text is not even looked into.

mod block;
mod error;
mod request;
mod result;
mod welcome;

pub use error::error;
pub use request::{Hop, params};
pub use result::result;
pub use welcome::{Identity, discover_result, initialize_result};

use mcpr_protocol::{Method, Version};

/// Gives the URI under which clients know a URI of the server, if it is another one.
pub type Expose<'a> = &'a dyn Fn(&str) -> Option<String>;

/// From where to where an answer goes, and what it answers.
#[derive(Clone, Debug)]
pub struct Passage<'a> {
    /// The revision the client speaks.
    pub client: Version,
    /// The revision the server speaks.
    pub server: Version,
    /// The method of the request.
    pub method: &'a Method,
}

//! Translates between versions and eras of MCP.
//!
//! Pure functions on raw texts: what need not change is the same bytes afterwards, and where
//! nothing needs to change the text is not even looked into.

mod answer;
mod block;
mod digest;
mod error;
mod form;
mod input;
mod question;
mod request;
mod result;
mod seal;
mod trace;
mod welcome;

pub use answer::{Malformed, Refused, answer_as_input, input_as_answer, session_answer};
pub use digest::digest;
pub use error::error;
pub use input::{INPUT_RESPONSES, InputRequired, REQUEST_STATE, Retry, input_responses, with_text};
pub use question::{Question, Unaskable};
pub use request::{Hop, params};
pub use result::{result, told_task};
pub use seal::{Purpose, SealError, Sealer};
pub use trace::{TraceParent, is_tracestate};
pub use welcome::{Identity, discover_result, initialize_result, server_info};

use mcpr_protocol::{Abilities, Method, RawJson, Version};

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
    /// What the client can be asked.
    pub abilities: Abilities,
    /// The URI that the client asked for, in its own words.
    pub asked: Option<&'a str>,
    /// Who a stateless client is told has answered, where the server's era has no word for that.
    pub server_info: Option<&'a RawJson>,
}

//! What a server itself answered.

use mcpr_protocol::RawJson;
use serde::{Deserialize, Serialize};

/// What a server answered to a call, a read or a request for a prompt, byte for byte as a client of
/// the gateway would get it. An error that a server answers is a [`Failure`](crate::Failure) instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relayed {
    /// The `result` of the MCP response.
    pub result: RawJson,
}

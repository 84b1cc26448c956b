//! The fake server does what its script says.

mod http;
mod stdio;

use serde_json::{Value, json};

/// The parameters of a call without arguments.
fn call(name: &str) -> Value {
    json!({ "name": name, "arguments": {} })
}

/// A request as it goes over the wire.
fn request(id: u32, method: &str, params: Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

/// The request that opens a session.
fn initialize() -> String {
    let client = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    request(1, "initialize", params)
}

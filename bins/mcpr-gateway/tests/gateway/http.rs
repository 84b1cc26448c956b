//! Exact requests of the stateless era.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;

use serde_json::{Value, json};

/// Sends a request to a gateway; gives the status and the body.
pub(crate) fn ask(port: u16, token: Option<&str>, method: &str, params: Value) -> (u16, Value) {
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    exchange(stream, &request(token, method, params))
}

/// Whether the lists of the gateway at this socket are complete: no server is still on its way.
pub(crate) fn is_complete(socket: &Path) -> bool {
    let stream = UnixStream::connect(socket).unwrap();
    let (_, answer) = exchange(stream, &request(None, "tools/list", json!({})));
    let states = answer["result"]["_meta"]["dev.mcpr/servers"].as_object().unwrap();
    !states
        .values()
        .any(|state| state["state"] == "starting" || state["state"] == "stale")
}

fn request(token: Option<&str>, method: &str, mut params: Value) -> String {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let name = params["name"].as_str().or(params["uri"].as_str());
    let name = name.map_or_else(String::new, |name| format!("Mcp-Name: {name}\r\n"));
    let bearer = token.map_or_else(String::new, |token| format!("Authorization: Bearer {token}\r\n"));
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let length = body.len();
    format!(
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: {method}\r\n{name}{bearer}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

fn exchange(mut stream: impl Read + Write, request: &str) -> (u16, Value) {
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let body = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {body}"));
    (status, body)
}

//! What the examples share: a small MCP server on standard input and output, and a client of HTTP, so that they need
//! nothing but themselves.

use std::io::{BufRead, Read, Write};
use std::net::{SocketAddr, TcpStream};

use anyhow::{Context, Result};
use serde_json::{Value, json};

/// The pages whose code is compiled with the examples.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../README.md")]
    mod readme {}

    #[doc = include_str!("../../docs/embedding.md")]
    mod embedding {}
}

/// A tool of that server: its name, what it is for, and what it answers.
pub type Tool = (&'static str, &'static str, fn(&Value) -> String);

/// Serves these tools until the end of the input, as MCP servers on stdio do.
///
/// # Errors
///
/// When the streams fail.
pub fn serve(tools: &[Tool]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line?)?;
        // Notifications have no id and get no answer.
        let Some(id) = request.get("id") else { continue };
        let answer = match answer(tools, &request) {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(message) => {
                json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": message } })
            }
        };
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn answer(tools: &[Tool], request: &Value) -> Result<Value, String> {
    let params = &request["params"];
    match request["method"].as_str().unwrap_or_default() {
        "initialize" => Ok(json!({
            "protocolVersion": "2025-11-25",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "example", "version": "1" },
        })),
        "ping" => Ok(json!({})),
        "tools/list" => {
            let entry = |(name, description, _): &Tool| json!({ "name": name, "description": description, "inputSchema": { "type": "object" } });
            Ok(json!({ "tools": tools.iter().map(entry).collect::<Vec<_>>() }))
        }
        "tools/call" => {
            let called = tools.iter().find(|(name, _, _)| params["name"] == *name);
            let (_, _, work) = called.ok_or("Unknown tool")?;
            Ok(json!({ "content": [{ "type": "text", "text": work(&params["arguments"]) }] }))
        }
        method => Err(format!("Method not found: {method}")),
    }
}

/// Posts a JSON text, and gives the status and the body of the answer.
///
/// # Errors
///
/// When the connection fails, or the answer is not one of HTTP.
pub fn post(to: SocketAddr, path: &str, headers: &[(&str, &str)], body: &Value) -> Result<(u16, String)> {
    let body = body.to_string();
    let mut request = format!("POST {path} HTTP/1.1\r\nContent-Length: {}\r\n", body.len());
    let usual = [
        ("Accept", "application/json, text/event-stream"),
        ("Content-Type", "application/json"),
        ("Connection", "close"),
    ];
    for (name, value) in usual.iter().chain(headers) {
        request += &format!("{name}: {value}\r\n");
    }
    let mut connection = TcpStream::connect(to)?;
    write!(connection, "{request}\r\n{body}")?;
    let mut answer = String::new();
    connection.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").context("no head")?;
    let status = head.split(' ').nth(1).context("no status")?;
    Ok((status.parse()?, body.to_owned()))
}

/// The text of a tool's result.
pub fn text(result: &str) -> String {
    let result: Value = serde_json::from_str(result).unwrap_or_default();
    result["content"][0]["text"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

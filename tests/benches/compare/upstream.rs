//! A server that answers at once, in a thread of its own.

use std::convert::Infallible;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::CONTENT_TYPE;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// Starts it; gives its port.
pub(crate) fn start() -> u16 {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    listener.set_nonblocking(true).expect("a socket");
    let port = listener.local_addr().expect("a port").port();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(serve(listener));
    });
    port
}

async fn serve(listener: std::net::TcpListener) {
    let listener = TcpListener::from_std(listener).expect("a runtime");
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await.expect("a connection");
        stream.set_nodelay(true).expect("a socket");
        connections.spawn(async move {
            let connection = hyper::server::conn::http1::Builder::new();
            // Whoever leaves is no reason to complain.
            let _ = connection
                .serve_connection(TokioIo::new(stream), service_fn(answer))
                .await;
        });
    }
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, hyper::Error> {
    let body = request.into_body().collect().await?.to_bytes();
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let (status, text) = match message.get("id") {
        Some(id) => (200, reply(id, &message)),
        None => (202, String::new()),
    };
    let response = Response::builder()
        .status(status)
        .header(CONTENT_TYPE, "application/json");
    Ok::<_, Infallible>(response.body(Full::from(text)).expect("a response")).map_err(|never| match never {})
}

fn reply(id: &Value, message: &Value) -> String {
    let result = match message["method"].as_str() {
        Some("initialize") => json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
            "serverInfo": { "name": "yardstick", "version": "1" } }),
        Some("tools/list") => tools(),
        Some("tools/call") => called(&message["params"]),
        _ => {
            return json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": "not here" } })
                .to_string();
        }
    };
    json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string()
}

fn tools() -> Value {
    let more = (0..7).map(|number| format!("tool_{number}"));
    let names = ["echo", "large", "huge"]
        .map(str::to_owned)
        .into_iter()
        .chain(more);
    let entry = |name| json!({ "name": name, "description": "does it", "inputSchema": { "type": "object" } });
    json!({ "tools": names.map(entry).collect::<Vec<_>>() })
}

fn called(params: &Value) -> Value {
    let text = match params["name"].as_str() {
        Some("large") => "a line of text, ".repeat((100 << 10) / 16),
        Some("huge") => "a line of text, ".repeat((1 << 20) / 16),
        _ => params["arguments"]["text"]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
    };
    json!({ "content": [{ "type": "text", "text": text }], "isError": false })
}

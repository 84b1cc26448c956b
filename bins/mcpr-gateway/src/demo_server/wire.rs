//! The protocol: one line is one message, and each call has a thread.

use std::collections::HashMap;
use std::io::{self, BufRead, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope};

use mcpr_protocol::{Version, code, notification};
use serde_json::{Value, json};

use super::{Refusal, Serve};

/// What a call may tell its client, and hear of it, while it runs.
pub(super) struct Caller<'a> {
    line: &'a Line,
    progress: Option<Value>,
    cancelled: Arc<AtomicBool>,
}

/// The way out, and the calls that are running.
#[derive(Default)]
struct Line {
    out: Mutex<()>,
    running: Mutex<HashMap<String, Arc<AtomicBool>>>,
}

/// Serves until standard input ends.
pub(super) fn serve(server: &impl Serve) -> io::Result<()> {
    let line = Line::default();
    thread::scope(|scope| {
        let read = io::stdin().lock().lines().try_for_each(|text| {
            line.take(server, &text?, scope);
            Ok(())
        });
        line.cancel_all();
        read
    })
}

impl Line {
    fn take<'s, S: Serve>(&'s self, server: &'s S, text: &str, scope: &'s Scope<'s, '_>) {
        let Ok(message) = serde_json::from_str::<Value>(text) else {
            return self.answer(
                &Value::Null,
                Err(Refusal {
                    code: code::PARSE,
                    message: "not JSON".into(),
                }),
            );
        };
        match (message["method"].as_str(), message.get("id")) {
            (Some("tools/call"), Some(id)) => self.call(server, id.clone(), message["params"].clone(), scope),
            (Some(method), Some(id)) => self.answer(id, respond(server, method, &message["params"])),
            (Some(notification::CANCELLED), None) => self.cancel(&message["params"]["requestId"]),
            // Other notifications, and responses: this server asks nothing.
            _ => {}
        }
    }

    fn call<'s, S: Serve>(&'s self, server: &'s S, id: Value, params: Value, scope: &'s Scope<'s, '_>) {
        let cancelled = Arc::new(AtomicBool::new(false));
        let progress = params["_meta"].get("progressToken").cloned();
        let caller = Caller {
            line: self,
            progress,
            cancelled: cancelled.clone(),
        };
        locked(&self.running).insert(id.to_string(), cancelled);
        scope.spawn(move || {
            let tool = params["name"].as_str().unwrap_or_default();
            let outcome = server.call(tool, &params["arguments"], &caller);
            locked(&self.running).remove(&id.to_string());
            if !caller.is_cancelled() {
                self.answer(&id, outcome);
            }
        });
    }

    fn cancel(&self, id: &Value) {
        if let Some(cancelled) = locked(&self.running).get(&id.to_string()) {
            cancelled.store(true, Ordering::Relaxed);
        }
    }

    fn cancel_all(&self) {
        locked(&self.running)
            .values()
            .for_each(|cancelled| cancelled.store(true, Ordering::Relaxed));
    }

    fn answer(&self, id: &Value, outcome: Result<Value, Refusal>) {
        self.write(&match outcome {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(Refusal { code, message }) => {
                json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
            }
        });
    }

    /// When the client has gone, the end of the input says so.
    fn write(&self, message: &Value) {
        let _one_at_a_time = locked(&self.out);
        let mut stdout = io::stdout().lock();
        let _ = writeln!(stdout, "{message}").and_then(|()| stdout.flush());
    }
}

impl Caller<'_> {
    /// Tells how far the call has come, if its client wants to know.
    pub(super) fn progress(&self, done: u64, total: u64) {
        if let Some(token) = &self.progress {
            let params = json!({ "progressToken": token, "progress": done, "total": total });
            self.notify(notification::PROGRESS, params);
        }
    }

    /// Tells the client something.
    pub(super) fn notify(&self, method: &str, params: Value) {
        self.line
            .write(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Whether nobody waits for the result any more.
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

/// The answer to a request that takes no time.
fn respond<S: Serve>(server: &S, method: &str, params: &Value) -> Result<Value, Refusal> {
    let unknown = || Refusal {
        code: code::METHOD_NOT_FOUND,
        message: format!("Method not found: {method}"),
    };
    let list = |member: &str, items: Value| match items {
        Value::Null => Err(unknown()),
        items => Ok(json!({ (member): items })),
    };
    match method {
        "initialize" => Ok(welcome(server, params)),
        "ping" => Ok(json!({})),
        "tools/list" => list("tools", server.tools()),
        "resources/list" => list("resources", server.resources()),
        "resources/templates/list" => list("resourceTemplates", server.templates()),
        "resources/read" => read(server, params),
        "prompts/list" => list("prompts", server.prompts()),
        "prompts/get" => prompt(server, params),
        _ => Err(unknown()),
    }
}

fn welcome<S: Serve>(server: &S, params: &Value) -> Value {
    let version = Version::negotiate(params["protocolVersion"].as_str().unwrap_or_default());
    let mut capabilities = json!({ "tools": {} });
    if !server.resources().is_null() {
        capabilities["resources"] = json!({ "listChanged": true });
    }
    if !server.prompts().is_null() {
        capabilities["prompts"] = json!({});
    }
    json!({
        "protocolVersion": version.as_str(),
        "capabilities": capabilities,
        "serverInfo": { "name": format!("mcpr-demo-{}", S::NAME), "version": env!("CARGO_PKG_VERSION") },
        "instructions": S::INSTRUCTIONS,
    })
}

fn read<S: Serve>(server: &S, params: &Value) -> Result<Value, Refusal> {
    let uri = params["uri"].as_str().unwrap_or_default();
    let missing = || Refusal {
        code: code::RESOURCE_NOT_FOUND,
        message: format!("Resource not found: {uri}"),
    };
    let text = server.read(uri).ok_or_else(missing)?;
    Ok(json!({ "contents": [{ "uri": uri, "mimeType": "text/plain", "text": text }] }))
}

fn prompt<S: Serve>(server: &S, params: &Value) -> Result<Value, Refusal> {
    let name = params["name"].as_str().unwrap_or_default();
    let missing = || Refusal {
        code: code::INVALID_PARAMS,
        message: format!("Unknown prompt: {name}"),
    };
    let text = server.prompt(name, &params["arguments"]).ok_or_else(missing)?;
    Ok(json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": text } }] }))
}

/// A thread that panicked has left nothing half done here.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::super::notes::Notes;
    use super::*;

    #[test]
    fn an_offered_version_is_taken_and_capabilities_are_what_there_is() {
        let welcome = respond(
            &Notes::default(),
            "initialize",
            &json!({ "protocolVersion": "2025-06-18" }),
        )
        .unwrap();

        assert_eq!(welcome["protocolVersion"], "2025-06-18");
        assert_eq!(
            welcome["capabilities"],
            json!({ "tools": {}, "resources": { "listChanged": true } })
        );
    }

    #[test]
    fn what_is_not_there_is_refused_with_its_code() {
        let refused = |method, params| respond(&Notes::default(), method, &params).unwrap_err().code;

        assert_eq!(refused("prompts/list", json!({})), code::METHOD_NOT_FOUND);
        assert_eq!(refused("resources/subscribe", json!({})), code::METHOD_NOT_FOUND);
        assert_eq!(
            refused("resources/read", json!({ "uri": "note://none" })),
            code::RESOURCE_NOT_FOUND
        );
        assert_eq!(
            refused("prompts/get", json!({ "name": "x" })),
            code::INVALID_PARAMS
        );
    }
}

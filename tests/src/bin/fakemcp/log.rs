//! The record of everything a fake server received.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use serde_json::value::RawValue;

use crate::message::{one_line, quoted};

/// Appends to the log file of a spec, if it names one.
#[derive(Debug)]
pub(crate) struct Log(Option<Mutex<File>>);

/// The head of an HTTP request.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
}

impl Head {
    /// The value of a header; several lines of it are joined as HTTP has it.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let all = self.headers.iter().filter(|(own, _)| own == name);
        let values: Vec<_> = all.map(|(_, value)| value.as_str()).collect();
        (!values.is_empty()).then(|| values.join(", "))
    }
}

impl Log {
    /// Opens the log for appending.
    pub(crate) fn open(path: Option<&Path>) -> std::io::Result<Self> {
        let open = |path| OpenOptions::new().create(true).append(true).open(path);
        Ok(Self(path.map(open).transpose()?.map(Mutex::new)))
    }

    /// A message that came without HTTP.
    pub(crate) fn message(&self, text: &[u8]) {
        self.line(&message_member(text));
    }

    /// An HTTP request; `body` is empty for GET and DELETE.
    pub(crate) fn http(&self, head: &Head, body: &[u8]) {
        let pairs = head
            .headers
            .iter()
            .map(|(name, value)| format!("[{},{}]", quoted(name), quoted(value)));
        let headers = pairs.collect::<Vec<_>>().join(",");
        let (method, path) = (quoted(&head.method), quoted(&head.path));
        let http = format!(r#""http":{{"method":{method},"path":{path},"headers":[{headers}]}}"#);
        let message = if body.is_empty() {
            String::new()
        } else {
            format!(",{}", message_member(body))
        };
        self.line(&format!("{http}{message}"));
    }

    /// The client went away before the answer to `id` was complete.
    pub(crate) fn closed(&self, id: &str) {
        self.line(&format!(r#""closed":{id}"#));
    }

    fn line(&self, members: &str) {
        let Some(file) = &self.0 else { return };
        let at = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_secs_f64();
        let line = format!("{{\"pid\":{},\"at\":{at:.3},{members}}}\n", std::process::id());
        // One write per line keeps the lines of several processes apart.
        file.lock()
            .write_all(line.as_bytes())
            .expect("the log file can be written");
    }
}

fn message_member(text: &[u8]) -> String {
    match serde_json::from_slice::<&RawValue>(text) {
        Ok(json) => format!(r#""message":{}"#, one_line(json.get())),
        Err(_) => format!(r#""garbage":{}"#, quoted(&String::from_utf8_lossy(text))),
    }
}

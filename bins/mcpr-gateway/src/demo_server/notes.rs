//! Keeps notes, for as long as it runs.

use std::sync::{Mutex, MutexGuard, PoisonError};

use mcpr_protocol::{code, notification};
use serde_json::{Value, json};

use super::wire::Caller;
use super::{Refusal, Serve, object, tool_error};

/// A server whose list of resources grows.
pub(super) struct Notes(Mutex<Vec<Note>>);

struct Note {
    name: String,
    text: String,
}

impl Default for Notes {
    fn default() -> Self {
        let note = |name: &str, text: &str| Note {
            name: name.into(),
            text: text.into(),
        };
        Self(Mutex::new(vec![
            note(
                "welcome",
                "Three servers stand behind this gateway; this note comes from the one called `notes`.",
            ),
            note(
                "try-this",
                "Call notes_add with a text, then list the resources again: there is one more.",
            ),
        ]))
    }
}

impl Serve for Notes {
    const NAME: &'static str = "notes";
    const INSTRUCTIONS: &'static str = "Keeps notes: read them as resources, add one with the tool `add`.";

    fn tools(&self) -> Value {
        let text = json!({ "type": "string", "description": "What to note" });
        json!([{
            "name": "add",
            "description": "Adds a note. It can be read as a resource.",
            "inputSchema": object(json!({ "text": text }), &["text"]),
            "annotations": { "destructiveHint": false },
        }])
    }

    fn call(&self, tool: &str, arguments: &Value, caller: &Caller<'_>) -> Result<Value, Refusal> {
        match (tool, arguments["text"].as_str()) {
            ("add", Some(text)) => {
                let link = self.add(text);
                caller.notify(notification::RESOURCES_CHANGED, json!({}));
                Ok(json!({ "content": [{ "type": "text", "text": "Noted." }, link] }))
            }
            ("add", None) => Ok(tool_error("`text` must be a text")),
            _ => Err(Refusal {
                code: code::INVALID_PARAMS,
                message: format!("Unknown tool: {tool}"),
            }),
        }
    }

    fn resources(&self) -> Value {
        self.all().iter().map(Note::resource).collect()
    }

    fn templates(&self) -> Value {
        json!([{ "uriTemplate": "note://{name}", "name": "note", "description": "A note by its name.", "mimeType": "text/plain" }])
    }

    fn read(&self, uri: &str) -> Option<String> {
        self.all()
            .iter()
            .find(|note| note.uri() == uri)
            .map(|note| note.text.clone())
    }
}

impl Notes {
    /// Adds a note; gives a link to it.
    fn add(&self, text: &str) -> Value {
        let mut all = self.all();
        let note = Note {
            name: format!("note-{}", all.len() + 1),
            text: text.into(),
        };
        let mut link = note.resource();
        link["type"] = "resource_link".into();
        all.push(note);
        link
    }

    fn all(&self) -> MutexGuard<'_, Vec<Note>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Note {
    fn uri(&self) -> String {
        format!("note://{}", self.name)
    }

    fn resource(&self) -> Value {
        json!({ "uri": self.uri(), "name": self.name, "mimeType": "text/plain" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_can_be_read() {
        let notes = Notes::default();

        let link = notes.add("buy milk");

        assert_eq!(link["uri"], "note://note-3");
        assert_eq!(notes.read("note://note-3").unwrap(), "buy milk");
        assert_eq!(notes.resources().as_array().unwrap().len(), 3);
    }
}

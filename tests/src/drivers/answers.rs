//! What a real client says when it is asked.

use serde::Serialize;
use serde_json::{Value, json};

/// The answers of a client, which can be asked what is there.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Answers {
    /// What it fills in, by the names of the fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    form: Option<Value>,
    /// What it does when it is sent to a URL: `accept`, `decline` or `cancel`.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'static str>,
    /// What its model says.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    /// The URIs of its roots.
    #[serde(skip_serializing_if = "Option::is_none")]
    roots: Option<Vec<String>>,
}

impl Answers {
    /// The answers of somebody with this name, to everything.
    pub fn of(name: &str) -> Self {
        Self {
            form: Some(
                json!({ "name": name, "color": format!("{name}'s blue"), "confirm": true, "ok": true }),
            ),
            url: Some("accept"),
            model: Some(format!("{name}'s model")),
            roots: Some(vec![format!("file:///home/{name}")]),
        }
    }
}

//! What a server may ask its client for.

use serde_json::{Value, json};

use crate::fault::Fault;

/// A question, which every era asks in its own way.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    /// What tells it from the others of the same call.
    pub(crate) key: &'static str,
    pub(crate) method: &'static str,
    pub(crate) params: Value,
    /// Whether the client has to bring back a sealed state with the answer, even in the first round.
    pub(crate) sealed: bool,
}

impl Question {
    /// Asks the user to fill in a form.
    pub(crate) fn form(key: &'static str, message: &str, schema: Value) -> Self {
        let params = json!({ "mode": "form", "message": message, "requestedSchema": schema });
        Self::new(key, "elicitation/create", params)
    }

    /// Asks the user for one text, by the name of the field.
    pub(crate) fn text(key: &'static str, message: &str, field: &str) -> Self {
        let properties = json!({ field: { "type": "string" } });
        Self::form(key, message, object(&properties, &[field]))
    }

    /// Asks the user for a yes or a no, by the name of the field.
    pub(crate) fn yes(key: &'static str, message: &str, field: &str) -> Self {
        let properties = json!({ field: { "type": "boolean" } });
        Self::form(key, message, object(&properties, &[field]))
    }

    /// Asks the client's model.
    pub(crate) fn model(key: &'static str, prompt: &str, max_tokens: u32) -> Self {
        let content = json!({ "type": "text", "text": prompt });
        let messages = json!([{ "role": "user", "content": content }]);
        Self::new(
            key,
            "sampling/createMessage",
            json!({ "messages": messages, "maxTokens": max_tokens }),
        )
    }

    /// Asks for the client's roots.
    pub(crate) fn roots(key: &'static str) -> Self {
        Self::new(key, "roots/list", json!({}))
    }

    /// The same, with a state that the client brings back.
    pub(crate) fn sealed(self) -> Self {
        Self { sealed: true, ..self }
    }

    fn new(key: &'static str, method: &'static str, params: Value) -> Self {
        Self {
            key,
            method,
            params,
            sealed: false,
        }
    }

    /// The capability that a client needs to be asked.
    pub(crate) fn capability(&self) -> &'static str {
        match self.method {
            "elicitation/create" => "elicitation",
            "sampling/createMessage" => "sampling",
            _ => "roots",
        }
    }

    /// The question as an entry of `inputRequests`.
    pub(crate) fn entry(&self) -> Value {
        json!({ "method": self.method, "params": self.params })
    }

    /// Whether this can be its answer.
    pub(crate) fn check(&self, answer: &Value) -> Result<(), Fault> {
        let fits = match self.method {
            "elicitation/create" => answer["action"].is_string(),
            "sampling/createMessage" => answer["role"].is_string() && !answer["content"].is_null(),
            _ => answer["roots"].is_array(),
        };
        let why = || format!("the answer to `{}` does not fit {}", self.key, self.method);
        fits.then_some(()).ok_or_else(|| Fault::invalid_params(&why()))
    }
}

/// The schema of an object.
pub(crate) fn object(properties: &Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required })
}

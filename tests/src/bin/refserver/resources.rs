//! The resources.

use serde_json::{Value, json};

use crate::client::Era;
use crate::fault::Fault;
use crate::media;

/// The resource that `test_trigger_resource_update` changes.
pub(crate) const WATCHED: &str = "test://watched-resource";

/// What `resources/list` tells.
pub(crate) fn list() -> Value {
    let resource = |uri: &str, name: &str, kind: &str, description: &str| json!({ "uri": uri, "name": name, "mimeType": kind, "description": description });
    json!({ "resources": [
        resource("test://static-text", "static-text", "text/plain", "A text"),
        resource("test://static-binary", "static-binary", "image/png", "A picture"),
        resource(WATCHED, "watched-resource", "text/plain", "A text that one may subscribe to"),
    ] })
}

/// What `resources/templates/list` tells.
pub(crate) fn templates() -> Value {
    json!({ "resourceTemplates": [{
        "uriTemplate": "test://template/{id}/data",
        "name": "template",
        "mimeType": "application/json",
        "description": "What is known of an id",
    }] })
}

/// What `resources/read` tells.
pub(crate) fn read(uri: &str, era: Era) -> Result<Value, Fault> {
    let content = match uri {
        "test://static-text" => text(uri, "This is the content of the static text resource."),
        "test://static-binary" => json!({ "uri": uri, "mimeType": "image/png", "blob": media::PNG }),
        WATCHED => text(uri, "This is the content of the watched resource."),
        _ => known(uri).ok_or_else(|| era.no_resource(uri))?,
    };
    Ok(json!({ "contents": [content] }))
}

fn text(uri: &str, text: &str) -> Value {
    json!({ "uri": uri, "mimeType": "text/plain", "text": text })
}

/// The resource of the template.
fn known(uri: &str) -> Option<Value> {
    let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
    let known = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
    Some(json!({ "uri": uri, "mimeType": "application/json", "text": known.to_string() }))
}

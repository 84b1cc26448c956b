//! Content blocks: the URIs in them, and what older clients do not know.

use mcpr_protocol::{Edit, Object, RawJson, Rope, Version};

use crate::Expose;

/// The block as the client must get it; `None` if it can stay.
pub(crate) fn block(block: &RawJson, client: Version, expose: Expose<'_>) -> Option<Rope> {
    let object = Object::read(block).ok()?;
    match object.text("type")?.as_str() {
        "resource_link" if client < Version::V2025_06_18 => Some(link_as_text(&object, expose)),
        "audio" if client < Version::V2025_03_26 => Some(audio_as_text(&object)),
        "resource_link" => with_uri(&object, expose),
        "resource" => {
            let inner = with_uri(&object.object("resource")?, expose)?;
            Some(Edit::new(&object).set("resource", inner).finish())
        }
        _ => None,
    }
}

/// The object with its `uri` exposed; `None` if it can stay.
pub(crate) fn with_uri(object: &Object, expose: Expose<'_>) -> Option<Rope> {
    let exposed = expose(&object.text("uri")?)?;
    Some(Edit::new(object).set("uri", RawJson::string(&exposed)).finish())
}

/// Links came with 2025-06-18.
fn link_as_text(link: &Object, expose: Expose<'_>) -> Rope {
    let title = link
        .text("title")
        .or_else(|| link.text("name"))
        .unwrap_or_default();
    let uri = link.text("uri").unwrap_or_default();
    text(&format!("{title}: {}", expose(&uri).unwrap_or(uri)))
}

/// Audio came with 2025-03-26.
fn audio_as_text(audio: &Object) -> Rope {
    let kind = audio.text("mimeType").unwrap_or_else(|| "unknown type".into());
    text(&format!(
        "[audio of {kind}: this client's protocol version cannot carry it]"
    ))
}

/// A text block.
pub(crate) fn text(text: &str) -> Rope {
    RawJson::render(&serde_json::json!({ "type": "text", "text": text })).into()
}

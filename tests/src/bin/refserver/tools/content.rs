//! Tools with content of every type.

use serde_json::{Value, json};

use super::{Run, TaskUse, Tool, nothing};
use crate::media;

const fn tool(name: &'static str, description: &'static str, content: fn() -> Vec<Value>) -> Tool {
    Tool {
        name,
        description,
        schema: nothing,
        task: TaskUse::Never,
        run: Run::Content(content),
    }
}

pub(super) const TOOLS: &[Tool] = &[
    tool("test_simple_text", "Brings a text", || {
        vec![text("This is a simple text response for testing.")]
    }),
    tool("test_image_content", "Brings a picture", || vec![image()]),
    tool("test_audio_content", "Brings a sound", || {
        vec![json!({ "type": "audio", "data": media::WAV, "mimeType": "audio/wav" })]
    }),
    tool("test_embedded_resource", "Brings a resource", || {
        vec![resource(
            "test://embedded-resource",
            "text/plain",
            "This is an embedded resource content.",
        )]
    }),
    tool(
        "test_multiple_content_types",
        "Brings a text, a picture and a resource",
        || {
            vec![
                text("Multiple content types test:"),
                image(),
                resource(
                    "test://mixed-content-resource",
                    "application/json",
                    r#"{"test":"data","value":123}"#,
                ),
            ]
        },
    ),
    Tool {
        schema: modern_schema,
        ..tool(
            "json_schema_2020_12_tool",
            "Tool with JSON Schema 2020-12 features",
            || vec![text("The arguments fit.")],
        )
    },
    Tool {
        schema: mirrored_schema,
        ..tool(
            "test_header_mirroring",
            "Has parameters that are sent as headers too",
            || vec![text("The headers say what the arguments say.")],
        )
    },
];

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn image() -> Value {
    json!({ "type": "image", "data": media::PNG, "mimeType": "image/png" })
}

fn resource(uri: &str, kind: &str, text: &str) -> Value {
    json!({ "type": "resource", "resource": { "uri": uri, "mimeType": kind, "text": text } })
}

fn modern_schema() -> Value {
    let text = json!({ "type": "string" });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": { "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": { "street": text, "city": text },
        } },
        "properties": {
            "name": text,
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": text,
            "email": text,
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    })
}

fn mirrored_schema() -> Value {
    let mirrored = |kind: &str, header: &str| json!({ "type": kind, "x-mcp-header": header });
    json!({
        "type": "object",
        "properties": {
            "region": mirrored("string", "Region"),
            "shard": mirrored("integer", "Shard"),
            "dry": mirrored("boolean", "Dry-Run"),
            "query": { "type": "string" },
        },
        "required": ["region"],
    })
}

//! What servers answer, for people.

use mcpr_protocol::RawJson;
use serde::Deserialize;

use super::indent::indent;
use super::phrase::size;

/// The result of a tool, as far as people need it.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ToolResult {
    content: Vec<Block>,
    structured_content: Option<RawJson>,
    /// Whether the tool says that it failed.
    pub(crate) is_error: bool,
}

/// The result of a prompt, as far as people need it.
#[derive(Debug, Deserialize)]
pub(crate) struct PromptResult {
    messages: Vec<Message>,
}

#[derive(Debug, Deserialize)]
struct Message {
    role: String,
    content: Block,
}

/// A content block of any type; of each type some of the members are there.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Block {
    r#type: String,
    text: Option<String>,
    data: Option<String>,
    mime_type: Option<String>,
    name: Option<String>,
    uri: Option<String>,
    resource: Option<Box<Block>>,
    blob: Option<String>,
}

impl ToolResult {
    /// The texts of the result, and one line for each part that is no text. A result without any
    /// parts shows its structured content.
    pub(crate) fn page(&self) -> String {
        let page: String = self.content.iter().map(Block::page).collect();
        match &self.structured_content {
            Some(structured) if page.is_empty() => indent(structured) + "\n",
            _ => page,
        }
    }
}

impl PromptResult {
    /// The messages, each below the name of who says it.
    pub(crate) fn page(&self) -> String {
        let pages: Vec<_> = self
            .messages
            .iter()
            .map(|message| format!("{}:\n{}", message.role, message.content.page()))
            .collect();
        pages.join("\n")
    }
}

impl Block {
    fn page(&self) -> String {
        if let Some(text) = &self.text {
            return if text.ends_with('\n') {
                text.clone()
            } else {
                format!("{text}\n")
            };
        }
        match &self.resource {
            Some(resource) if resource.text.is_some() => resource.page(),
            Some(resource) => resource.line("resource"),
            None => self.line(&self.r#type),
        }
    }

    /// What it is, for a part that cannot be shown.
    fn line(&self, kind: &str) -> String {
        let coded = self.data.as_ref().or(self.blob.as_ref());
        let size = coded.map(|coded| size(coded.trim_end_matches('=').len() as u64 * 3 / 4));
        let facts = [self.name.clone(), self.uri.clone(), self.mime_type.clone(), size];
        let known: Vec<_> = facts.into_iter().flatten().collect();
        format!("[{kind}: {}]\n", known.join(", "))
    }
}

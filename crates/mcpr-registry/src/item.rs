//! Listed items as clients see them.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use mcpr_protocol::{Era, Object, RawJson};

use crate::{Kind, ParamHeader, ServerName, estimate_tokens};

/// Where an item comes from.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Origin {
    /// The server.
    pub server: ServerName,
    /// What the server calls it: the name of a tool or prompt, the URI of a resource or template.
    pub name: Arc<str>,
}

/// One tool, prompt, resource or resource template.
#[derive(Clone, Debug)]
pub struct Item {
    /// What clients call it.
    pub exposed: Arc<str>,
    /// Where it comes from.
    pub origin: Origin,
    /// The text that the server sent, whatever an operator says of the item.
    pub definition: RawJson,
    pub(crate) rendered: Rendered,
}

/// A tool: an [`Item`] and what mcpr needs to know to call it.
#[derive(Clone, Debug)]
pub struct Tool {
    pub(crate) item: Item,
    /// Whether the server says that it only reads (`readOnlyHint`).
    pub read_only: bool,
    /// Whether the server says that calling it again changes nothing more (`idempotentHint`).
    pub idempotent: bool,
    /// Whether it can only be called as a task of 2025-11-25, which mcpr then waits for.
    pub task_required: bool,
    /// The arguments that a stateless call over HTTP repeats in headers; none where the
    /// annotations of the schema are not valid.
    pub param_headers: Vec<ParamHeader>,
}

/// What a caller may be allowed or not.
#[derive(Clone, Copy, Debug)]
pub struct ItemRef<'a> {
    /// The kind.
    pub kind: Kind,
    /// The server.
    pub server: &'a ServerName,
    /// The item; `None` asks about what the server has of that kind without listing it, such as
    /// resources that are read by a URI made from a template.
    pub item: Option<&'a Item>,
}

/// The text of an item by era.
#[derive(Clone, Debug)]
pub(crate) enum Rendered {
    Same(RawJson),
    ByEra { session: RawJson, stateless: RawJson },
}

impl Item {
    /// The text that clients of an era get.
    pub fn rendered(&self, era: Era) -> &RawJson {
        match (&self.rendered, era) {
            (Rendered::Same(text), _) => text,
            (Rendered::ByEra { session, .. }, Era::Session) => session,
            (Rendered::ByEra { stateless, .. }, Era::Stateless) => stateless,
        }
    }

    /// Its title for people; an older tool may have it in its annotations.
    pub fn title(&self) -> Option<String> {
        let definition = self.object()?;
        let annotated = || definition.object("annotations")?.text("title");
        definition.text("title").or_else(annotated)
    }

    /// Its description as clients get it: the server's, or the one that an operator gave it.
    pub fn description(&self) -> Option<String> {
        let rendered = Object::read(self.rendered(Era::Session)).ok()?;
        rendered.text("description")
    }

    /// Its annotations, as the server wrote them.
    pub fn annotations(&self) -> Option<RawJson> {
        self.object()?.get("annotations")
    }

    /// Whether clients of the two eras get different texts.
    pub(crate) fn differs_by_era(&self) -> bool {
        matches!(self.rendered, Rendered::ByEra { .. })
    }

    fn object(&self) -> Option<Object> {
        Object::read(&self.definition).ok()
    }
}

impl Tool {
    /// Roughly what its text costs a model, in tokens (SET-11): that of the session era, where the
    /// two differ.
    pub fn tokens(&self) -> u64 {
        estimate_tokens(self.item.rendered(Era::Session).as_bytes().len())
    }
}

impl Deref for Tool {
    type Target = Item;

    fn deref(&self) -> &Item {
        &self.item
    }
}

impl fmt::Display for Origin {
    /// The origin form, such as `git.status`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.server, self.name)
    }
}

//! Writes an item as clients get it: the server's text with the few splices of AGG-03.

use mcpr_protocol::{Edit, Era, Object, RawJson, key};

use crate::draft::Draft;
use crate::item::Rendered;
use crate::schema::is_object_schema;
use crate::{Kind, ServerName};

const META: &str = "_meta";

/// The changes to one item that both eras share, and those of each.
struct Changes<'a> {
    object: &'a Object,
    shared: Vec<(&'static str, RawJson)>,
    drop_output_schema: bool,
    drop_execution: bool,
    task_required: bool,
}

/// The text of `_meta`, and whether what the server sent had to be replaced.
pub(crate) struct Meta {
    text: RawJson,
    pub(crate) replaced: bool,
}

/// Renders an item under its exposed name or URI.
pub(crate) fn render(kind: Kind, draft: &Draft<'_>, meta: Meta, exposed: &str) -> Rendered {
    let changes = Changes::new(kind, draft, meta, exposed);
    let session = changes.text(Era::Session);
    if changes.drop_output_schema || changes.drop_execution {
        Rendered::ByEra {
            session,
            stateless: changes.text(Era::Stateless),
        }
    } else {
        Rendered::Same(session)
    }
}

impl<'a> Changes<'a> {
    fn new(kind: Kind, draft: &'a Draft<'_>, meta: Meta, exposed: &str) -> Self {
        let object = &draft.object;
        let mut shared = Vec::with_capacity(3);
        if *exposed != *draft.origin {
            shared.push((kind.key(), RawJson::string(exposed)));
        }
        if let Some(schema) = &draft.facts.schema {
            shared.push(("inputSchema", schema.clone()));
        }
        if let Some(description) = overridden(kind, draft) {
            shared.push(("description", RawJson::string(description)));
        }
        shared.push((META, meta.text));
        let is_tool = kind == Kind::Tools;
        let output = object.get("outputSchema").filter(|_| is_tool);
        Self {
            object,
            shared,
            // Before 2026-07-28 an output schema had to be one of an object.
            drop_output_schema: output.is_some_and(|schema| !is_object_schema(&schema)),
            // It speaks of the tasks of 2025-11-25, which the stateless era does not have.
            drop_execution: is_tool && object.get("execution").is_some(),
            task_required: draft.facts.task_required,
        }
    }

    fn text(&self, era: Era) -> RawJson {
        let mut edit = Edit::new(self.object);
        for (key, value) in &self.shared {
            edit.set(key, value.clone());
        }
        if era == Era::Session && self.drop_output_schema {
            edit.remove("outputSchema");
        }
        // mcpr waits for a task that is required itself, so no client has to ask for one.
        if self.drop_execution && (era == Era::Stateless || self.task_required) {
            edit.remove("execution");
        }
        RawJson::trusted(edit.finish().into_bytes())
    }
}

/// The description that an operator gave a tool.
fn overridden<'d>(kind: Kind, draft: &'d Draft<'_>) -> Option<&'d str> {
    let known = draft.listing.overrides.get(&*draft.origin);
    known?.description.as_deref().filter(|_| kind == Kind::Tools)
}

impl Meta {
    /// The `_meta` of an item with its origin added.
    ///
    /// One that is no object would make clients refuse the whole list, so it gives way; `null` is
    /// what some servers write for none.
    pub(crate) fn of(draft: &Draft<'_>) -> Self {
        let sent = draft.object.get(META);
        let own = Own {
            server: &draft.listing.server,
            origin: &draft.origin,
        };
        match sent.as_ref().map(Object::read) {
            None => Self {
                text: own.alone(),
                replaced: false,
            },
            Some(Ok(object)) => Self {
                text: own.added_to(&object),
                replaced: false,
            },
            Some(Err(_)) => Self {
                text: own.alone(),
                replaced: true,
            },
        }
    }
}

/// What mcpr adds to each item.
struct Own<'a> {
    server: &'a ServerName,
    origin: &'a str,
}

impl Own<'_> {
    fn alone(&self) -> RawJson {
        let (server, origin) = (
            RawJson::string(self.server.as_str()),
            RawJson::string(self.origin),
        );
        RawJson::trusted(format!(
            r#"{{"{}":{},"{}":{}}}"#,
            key::SERVER,
            server.as_str(),
            key::ORIGIN,
            origin.as_str()
        ))
    }

    fn added_to(&self, meta: &Object) -> RawJson {
        let mut edit = Edit::new(meta);
        edit.set(key::SERVER, RawJson::string(self.server.as_str()));
        edit.set(key::ORIGIN, RawJson::string(self.origin));
        RawJson::trusted(edit.finish().into_bytes())
    }
}

//! What servers ask of clients, on its way to the client.

use mcpr_protocol::{Edit, Method, Object, RawJson, Request, Rope, Version, key};

use crate::block::{block, text};
use crate::form;

/// A question of a server: a request of its in the session era, an entry of its `inputRequests`
/// in the stateless one.
#[derive(Clone, Debug)]
pub struct Question {
    /// For what.
    pub method: Method,
    /// Which: an object.
    pub params: Option<RawJson>,
}

/// The client's revision has no words for the question, so it has to be declined for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a client of {client} cannot be shown {what}")]
pub struct Unaskable {
    /// The revision the client speaks.
    pub client: Version,
    /// What it does not know.
    pub what: &'static str,
}

impl Question {
    /// The `params` of a request to a client of the session era; an empty rope where there are none.
    ///
    /// The same bytes, unless the client is of an older revision than the server. `elicitation_id`
    /// is what mcpr calls the visit of a URL toward the client; only 2025-11-25 has one.
    ///
    /// # Errors
    ///
    /// [`Unaskable`] where the question cannot be said in the client's revision.
    pub fn for_session(
        &self,
        server: Version,
        client: Version,
        elicitation_id: Option<&str>,
    ) -> Result<Rope, Unaskable> {
        let Some(params) = &self.params else {
            return Ok(Rope::new());
        };
        let Ok(object) = Object::read(params) else {
            return Ok(params.clone().into());
        };
        let mut edit = Edit::new(&object);
        edit.remove("task"); // mcpr declares no tasks of 2025-11-25, so nobody can keep one.
        if let Some(id) = elicitation_id.filter(|_| self.is_visit(&object)) {
            edit.set("elicitationId", RawJson::string(id));
        }
        if client < server && client < Version::V2025_11_25 {
            let unaskable = |what| Unaskable { client, what };
            self.downgrade(&mut edit, &object, client).map_err(unaskable)?;
        }
        Ok(finish(edit, params))
    }

    /// Whether the user is to visit a URL.
    pub fn wants_visit(&self) -> bool {
        let params = self.params.as_ref().and_then(|params| Object::read(params).ok());
        params.is_some_and(|params| self.is_visit(&params))
    }

    /// What a server of the session era calls the visit of a URL that it asks for.
    pub fn visit(&self) -> Option<String> {
        let params = Object::read(self.params.as_ref()?).ok()?;
        params.text("elicitationId").filter(|_| self.is_visit(&params))
    }

    /// The entry of a stateless client's `inputRequests`.
    pub fn for_input(&self) -> Rope {
        let mut entry = Rope::from(format!(
            "{{\"method\":{}",
            RawJson::string(self.method.as_str()).as_str()
        ));
        if let Some(params) = &self.params {
            entry.push_static(",\"params\":");
            entry.append(stateless(params));
        }
        entry.push_static("}");
        entry
    }

    /// Reads an entry of `inputRequests`.
    pub(crate) fn read(entry: &RawJson) -> Option<Self> {
        let entry = Object::read(entry).ok()?;
        let params = entry.get("params").filter(|params| !params.is_null());
        if params.as_ref().is_some_and(|params| !params.is_object()) {
            return None;
        }
        Some(Self {
            method: Method::new(&entry.text("method")?),
            params,
        })
    }

    /// Whether the user is to visit a URL.
    fn is_visit(&self, params: &Object) -> bool {
        self.method == Method::Elicit && params.text("mode").as_deref() == Some("url")
    }

    fn downgrade(&self, edit: &mut Edit<'_>, params: &Object, client: Version) -> Result<(), &'static str> {
        let (member, changed) = match self.method {
            Method::Elicit if self.is_visit(params) => return Err("a URL to visit"),
            Method::Elicit => {
                let schema = params.object("requestedSchema");
                (
                    "requestedSchema",
                    schema.map_or(Ok(None), |schema| form::older(&schema))?,
                )
            }
            Method::CreateMessage => ("messages", messages(params, client)?),
            _ => return Ok(()),
        };
        if let Some(changed) = changed {
            edit.set(member, changed);
        }
        Ok(())
    }
}

impl From<&Request> for Question {
    fn from(request: &Request) -> Self {
        Self {
            method: request.method.clone(),
            params: request.params.clone(),
        }
    }
}

fn finish(mut edit: Edit<'_>, unchanged: &RawJson) -> Rope {
    if edit.is_empty() {
        unchanged.clone().into()
    } else {
        edit.finish()
    }
}

/// Without what only the session era knows.
fn stateless(params: &RawJson) -> Rope {
    let Ok(object) = Object::read(params) else {
        return params.clone().into();
    };
    let mut edit = Edit::new(&object);
    edit.remove("task").remove("elicitationId");
    if let Some(meta) = object
        .object("_meta")
        .filter(|meta| meta.get(key::PROGRESS_TOKEN).is_some())
    {
        if meta.members().count() == 1 {
            edit.remove("_meta");
        } else {
            edit.set("_meta", Edit::new(&meta).remove(key::PROGRESS_TOKEN).finish());
        }
    }
    finish(edit, params)
}

/// Messages of one block each: what came before 2025-11-25.
fn messages(params: &Object, client: Version) -> Result<Option<Rope>, &'static str> {
    let mut refused = None;
    let messages = params.get("messages");
    let changed = messages.and_then(|messages| {
        messages.map_elements(|element| {
            message(element, client).unwrap_or_else(|what| {
                refused = Some(what);
                None
            })
        })
    });
    refused.map_or(Ok(changed), Err)
}

/// The message as one or several of one block; `None` if it can stay.
fn message(element: &RawJson, client: Version) -> Result<Option<Rope>, &'static str> {
    let Ok(message) = Object::read(element) else {
        return Ok(None);
    };
    let Some(content) = message.get("content") else {
        return Ok(None);
    };
    let with = |block: Rope| Edit::new(&message).set("content", block).finish();
    let Some(blocks) = content.elements() else {
        return Ok(one_block(&content, client)?.map(with));
    };
    let mut split = Rope::new();
    for each in &blocks {
        if !split.is_empty() {
            split.push_static(",");
        }
        let block = one_block(each, client)?.unwrap_or_else(|| each.clone().into());
        split.append(with(block));
    }
    Ok(Some(if blocks.is_empty() { with(text("")) } else { split }))
}

/// The block as an older client can take it; `None` if it can stay.
fn one_block(content: &RawJson, client: Version) -> Result<Option<Rope>, &'static str> {
    let object = Object::read(content).ok();
    match object.and_then(|object| object.text("type")).as_deref() {
        Some("tool_use" | "tool_result") => Err("a message about the use of tools"),
        _ => Ok(block(content, client, &|_| None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const C: Version = Version::V2025_06_18;
    const D: Version = Version::V2025_11_25;
    const M: Version = Version::V2026_07_28;

    fn question(method: Method, params: &'static str) -> Question {
        let params = Some(RawJson::from_static(params));
        Question { method, params }
    }

    fn text_of(rope: Rope) -> String {
        String::from_utf8(rope.into_bytes().to_vec()).unwrap()
    }

    fn asked(question: &Question, server: Version, client: Version) -> Result<String, Unaskable> {
        question.for_session(server, client, None).map(text_of)
    }

    const FORM: &str = r#"{"message":"m", "x":1E400,"requestedSchema":{"type":"object","properties":{"a":{"type":"string","default":"d"}}}}"#;

    #[test]
    fn between_equal_revisions_a_question_is_the_same_bytes() {
        let form = question(Method::Elicit, FORM);
        assert_eq!(asked(&form, D, D).unwrap(), FORM);
        assert_eq!(asked(&form, M, D).unwrap(), FORM);
        assert_eq!(asked(&form, D, C).unwrap(), FORM.replace(r#","default":"d""#, ""));
    }

    #[test]
    fn roots_need_no_params() {
        let roots = Question {
            method: Method::RootsList,
            params: None,
        };
        assert_eq!(asked(&roots, M, C).unwrap(), "");
        assert_eq!(text_of(roots.for_input()), r#"{"method":"roots/list"}"#);
    }

    #[test]
    fn a_visit_gets_a_name_where_the_revision_has_one() {
        let visit = question(
            Method::Elicit,
            r#"{"mode":"url","url":"https://x","message":"m"}"#,
        );
        let named = visit.for_session(M, D, Some("e-1")).map(text_of).unwrap();
        assert_eq!(
            named,
            r#"{"mode":"url","url":"https://x","message":"m","elicitationId":"e-1"}"#
        );
        let error = visit.for_session(M, C, Some("e-1")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a client of 2025-06-18 cannot be shown a URL to visit"
        );
    }

    #[test]
    fn a_stateless_client_finds_nothing_of_the_session_era() {
        let visit = question(
            Method::Elicit,
            r#"{"mode":"url","elicitationId":"e","task":{},"_meta":{"progressToken":1},"url":"https://x"}"#,
        );
        assert_eq!(
            text_of(visit.for_input()),
            r#"{"method":"elicitation/create","params":{"mode":"url","url":"https://x"}}"#
        );
        let kept = question(Method::CreateMessage, r#"{"_meta":{"progressToken":1,"a":2}}"#);
        assert_eq!(
            text_of(kept.for_input()),
            r#"{"method":"sampling/createMessage","params":{"_meta":{"a":2}}}"#
        );
    }

    #[test]
    fn older_clients_get_messages_of_one_block() {
        let sampling = question(
            Method::CreateMessage,
            r#"{"messages":[{"role":"user","content":[{"type":"text","text":"1"}]},{"role":"user","content":{"type":"text","text":"2"}},{"role":"user","content":[{"type":"text","text":"3"},{"type":"audio","mimeType":"a/b","data":""}]}],"maxTokens":5}"#,
        );
        assert_eq!(
            asked(&sampling, D, C).unwrap(),
            r#"{"messages":[{"role":"user","content":{"type":"text","text":"1"}},{"role":"user","content":{"type":"text","text":"2"}},{"role":"user","content":{"type":"text","text":"3"}},{"role":"user","content":{"type":"audio","mimeType":"a/b","data":""}}],"maxTokens":5}"#
        );
        let oldest = asked(&sampling, D, Version::V2024_11_05).unwrap();
        assert!(
            oldest.contains("[audio of a/b") && !oldest.contains("\"data\""),
            "{oldest}"
        );
    }

    #[test]
    fn older_clients_are_not_asked_about_tools_in_use() {
        let sampling = question(
            Method::CreateMessage,
            r#"{"messages":[{"role":"user","content":[{"type":"tool_result"}]}]}"#,
        );
        assert_eq!(
            asked(&sampling, D, C).unwrap_err().what,
            "a message about the use of tools"
        );
        assert!(asked(&sampling, M, D).is_ok());
    }

    #[test]
    fn an_entry_is_a_method_and_an_object_or_nothing() {
        let read = |text| Question::read(&RawJson::from_static(text));
        let roots = read(r#"{"method":"roots/list","params":null}"#).unwrap();
        assert!(roots.params.is_none() && roots.method == Method::RootsList);
        assert!(read(r#"{"params":{}}"#).is_none() && read(r#"{"method":"x","params":[]}"#).is_none());
    }
}

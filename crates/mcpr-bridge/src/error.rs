//! What a client gets to see of a server's error.

use mcpr_protocol::{Ability, Edit, Era, ErrorObject, Method, Object, RawJson, Rope, Version, code};
use serde::Serialize;

use crate::block::{text, with_uri};
use crate::{Expose, Passage};

/// The error as the client must get it: the same bytes, unless the code means something else, or
/// nothing, in the client's era. Where the client's era has no such error at all, a result can
/// come out of it.
///
/// `Err` holds an error object, `Ok` a result.
pub fn error(raw: &RawJson, passage: &Passage<'_>, expose: Expose<'_>) -> Result<Rope, Rope> {
    let Ok(object) = Object::read(raw) else {
        return Err(raw.clone().into());
    };
    let code = object
        .get("code")
        .and_then(|code| code.as_str().parse().ok())
        .unwrap_or(code::INTERNAL);
    let error = Seen {
        object: &object,
        code,
        passage,
        expose,
    };
    match passage.client.era() {
        Era::Stateless => error.for_stateless(),
        Era::Session => error.for_session(),
    }
}

struct Seen<'a> {
    object: &'a Object,
    code: i64,
    passage: &'a Passage<'a>,
    expose: Expose<'a>,
}

/// What the server said, where the client's era has no such error.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Upstream {
    upstream_code: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    upstream_data: Option<RawJson>,
}

impl Seen<'_> {
    fn for_stateless(&self) -> Result<Rope, Rope> {
        Err(match self.code {
            code::RESOURCE_NOT_FOUND => self.not_found(code::INVALID_PARAMS),
            // Of a client that can visit the gateway asks it: what comes here has no other way.
            code::URL_ELICITATION_REQUIRED => return self.with_urls(),
            code::MISSING_CAPABILITY => self.unchanged(),
            -32099..=-32000 => self.internal(),
            _ => self.unchanged(),
        })
    }

    fn for_session(&self) -> Result<Rope, Rope> {
        match self.code {
            code::INVALID_PARAMS if self.is_missing_resource() => {
                Err(self.not_found(code::RESOURCE_NOT_FOUND))
            }
            code::MISSING_CAPABILITY if *self.passage.method == Method::ToolsCall => {
                Ok(self.tool_error(&self.message()))
            }
            code::URL_ELICITATION_REQUIRED if !self.can_visit() => self.with_urls(),
            code::HEADER_MISMATCH | code::MISSING_CAPABILITY | code::UNSUPPORTED_VERSION => {
                Err(self.internal())
            }
            _ => Err(self.unchanged()),
        }
    }

    /// 2026-07-28 says "not found" with the code for wrong parameters.
    fn is_missing_resource(&self) -> bool {
        let named = self
            .object
            .object("data")
            .is_some_and(|data| data.get("uri").is_some());
        let said = || self.message().to_lowercase().contains("not found");
        self.passage.server.era() == Era::Stateless
            && *self.passage.method == Method::ResourcesRead
            && (named || said())
    }

    /// Only 2025-11-25 has the error that sends the user to a URL.
    fn can_visit(&self) -> bool {
        self.passage.client == Version::V2025_11_25 && self.passage.abilities.has(Ability::Url)
    }

    /// For clients that cannot send anybody anywhere: the text names the URLs.
    fn with_urls(&self) -> Result<Rope, Rope> {
        let elicitations = self
            .object
            .object("data")
            .and_then(|data| data.get("elicitations"));
        let mut text = self.message();
        for visit in elicitations.and_then(|all| all.elements()).unwrap_or_default() {
            let Ok(visit) = Object::read(&visit) else { continue };
            let why = visit.text("message").unwrap_or_default();
            let url = visit.text("url").unwrap_or_default();
            text.push_str(&format!("\n{why}: {url}"));
        }
        match self.passage.method {
            Method::ToolsCall => Ok(self.tool_error(&text)),
            _ => Err(self.internal_with(text)),
        }
    }

    /// A result of a tool that says what went wrong.
    fn tool_error(&self, message: &str) -> Rope {
        let mut result = Rope::from(bytes::Bytes::from_static(b"{\"content\":["));
        result.append(text(message));
        result.push_static("],\"isError\":true");
        if self.passage.client.era() == Era::Stateless {
            result.push_static(",\"resultType\":\"complete\"");
        }
        result.push_static("}");
        result
    }

    fn message(&self) -> String {
        self.object.text("message").unwrap_or_default()
    }

    fn unchanged(&self) -> Rope {
        match self.data() {
            Some(data) => Edit::new(self.object).set("data", data).finish(),
            None => self.object.raw().clone().into(),
        }
    }

    /// "No such resource" in the words of the other era.
    fn not_found(&self, code: i64) -> Rope {
        let mut edit = Edit::new(self.object);
        edit.set("code", Rope::from(code.to_string()));
        if let Some(data) = self.data_with_uri() {
            edit.set("data", data);
        }
        edit.finish()
    }

    /// The data with its URI exposed; `None` if it can stay.
    fn data(&self) -> Option<Rope> {
        with_uri(&self.object.object("data")?, self.expose)
    }

    /// The data of an error about a resource, which names it; `None` if it can stay.
    fn data_with_uri(&self) -> Option<Rope> {
        let empty = RawJson::from_static("{}");
        let data = self.object.get("data").filter(|data| !data.is_null());
        let data = Object::read(&data.unwrap_or(empty)).ok()?;
        match (data.get("uri"), self.passage.asked) {
            (None, Some(asked)) => Some(Edit::new(&data).set("uri", RawJson::string(asked)).finish()),
            _ => with_uri(&data, self.expose),
        }
    }

    /// A code that means nothing to the client, or that was about mcpr's own hop.
    fn internal(&self) -> Rope {
        self.internal_with(self.message())
    }

    fn internal_with(&self, message: String) -> Rope {
        let data = Upstream {
            upstream_code: self.code,
            upstream_data: self.object.get("data"),
        };
        ErrorObject::new(code::INTERNAL, message)
            .with(&data)
            .render()
            .into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpr_protocol::Abilities;

    const SESSION: Version = Version::V2025_11_25;
    const STATELESS: Version = Version::V2026_07_28;

    fn passed(
        text: &'static str,
        method: Method,
        client: Version,
        server: Version,
    ) -> Result<String, String> {
        passed_for(Abilities::ALL_RELAYED, text, method, client, server)
    }

    fn passed_for(
        abilities: Abilities,
        text: &'static str,
        method: Method,
        client: Version,
        server: Version,
    ) -> Result<String, String> {
        let expose = |uri: &str| Some(format!("resource://s/{uri}"));
        let text_of = |rope: Rope| String::from_utf8(rope.into_bytes().to_vec()).unwrap();
        let passage = Passage {
            client,
            server,
            method: &method,
            abilities,
            asked: Some("resource://s/asked"),
            server_info: None,
        };
        error(&RawJson::from_static(text), &passage, &expose)
            .map(text_of)
            .map_err(text_of)
    }

    #[test]
    fn b50_an_error_passes_as_it_is() {
        let text = r#"{"code":-32042,"message":"m","data":{"a":[1E400]}}"#;
        assert_eq!(
            passed(text, Method::ToolsCall, SESSION, SESSION).unwrap_err(),
            text
        );
        let own = r#"{ "message":"m","code":17}"#;
        assert_eq!(
            passed(own, Method::ToolsCall, STATELESS, SESSION).unwrap_err(),
            own
        );
    }

    #[test]
    fn not_found_has_another_code_in_each_era() {
        let session = r#"{"code":-32002,"message":"m","data":{"uri":"a"}}"#;
        let stateless = r#"{"code":-32602,"message":"m","data":{"uri":"resource://s/a"}}"#;
        assert_eq!(
            passed(session, Method::ResourcesRead, STATELESS, SESSION).unwrap_err(),
            stateless
        );
        let back = r#"{"code":-32602,"message":"m","data":{"uri":"a"}}"#;
        let session = r#"{"code":-32002,"message":"m","data":{"uri":"resource://s/a"}}"#;
        assert_eq!(
            passed(back, Method::ResourcesRead, SESSION, STATELESS).unwrap_err(),
            session
        );
    }

    #[test]
    fn not_found_always_names_the_resource() {
        let bare = r#"{"code":-32002,"message":"m"}"#;
        assert_eq!(
            passed(bare, Method::ResourcesRead, STATELESS, SESSION).unwrap_err(),
            r#"{"code":-32602,"message":"m","data":{"uri":"resource://s/asked"}}"#
        );
        let said = r#"{"code":-32602,"message":"Resource not found","data":{"x":1}}"#;
        assert_eq!(
            passed(said, Method::ResourcesRead, SESSION, STATELESS).unwrap_err(),
            r#"{"code":-32002,"message":"Resource not found","data":{"x":1,"uri":"resource://s/asked"}}"#
        );
    }

    #[test]
    fn urls_are_named_to_clients_that_cannot_visit_them() {
        let visit = r#"{"code":-32042,"message":"sign in","data":{"elicitations":[{"mode":"url","url":"https://x","message":"Log in"}]}}"#;
        let told = |abilities, method, client| passed_for(abilities, visit, method, client, SESSION);
        let text = r#"{"content":[{"text":"sign in\nLog in: https://x","type":"text"}],"isError":true}"#;
        assert_eq!(told(Abilities::NONE, Method::ToolsCall, SESSION).unwrap(), text);
        let older = told(Abilities::ALL_RELAYED, Method::ToolsCall, Version::V2025_06_18);
        assert_eq!(older.unwrap(), text);
        let stateless = told(Abilities::NONE, Method::ToolsCall, STATELESS).unwrap();
        assert_eq!(
            stateless,
            text.replace(r#"true}"#, r#"true,"resultType":"complete"}"#)
        );
        let prompt = told(Abilities::NONE, Method::PromptsGet, SESSION).unwrap_err();
        assert!(
            prompt.contains("-32603") && prompt.contains("Log in: https://x"),
            "{prompt}"
        );
        assert_eq!(
            told(Abilities::ALL_RELAYED, Method::ToolsCall, SESSION).unwrap_err(),
            visit
        );
    }

    #[test]
    fn codes_without_a_meaning_for_the_client_become_internal() {
        let error = passed(
            r#"{"code":-32001,"message":"m"}"#,
            Method::ToolsCall,
            STATELESS,
            SESSION,
        )
        .unwrap_err();
        assert!(
            error.contains("-32603") && error.contains("\"upstreamCode\":-32001"),
            "{error}"
        );
    }

    #[test]
    fn a_missing_capability_is_a_tool_error_for_session_clients() {
        let text = r#"{"code":-32021,"message":"needs elicitation"}"#;
        let result = passed(text, Method::ToolsCall, SESSION, STATELESS).unwrap();
        assert_eq!(
            result,
            r#"{"content":[{"text":"needs elicitation","type":"text"}],"isError":true}"#
        );
        assert_eq!(
            passed(text, Method::ToolsCall, STATELESS, STATELESS).unwrap_err(),
            text
        );
    }
}

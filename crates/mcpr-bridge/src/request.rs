//! What a server gets to see of a client's request.

use mcpr_protocol::{Edit, Envelope, Method, Object, RawJson, Rope, Version, key};

use crate::trace::{self, carry_on};

/// The next hop of a request.
#[derive(Clone, Debug)]
pub struct Hop<'a> {
    /// The revision the server speaks.
    pub version: Version,
    /// What is asked.
    pub method: &'a Method,
    /// The progress token on this hop, if the client wants progress.
    pub progress: Option<u64>,
    /// What mcpr tells the server of the client's abilities.
    pub capabilities: &'a RawJson,
    /// What a stateless server is told of who calls.
    pub client_info: &'a RawJson,
    /// From which level on the client wants log messages.
    pub log_level: Option<&'a str>,
    /// The `traceparent` of the hop, where mcpr tells a collector of it.
    pub span: Option<&'a str>,
}

/// The text of `params` for the server.
///
/// `changes` are the members that the gateway has other values for (the name, the URI, the answers
/// of a retry); an empty one takes the member out. In `_meta` the client's envelope is replaced by the hop's, the progress token by the hop's own, and mcpr's
/// own members are left out (SEC-04); everything else is passed on.
pub fn params(params: Option<&Object>, changes: Vec<(&'static str, Rope)>, hop: &Hop<'_>) -> Rope {
    let none = Object::default();
    let object = params.unwrap_or(&none);
    let mut edit = Edit::new(object);
    for (member, value) in changes {
        match value.is_empty() {
            true => edit.remove(member),
            false => edit.set(member, value),
        };
    }
    drop_what_is_not_understood(&mut edit, object, hop);
    let meta = object.object("_meta");
    match meta_for(meta.as_ref(), hop) {
        Some(changed) => {
            edit.set("_meta", changed);
        }
        // A `null` is no object, which servers may insist on.
        None if meta.is_none() => {
            edit.remove("_meta");
        }
        None => {}
    }
    if edit.is_empty() {
        params
            .map(|object| object.raw().clone().into())
            .unwrap_or_default()
    } else {
        edit.finish()
    }
}

fn drop_what_is_not_understood(edit: &mut Edit<'_>, object: &Object, hop: &Hop<'_>) {
    let takes_arguments = matches!(hop.method, Method::ToolsCall | Method::PromptsGet);
    if takes_arguments
        && object
            .get("arguments")
            .is_some_and(|arguments| arguments.is_null())
    {
        edit.remove("arguments"); // B40: absent is understood everywhere, null is not.
    }
    if *hop.method == Method::Complete && hop.version < Version::V2025_06_18 {
        edit.remove("context");
    }
}

/// The new `_meta`, or `None` if the client's can stay (or stay away).
fn meta_for(meta: Option<&Object>, hop: &Hop<'_>) -> Option<Rope> {
    let Some(meta) = meta else {
        return own_meta(hop);
    };
    let mut edit = Edit::new(meta);
    edit.remove_where(stays_here);
    carry_on(&mut edit, meta, hop.span);
    if let Some(token) = hop.progress {
        edit.set(key::PROGRESS_TOKEN, Rope::from(token.to_string()));
    }
    if hop.version >= Version::V2026_07_28 {
        for (member, value) in Envelope::members(hop.version, hop.capabilities, hop.client_info) {
            edit.set(member, value);
        }
        if let Some(level) = hop.log_level {
            edit.set(key::LOG_LEVEL, RawJson::string(level));
        }
    }
    (!edit.is_empty()).then(|| edit.finish())
}

/// The `_meta` of a request that came without one, which is how most come.
fn own_meta(hop: &Hop<'_>) -> Option<Rope> {
    let mut meta = Rope::new();
    // The names are MCP's own: nothing in them needs an escape.
    let mut add = |member: &'static str, value: &[u8]| {
        meta.push_static(if meta.is_empty() { "{\"" } else { ",\"" });
        meta.push_static(member);
        meta.push_static("\":");
        meta.push_text(value);
    };
    if let Some(token) = hop.progress {
        add(key::PROGRESS_TOKEN, token.to_string().as_bytes());
    }
    if hop.version >= Version::V2026_07_28 {
        for (member, value) in Envelope::members(hop.version, hop.capabilities, hop.client_info) {
            add(member, value.as_bytes());
        }
        if let Some(level) = hop.log_level {
            add(key::LOG_LEVEL, RawJson::string(level).as_bytes());
        }
    }
    if let Some(span) = hop.span {
        add(trace::PARENT, RawJson::string(span).as_bytes());
    }
    if meta.is_empty() {
        return None;
    }
    meta.push_static("}");
    Some(meta)
}

/// Members of `_meta` that say something between the client and mcpr only.
fn stays_here(member: &str) -> bool {
    let envelope = [
        key::PROTOCOL_VERSION,
        key::CLIENT_CAPABILITIES,
        key::CLIENT_INFO,
        key::LOG_LEVEL,
        key::PROGRESS_TOKEN,
    ];
    envelope.contains(&member) || member.starts_with(key::OWN) || matches!(member, "token" | "projectId")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hop(version: Version, progress: Option<u64>, test: impl Fn(&Hop<'_>) -> Rope) -> String {
        let hop = Hop {
            version,
            method: &Method::ToolsCall,
            progress,
            capabilities: &RawJson::from_static("{}"),
            client_info: &RawJson::from_static(r#"{"name":"c","version":"1"}"#),
            log_level: None,
            span: None,
        };
        String::from_utf8(test(&hop).into_bytes().to_vec()).unwrap()
    }

    fn object(text: &'static str) -> Object {
        Object::read(&RawJson::from_static(text)).unwrap()
    }

    fn name(name: &str) -> Vec<(&'static str, Rope)> {
        vec![("name", RawJson::string(name).into())]
    }

    #[test]
    fn agg_03_arguments_stay_byte_for_byte() {
        let call = object(
            r#"{"name":"git_log", "arguments": {"z":1,"a":1E400,"n":123456789012345678901234567890} }"#,
        );
        let text = hop(Version::V2025_11_25, None, |hop| {
            params(Some(&call), name("log"), hop)
        });
        assert_eq!(
            text,
            r#"{"name":"log", "arguments": {"z":1,"a":1E400,"n":123456789012345678901234567890} }"#
        );
    }

    #[test]
    fn sec_04_nothing_of_ours_leaves() {
        let call = object(
            r#"{"name":"x","_meta":{"dev.mcpr/prefer":"eu","token":"t","projectId":"p","progressToken":"a","baggage":"user=anna","x":1}}"#,
        );
        let text = hop(Version::V2025_11_25, Some(7), |hop| {
            params(Some(&call), Vec::new(), hop)
        });
        assert_eq!(text, r#"{"name":"x","_meta":{"progressToken":7,"x":1}}"#);
    }

    #[test]
    fn a_stateless_hop_gets_an_envelope_and_a_session_hop_none() {
        let text = hop(Version::V2026_07_28, None, |hop| params(None, Vec::new(), hop));
        assert_eq!(
            text,
            r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}}}"#
        );
        let call = object(&*Box::leak(text.into_boxed_str()));
        assert_eq!(
            hop(Version::V2025_11_25, None, |hop| params(
                Some(&call),
                Vec::new(),
                hop
            )),
            r#"{"_meta":{}}"#
        );
    }

    #[test]
    fn a_span_goes_along_where_the_client_sends_no_meta() {
        let text = hop(Version::V2025_11_25, Some(7), |hop| {
            let span = Some("00-1-2-01");
            params(None, Vec::new(), &Hop { span, ..hop.clone() })
        });
        assert_eq!(text, r#"{"_meta":{"progressToken":7,"traceparent":"00-1-2-01"}}"#);
    }

    #[test]
    fn an_empty_change_takes_the_member_out() {
        let call = object(r#"{"name":"x","requestState":"s","inputResponses":{}}"#);
        let changes = || vec![("requestState", Rope::new()), ("inputResponses", Rope::new())];
        let text = hop(Version::V2025_11_25, None, |hop| {
            params(Some(&call), changes(), hop)
        });
        assert_eq!(text, r#"{"name":"x"}"#);
    }

    #[test]
    fn b40_null_arguments_become_absent() {
        let call = object(r#"{"name":"x","arguments":null}"#);
        assert_eq!(
            hop(Version::V2025_11_25, None, |hop| params(
                Some(&call),
                Vec::new(),
                hop
            )),
            r#"{"name":"x"}"#
        );
    }
}

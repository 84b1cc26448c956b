//! What a request of the stateless era repeats in headers (2026-07-28, transports).

use std::collections::HashMap;
use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue};
use mcpr_protocol::{Id, Message, Method, Object, RawJson, Request, Response, encode_value, key};
use mcpr_registry::{ParamHeader, param_headers};
use mcpr_transport::http::names;
use memchr::memmem;

use super::Bridge;

/// Which arguments of which tools travel in headers too, as the tool list that came last says.
#[derive(Default)]
pub(super) struct ParamTable {
    /// Whether a list has come at all.
    known: bool,
    tools: HashMap<String, Vec<ParamHeader>>,
}

/// The version that a request is written in, if it is of the stateless era.
pub(super) fn version_of(request: &Request) -> Option<String> {
    let params = Object::read(request.params.as_ref()?).ok()?;
    params.object("_meta")?.text(key::PROTOCOL_VERSION)
}

impl Bridge {
    /// Makes sure that there is a list of tools before one is called: on a pipe a client may call a
    /// tool that it knows from elsewhere, and the call would lack headers.
    pub(super) async fn learn_tools(&self, call: &Request, version: &str) {
        if call.method == Method::ToolsCall
            && !self.params.lock().known
            && let Some(tools) = self.list_tools(call, version).await
        {
            self.params.lock().learn(&tools);
        }
    }

    /// What `tools/list` says to the client that makes this call.
    async fn list_tools(&self, call: &Request, version: &str) -> Option<RawJson> {
        let meta = Object::read(call.params.as_ref()?).ok()?.get("_meta")?;
        let params = RawJson::trusted(format!("{{\"_meta\":{}}}", meta.as_str()));
        let list = Request {
            id: Id::number(0),
            method: Method::ToolsList,
            params: Some(params),
        };
        let headers = self.stateless_headers(&list, version);
        let mut answer = self
            .link
            .post(headers, Message::Request(list).to_rope())
            .await
            .ok()?;
        match Message::parse(&answer.next().await?.ok()?) {
            Ok(Message::Response(Response {
                outcome: Ok(tools), ..
            })) => Some(tools),
            _ => None,
        }
    }

    /// The headers of a request of the stateless era. What no header can carry is left out; the
    /// gateway then says what is missing.
    pub(super) fn stateless_headers(&self, request: &Request, version: &str) -> Arc<HeaderMap> {
        let mut headers = HeaderMap::clone(self.link.template());
        set(&mut headers, names::PROTOCOL_VERSION, version);
        set(
            &mut headers,
            names::METHOD,
            &encode_value(request.method.as_str()),
        );
        let params = request
            .params
            .as_ref()
            .and_then(|params| Object::read(params).ok());
        let named = request
            .method
            .named_by()
            .and_then(|member| params.as_ref()?.text(member));
        if let Some(name) = named {
            set(&mut headers, names::NAME, &encode_value(&name));
            if request.method == Method::ToolsCall {
                let arguments = params.and_then(|params| params.get("arguments"));
                self.params.lock().repeat(&name, arguments, &mut headers);
            }
        }
        Arc::new(headers)
    }
}

impl ParamTable {
    /// Takes the annotations from a result of `tools/list`, in place of what was known.
    pub(super) fn learn(&mut self, result: &RawJson) {
        self.known = true;
        self.tools.clear();
        if memmem::find(result.as_bytes(), b"x-mcp-header").is_none() {
            return;
        }
        let tools = Object::read(result)
            .ok()
            .and_then(|result| result.get("tools")?.elements());
        self.tools
            .extend(tools.into_iter().flatten().filter_map(|tool| annotated(&tool)));
    }

    fn repeat(&self, tool: &str, arguments: Option<RawJson>, headers: &mut HeaderMap) {
        let Some((known, arguments)) = self.tools.get(tool).zip(arguments) else {
            return;
        };
        for param in known {
            if let (Ok(name), Some(value)) = (HeaderName::try_from(param.field()), param.value_in(&arguments))
            {
                set(headers, name, &value);
            }
        }
    }
}

fn annotated(tool: &RawJson) -> Option<(String, Vec<ParamHeader>)> {
    let tool = Object::read(tool).ok()?;
    let params = param_headers(&tool.get("inputSchema")?).ok()?;
    (!params.is_empty()).then_some((tool.text("name")?, params))
}

fn set(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

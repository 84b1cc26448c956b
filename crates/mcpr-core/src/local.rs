//! A client in the embedding program itself: requests without a socket (EMB-01).

use std::sync::Arc;

use mcpr_auth::Principal;
use mcpr_protocol::{
    Abilities, ErrorObject, Id, Message, Method, Object, RawJson, Request, Rope, Version, code,
};
use mcpr_router::{Blame, Retry};
use serde::Serialize;
use serde_json::json;

use crate::client::{Client, Context};
use crate::dispatch::Handled;
use crate::flight::Step;
use crate::gateway::Gateway;
use crate::scope::Asked;

/// A client of the newest revision with a session era, that cannot be asked anything and is in this
/// process. It sees and may do what its principal does. Dropping a request cancels it at its server.
#[derive(Clone)]
pub struct LocalClient {
    gateway: Arc<Gateway>,
    context: Context,
}

/// A request that has no result (EMB-02).
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct CallError {
    /// The code of JSON-RPC.
    pub code: i64,
    /// What happened, for people; a server's own words where the server says it.
    pub message: String,
    /// mcpr's word for it, such as `unknown_tool` or `server_down`; none where a server says it.
    pub kind: Option<String>,
    /// Whose fault it is.
    pub blame: Blame,
    /// Whether trying again is wise.
    pub retry: Retry,
    /// More for programs, as it would go to a client.
    pub data: Option<RawJson>,
}

impl Gateway {
    /// A client in this process, for the operator of the gateway.
    pub fn client(self: &Arc<Self>) -> LocalClient {
        LocalClient {
            gateway: self.clone(),
            context: context(Principal::local(), "embedded"),
        }
    }
}

/// The context of a client of this process.
pub(crate) fn context(principal: Principal, name: &str) -> Context {
    let nothing = Object::read(&RawJson::from_static("{}")).expect("an empty object is one");
    let client = Client {
        name: Some(name.into()),
        ..Client::of_session(Version::NEWEST_SESSION, &nothing)
    };
    Context {
        abilities: Abilities::NONE,
        client: Arc::new(client),
        ..Context::of_stranger(principal)
    }
}

impl LocalClient {
    /// The same for another principal.
    #[must_use]
    pub fn acting_for(mut self, principal: Principal) -> Self {
        self.context.principal = principal;
        self
    }

    /// The same within a project (PRJ-01).
    #[must_use]
    pub fn in_project(mut self, project: &str) -> Self {
        self.context.asked = Asked {
            project: Some(project.into()),
            ..self.context.asked
        };
        self
    }

    /// The entries of `tools/list`, of all pages.
    ///
    /// # Errors
    ///
    /// When the principal may not list.
    pub async fn tools(&self) -> Result<Vec<RawJson>, CallError> {
        let (mut tools, mut cursor) = (Vec::new(), None);
        loop {
            let params = cursor.map_or_else(|| json!({}), |cursor: String| json!({ "cursor": cursor }));
            let page = self.request("tools/list", &params).await?;
            let page = Object::read(&page).map_err(|_| CallError::of(&unreadable()))?;
            tools.extend(
                page.get("tools")
                    .and_then(|tools| tools.elements())
                    .unwrap_or_default(),
            );
            cursor = page.text("nextCursor");
            if cursor.is_none() {
                return Ok(tools);
            }
        }
    }

    /// Calls a tool by its exposed name, its origin name (`git.status`), or its bare name where only one server
    /// has it. The result is a `CallToolResult`; one that says `isError` is a result too.
    ///
    /// # Errors
    ///
    /// Without a result; an unknown tool reads `Unknown tool: {name}`.
    pub async fn call(&self, tool: &str, arguments: &impl Serialize) -> Result<RawJson, CallError> {
        #[derive(Serialize)]
        struct Call<'a, A> {
            name: &'a str,
            arguments: &'a A,
        }
        self.request(
            "tools/call",
            &Call {
                name: tool,
                arguments,
            },
        )
        .await
    }

    /// Makes any request of MCP and gives its `result`. Notifications on the way are not told.
    ///
    /// # Errors
    ///
    /// Without a result.
    pub async fn request(&self, method: &str, params: &impl Serialize) -> Result<RawJson, CallError> {
        let request = Request {
            id: Id::number(1),
            method: Method::new(method),
            params: Some(RawJson::render(params)),
        };
        let text = match self.gateway.dispatch(self.context.clone(), request).await {
            Handled::Done(done) => done.text,
            Handled::Listen(_) => return Err(CallError::of(&unreadable())),
            Handled::Flight(mut flight) => loop {
                match flight.next().await {
                    Step::Done(done) => break done.text,
                    Step::Cancelled => return Err(CallError::of(&cancelled())),
                    Step::Note(_) | Step::Slow => {}
                }
            },
        };
        outcome(text)
    }
}

impl CallError {
    fn of(error: &ErrorObject) -> Self {
        let data = error.data.as_ref().and_then(|data| Object::read(data).ok());
        let text = |member| data.as_ref().and_then(|data| data.text(member));
        let kind = text("reason");
        Self {
            code: error.code,
            message: error.message.clone(),
            blame: blame(kind.as_deref(), error.code),
            retry: match text("retry").as_deref() {
                Some("safe") => Retry::Safe,
                Some("no") => Retry::No,
                _ if kind.is_none() && error.code == code::INVALID_PARAMS => Retry::No,
                _ => Retry::Unsafe,
            },
            kind,
            data: error.data.clone(),
        }
    }

    /// The same as a result of a tool with `isError`, for agents that tell it to their model.
    pub fn into_tool_result(self) -> RawJson {
        RawJson::render(&json!({ "content": [{ "type": "text", "text": self.message }], "isError": true }))
    }
}

/// Whose fault an error is, by mcpr's word for it; what has none is a server's own.
fn blame(kind: Option<&str>, code: i64) -> Blame {
    match kind {
        Some("unknown_tool" | "not_equipped" | "forbidden" | "denied") => Blame::Downstream,
        Some("internal" | "busy" | "operation_in_progress") => Blame::Gateway,
        Some(_) => Blame::Upstream,
        None if code == code::INVALID_PARAMS || code == code::METHOD_NOT_FOUND => Blame::Downstream,
        None => Blame::Upstream,
    }
}

fn outcome(text: Rope) -> Result<RawJson, CallError> {
    let Ok(Message::Response(response)) = Message::parse(&text.into_bytes()) else {
        return Err(CallError::of(&unreadable()));
    };
    let error = |error: RawJson| CallError::of(&error.read().unwrap_or_else(|_| unreadable()));
    response.outcome.map_err(error)
}

fn unreadable() -> ErrorObject {
    ErrorObject::new(code::INTERNAL, "the answer cannot be read")
}

fn cancelled() -> ErrorObject {
    ErrorObject::new(code::INTERNAL, "the request was cancelled")
}

//! Clients of both eras, for promises that hold in each.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::Gateway;
use crate::client::{Session, Stateless};
use crate::http::Answer;

/// What the gateway says of itself in results of servers that have no word for that.
const SIGNATURE: &str = concat!(
    r#""io.modelcontextprotocol/serverInfo":{"name":"mcpr","title":"mcpr gateway","version":""#,
    env!("CARGO_PKG_VERSION"),
    r#""}"#
);

/// A client of either era.
#[derive(Debug)]
pub enum Client {
    /// Of the session era.
    Session(Session),
    /// Of the stateless era.
    Stateless(Stateless),
}

impl Gateway {
    /// A client of each era.
    pub async fn clients(&self) -> [Client; 2] {
        [
            Client::Session(self.client().await),
            Client::Stateless(self.stateless()),
        ]
    }
}

impl Client {
    /// Sends a request, with the headers of its era, and waits for the whole answer; `params` is
    /// the inside of an object.
    pub async fn ask(&self, method: &str, params: &str) -> Answer {
        match self {
            Self::Session(session) => session.request(method, &format!("{{{params}}}")).await,
            Self::Stateless(stateless) => {
                let name = named(method, params).map(|name| header_value(&name));
                stateless.request(method, params, name.as_deref()).await
            }
        }
    }

    /// Calls a tool, with arguments given as text.
    pub async fn call(&self, tool: &str, arguments: &str) -> Answer {
        self.ask(
            "tools/call",
            &format!(r#""name":{},"arguments":{arguments}"#, json!(tool)),
        )
        .await
    }

    /// Reads a resource.
    pub async fn read(&self, uri: &str) -> Answer {
        self.ask("resources/read", &format!(r#""uri":{}"#, json!(uri)))
            .await
    }

    /// Gets a prompt without arguments.
    pub async fn prompt(&self, name: &str) -> Answer {
        self.ask("prompts/get", &format!(r#""name":{}"#, json!(name)))
            .await
    }

    /// What a method lists, each item as the text that came.
    pub async fn items(&self, method: &str, member: &str) -> Vec<String> {
        crate::raw::elements(&self.ask(method, "").await.raw(&["result", member]))
    }

    /// The members of that name of what a method lists.
    pub async fn listed(&self, method: &str, member: &str, key: &str) -> Vec<String> {
        let message = self.ask(method, "").await.message();
        let items = message["result"][member]
            .as_array()
            .unwrap_or_else(|| panic!("no list in {message}"));
        items
            .iter()
            .map(|item| item[key].as_str().expect("a text").to_owned())
            .collect()
    }

    /// The exposed names of the tools.
    pub async fn tools(&self) -> Vec<String> {
        self.listed("tools/list", "tools", "name").await
    }

    /// What a result without `_meta` has at its end in this era, when a server of that era said
    /// nothing of its type.
    pub fn tail(&self, stateless_server: bool) -> String {
        match (self, stateless_server) {
            (Self::Session(_), _) => String::new(),
            (Self::Stateless(_), true) => r#","resultType":"complete""#.into(),
            (Self::Stateless(_), false) => format!(r#","resultType":"complete","_meta":{{{SIGNATURE}}}"#),
        }
    }

    /// The same for a result with a `_meta`: its members, and what comes at the end of the result.
    pub fn with_meta(&self, members: &str, stateless_server: bool) -> (String, &'static str) {
        match (self, stateless_server) {
            (Self::Session(_), _) => (members.into(), ""),
            (Self::Stateless(_), true) => (members.into(), r#","resultType":"complete""#),
            (Self::Stateless(_), false) => (format!("{members},{SIGNATURE}"), r#","resultType":"complete""#),
        }
    }
}

/// What the header `Mcp-Name` repeats.
pub(crate) fn named(method: &str, params: &str) -> Option<String> {
    let member = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => return None,
    };
    let members: std::collections::BTreeMap<String, Box<serde_json::value::RawValue>> =
        serde_json::from_str(&format!("{{{params}}}")).expect("parameters are members of an object");
    let name: Value = serde_json::from_str(members.get(member)?.get()).ok()?;
    name.as_str().map(str::to_owned)
}

/// A text as a header can carry it.
pub(crate) fn header_value(text: &str) -> String {
    if text.bytes().all(|byte| matches!(byte, 0x21..=0x7e)) {
        text.to_owned()
    } else {
        format!("=?base64?{}?=", STANDARD.encode(text))
    }
}

//! Servers of every kind, for promises that hold whatever a server speaks.

use mcpr_tests::{Builder, Fake, Gateway, Script, gateway};
use serde_json::json;

/// Servers of both eras over every wire, all of the same script.
pub(crate) struct Everywhere([(&'static str, Fake); 6]);

impl Everywhere {
    pub(crate) fn new(script: impl Fn() -> Script) -> Self {
        let of = |era: &str| script().set("era", json!(era));
        Self([
            ("old", of("session").stdio()),
            ("web", of("session").set("session", json!(true)).http()),
            ("new", of("stateless").stdio()),
            ("net", of("stateless").set("sse", json!(true)).http()),
            ("two", of("both").http()),
            ("sse", of("session").sse()),
        ])
    }

    /// Name and server.
    pub(crate) fn each(&self) -> impl Iterator<Item = (&'static str, &Fake)> {
        self.0.iter().map(|(name, fake)| (*name, fake))
    }

    /// Whether the gateway speaks to the server of that name in the words of the stateless era.
    pub(crate) fn is_stateless(name: &str) -> bool {
        matches!(name, "new" | "net" | "two")
    }

    /// A gateway in front of all of them.
    pub(crate) async fn gateway(&self) -> Gateway {
        self.each()
            .fold(gateway(), |builder, (name, fake)| builder.fake(name, fake))
            .ready()
            .await
    }
}

/// A gateway with these servers in this order, at work.
pub(crate) async fn in_front_of<const N: usize>(fakes: [(&str, &Fake); N]) -> Gateway {
    builder(fakes).ready().await
}

/// The same before its start.
pub(crate) fn builder<const N: usize>(fakes: [(&str, &Fake); N]) -> Builder {
    fakes
        .into_iter()
        .fold(gateway(), |builder, (name, fake)| builder.fake(name, fake))
}

/// A server with these tools.
pub(crate) fn tools(names: &[&str]) -> Fake {
    names
        .iter()
        .fold(Fake::script(), |script, name| script.tool(name))
        .stdio()
}

/// The names of the tools that a server was called for.
pub(crate) fn called(fake: &Fake) -> Vec<String> {
    let calls = fake.received_of("tools/call");
    calls
        .iter()
        .map(|call| call.params()["name"].as_str().expect("a name").to_owned())
        .collect()
}

/// A server whose tools have these `inputSchema` members.
pub(crate) fn schemas(members: &[(&str, &str)]) -> Script {
    members.iter().fold(Fake::script(), |script, (name, schema)| {
        let member = if schema.is_empty() {
            String::new()
        } else {
            format!(r#","inputSchema":{schema}"#)
        };
        script.tool_entry(&format!(r#"{{"name":"{name}"{member}}}"#))
    })
}

//! Servers that tell of their resources, and a gateway in front of each.

use mcpr_tests::{Fake, Gateway, Script, gateway};
use serde_json::{Value, json};

/// The ways in which a fake server can be reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    SessionPipe,
    SessionHttp,
    SessionSse,
    StatelessPipe,
    StatelessHttp,
}

impl Kind {
    pub(crate) const ALL: [Self; 5] = [
        Self::SessionPipe,
        Self::SessionHttp,
        Self::SessionSse,
        Self::StatelessPipe,
        Self::StatelessHttp,
    ];

    pub(crate) const SESSION: [Self; 3] = [Self::SessionPipe, Self::SessionHttp, Self::SessionSse];

    pub(crate) const STATELESS: [Self; 2] = [Self::StatelessPipe, Self::StatelessHttp];

    /// A server of this kind that follows a script.
    pub(crate) fn run(self, script: Script) -> Fake {
        let stateless = |script: Script| script.set("era", json!("stateless"));
        match self {
            Self::SessionPipe => script.stdio(),
            Self::SessionHttp => script.set("session", json!(true)).http(),
            Self::SessionSse => script.sse(),
            Self::StatelessPipe => stateless(script).stdio(),
            Self::StatelessHttp => stateless(script).http(),
        }
    }
}

/// A server with a few resources and the tool `touch`.
pub(crate) fn telling() -> Script {
    let uris = ["file:///a", "file:///b", crate::LAST];
    let resources = uris.map(|uri| json!({ "uri": uri, "name": uri }));
    Fake::script()
        .set("resources", json!(resources))
        .set("touch_tool", json!(true))
}

/// A server that is tried again at once, so that a test of its loss is short.
pub(crate) fn impatient() -> Value {
    json!({ "restart": { "backoffMin": "20ms", "backoffMax": "100ms" } })
}

/// A gateway before a server `a` of each of these kinds.
pub(crate) async fn before(kinds: &[Kind], script: impl Fn() -> Script) -> Vec<(Kind, Fake, Gateway)> {
    let mut stands = Vec::new();
    for kind in kinds {
        let fake = kind.run(script());
        let gateway = gateway().fake_with("a", &fake, impatient()).ready().await;
        stands.push((*kind, fake, gateway));
    }
    stands
}

/// Has a server say that its resource has changed.
pub(crate) async fn touch(gateway: &Gateway, uri: &str) {
    touch_at(gateway, "a", &json!({ "uri": uri })).await;
}

/// The same of the server of that name, with all arguments.
pub(crate) async fn touch_at(gateway: &Gateway, server: &str, arguments: &Value) {
    let tool = format!("{server}_touch");
    let answer = gateway.stateless().call(&tool, &arguments.to_string()).await;
    assert!(answer["result"].is_object(), "{answer}");
}

/// The exposed form of a URI of server `a`.
pub(crate) fn exposed(uri: &str) -> String {
    format!("resource://a/{uri}")
}

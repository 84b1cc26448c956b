//! Servers of each era and transport with the same script, and what clients of both say to them.

use futures_util::future::join_all;
use mcpr_tests::talk::{Question, Saying};
use mcpr_tests::{Fake, Gateway, Script, gateway};
use serde_json::{Value, json};

/// What a server asks for in most tests.
pub(crate) const NAME: &str = r#"{"message":"name for {args}?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}"#;

/// How many connections to a server on a pipe there are at the most.
pub(crate) const CONNECTIONS: usize = 9;

/// A gateway before a server `a`.
pub(crate) struct Place {
    pub(crate) fake: Fake,
    pub(crate) gateway: Gateway,
    pub(crate) stateless: bool,
}

/// Everything that a client can be asked.
pub(crate) fn all() -> Value {
    json!({ "roots": {}, "sampling": { "tools": {} }, "elicitation": { "form": {}, "url": {} } })
}

/// Nothing but forms.
pub(crate) fn forms() -> Value {
    json!({ "elicitation": {} })
}

/// A server `a` with a tool `ask` that asks this each time; the parameters keep their bytes.
pub(crate) fn asks(method: &str, params: &str) -> Script {
    let ask = format!(r#"{{"method":"{method}","params":{params}}}"#);
    asking_all(&format!("[[{ask}]]"))
}

/// The same for the rounds of an interview, given as text.
pub(crate) fn asking_all(rounds: &str) -> Script {
    let interview = format!(r#"{{"interview":[{{"on":["tools/call:ask"],"rounds":{rounds}}}]}}"#);
    Fake::script().tool("ask").tool("plain").with(&interview)
}

/// Servers of the session era: on a pipe, over HTTP, over the old HTTP+SSE.
pub(crate) async fn sessions(script: impl Fn() -> Script) -> Vec<Place> {
    let fakes = [
        script().stdio(),
        script().with(r#"{"session":true}"#).http(),
        script().sse(),
    ];
    join_all(fakes.map(|fake| place(fake, false))).await
}

/// Servers of the stateless era: on a pipe, over HTTP.
pub(crate) async fn stateless(script: impl Fn() -> Script) -> Vec<Place> {
    let script = || script().with(r#"{"era":"stateless"}"#);
    join_all([script().stdio(), script().http()].map(|fake| place(fake, true))).await
}

/// Servers of both eras.
pub(crate) async fn servers(script: impl Fn() -> Script) -> Vec<Place> {
    let (mut all, stateless) = tokio::join!(sessions(&script), stateless(&script));
    all.extend(stateless);
    all
}

async fn place(fake: Fake, stateless: bool) -> Place {
    let gateway = gateway().fake("a", &fake).ready().await;
    Place {
        fake,
        gateway,
        stateless,
    }
}

/// Says the same to every question.
pub(crate) fn always(result: &str) -> impl Fn(&Question) -> Saying {
    let result = result.to_owned();
    move |_| Saying::Result(result.clone())
}

/// Fills in the name that the question itself names.
pub(crate) fn echo(question: &Question) -> Saying {
    let params: Value = serde_json::from_str(&question.params).unwrap();
    Saying::Result(json!({ "action": "accept", "content": { "name": params["message"] } }).to_string())
}

/// A test that is asked nothing.
pub(crate) fn never(question: &Question) -> Saying {
    panic!("nobody is to be asked {question:?}")
}

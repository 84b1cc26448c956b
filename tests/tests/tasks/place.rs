//! Servers whose calls become tasks, a gateway in front of each, and what clients do there.

use std::time::Duration;

use futures_util::future::join_all;
use mcpr_tests::talk::{Able, Question, Saying};
use mcpr_tests::{Fake, Gateway, Script, gateway, wait_for};
use serde_json::{Value, json};

/// The id that every server gives to its first task.
pub(crate) const FIRST: &str = r#"task/1 "é""#;

/// A gateway before a server `a`.
pub(crate) struct Place {
    pub(crate) fake: Fake,
    pub(crate) gateway: Gateway,
}

/// What a client declares that knows tasks.
pub(crate) fn knows_tasks() -> Value {
    json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } })
}

/// A stateless server whose tool `work` is a task; `tasks` are more keys of how those go.
pub(crate) fn working(tasks: &Value) -> Script {
    let mut tasks = tasks.clone();
    tasks["on"] = json!(["tools/call:work"]);
    Fake::script()
        .tool("work")
        .tool("plain")
        .set("era", json!("stateless"))
        .set("tasks", tasks)
}

/// Such a server on a pipe and one over HTTP, each behind a gateway.
pub(crate) async fn before(script: impl Fn() -> Script) -> Vec<Place> {
    join_all([script().stdio(), script().http()].map(place)).await
}

/// A gateway before this server.
pub(crate) async fn place(fake: Fake) -> Place {
    place_with(fake, json!({})).await
}

/// The same with keys of mcpr's own in its entry.
pub(crate) async fn place_with(fake: Fake, own: Value) -> Place {
    let gateway = gateway().fake_with("a", &fake, own).ready().await;
    Place { fake, gateway }
}

impl Place {
    /// A stateless client that knows tasks.
    pub(crate) fn client(&self) -> Able {
        self.gateway.able(&knows_tasks())
    }

    /// A stateless client that has begun a task, and the id of it.
    pub(crate) async fn begun(&self, arguments: &str) -> (Able, String) {
        let client = self.client();
        let id = begin(&client, "a_work", arguments).await;
        (client, id)
    }

    /// Has the server end its task of this number.
    pub(crate) async fn finish(&self, number: u32) {
        let arguments = json!({ "task": number }).to_string();
        let answer = self.gateway.stateless().call("a_finish", &arguments).await;
        assert!(answer["result"].is_object(), "{answer}");
    }
}

/// Calls a tool that becomes a task, and gives the id of it.
pub(crate) async fn begin(client: &Able, tool: &str, arguments: &str) -> String {
    let task = client.call(tool, arguments, "").await.message();
    assert_eq!(task["result"]["resultType"], "task", "{task}");
    task["result"]["taskId"].as_str().unwrap().to_owned()
}

/// The inside of the parameters of a request about a task.
pub(crate) fn about(id: &str) -> String {
    format!(r#""taskId":{}"#, json!(id))
}

/// Asks how a task stands.
pub(crate) async fn get(client: &Able, id: &str) -> Value {
    client.ask("tasks/get", &about(id)).await.message()
}

/// Asks how a task stands until it stands so.
pub(crate) async fn stands(client: &Able, id: &str, status: &str) -> Value {
    wait_for(
        Duration::from_secs(20),
        &format!("a task that is {status}"),
        async || {
            let task = get(client, id).await;
            assert!(task["result"].is_object(), "{task}");
            (task["result"]["status"] == status).then(|| task["result"].clone())
        },
    )
    .await
}

/// The text of the result of a call.
pub(crate) fn text_of(result: &Value) -> &str {
    result["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("no text in {result}"))
}

/// A conversation in which nobody is to be asked anything.
pub(crate) fn never(question: &Question) -> Saying {
    panic!("nobody is to be asked {question:?}")
}

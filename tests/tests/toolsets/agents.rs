//! Clients that use the built-in tools.

use std::time::Duration;

use mcpr_tests::client::{Session, Stateless};
use mcpr_tests::http::Connection;
use serde_json::Value;
use tokio::task::yield_now;
use tokio::time::timeout;

/// How long something may take that happens by itself.
const SOON: Duration = Duration::from_secs(10);

/// The structured result of a built-in tool.
pub(crate) async fn use_tool(client: &Session, tool: &str, arguments: &str) -> Value {
    structured(&client.call(tool, arguments).await)
}

/// The same for a stateless client.
pub(crate) async fn use_statelessly(client: &Stateless, tool: &str, arguments: &str) -> Value {
    structured(&client.call(tool, arguments).await)
}

/// The structured content of an answer that is no error.
pub(crate) fn structured(answer: &Value) -> Value {
    assert!(answer["result"]["isError"].is_null(), "no success: {answer}");
    let content = &answer["result"]["structuredContent"];
    assert!(content.is_object(), "no structure in {answer}");
    content.clone()
}

/// The text of an answer that says `isError`.
pub(crate) fn complaint(answer: &Value) -> String {
    assert_eq!(answer["result"]["isError"], true, "no tool error: {answer}");
    answer["result"]["content"][0]["text"]
        .as_str()
        .expect("a text")
        .to_owned()
}

/// The names of the built-in tools, in the order of the list.
pub(crate) const BUILT_INS: [&str; 7] = [
    "discover-all-tools",
    "build-toolset",
    "list-toolsets",
    "equip-toolset",
    "unequip-toolset",
    "get-active-toolset",
    "delete-toolset",
];

/// The listed tools that are not built in.
pub(crate) async fn others(client: &Session) -> Vec<String> {
    let mut names = client.tool_names().await;
    let built_in: Vec<_> = names.drain(..BUILT_INS.len()).collect();
    assert_eq!(built_in, BUILT_INS);
    names
}

/// What happens soon.
pub(crate) async fn soon<T>(happens: impl Future<Output = T>) -> T {
    timeout(SOON, happens).await.expect("it happens soon")
}

/// Looks again and again until something holds.
pub(crate) async fn until(mut holds: impl AsyncFnMut() -> bool) {
    let looking = async {
        while !holds().await {
            yield_now().await;
        }
    };
    soon(looking).await;
}

/// Waits until a client is told that its list of tools has changed, which must be the next it hears.
pub(crate) async fn hears_of_tools(stream: &mut Connection) {
    let notice = soon(stream.event()).await.expect("a notice").message();
    assert_eq!(notice["method"], "notifications/tools/list_changed", "{notice}");
}

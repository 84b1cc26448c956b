//! What the command lines once said, said again: this needs none of them.

use mcpr_tests::http::{Connection, Head, Request};
use mcpr_tests::recorder::Sent;
use mcpr_tests::{Fake, Gateway};
use serde_json::{Value, json};

use crate::fixture::Fixture;
use crate::place::{grow, serving};

/// The tools of the server, by the names that clients know.
const TOOLS: [&str; 6] = ["a_add", "a_ask", "a_cwd", "a_echo", "a_env", "a_pid"];

#[tokio::test(flavor = "multi_thread")]
async fn claude_code_is_answered_as_it_expects() {
    replay("claude-code", "list").await;
    replay("claude-code", "session").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn codex_is_answered_as_it_expects() {
    replay("codex", "session").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn gemini_is_answered_as_it_expects() {
    replay("gemini", "list").await;
    replay("gemini", "session").await;
}

/// Says everything again, checks each answer, and that the streams that are open then are alive.
async fn replay(client: &str, name: &str) {
    let (fake, gateway) = serving().await;
    let mut replay = Replay {
        gateway,
        sessions: Vec::new(),
        streams: Vec::new(),
        asked: None,
        _fake: fake,
    };
    for sent in Fixture::read(client, name).0 {
        replay.say(&sent).await;
    }
    grow(&replay.gateway).await;
    for stream in &mut replay.streams {
        let changed = |message: &Value| message["method"] == "notifications/tools/list_changed";
        stream.message(changed).await.expect("the stream stays open");
    }
}

/// A client that says what another said.
struct Replay {
    gateway: Gateway,
    /// In the order in which they were opened.
    sessions: Vec<String>,
    /// Those that stay open.
    streams: Vec<Connection>,
    /// The call that waits for an answer of the client.
    asked: Option<Connection>,
    _fake: Fake,
}

impl Replay {
    async fn say(&mut self, sent: &Sent) {
        let (head, connection) = self.request(sent).open(self.gateway.port).await;
        match sent.method().as_str() {
            "GET" => self.stream(&head, connection),
            "DELETE" => self.ended(&head),
            "POST" => self.answered(&head).await,
            "notifications/initialized" => assert_eq!(head.status, 202),
            "subscriptions/listen" => self.listening(sent, connection).await,
            "tools/call" => self.called(sent, connection).await,
            method => {
                let message = answer(sent, &head, connection).await;
                self.sessions
                    .extend(head.header("mcp-session-id").map(str::to_owned));
                check(method, sent, &message["result"]);
            }
        }
    }

    /// A request with what was written down, in a session and with a token of today.
    fn request(&self, sent: &Sent) -> Request {
        let (verb, path) = sent.line.split_once(' ').unwrap();
        let mut request = Request::new(verb, path);
        for (name, value) in &sent.headers {
            let number = value
                .strip_prefix("session-")
                .map(|number| number.parse::<usize>().unwrap());
            let value = match number {
                Some(number) => self.sessions[number - 1].clone(),
                None => value.replace("Bearer token", &format!("Bearer {}", self.gateway.token)),
            };
            request = request.header(name, &value);
        }
        let body = sent.body.as_ref().map(|body| body.get());
        request.body(body.unwrap_or_default())
    }

    fn stream(&mut self, head: &Head, connection: Connection) {
        assert_eq!(
            (head.status, head.header("content-type")),
            (200, Some("text/event-stream"))
        );
        self.streams.push(connection);
    }

    fn ended(&mut self, head: &Head) {
        assert_eq!(head.status, 204);
        self.streams.clear();
    }

    async fn listening(&mut self, sent: &Sent, mut connection: Connection) {
        let first = connection.message(|_| true).await.unwrap();
        assert_eq!(
            first["method"], "notifications/subscriptions/acknowledged",
            "{first}"
        );
        assert_eq!(
            first["params"]["notifications"],
            sent.message()["params"]["notifications"]
        );
        self.streams.push(connection);
    }

    /// A call is answered, or asks something.
    async fn called(&mut self, sent: &Sent, mut connection: Connection) {
        let message = match sent.message()["params"]["name"] == "a_ask" {
            true => connection.message(|_| true).await.unwrap(),
            false => serde_json::from_slice(&connection.body().await).unwrap(),
        };
        if message["method"] == "elicitation/create" {
            self.asked = Some(connection);
        } else {
            assert_eq!(message["result"]["content"][0]["text"], r#"{"n":1}"#, "{message}");
        }
    }

    /// The client has answered what it was asked, so its call ends.
    async fn answered(&mut self, head: &Head) {
        assert_eq!(head.status, 202);
        let mut call = self.asked.take().expect("something was asked");
        let message = call.message(|message| message["method"].is_null()).await.unwrap();
        assert!(
            message["result"]["content"][0]["text"]
                .to_string()
                .contains("Ada"),
            "{message}"
        );
    }
}

/// The answer to a request that is answered at once.
async fn answer(sent: &Sent, head: &Head, mut connection: Connection) -> Value {
    assert_eq!(
        (head.status, head.header("content-type")),
        (200, Some("application/json"))
    );
    let message: Value = serde_json::from_slice(&connection.body().await).unwrap();
    assert_eq!(message["id"], sent.message()["id"]);
    message
}

/// Checks what a client relies on.
fn check(method: &str, sent: &Sent, result: &Value) {
    let asked = &sent.message()["params"];
    let listed = |member: &str, key: &str| {
        let items = result[member]
            .as_array()
            .unwrap_or_else(|| panic!("{method}: {result}"));
        items
            .iter()
            .map(|item| item[key].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    match method {
        "initialize" => {
            assert_eq!(result["protocolVersion"], asked["protocolVersion"]);
            assert_eq!(result["capabilities"]["tools"]["listChanged"], true);
        }
        "server/discover" => {
            let versions = result["supportedVersions"].as_array().unwrap();
            assert!(versions.contains(&asked["_meta"]["io.modelcontextprotocol/protocolVersion"]));
        }
        "ping" => assert_eq!(*result, json!({})),
        "tools/list" => {
            let mut tools = listed("tools", "name");
            tools.sort_unstable();
            assert_eq!(tools, TOOLS);
        }
        "prompts/list" => assert_eq!(listed("prompts", "name"), ["a_p"]),
        "resources/templates/list" => assert!(listed("resourceTemplates", "name").is_empty()),
        "resources/list" => assert_eq!(listed("resources", "uri"), ["resource://a/memo:///r"]),
        method => panic!("nobody has said what answers {method}"),
    }
    let stateless = sent.header("mcp-method").is_some();
    assert_eq!(
        result["resultType"] == "complete",
        stateless,
        "{method}: {result}"
    );
}

//! A mistake inside the gateway ends the request it happened in, and nothing else (HTTP-04).

use std::sync::Arc;
use std::task::{Context, Poll};

use async_trait::async_trait;
use mcpr_protocol::{Message, Method, Notification, RawJson, Version};
use mcpr_registry::ServerName;
use mcpr_tests::{Fake, Gateway, gateway, logged};
use mcpr_transport::{Answering, Exchange, Failed, Outgoing, Reason, Transport};
use mcpr_upstream::{Dial, Dialer, Dialled, UpstreamSpec, Wire};
use serde_json::{Value, json};

use crate::{refusal, wire};

/// What a mistake says, which nobody outside may read.
const SECRET: &str = "the secret of the panic";

/// Dials as usual, and fails inside the gateway when some tools are called.
#[derive(Default)]
struct Clumsy(Dialer);

struct Stumbling(Arc<dyn Transport>);

/// Says that there is progress, and fails at the second look.
struct Halfway {
    id: u64,
    told: bool,
}

#[async_trait]
impl Dial for Clumsy {
    async fn dial(&self, server: &ServerName, spec: &UpstreamSpec, wire: Wire) -> Result<Dialled, Failed> {
        let dialled = self.0.dial(server, spec, wire).await?;
        Ok(Dialled {
            transport: Arc::new(Stumbling(dialled.transport)),
            ..dialled
        })
    }
}

#[async_trait]
impl Transport for Stumbling {
    fn next_id(&self) -> u64 {
        self.0.next_id()
    }

    async fn open(&self, request: Outgoing) -> Result<Exchange, Failed> {
        match (&request.method, request.name.as_deref()) {
            (Method::ToolsCall, Some("boom")) => panic!("{SECRET}"),
            (Method::ToolsCall, Some("later")) => Ok(Exchange::new(Halfway {
                id: request.id,
                told: false,
            })),
            _ => self.0.open(request).await,
        }
    }

    async fn send(&self, message: Message) -> Result<(), Failed> {
        self.0.send(message).await
    }

    fn negotiated(&self, version: Version) {
        self.0.negotiated(version);
    }

    async fn listen(&self) -> Option<tokio::sync::oneshot::Receiver<()>> {
        self.0.listen().await
    }

    async fn close(&self) {
        self.0.close().await;
    }
}

impl Answering for Halfway {
    fn poll_next(&mut self, _: &mut Context<'_>) -> Poll<Result<Message, Failed>> {
        assert!(!self.told, "{SECRET}");
        self.told = true;
        let params = RawJson::trusted(format!(r#"{{"progressToken":{},"progress":1}}"#, self.id));
        Poll::Ready(Ok(Message::Notification(Notification::new(
            "notifications/progress",
            Some(params),
        ))))
    }

    fn cancel(self: Box<Self>, _: Reason) {}
}

async fn serving() -> (Fake, Gateway) {
    let fake = Fake::script().tool("boom").tool("later").tool("x").stdio();
    let gateway = gateway().fake("a", &fake).dial(Clumsy::default()).ready().await;
    (fake, gateway)
}

/// Checks that an error tells a request id and nothing of what happened.
fn is_generic(message: &Value) {
    assert_eq!(message["error"]["code"], -32603, "{message}");
    let data = &message["error"]["data"];
    assert_eq!(
        (&data["reason"], &data["retry"]),
        (&json!("internal"), &json!("unsafe")),
        "{message}"
    );
    assert!(
        data["requestId"].is_u64() && !message.to_string().contains(SECRET),
        "{message}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn http_04_a_fault_is_500_with_a_request_id_and_a_generic_text() {
    logged();
    let (_fake, gateway) = serving().await;
    let client = gateway.client().await;
    let session = client.request("tools/call", r#"{"name":"a_boom"}"#).await;
    let stateless = gateway
        .stateless()
        .request("tools/call", r#""name":"a_boom""#, Some("a_boom"))
        .await;
    for answer in [session, stateless] {
        assert_eq!(refusal(&answer), (500, -32603, answer.message()["id"].clone()));
        is_generic(&answer.message());
    }
    assert!(
        logged().iter().any(|line| line.contains(SECRET)),
        "the log has the details"
    );
    assert!(
        client.call("a_x", "{}").await["result"].is_object(),
        "the gateway serves on"
    );
    assert_eq!(gateway.server("a").await["inFlight"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn http_04_on_an_open_stream_a_fault_is_its_last_message() {
    let (_fake, gateway) = serving().await;
    let client = gateway.client().await;
    let answer = client
        .request(
            "tools/call",
            r#"{"name":"a_later","_meta":{"progressToken":"t"}}"#,
        )
        .await;
    let messages: Vec<Value> = answer.events().iter().map(|event| event.message()).collect();
    assert_eq!((answer.status(), messages.len()), (200, 2), "{messages:?}");
    assert_eq!(messages[0]["params"]["progressToken"], "t");
    is_generic(&messages[1]);
    assert_eq!(messages[1]["id"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn http_04_on_a_pipe_a_fault_is_the_answer_and_the_pipe_lives_on() {
    let (_fake, gateway) = serving().await;
    let mut wire = wire::Wire::open(&gateway).await;
    for tool in ["a_boom", "a_later"] {
        is_generic(
            &wire
                .ask("7", "tools/call", &json!({ "name": tool }).to_string())
                .await,
        );
    }
    assert!(wire.ask("8", "tools/call", r#"{"name":"a_x"}"#).await["result"].is_object());
}

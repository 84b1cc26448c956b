//! Clients of every kind that hear of resources.

use mcpr_tests::Gateway;
use mcpr_tests::client::Session;
use mcpr_tests::http::{Connection, Request};
use serde_json::{Value, json};

use crate::wire::Wire;

const UPDATED: &str = "notifications/resources/updated";
pub(crate) const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// The ways in which a client can hear.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    SessionHttp,
    SessionPipe,
    StatelessHttp,
    StatelessPipe,
}

/// A client that has subscribed to something.
pub(crate) enum Ear {
    /// A session with its stream.
    Stream(Box<Session>, Connection),
    /// A session on a pipe.
    Pipe(Wire),
    /// A listen over HTTP; its first message has been read.
    Listen(Value, Connection),
    /// A listen on a pipe.
    PipeListen(Value, Wire),
}

impl Way {
    pub(crate) const ALL: [Self; 4] = [
        Self::SessionHttp,
        Self::SessionPipe,
        Self::StatelessHttp,
        Self::StatelessPipe,
    ];

    /// A client of this kind that has subscribed to resources, under these names.
    pub(crate) async fn hears(self, gateway: &Gateway, uris: &[&str]) -> Ear {
        match self {
            Self::SessionHttp => {
                let session = gateway.client().await;
                for uri in uris {
                    let told = subscribe(&session, uri).await;
                    assert_eq!(told["result"], json!({}), "{told}");
                }
                let stream = session.stream().await;
                Ear::Stream(Box::new(session), stream)
            }
            Self::SessionPipe => {
                let mut wire = Wire::open(gateway).await;
                for uri in uris {
                    let told = wire.ask("7", "resources/subscribe", &about(uri)).await;
                    assert_eq!(told["result"], json!({}), "{told}");
                }
                Ear::Pipe(wire)
            }
            Self::StatelessHttp => listen(gateway, &resources(uris)).await,
            Self::StatelessPipe => {
                let mut wire = Wire::new(gateway);
                let text = gateway
                    .stateless()
                    .text("\"l\"", "subscriptions/listen", &resources(uris));
                wire.send(&text).await;
                Ear::PipeListen(wire.next().await, wire)
            }
        }
    }
}

impl Ear {
    /// What it hears next; what only keeps the stream alive is passed over.
    pub(crate) async fn next(&mut self) -> Value {
        match self {
            Self::Stream(_, stream) | Self::Listen(_, stream) => {
                let message = stream.message(|message| !message.is_null()).await;
                message.expect("the stream is open")
            }
            Self::Pipe(wire) | Self::PipeListen(_, wire) => wire.next().await,
        }
    }

    /// The resource that it hears of next; a listen says which it is. Sessions hear of lists too.
    pub(crate) async fn hears_of(&mut self) -> String {
        let mut message = self.next().await;
        let is_session = matches!(self, Self::Stream(..) | Self::Pipe(_));
        while is_session
            && message["method"]
                .as_str()
                .is_some_and(|method| method.ends_with("list_changed"))
        {
            message = self.next().await;
        }
        assert_eq!(message["method"], UPDATED, "{message}");
        let tag = match self {
            Self::Stream(..) | Self::Pipe(_) => Value::Null,
            Self::Listen(..) => json!(1),
            Self::PipeListen(..) => json!("l"),
        };
        assert_eq!(message["params"]["_meta"][SUBSCRIPTION], tag, "{message}");
        message["params"]["uri"].as_str().expect("a URI").to_owned()
    }

    /// What the first message of a listen accepted.
    pub(crate) fn accepted(&self) -> &Value {
        match self {
            Self::Listen(first, _) | Self::PipeListen(first, _) => {
                assert_eq!(
                    first["method"], "notifications/subscriptions/acknowledged",
                    "{first}"
                );
                &first["params"]["notifications"]
            }
            Self::Stream(..) | Self::Pipe(_) => panic!("a session accepts each by itself"),
        }
    }

    /// Ends what it has subscribed to: in a session, by asking for it.
    pub(crate) async fn leaves(self, uris: &[&str]) {
        match self {
            Self::Stream(session, _stream) => {
                for uri in uris {
                    unsubscribe(&session, uri).await;
                }
            }
            Self::Pipe(mut wire) => {
                for uri in uris {
                    wire.ask("8", "resources/unsubscribe", &about(uri)).await;
                }
                wire.close().await;
            }
            Self::Listen(_, connection) => drop(connection),
            Self::PipeListen(_, mut wire) => {
                let cancel =
                    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"l"}}"#;
                wire.send(cancel).await;
                wire.close().await;
            }
        }
    }
}

/// A listen over HTTP; `filter` is the inside of the parameters.
pub(crate) async fn listen(gateway: &Gateway, filter: &str) -> Ear {
    let (head, mut connection) = gateway
        .stateless()
        .begin("subscriptions/listen", filter, None)
        .await;
    assert_eq!(head.status, 200, "{filter}");
    let first = connection.event().await.unwrap().message();
    Ear::Listen(first, connection)
}

/// A filter for these resources.
pub(crate) fn resources(uris: &[&str]) -> String {
    format!(r#""notifications":{}"#, json!({ "resourceSubscriptions": uris }))
}

/// Subscribes in a session, and gives the whole answer.
pub(crate) async fn subscribe(session: &Session, uri: &str) -> Value {
    session
        .request("resources/subscribe", &about(uri))
        .await
        .message()
}

/// Ends a subscription of a session.
pub(crate) async fn unsubscribe(session: &Session, uri: &str) {
    let answer = session
        .request("resources/unsubscribe", &about(uri))
        .await
        .message();
    assert_eq!(answer["result"], json!({}), "{answer}");
}

/// Ends a session.
pub(crate) async fn end(session: &Session) {
    let answer = session
        .in_session(Request::new("DELETE", "/mcp"))
        .send(session.port)
        .await;
    assert_eq!(answer.status(), 204);
}

fn about(uri: &str) -> String {
    json!({ "uri": uri }).to_string()
}

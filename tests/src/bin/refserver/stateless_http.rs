//! The stateless era over HTTP.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::task::AbortOnDropHandle;

use crate::client::Voice;
use crate::fault::Fault;
use crate::headers;
use crate::http::{Answer, Events, Head, empty, events, json};
use crate::message::Request;
use crate::server::Server;
use crate::stateless::{self, Envelope};

/// What goes to the client: messages of the server, and the answer at the end.
enum Piece {
    Notice(Value),
    Reply(u16, Value),
}

/// The way to the client of one request.
#[derive(Clone)]
struct Line(UnboundedSender<Piece>);

impl Voice for Line {
    fn say(&self, message: &Value) {
        // Nobody hears it when the client has left.
        let _ = self.0.send(Piece::Notice(message.clone()));
    }
}

/// Answers a request: in JSON when there is nothing else to say, and in events otherwise.
pub(crate) async fn answer(server: &Arc<Server>, head: &Head, request: Request) -> Answer {
    let envelope = match admitted(head, &request) {
        Ok(envelope) => envelope,
        Err(fault) => return json(fault.status(), &fault.message(Some(&request.id))),
    };
    let (sender, pieces) = unbounded_channel();
    let (server, line) = (Arc::clone(server), Line(sender));
    let work = tokio::spawn(async move {
        let outcome = stateless::answer(&server, &request, &envelope, Arc::new(line.clone())).await;
        let status = outcome.as_ref().map_or_else(Fault::status, |_| 200);
        // Nobody waits for it when the client has left.
        let _ = line.0.send(Piece::Reply(status, request.answered(outcome)));
    });
    respond(pieces, AbortOnDropHandle::new(work)).await
}

async fn respond(mut pieces: UnboundedReceiver<Piece>, work: AbortOnDropHandle<()>) -> Answer {
    match pieces.recv().await {
        Some(Piece::Reply(status, reply)) => json(status, &reply),
        Some(first) => events(Events {
            first: Some(first),
            rest: pieces,
            frame,
            _work: Some(work),
        }),
        None => empty(500),
    }
}

fn frame(piece: &Piece) -> Bytes {
    let (Piece::Notice(message) | Piece::Reply(_, message)) = piece;
    Bytes::from(format!("event: message\ndata: {message}\n\n"))
}

/// Checks all that can be checked before the method is looked at, in the order in which it counts.
fn admitted(head: &Head, request: &Request) -> Result<Envelope, Fault> {
    let envelope = Envelope::read(request)?;
    headers::mirror(head, "mcp-protocol-version", &envelope.revision)?;
    envelope.check_revision()?;
    if !stateless::known(&request.method) {
        return Err(Fault::method_not_found(&request.method));
    }
    headers::check(head, request)?;
    Ok(envelope)
}

//! A conversation over one pair of one-way channels: stdio, or the old HTTP+SSE.

use std::io::Write as _;
use std::sync::Arc;

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;

use crate::fault::Fault;
use crate::message::{self, Message, Request};
use crate::outlet::Outlet;
use crate::server::{Context, Server, Talk};

/// Serves one client until its messages end. Requests run side by side.
pub(crate) async fn converse(server: Arc<Server>, mut incoming: UnboundedReceiver<Vec<u8>>, outlet: Outlet) {
    let talk = Arc::new(Talk::default());
    let mut work = JoinSet::new();
    while let Some(text) = incoming.recv().await {
        while work.try_join_next().is_some() {}
        server.log.message(&text);
        spill(server.spec.stderr);
        match Message::parse(&String::from_utf8_lossy(&text)) {
            Ok(message) => receive(message, &server, &talk, &outlet, &mut work),
            Err(error) => refuse(&outlet, &error),
        }
    }
}

fn receive(
    message: Message,
    server: &Arc<Server>,
    talk: &Arc<Talk>,
    outlet: &Outlet,
    work: &mut JoinSet<()>,
) {
    server.count(&message);
    let (own, way) = (Arc::clone(server), outlet.clone());
    match message {
        Message::Request(request) => {
            work.spawn(serve(own, Arc::clone(talk), request, way));
        }
        Message::Notification { ref method, .. } if method == "notifications/initialized" => {
            server.take(message, talk);
            server.notices.join(Arc::clone(talk), outlet.clone());
            work.spawn(async move { own.ping_client(&way).await });
        }
        other => server.take(other, talk),
    }
}

async fn serve(server: Arc<Server>, talk: Arc<Talk>, request: Request, outlet: Outlet) {
    let context = Context {
        talk: &talk,
        head: None,
        outlet: &outlet,
    };
    let reply = server.answer(&request, context).await;
    server.notify_within(&request, &outlet);
    outlet.reply(&request, &reply.text);
    server.notify_after(&request);
}

fn refuse(outlet: &Outlet, error: &serde_json::Error) {
    outlet.send(&message::error(
        "null",
        &Fault::new(-32700, &error.to_string()).error,
    ));
}

/// Writes to stderr without a line end, and blocks while nobody reads it.
fn spill(bytes: usize) {
    if bytes > 0 {
        // A client that closed stderr is no reason to stop.
        let _ = std::io::stderr().write_all(&vec![b'e'; bytes]);
    }
}

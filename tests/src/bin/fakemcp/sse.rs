//! The old HTTP+SSE of 2024-11-05: a stream for what comes, a POST address for what goes.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::converse::converse;
use crate::exchange::{EventBody, Exchange};
use crate::framing::Framing;
use crate::http::{Answer, events, lapse, listen, masked, plain};
use crate::log::Head;
use crate::outlet::Outlet;
use crate::server::Server;

/// The path of POST, unless the spec has an endpoint of its own.
const MESSAGES: &str = "/messages";

/// All open streams.
struct Streams {
    server: Arc<Server>,
    open: Mutex<HashMap<usize, UnboundedSender<Vec<u8>>>>,
    opened: AtomicUsize,
    requests: AtomicUsize,
}

/// Serves on a loopback port.
pub(crate) async fn serve(server: Arc<Server>, port: u16) -> anyhow::Result<()> {
    let (opened, requests) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let streams = Arc::new(Streams {
        server,
        open: Mutex::default(),
        opened,
        requests,
    });
    listen(port, move |head, body| Arc::clone(&streams).handle(head, body)).await
}

impl Streams {
    async fn handle(self: Arc<Self>, head: Head, body: Bytes) -> Answer {
        if head.method != "POST" {
            self.server.log.http(&head, &[]);
        }
        let nth = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        let mask = self.server.spec.mask.as_ref();
        if let Some(mask) = mask.filter(|mask| mask.covers(nth, None)) {
            return masked(mask);
        }
        match head.method.as_str() {
            "GET" => self.stream(),
            "POST" if self.is_post_address(&head.path) => self.post(&head, &body),
            _ => plain(405, "text/plain", "Method not allowed"),
        }
    }

    fn is_post_address(&self, path: &str) -> bool {
        self.server.spec.endpoint.is_some() || path.contains(MESSAGES)
    }

    fn stream(&self) -> Answer {
        let spec = &self.server.spec;
        let nth = self.opened.fetch_add(1, Ordering::Relaxed) + 1;
        let (inlet, incoming) = unbounded_channel();
        self.open.lock().insert(nth, inlet);
        let (sender, asides) = unbounded_channel();
        let talk = converse(Arc::clone(&self.server), incoming, Outlet::Stream(sender));
        let close_after = spec.close_after;
        let work = Box::pin(async move {
            tokio::select! {
                () = talk => {}
                () = lapse(close_after) => {}
            }
            None
        });
        let framing = Framing::of(spec);
        let template = spec
            .endpoint
            .clone()
            .unwrap_or_else(|| format!("{MESSAGES}?s={{s}}"));
        let endpoint = framing.event("endpoint", &template.replace("{s}", &nth.to_string()));
        events(
            spec,
            EventBody::new(Exchange::new(work, asides, None), framing, vec![endpoint]),
        )
    }

    /// Hands a message to its stream, or to the newest one when the address names none.
    fn post(&self, head: &Head, body: &[u8]) -> Answer {
        let mut open = self.open.lock();
        open.retain(|_, inlet| !inlet.is_closed());
        let named = head.path.split("s=").nth(1).and_then(|id| id.parse().ok());
        let id = named.or_else(|| open.keys().max().copied());
        let inlet = id.and_then(|id| open.get(&id));
        match inlet.map(|inlet| inlet.send(body.to_vec())) {
            Some(Ok(())) => plain(self.server.spec.accepted.unwrap_or(202), "text/plain", "Accepted"),
            _ => plain(404, "text/plain", "No such stream"),
        }
    }
}

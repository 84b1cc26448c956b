//! Lists of a stateless server hold as long as it says, and are read again when somebody wants to
//! see them after that; time is paused.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use mcpr_protocol::{ErrorObject, Id, Message, Method, RawJson, Response, Version, code};
use mcpr_registry::{Kind, ServerName};
use mcpr_transport::{Answering, Event, Exchange, Failed, Outgoing, Reason, Transport};
use mcpr_upstream::{
    Dial, Dialled, HttpSpec, NoAudience, NoMemory, Pool, PoolOptions, ProtocolChoice, Reach, SecretText,
    SseChoice, Upstream, UpstreamSpec, Wire,
};
use tokio::sync::mpsc;
use tokio::time::{Instant, advance};

/// A server with one tool, two pages of prompts, and no word on changes.
#[derive(Clone, Default)]
struct Server {
    /// How often its tools were read.
    reads: Arc<AtomicU64>,
}

struct Connection {
    server: Server,
    last_id: AtomicU64,
    _events: mpsc::Sender<Event>,
}

struct Told(Option<Response>);

#[async_trait]
impl Dial for Server {
    async fn dial(&self, _: &ServerName, _: &UpstreamSpec, _: Wire) -> Result<Dialled, Failed> {
        let (sender, events) = mpsc::channel(1);
        let connection = Connection {
            server: self.clone(),
            last_id: AtomicU64::new(0),
            _events: sender,
        };
        Ok(Dialled {
            transport: Arc::new(connection),
            events,
            signs: None,
        })
    }
}

impl Server {
    fn answer(&self, request: &Outgoing) -> Option<&'static str> {
        let has_cursor = || String::from_utf8_lossy(&request.params.clone().into_bytes()).contains("cursor");
        match request.method {
            Method::Discover => Some(
                r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"prompts":{}}}"#,
            ),
            Method::ToolsList => {
                self.reads.fetch_add(1, Ordering::Relaxed);
                Some(
                    r#"{"tools":[{"name":"t","inputSchema":{"type":"object"}}],"ttlMs":60000,"cacheScope":"public"}"#,
                )
            }
            Method::PromptsList if has_cursor() => {
                Some(r#"{"prompts":[],"ttlMs":1000,"cacheScope":"private"}"#)
            }
            Method::PromptsList => {
                Some(r#"{"prompts":[],"nextCursor":"2","ttlMs":60000,"cacheScope":"public"}"#)
            }
            _ => None,
        }
    }
}

#[async_trait]
impl Transport for Connection {
    fn next_id(&self) -> u64 {
        self.last_id.fetch_add(1, Ordering::Relaxed)
    }

    async fn open(&self, request: Outgoing) -> Result<Exchange, Failed> {
        let unknown = || ErrorObject::new(code::METHOD_NOT_FOUND, "unknown").render();
        let outcome = self.server.answer(&request).map(RawJson::from_static);
        Ok(Exchange::new(Told(Some(Response {
            id: Some(Id::number(request.id)),
            outcome: outcome.ok_or_else(unknown),
        }))))
    }

    async fn send(&self, _: Message) -> Result<(), Failed> {
        Ok(())
    }

    fn negotiated(&self, _: Version) {}

    async fn close(&self) {}
}

impl Answering for Told {
    fn poll_next(&mut self, _: &mut Context<'_>) -> Poll<Result<Message, Failed>> {
        let response = self.0.take().map(Message::Response);
        response.map_or(Poll::Pending, |response| Poll::Ready(Ok(response)))
    }

    fn cancel(self: Box<Self>, _: Reason) {}
}

/// A pool with the server in it, once it is ready.
async fn ready(server: &Server) -> (Pool, Arc<Upstream>) {
    let name: ServerName = "s".parse().expect("a name");
    let options = PoolOptions {
        starts_at_once: 1,
        eager: true,
        list_pages: 5,
    };
    let http = HttpSpec {
        url: SecretText::new("http://server.example/mcp"),
        headers: Vec::new(),
        sse: SseChoice::Never,
    };
    let spec = UpstreamSpec {
        protocol: ProtocolChoice::Stateless,
        ..UpstreamSpec::new(Reach::Http(http))
    };
    let dial = Arc::new(server.clone());
    let pool = Pool::new(dial, Arc::new(NoMemory), Arc::new(NoAudience), options);
    pool.apply(vec![(name.clone(), spec.into())]);
    let server = pool.get(&name).expect("the pool keeps it");
    let upstream = server.only_backend().expect("it has one").clone();
    upstream.settled().await;
    (pool, upstream)
}

fn remaining(upstream: &Upstream, kind: Kind) -> Duration {
    let fresh = upstream.status().fresh.of(kind).expect("the server has such");
    fresh.remaining(Instant::now())
}

#[tokio::test(start_paused = true)]
async fn a_list_holds_as_long_as_its_shortest_page() {
    let (_pool, upstream) = ready(&Server::default()).await;

    assert_eq!(remaining(&upstream, Kind::Tools), Duration::from_secs(60));
    assert_eq!(remaining(&upstream, Kind::Prompts), Duration::from_secs(1));
    let fresh = upstream.status().fresh;
    let public = |kind| fresh.of(kind).map(|fresh| fresh.public);
    assert_eq!(
        [Kind::Tools, Kind::Prompts, Kind::Resources].map(public),
        [Some(true), Some(false), None]
    );
}

#[tokio::test(start_paused = true)]
async fn a_list_whose_time_is_over_is_read_again_once_somebody_wants_it() {
    let server = Server::default();
    let (pool, upstream) = ready(&server).await;
    let mut changes = pool.changes();
    advance(Duration::from_secs(70)).await;
    assert_eq!(remaining(&upstream, Kind::Tools), Duration::ZERO);
    assert_eq!(server.reads.load(Ordering::Relaxed), 1);

    changes.mark_unchanged();
    upstream.expired(Kind::Tools);
    upstream.expired(Kind::Tools);
    changes.changed().await.expect("the pool lives");

    assert!(remaining(&upstream, Kind::Tools) > Duration::from_secs(59));
    assert_eq!(server.reads.load(Ordering::Relaxed), 2);
}

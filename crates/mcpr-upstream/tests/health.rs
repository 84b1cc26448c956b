//! Servers behind a URL are asked now and then whether they are there; time is paused.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use async_trait::async_trait;
use mcpr_protocol::{ErrorObject, Id, Message, Method, RawJson, Request, Response, Version, code};
use mcpr_registry::ServerName;
use mcpr_transport::{Answering, Event, Exchange, Failed, Outgoing, Reason, Transport};
use mcpr_upstream::{
    BackendSpec, Dial, Dialled, HttpSpec, NoAudience, NoMemory, Phase, Pool, PoolOptions, ProtocolChoice,
    Reach, SecretText, ServerSpec, SseChoice, Upstream, UpstreamSpec, Wire,
};
use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio::time::{Sleep, sleep, timeout};

/// How long anything may take, by the clock that is paused.
const LIMIT: Duration = Duration::from_secs(3600);

/// How the server takes a ping.
#[derive(Clone, Copy)]
enum Ping {
    Answered,
    /// A second later.
    Late,
    Refused,
    Unheard,
}

/// A server with nothing to offer.
#[derive(Clone, Default)]
struct Server {
    pings: Arc<Mutex<VecDeque<Ping>>>,
    /// Asks without end, and takes no answers.
    pesters: bool,
}

struct Connection {
    server: Server,
    last_id: AtomicU64,
    _events: mpsc::Sender<Event>,
}

/// What comes for one request, if anything, and when.
struct Told(Option<Response>, Pin<Box<Sleep>>);

#[async_trait]
impl Dial for Server {
    async fn dial(&self, _: &ServerName, _: &UpstreamSpec, _: Wire) -> Result<Dialled, Failed> {
        let (sender, events) = mpsc::channel(1);
        if self.pesters {
            tokio::spawn(pester(sender.clone()));
        }
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

#[async_trait]
impl Transport for Connection {
    fn next_id(&self) -> u64 {
        self.last_id.fetch_add(1, Ordering::Relaxed)
    }

    async fn open(&self, request: Outgoing) -> Result<Exchange, Failed> {
        let welcome =
            r#"{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}"#;
        let unknown = || Err(ErrorObject::new(code::METHOD_NOT_FOUND, "no ping here").render());
        let late = matches!(self.server.pings.lock().front(), Some(Ping::Late));
        let wait = Duration::from_secs(u64::from(late && request.method == Method::Ping));
        let outcome = match request.method {
            Method::Initialize => Some(Ok(RawJson::from_static(welcome))),
            Method::Ping => match self.server.pings.lock().pop_front() {
                Some(Ping::Answered | Ping::Late) => Some(Ok(RawJson::from_static("{}"))),
                Some(Ping::Refused) => Some(unknown()),
                Some(Ping::Unheard) | None => None,
            },
            _ => Some(unknown()),
        };
        let id = Some(Id::number(request.id));
        let response = outcome.map(|outcome| Response { id, outcome });
        Ok(Exchange::new(Told(response, Box::pin(sleep(wait)))))
    }

    async fn send(&self, message: Message) -> Result<(), Failed> {
        if self.server.pesters && matches!(message, Message::Response(_)) {
            std::future::pending::<()>().await;
        }
        Ok(())
    }

    fn negotiated(&self, _: Version) {}

    async fn close(&self) {}
}

impl Answering for Told {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Message, Failed>> {
        ready!(self.1.as_mut().poll(cx));
        let response = self.0.take().map(Message::Response);
        response.map_or(Poll::Pending, |response| Poll::Ready(Ok(response)))
    }

    fn cancel(self: Box<Self>, _: Reason) {}
}

async fn pester(events: mpsc::Sender<Event>) {
    for id in 1.. {
        let question = Request {
            id: Id::number(id),
            method: Method::Ping,
            params: None,
        };
        if events.send(Event::Request(question)).await.is_err() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

fn name() -> ServerName {
    "s".parse().expect("a name")
}

fn pool(server: &Server) -> Pool {
    let options = PoolOptions {
        starts_at_once: 1,
        eager: true,
        list_pages: 1,
    };
    let http = HttpSpec {
        url: SecretText::new("http://server.example/mcp"),
        headers: Vec::new(),
        sse: SseChoice::Never,
    };
    let spec = UpstreamSpec {
        protocol: ProtocolChoice::Session,
        ..UpstreamSpec::new(Reach::Http(http))
    };
    let pool = Pool::new(
        Arc::new(server.clone()),
        Arc::new(NoMemory),
        Arc::new(NoAudience),
        options,
    );
    pool.apply(vec![(name(), spec.into())]);
    pool
}

/// A server that takes pings like this.
fn server(pings: &[Ping]) -> Server {
    Server {
        pings: Arc::new(Mutex::new(pings.iter().copied().collect())),
        pesters: false,
    }
}

/// How many of these pings are left when the server is taken for lost and connected to again.
async fn left_at_the_loss(pings: &[Ping]) -> usize {
    let server = server(pings);
    let pool = pool(&server);
    await_start(&pool, 2).await;
    server.pings.lock().len()
}

/// Waits until the server has been connected to so often, and gives it.
async fn await_start(pool: &Pool, count: u64) -> Arc<Upstream> {
    let server = pool.get(&name()).expect("the pool keeps it");
    let upstream = server.only_backend().expect("it has one").clone();
    let mut changes = pool.changes();
    let ready = |status: &mcpr_upstream::Status| status.starts >= count && status.replica.is_some();
    let started = async {
        while !ready(&upstream.status()) {
            changes.changed().await.expect("the pool lives");
        }
    };
    timeout(LIMIT, started)
        .await
        .expect("it is connected to so often");
    upstream
}

/// Waits until only so many of the pings that are foreseen have not come.
async fn await_pings(server: &Server, left: usize) {
    let heard = async {
        while server.pings.lock().len() > left {
            sleep(Duration::from_secs(1)).await;
        }
    };
    timeout(LIMIT, heard).await.expect("the pings come");
}

#[tokio::test(start_paused = true)]
async fn b105_one_ping_without_an_answer_is_no_loss_but_two_in_a_row_are() {
    use Ping::{Answered, Unheard};

    let left = left_at_the_loss(&[Unheard, Answered, Unheard, Unheard, Answered]).await;

    assert_eq!(left, 1);
}

#[tokio::test(start_paused = true)]
async fn b105_a_server_that_knows_no_ping_is_alive() {
    use Ping::{Answered, Refused, Unheard};

    let left = left_at_the_loss(&[Refused, Refused, Refused, Unheard, Unheard, Answered]).await;

    assert_eq!(left, 1);
}

#[tokio::test(start_paused = true)]
async fn b105_a_server_at_work_may_be_silent() {
    let server = server(&[Ping::Unheard; 6]);
    let pool = pool(&server);
    let upstream = await_start(&pool, 1).await;
    let call = upstream
        .replica()
        .unwrap()
        .enter(mcpr_transport::Party::GATEWAY, mcpr_upstream::Company::Any);
    await_pings(&server, 2).await;
    assert_eq!(
        upstream.status().starts,
        1,
        "four pings in a row went unheard during the call"
    );

    drop(call);

    await_start(&pool, 2).await;
}

#[tokio::test(start_paused = true)]
async fn cfg_05_a_server_whose_specification_changes_is_ended_and_not_only_forgotten() {
    let pool = pool(&server(&[]));
    let old = await_start(&pool, 1).await;
    let fresh = UpstreamSpec {
        protocol: ProtocolChoice::Auto,
        ..old.spec.clone()
    };

    pool.apply(vec![(name(), fresh.into())]);

    await_end(&pool, &old).await;
}

#[tokio::test(start_paused = true)]
async fn b47_a_stop_does_not_wait_for_the_answer_to_a_health_check() {
    let server = server(&[Ping::Unheard]);
    let pool = pool(&server);
    await_start(&pool, 1).await;
    await_pings(&server, 0).await;
    let began = tokio::time::Instant::now();

    pool.shutdown(Duration::from_secs(60)).await;

    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
}

/// Waits until a server has ended.
async fn await_end(pool: &Pool, upstream: &Upstream) {
    let mut changes = pool.changes();
    let ended = async {
        while !matches!(upstream.status().phase, Phase::Stopped) {
            changes.changed().await.expect("the pool lives");
        }
    };
    timeout(LIMIT, ended).await.expect("it is ended");
}

#[tokio::test(start_paused = true)]
async fn srv_06_a_server_that_leaves_one_ping_unanswered_is_in_doubt_until_it_answers_the_next() {
    let pool = pool(&server(&[Ping::Unheard, Ping::Late]));
    let upstream = await_start(&pool, 1).await;
    let mut changes = pool.changes();
    let mut until = async |in_doubt: bool| {
        while upstream.status().doubt.is_some() != in_doubt {
            changes.changed().await.expect("the pool lives");
        }
        upstream.status()
    };

    let doubted = until(true).await;
    assert!(
        doubted.reason().is_some() && doubted.replica.is_some(),
        "it is still used"
    );

    let well = until(false).await;
    assert_eq!((well.reason(), well.starts), (None, 1));
}

#[tokio::test(start_paused = true)]
async fn lb_01_a_backend_that_stays_as_it_is_is_left_alone_when_others_come_and_go() {
    let pool = pool(&server(&[]));
    let first = await_start(&pool, 1).await;
    let backends = |labels: &[&str]| {
        let backend = |label: &&str| BackendSpec {
            label: (*label).into(),
            spec: first.spec.clone(),
            tags: Vec::new(),
        };
        ServerSpec {
            backends: labels.iter().map(backend).collect(),
            ..first.spec.clone().into()
        }
    };
    let kept = || pool.get(&name()).expect("the pool keeps it").backends.clone();

    pool.apply(vec![(name(), backends(&["2", "1", "3"]))]);
    let three = kept();
    pool.apply(vec![(name(), backends(&["3"]))]);

    assert!(Arc::ptr_eq(&three[1], &first));
    assert!(Arc::ptr_eq(&kept()[0], &three[2]));
    let mut changes = pool.changes();
    while !three[..2]
        .iter()
        .all(|gone| matches!(gone.status().phase, Phase::Stopped))
    {
        changes.changed().await.expect("the pool lives");
    }
}

#[tokio::test(start_paused = true)]
async fn sec_05_a_server_that_asks_without_end_and_takes_no_answers_is_started_and_ended_like_any_other() {
    let pool = pool(&Server {
        pesters: true,
        ..Server::default()
    });
    let upstream = await_start(&pool, 1).await;
    tokio::time::sleep(Duration::from_secs(5)).await;

    pool.apply(Vec::new());

    await_end(&pool, &upstream).await;
}

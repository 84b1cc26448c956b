//! A client on a pipe: one line is one message. Both eras may be mixed on one pipe.

mod batch;

use std::future::poll_fn;
use std::io;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use http::StatusCode;
use mcpr_auth::Principal;
use mcpr_protocol::{
    Broken, Era, Fault as MessageFault, Id, Message, Method, Notification, Object, RawJson, Request,
    Response, Rope,
};
use mcpr_registry::ServerState;
use mcpr_transport::child::{Line, LineReader};
use memchr::memmem;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::LEVELS;
use crate::client::Context;
use crate::dispatch::Handled;
use crate::fault::Fault;
use crate::flight::{Done, Step, within};
use crate::front::lines::{self, Lines};
use crate::gateway::Gateway;
use crate::notices::{Caller, Listen, SessionNotices};
use crate::scope::Asked;
use crate::session::cancelled;
use crate::session::{Flights, Session};
use crate::stateless;

/// How many requests of a pipe are looked at beside those that its principal may have under way:
/// such as wait for the first lists, or to be answered.
const SPARE: usize = 64;

/// How long answers under way may take after the client has closed its end: one that pipes a few
/// lines into mcpr wants to read what they come to. Clients wait about as long for the end.
const LAST_WORDS: Duration = Duration::from_millis(1800);

/// How long what has been said may take to be written when the gateway stops.
const LAST_WRITE: Duration = Duration::from_secs(1);

/// Serves one client on a pipe until its end, or until the gateway stops. What it asks for without
/// a word about its scope is meant as `asked`. Gives the moment in which it took nothing any more:
/// who ends with its client has only so long from then on.
///
/// # Errors
///
/// When the pipe breaks in another way than by ending.
pub async fn serve(
    gateway: Arc<Gateway>,
    principal: Principal,
    asked: Asked,
    input: impl AsyncRead + Unpin + Send + 'static,
    output: impl AsyncWrite + Unpin + Send + 'static,
) -> io::Result<Instant> {
    let (lines, queue) = lines::channel();
    let writer = tokio::spawn(queue.write(output));
    let pipe = Arc::new(Pipe {
        gateway: gateway.clone(),
        principal,
        asked,
        lines,
        session: Mutex::default(),
        stateless: Arc::default(),
        listens: Mutex::default(),
        listed: tokio::sync::OnceCell::new(),
    });
    let mut work = JoinSet::new();
    let read = pipe.clone().read(input, &mut work).await;
    let ended = Instant::now();
    // When this is over, what is left is given up.
    let _ = timeout(LAST_WORDS, pipe.finish(&mut work)).await;
    pipe.close();
    work.shutdown().await;
    drop(work);
    drop(pipe);
    let stopped = async {
        gateway.stop.cancelled().await;
        sleep(LAST_WRITE).await;
    };
    tokio::select! {
        _ = writer => {}
        () = stopped => {} // Whoever reads no longer holds up no stop.
    }
    read.map(|()| ended)
}

struct Pipe {
    gateway: Arc<Gateway>,
    principal: Principal,
    /// What the client's requests say about their scope where they say nothing.
    asked: Asked,
    lines: Lines,
    session: Mutex<Option<Arc<Session>>>,
    /// The requests under way of the stateless era.
    stateless: Arc<Flights>,
    /// Open listens, by their ids.
    listens: Mutex<Vec<(Id, CancellationToken)>>,
    /// Whether the first list has had its wait (AGG-12).
    listed: tokio::sync::OnceCell<()>,
}

impl Pipe {
    async fn read(
        self: Arc<Self>,
        input: impl AsyncRead + Unpin + Send,
        work: &mut JoinSet<()>,
    ) -> io::Result<()> {
        let mut reader = LineReader::new(input);
        loop {
            let line = tokio::select! {
                line = self.next(&mut reader, work) => line?,
                () = self.lines.closed() => return Ok(()), // The client reads no longer.
                () = self.gateway.stop.cancelled() => return Ok(()),
            };
            while work.try_join_next().is_some() {}
            match line {
                None => return Ok(()),
                Some(Line::Text(text)) => self.clone().take(&text, work).await,
                Some(odd) => self.say(broken(&odd)).await,
            }
        }
    }

    /// The next line, once there is room for what it comes to: a client that reads nothing, or asks
    /// for more than can be under way, is not read from any further (SEC-05).
    async fn next(
        &self,
        reader: &mut LineReader<impl AsyncRead + Unpin>,
        work: &mut JoinSet<()>,
    ) -> io::Result<Option<Line>> {
        while work.len() >= self.most_at_once() {
            work.join_next().await;
        }
        self.lines.has_room().await;
        reader.next().await
    }

    fn most_at_once(&self) -> usize {
        let limits = self.gateway.plan().options.limits.per_principal;
        2 * limits.in_flight + limits.streams + SPARE
    }

    async fn take(self: Arc<Self>, text: &Bytes, work: &mut JoinSet<()>) {
        match Message::parse_within(text, LEVELS) {
            Ok(Message::Request(request)) => match self.context(&request) {
                Ok(Some(context)) => self.begin(context, request, work).await,
                Ok(None) => self.initialize(request, work).await,
                Err((fault, era)) => self.refuse(Some(&request.id), &fault, era).await,
            },
            Ok(Message::Notification(note)) => self.note(&note),
            Ok(Message::Response(response)) => self.answered(response),
            Err(Broken {
                fault: MessageFault::Batch,
                ..
            }) => self.batch(text, work).await,
            Err(Broken { fault, id }) => {
                self.refuse(id.as_ref(), &Fault::Message(fault), Era::Session)
                    .await
            }
        }
    }

    /// In which words a request is made; `None` for one that opens the session.
    fn context(&self, request: &Request) -> Result<Option<Context>, (Fault, Era)> {
        let stateless = |fault| (fault, Era::Stateless);
        if let Some(envelope) = stateless::envelope(request.params.as_ref()).map_err(stateless)? {
            let context = stateless::context(self.principal.clone(), &envelope).map_err(stateless)?;
            return Ok(Some(Context {
                flights: Some(self.stateless.clone()),
                asked: self.asked(request),
                ..context
            }));
        }
        if request.method == Method::Initialize {
            return Ok(None);
        }
        match &*self.session.lock() {
            Some(session) => Ok(Some(
                Context::of_session(session, &self.principal, None).asking(self.asked(request)),
            )),
            // Before `initialize` only that, and the alternatives a client may try first (B108).
            None if request.method == Method::Ping => Ok(Some(Context::of_stranger(self.principal.clone()))),
            None => Err((before_initialize(&request.method), Era::Session)),
        }
    }

    /// What a request says about its scope.
    fn asked(&self, request: &Request) -> Asked {
        let may_say = |params: &&RawJson| memmem::find(params.as_bytes(), b"projectId").is_some();
        match request.params.as_ref().filter(may_say) {
            Some(params) => self.asked.or_meta(Object::read(params).ok().as_ref()),
            None => self.asked.clone(),
        }
    }

    /// Goes as far as it goes without waiting before the next line is read, so that a cancel on
    /// that line finds the request entered.
    async fn begin(self: Arc<Self>, context: Context, request: Request, work: &mut JoinSet<()>) {
        go(self.answer(context, request), work).await;
    }

    async fn initialize(self: Arc<Self>, request: Request, work: &mut JoinSet<()>) {
        match self
            .gateway
            .open_session(self.principal.clone(), None, &self.asked, request)
        {
            Ok((session, done)) => {
                let before = self.session.lock().replace(session.clone());
                if let Some(before) = before {
                    before.end();
                }
                self.say(done.text).await;
                // Opened before the next line is read, so that the end of input finds it open.
                let caller = Caller {
                    principal: self.principal.clone(),
                    asked: self.asked.clone(),
                };
                let notices = SessionNotices::open(&self.gateway, session, caller);
                work.spawn(self.announce(notices));
            }
            Err((id, fault)) => self.refuse(Some(&id), &fault, Era::Session).await,
        }
    }

    /// Tells the client of changes for as long as its session lives.
    async fn announce(self: Arc<Self>, mut notices: SessionNotices) {
        while let Some(notice) = notices.next().await {
            self.say(notice).await;
        }
    }

    async fn answer(self: Arc<Self>, context: Context, request: Request) {
        let id = request.id.clone();
        let Some(handled) = self.dispatch(context, request).await else {
            return;
        };
        match handled {
            Handled::Done(done) => self.say(done.text).await,
            Handled::Flight(mut flight) => loop {
                match flight.next().await {
                    Step::Note(note) => within(flight.deadline(), self.say(note)).await,
                    Step::Done(done) => return self.say(done.text).await,
                    Step::Slow => {}
                    Step::Cancelled => return,
                }
            },
            Handled::Listen(listen) => self.listen(id, *listen).await,
        }
    }

    /// Passes on what a listen says, to its end.
    async fn listen(&self, id: Id, mut listen: Listen) {
        self.listens.lock().push((id.clone(), listen.cancel_token()));
        while let Some(message) = listen.next().await {
            self.say(message).await;
        }
        self.listens.lock().retain(|(open, _)| *open != id);
    }

    /// Finds out how a request is answered; `None` if the client cancelled it before that.
    async fn dispatch(&self, context: Context, request: Request) -> Option<Handled> {
        let (id, era) = (request.id.clone(), context.era());
        let wanted = !needs_listings(&request.method) || self.listed(&context, &id).await;
        if !wanted && self.is_for_a_builtin(&request) {
            return None; // It would be carried out.
        }
        let handled = AssertUnwindSafe(self.gateway.dispatch(context, request)).catch_unwind();
        let broke = || {
            let text = refusal(Some(&id), &Fault::Internal, era);
            let status = StatusCode::INTERNAL_SERVER_ERROR;
            Handled::Done(Done { text, status })
        };
        let handled = handled.await.unwrap_or_else(|_| broke());
        // A flight that is dropped here has not begun, and is recorded as cancelled.
        wanted.then_some(handled)
    }

    fn is_for_a_builtin(&self, request: &Request) -> bool {
        let params = request.params.as_ref();
        let params = params.and_then(|params| Object::read(params).ok());
        self.gateway.builtin(&request.method, params.as_ref()).is_some()
    }

    /// Gives the first list its wait (AGG-12); false if the client cancelled this request meanwhile.
    async fn listed(&self, context: &Context, id: &Id) -> bool {
        if self.listed.initialized() {
            return true;
        }
        let wait = self.listed.get_or_init(|| self.wait_for_listings());
        let flights = context.flights.as_ref();
        let Some((flights, cancel)) = flights.and_then(|flights| Some((flights, flights.enter(id)?))) else {
            wait.await; // One with that id is under way, which is found out later.
            return true;
        };
        let wanted = tokio::select! {
            () = cancel.until_wished() => false,
            _ = wait => true,
        };
        flights.leave(id);
        wanted
    }

    /// A client that started mcpr as its own child lists at once and may never ask again, so the
    /// first such request waits a moment for servers that have no stored listing.
    async fn wait_for_listings(&self) {
        let mut snapshots = self.gateway.snapshot.clone();
        let settled = snapshots.wait_for(|snapshot| {
            snapshot
                .states
                .iter()
                .all(|(_, state, _)| state != ServerState::Starting)
        });
        let _ = timeout(self.gateway.plan().options.startup.list_wait, settled).await;
    }

    fn note(&self, note: &Notification) {
        if let Some(session) = &*self.session.lock() {
            session.hear(note);
        }
        let Some(id) = cancelled(note) else { return };
        self.stateless.cancel(&id);
        let listens = self.listens.lock();
        let meant = listens.iter().filter(|(open, _)| *open == id);
        meant.for_each(|(_, listen)| listen.cancel());
    }

    /// Takes an answer to what a server asked.
    fn answered(&self, response: Response) {
        if let Some(session) = &*self.session.lock() {
            session.answered(response);
        }
    }

    async fn refuse(&self, id: Option<&Id>, fault: &Fault, era: Era) {
        self.say(refusal(id, fault, era)).await;
    }

    /// Writes one message; a client that is gone is noticed by the reader.
    async fn say(&self, message: Rope) {
        self.lines.say(message).await;
    }

    /// Lets answers out that are under way; notices and listens end.
    async fn finish(&self, work: &mut JoinSet<()>) {
        self.listens.lock().iter().for_each(|(_, listen)| listen.cancel());
        if let Some(session) = &*self.session.lock() {
            session.close_stream();
        }
        let answers = async { while work.join_next().await.is_some() {} };
        tokio::select! {
            () = answers => {}
            () = self.lines.closed() => {}
        }
    }

    fn close(&self) {
        if let Some(session) = self.session.lock().take() {
            session.end();
        }
        self.stateless.cancel_all();
    }
}

/// Goes as far as it goes without waiting, and on in the background.
async fn go(work: impl Future<Output = ()> + Send + 'static, tasks: &mut JoinSet<()>) {
    let mut work = Box::pin(work);
    let begun = poll_fn(|cx| Poll::Ready(work.as_mut().poll(cx))).await;
    if begun.is_pending() {
        tasks.spawn(work);
    }
}

/// What is said to a line that is no text.
fn broken(line: &Line) -> Rope {
    let text = match line {
        Line::TooLong(line) => format!("a line of {} bytes is longer than a message may be", line.bytes),
        _ => "a line that is not UTF-8".to_owned(),
    };
    let fault = Fault::Message(MessageFault::NotJson(text));
    refusal(None, &fault, Era::Session)
}

fn refusal(id: Option<&Id>, fault: &Fault, era: Era) -> Rope {
    Response::text(id, Err(fault.error(era, 0).render().into()))
}

/// Lists, and what names something that a list would have shown.
fn needs_listings(method: &Method) -> bool {
    let names = [
        Method::ToolsCall,
        Method::PromptsGet,
        Method::ResourcesRead,
        Method::Complete,
    ];
    mcpr_registry::Kind::listed_by(method).is_some() || names.contains(method)
}

fn before_initialize(method: &Method) -> Fault {
    match method {
        Method::Discover | Method::Listen | Method::Other(_) => Fault::MethodNotFound(method.to_string()),
        _ => Fault::InvalidRequest(
            "send `initialize` first, or an envelope in `params._meta` (2026-07-28)".into(),
        ),
    }
}

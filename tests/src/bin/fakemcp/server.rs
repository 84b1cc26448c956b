//! The server itself: one message in, answers out. Knows no transport.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use crate::envelope;
use crate::fault::Fault;
use crate::log::{Head, Log};
use crate::message::{self, Message, Params, Request};
use crate::notices::{Notices, is_part};
use crate::old_tasks;
use crate::outlet::Outlet;
use crate::spec::{Raw, Spec, exact, named, scripted};
use crate::tasks::Table;

/// The code with which a server leaves when its script says so.
const LEAVES: i32 = 3;
/// The code with which a server leaves when the client does not answer its ping.
const UNANSWERED: i32 = 4;

/// A scripted server.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) spec: Spec,
    pub(crate) log: Log,
    pub(crate) notices: Notices,
    /// Tools that the tool `add` has added.
    pub(crate) added: Mutex<Vec<Raw>>,
    pub(crate) tasks: Table,
    pub(crate) old_tasks: old_tasks::Table,
    /// The keys of the errors that were given once.
    spent: Mutex<BTreeSet<String>>,
    received: AtomicUsize,
    called: AtomicBool,
    asked: AtomicUsize,
    waiting: Mutex<HashMap<String, oneshot::Sender<String>>>,
}

/// One conversation of the session era.
#[derive(Debug, Default)]
pub(crate) struct Talk {
    opened: AtomicBool,
    /// The resources that the client has subscribed to.
    subscribed: Mutex<BTreeSet<String>>,
}

/// How a request came, and the way back for what belongs to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    pub(crate) talk: &'a Talk,
    pub(crate) head: Option<&'a Head>,
    pub(crate) outlet: &'a Outlet,
}

/// An answer, with the status that it has over HTTP.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) text: String,
    pub(crate) status: u16,
}

impl Talk {
    /// A conversation that needs no handshake.
    pub(crate) fn open() -> Self {
        Self {
            opened: AtomicBool::new(true),
            subscribed: Mutex::default(),
        }
    }

    /// Subscribes to a resource, or no longer.
    pub(crate) fn subscribe(&self, uri: &str, wanted: bool) {
        let mut subscribed = self.subscribed.lock();
        if wanted {
            subscribed.insert(uri.to_owned());
        } else {
            subscribed.remove(uri);
        }
    }

    /// Whether the client has subscribed to a resource, or to what it is a part of.
    pub(crate) fn hears_of(&self, uri: &str) -> bool {
        self.subscribed.lock().iter().any(|whole| is_part(uri, whole))
    }

    fn is_open(&self) -> bool {
        self.opened.load(Ordering::Relaxed)
    }
}

impl Server {
    /// A server that follows `spec`.
    pub(crate) fn new(spec: Spec) -> anyhow::Result<Self> {
        let log = Log::open(spec.log.as_deref())?;
        Ok(Self {
            spec,
            log,
            notices: Notices::default(),
            added: Mutex::default(),
            tasks: Table::default(),
            old_tasks: old_tasks::Table::default(),
            spent: Mutex::default(),
            received: AtomicUsize::new(0),
            called: AtomicBool::new(false),
            asked: AtomicUsize::new(0),
            waiting: Mutex::default(),
        })
    }

    /// Counts a message, and ends the process if the script says so.
    pub(crate) fn count(&self, message: &Message) {
        let before = self.received.fetch_add(1, Ordering::Relaxed);
        let keys = message.keys();
        let hit = self.spec.exit_on.keys().iter().any(|key| keys.contains(key));
        if hit || self.spec.exit_after.is_some_and(|after| before >= after) {
            std::process::exit(LEAVES);
        }
    }

    /// Whether any tool was called so far.
    pub(crate) fn was_called(&self) -> bool {
        self.called.load(Ordering::Relaxed)
    }

    /// Takes a message that needs no answer.
    pub(crate) fn take(&self, message: Message, talk: &Talk) {
        match message {
            Message::Notification { method, params } => self.notified(&method, &params, talk),
            Message::Answer { id, text } => self.answered(&id, text),
            Message::Request(_) => {}
        }
    }

    /// Answers a request; never returns if the script says that it is not answered.
    pub(crate) async fn answer(&self, request: &Request, context: Context<'_>) -> Reply {
        if named(&self.spec.silent, request) {
            std::future::pending::<()>().await;
        }
        if let Some(text) = scripted(&self.spec.reply, request) {
            let text = text.replace("{id}", &request.id);
            return Reply { text, status: 200 };
        }
        let wrong = named(&self.spec.wrong_id, request);
        let id = if wrong { "999999999" } else { &request.id };
        match self.outcome(request, context).await {
            Ok(result) => Reply {
                text: message::result(id, &result),
                status: 200,
            },
            Err(fault) => Reply {
                text: message::error(id, &fault.error),
                status: fault.status,
            },
        }
    }

    /// Asks the client; the whole text of its answer comes out of what this gives. The id is a JSON text.
    pub(crate) fn put(
        &self,
        id: &str,
        method: &str,
        params: Option<&str>,
        outlet: &Outlet,
    ) -> oneshot::Receiver<String> {
        let (sender, receiver) = oneshot::channel();
        self.waiting.lock().insert(id.to_owned(), sender);
        outlet.send(&message::request(id, method, params));
        receiver
    }

    /// An id for the next request of ours, as JSON text.
    pub(crate) fn fresh_id(&self) -> String {
        format!("\"s{}\"", self.asked.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Pings the client if the script says so, and leaves if it stays silent.
    pub(crate) async fn ping_client(&self, outlet: &Outlet) {
        if !self.spec.ping_client {
            return;
        }
        let ping = self.put("\"p\"", "ping", None, outlet);
        if timeout(Duration::from_secs(2), ping).await.is_err() {
            std::process::exit(UNANSWERED);
        }
    }

    /// The members of a result, closed in the way of the era.
    pub(crate) fn result(&self, members: &str, stateless: bool) -> String {
        if stateless && !self.spec.forget_result_type {
            format!(r#"{{"resultType":"complete",{members}}}"#)
        } else {
            format!("{{{members}}}")
        }
    }

    /// The same for results that may be kept for a while.
    pub(crate) fn cacheable(&self, members: &str, stateless: bool) -> String {
        let ttl = self.spec.ttl_ms;
        let scope = self.spec.cache_scope.as_deref().unwrap_or("private");
        let cache = format!(r#","ttlMs":{ttl},"cacheScope":"{scope}""#);
        self.result(
            &format!("{members}{}", if stateless { &cache } else { "" }),
            stateless,
        )
    }

    async fn outcome(&self, request: &Request, context: Context<'_>) -> Result<String, Fault> {
        if request.method == "tools/call" {
            self.called.store(true, Ordering::Relaxed);
        }
        let scripted = self.scripted(request);
        let opening = matches!(request.method.as_str(), "initialize" | "server/discover");
        let stateless = request.claims_stateless() && self.spec.stateless();
        if scripted.is_none() || !opening {
            self.admit(request, context, stateless)?;
        }
        let params = request
            .params
            .as_ref()
            .map_err(|why| Fault::invalid_params(why))?;
        self.take_time(request, params, context).await;
        match scripted {
            Some(outcome) => outcome,
            None => self.perform(request, params, context, stateless).await,
        }
    }

    /// The result or the error that the spec holds for the request.
    fn scripted(&self, request: &Request) -> Option<Result<String, Fault>> {
        let once = request
            .keys()
            .into_iter()
            .find(|key| self.spec.error_once.contains_key(key));
        let once = once.filter(|key| self.spent.lock().insert(key.clone()));
        let once = once.and_then(|key| self.spec.error_once.get(&key));
        if let Some(error) = once.or_else(|| scripted(&self.spec.error, request)) {
            return Some(Err(Fault {
                error: exact(error),
                status: 200,
            }));
        }
        scripted(&self.spec.raw, request).map(|raw| Ok(exact(raw)))
    }

    fn admit(&self, request: &Request, context: Context<'_>, stateless: bool) -> Result<(), Fault> {
        if stateless {
            return envelope::check(request, context.head, &self.spec.tools);
        }
        let opens = matches!(request.method.as_str(), "initialize" | "ping" | "server/discover");
        match (self.spec.sessions(), request.method.as_str()) {
            (false, "initialize") => Err(envelope::unsupported(self.wanted(request))),
            (false, _) => Err(envelope::missing()),
            (true, _) if opens || context.talk.is_open() => Ok(()),
            (true, _) => Err(Fault::invalid_params(
                "Received request before initialization was complete",
            )),
        }
    }

    fn wanted<'a>(&self, request: &'a Request) -> &'a str {
        let params = request.params.as_ref().ok();
        params
            .and_then(|params| params.protocol_version.as_deref())
            .unwrap_or_default()
    }

    async fn take_time(&self, request: &Request, params: &Params, context: Context<'_>) {
        if request.method == "tools/call" {
            self.report_progress(params, context.outlet, false).await;
        }
        if let Some(seconds) = scripted(&self.spec.delay, request) {
            sleep(Duration::from_secs_f64(*seconds)).await;
        }
    }

    fn notified(&self, method: &str, params: &Params, talk: &Talk) {
        match method {
            "notifications/initialized" => talk.opened.store(true, Ordering::Relaxed),
            "notifications/cancelled" => {
                if let Some(id) = &params.request_id {
                    self.notices.forget(id.get());
                }
            }
            _ => {}
        }
    }

    fn answered(&self, id: &str, text: String) {
        if let Some(sender) = self.waiting.lock().remove(id) {
            // Nobody waits any more if the call has ended meanwhile.
            let _ = sender.send(text);
        }
    }
}

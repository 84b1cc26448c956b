//! The table of methods.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

use http::StatusCode;
use mcpr_auth::{Principal, Scope};
use mcpr_bridge::initialize_result;
use mcpr_protocol::{
    Era, Id, Method, Object, RawJson, Request, Response, Rope, UnknownLevel, Version, progress_token,
};
use mcpr_registry::{Kind, ServerName};
use mcpr_router::{RouteError, RouteErrorKind};
use mcpr_telemetry::Status;
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::builtins::SERVER;
use crate::call::{Call, Target};
use crate::client::{Client, Context};
use crate::fault::Fault;
use crate::flight::{Cancel, Done, Flight};
use crate::gateway::Gateway;
use crate::notices::{Filter, Listen};
use crate::plan::Standing;
use crate::quota::Share;
use crate::record::{Ending, Subject};
use crate::scope::{Asked, likes};
use crate::session::Session;
use crate::sight::Sight;
use crate::suspension::Entrance;

/// The longest `clientInfo` of a session, which keeps it for as long as it lives (SEC-05).
const CLIENT_INFO: usize = 64 * 1024;

/// How a request is answered.
pub(crate) enum Handled {
    /// At once.
    Done(Done),
    /// By a server.
    Flight(Flight),
    /// By a stream that stays open.
    Listen(Box<Listen>),
}

/// A request with its facts.
pub(crate) struct Incoming {
    pub(crate) id: Id,
    pub(crate) method: Method,
    pub(crate) params: Option<Object>,
    pub(crate) number: u64,
    pub(crate) began: Instant,
}

impl Gateway {
    /// Answers one request, whatever front it came through.
    pub(crate) async fn dispatch(self: &Arc<Self>, context: Context, request: Request) -> Handled {
        let number = self.number();
        let began = Instant::now();
        let params = request.params.as_ref().map(readable).transpose();
        let incoming = |params| Incoming {
            id: request.id,
            method: request.method,
            params,
            number,
            began,
        };
        match params {
            Ok(params) => self.handle(context, incoming(params)).await,
            Err(fault) => Handled::Done(self.refuse(&context, &incoming(None), &fault)),
        }
    }

    async fn handle(self: &Arc<Self>, context: Context, incoming: Incoming) -> Handled {
        let outcome = match (&incoming.method, context.era()) {
            (Method::ToolsList, _) => self.list(&context, &incoming, Kind::Tools).await,
            (Method::PromptsList, _) => self.list(&context, &incoming, Kind::Prompts).await,
            (Method::ResourcesList, _) => self.list(&context, &incoming, Kind::Resources).await,
            (Method::TemplatesList, _) => self.list(&context, &incoming, Kind::Templates).await,
            (Method::ToolsCall | Method::PromptsGet | Method::ResourcesRead | Method::Complete, _)
            | (Method::TasksGet | Method::TasksUpdate | Method::TasksCancel, Era::Stateless) => {
                return self.call(context, incoming).await;
            }
            (Method::Ping, Era::Session) => Ok(RawJson::from_static("{}").into()),
            (Method::SetLevel, Era::Session) => set_level(&context, incoming.params.as_ref()),
            (Method::Discover, Era::Stateless) => Ok(self.sight(&context).discovery().into()),
            (Method::ResourcesSubscribe, Era::Session) => {
                self.subscribe(&context, incoming.params.as_ref()).await
            }
            (Method::ResourcesUnsubscribe, Era::Session) => {
                self.unsubscribe(&context, incoming.params.as_ref())
            }
            (Method::Listen, Era::Stateless) => return self.listen(&context, incoming),
            (method, _) => Err(Fault::MethodNotFound(method.to_string())),
        };
        Handled::Done(match outcome {
            Ok(result) => self.answer(&context, &incoming, result),
            Err(fault) => self.refuse(&context, &incoming, &fault),
        })
    }

    async fn list(&self, context: &Context, incoming: &Incoming, kind: Kind) -> Result<Rope, Fault> {
        allowed(context, Scope::Read)?;
        let _spot = self.take_spot(&context.principal, Share::Inside)?;
        self.wake_on_first_request().await;
        self.page(context, kind, incoming.params.as_ref())
    }

    /// A request that goes to a server.
    async fn call(self: &Arc<Self>, context: Context, mut incoming: Incoming) -> Handled {
        let builtin = self.builtin(&incoming.method, incoming.params.as_ref());
        let share = builtin.map_or(Share::AtServer, |_| Share::Inside);
        let spot = match self.take_spot(&context.principal, share) {
            Ok(spot) => spot,
            Err(full) => return Handled::Done(self.refuse(&context, &incoming, &full.into())),
        };
        self.wake_on_first_request().await;
        if let Some(tool) = builtin {
            if let Some(done) = self.pass(&context, &mut incoming, (SERVER, Some(tool))).await {
                return Handled::Done(done);
            }
            return Handled::Done(self.call_builtin(&context, &incoming, tool).await);
        }
        let sight = self.sight(&context);
        let target = match self.target(&sight, &context, &incoming) {
            Ok(target) => target,
            Err(fault) => return Handled::Done(self.refuse(&context, &incoming, &fault)),
        };
        let subject = (target.server.as_str(), target.tool.as_deref());
        if let Some(done) = self.pass(&context, &mut incoming, subject).await {
            return Handled::Done(done);
        }
        if incoming.method == Method::Complete && !self.completes(&target) {
            let none = RawJson::from_static(r#"{"completion":{"values":[],"total":0,"hasMore":false}}"#);
            let result = own_result(&none, &context, &incoming.method, &sight);
            return Handled::Done(self.answer(&context, &incoming, result));
        }
        let cancel = match enter(&context, &incoming.id) {
            Ok(cancel) => cancel,
            Err(fault) => return Handled::Done(self.refuse(&context, &incoming, &fault)),
        };
        let about = (&incoming.id, &incoming.method);
        let entrance = self.entrance(&context, about, incoming.params.as_ref(), &target);
        let (inputs, held, after) = match entrance {
            Ok(Entrance::Anew(inputs)) => (inputs, None, Vec::new()),
            Ok(Entrance::After(visits)) => (None, None, visits),
            Ok(Entrance::Held(parked, answers)) => (None, Some((parked, answers)), Vec::new()),
            Ok(Entrance::Answered(done)) => {
                leave(&context, &incoming.id);
                self.note(&context, &incoming, Status::Ok, StatusCode::OK, None);
                return Handled::Done(done);
            }
            Err(fault) => {
                leave(&context, &incoming.id);
                return Handled::Done(self.refuse(&context, &incoming, &fault));
            }
        };
        let meta = incoming.params.as_ref().and_then(|params| params.object("_meta"));
        let trace = self.trace(&context, &incoming, true);
        let call = Call {
            gateway: self.clone(),
            party: context.party(),
            inputs: Mutex::new(inputs),
            after,
            takes_tasks: AtomicBool::new(false),
            likes: likes(&context.asked, meta.as_ref()),
            context,
            number: incoming.number,
            id: incoming.id,
            method: incoming.method,
            progress: meta.as_ref().and_then(progress_token),
            params: incoming.params,
            target,
            sight,
            _under_way: self.under_way.token(),
            began: incoming.began,
            sent: AtomicBool::new(false),
            sent_after: AtomicU64::new(0),
            trace,
        };
        Handled::Flight(match held {
            Some((parked, answers)) => parked.resume(call, cancel, spot, answers),
            None => Flight::new(call, cancel, spot),
        })
    }

    /// Has the layers look at a request; the answer, if they do not let it pass.
    async fn pass(
        &self,
        context: &Context,
        incoming: &mut Incoming,
        (server, tool): (&str, Option<&str>),
    ) -> Option<Done> {
        if self.layers.only_watch() {
            return None;
        }
        let subject = tool.map(|tool| (server, tool));
        match self.layers.before(context, incoming, server, tool).await {
            Ok(None) => None,
            Err(fault) => Some(self.refuse_of(context, incoming, subject, &fault)),
            Ok(Some(result)) => {
                let sight = self.sight(context);
                let result = own_result(&result, context, &incoming.method, &sight);
                self.note_of(
                    context,
                    incoming,
                    subject,
                    Ending::of(Status::Ok, StatusCode::OK, None),
                );
                Some(Done {
                    text: Response::text(Some(&incoming.id), Ok(result)),
                    status: StatusCode::OK,
                })
            }
        }
    }

    fn target(&self, sight: &Sight, context: &Context, incoming: &Incoming) -> Result<Target, Fault> {
        allowed(context, Scope::Call)?;
        if self.is_closing() {
            return Err(Fault::Stopping);
        }
        let target = Target::resolve(self, sight, context, &incoming.method, incoming.params.as_ref())?;
        self.usable(&target.server).map(|()| target)
    }

    /// A server that cannot even be tried says why at once (AGG-08).
    pub(crate) fn usable(&self, server: &ServerName) -> Result<(), Fault> {
        let plan = self.plan();
        match plan.servers.get(server).map(|entry| plan.standing(entry)) {
            Some(Standing::Misconfigured(fault)) => {
                let error = RouteError::new(server.clone(), RouteErrorKind::Misconfigured);
                Err(error.because(fault.reason()).into())
            }
            _ => Ok(()),
        }
    }

    /// Whether the server completes arguments; one that does not is not asked.
    fn completes(&self, target: &Target) -> bool {
        let offers = self
            .pool
            .get(&target.server)
            .and_then(|upstream| upstream.status().offers);
        offers.is_none_or(|offers| offers.capabilities.completions)
    }

    fn listen(self: &Arc<Self>, context: &Context, incoming: Incoming) -> Handled {
        let most = self.plan().options.limits.subscriptions;
        let read = || Filter::read(incoming.params.as_ref(), context.abilities, most);
        let filter = allowed(context, Scope::Read).and_then(|()| read());
        let spot = |filter| Ok((filter, self.take_spot(&context.principal, Share::Stream)?));
        match filter.and_then(spot) {
            Ok((filter, spot)) => {
                self.note(context, &incoming, Status::Ok, StatusCode::OK, None);
                let listen = Listen::new(self, context, incoming.id, filter, spot);
                Handled::Listen(Box::new(listen))
            }
            Err(fault) => Handled::Done(self.refuse(context, &incoming, &fault)),
        }
    }

    /// Opens a session. One over HTTP is kept until it ends; the front says its name.
    #[expect(
        clippy::result_large_err,
        reason = "a session is opened once, and most are: nobody gains by a box"
    )]
    pub(crate) fn open_session(
        &self,
        principal: Principal,
        path: Option<&'static str>,
        asked: &Asked,
        request: Request,
    ) -> Result<(Arc<Session>, Done), (Id, Fault)> {
        let wrong = |text: &str| (request.id.clone(), Fault::InvalidParams(text.to_owned()));
        let params = request
            .params
            .as_ref()
            .ok_or_else(|| wrong("`initialize` needs `params`"))?;
        let params = Object::read(params).map_err(|error| wrong(&format!("`params`: {error}")))?;
        let wanted = params
            .text("protocolVersion")
            .ok_or_else(|| wrong("`protocolVersion` must be a string"))?;
        if params
            .get("clientInfo")
            .is_some_and(|info| info.as_bytes().len() > CLIENT_INFO)
        {
            return Err(wrong("`clientInfo` is larger than 64 KiB"));
        }
        let client = Arc::new(Client::of_session(Version::negotiate(&wanted), &params));
        let sight = self.sight_of(&principal, asked);
        let result = initialize_result(client.version, &sight.identity);
        let session = Session::new(principal.clone(), client.clone(), sight.stamps);
        if path.is_some() {
            let most = self.plan().options.limits.per_principal.sessions;
            let added = self.sessions.add(session.clone(), most);
            added.map_err(|full| (request.id.clone(), full.into()))?;
        }
        let context = Context::of_session(&session, &principal, path);
        let (number, began) = (self.number(), Instant::now());
        let incoming = Incoming {
            id: request.id,
            method: request.method,
            params: None,
            number,
            began,
        };
        Ok((session, self.answer(&context, &incoming, result.into())))
    }

    pub(crate) fn answer(&self, context: &Context, incoming: &Incoming, result: Rope) -> Done {
        self.note(context, incoming, Status::Ok, StatusCode::OK, None);
        Done {
            text: Response::text(Some(&incoming.id), Ok(result)),
            status: StatusCode::OK,
        }
    }

    pub(crate) fn refuse(&self, context: &Context, incoming: &Incoming, fault: &Fault) -> Done {
        self.refuse_of(context, incoming, None, fault)
    }

    /// Refuses a request that is about a tool of a server.
    pub(crate) fn refuse_of(
        &self,
        context: &Context,
        incoming: &Incoming,
        tool: Option<(&str, &str)>,
        fault: &Fault,
    ) -> Done {
        let era = context.era();
        let error = fault.error(era, incoming.number);
        if fault.is_of_limits() {
            self.metrics.turned_down(fault.reason().unwrap_or("busy"));
        }
        self.note_of(context, incoming, tool, Ending::by(fault, era));
        Done {
            text: Response::text(Some(&incoming.id), Err(error.render().into())),
            status: fault.status(era),
        }
    }

    fn note(
        &self,
        context: &Context,
        incoming: &Incoming,
        status: Status,
        http: StatusCode,
        error: Option<String>,
    ) {
        self.note_of(context, incoming, None, Ending::of(status, http, error));
    }

    /// Records a request that is about a tool of a server.
    pub(crate) fn note_of(
        &self,
        context: &Context,
        incoming: &Incoming,
        tool: Option<(&str, &str)>,
        ending: Ending,
    ) {
        let trace = self.trace(context, incoming, tool.is_some());
        let subject = Subject {
            method: &incoming.method,
            params: incoming.params.as_ref(),
            server: tool.map(|(server, _)| server),
            tool: tool.map(|(_, tool)| tool),
            number: incoming.number,
            took: incoming.began.elapsed(),
            steps: None,
            trace: trace.as_ref(),
        };
        subject.record(self, context, ending);
    }
}

impl Context {
    /// The context of a request in a session. Its caller is the principal of the session, as its token is now: that may
    /// have got another text, or other limits, since the session was opened.
    pub(crate) fn of_session(session: &Arc<Session>, caller: &Principal, path: Option<&'static str>) -> Self {
        Self {
            principal: caller.clone(),
            client: session.client.clone(),
            abilities: session.client.abilities,
            flights: Some(session.flights.clone()),
            log_level: session.log_level(),
            session: Some(session.clone()),
            path,
            asked: Asked::default(),
        }
    }

    /// The same for a request that says this about its scope.
    pub(crate) fn asking(self, asked: Asked) -> Self {
        Self { asked, ..self }
    }
}

/// The members of `params`. Its `_meta` must be an object too, each member there once: what says
/// something to mcpr is taken out of it by name (SEC-04).
fn readable(params: &RawJson) -> Result<Object, Fault> {
    let wrong = |what, error| Fault::InvalidParams(format!("`{what}`: {error}"));
    let params = Object::read(params).map_err(|error| wrong("params", error))?;
    if let Some(meta) = params.get("_meta").filter(|meta| !meta.is_null()) {
        Object::read(&meta).map_err(|error| wrong("params._meta", error))?;
    }
    Ok(params)
}

/// A result of mcpr's own, in the words of the client's revision.
pub(crate) fn own_result(result: &RawJson, context: &Context, method: &Method, sight: &Sight) -> Rope {
    let passage = mcpr_bridge::Passage {
        client: context.client.version,
        server: Version::NEWEST_SESSION,
        method,
        abilities: context.abilities,
        asked: None,
        server_info: Some(&sight.server_info),
    };
    mcpr_bridge::result(result, &passage, &|_| None)
}

/// Whether the caller may do this.
pub(crate) fn allowed(context: &Context, scope: Scope) -> Result<(), Fault> {
    let name = match scope {
        Scope::Read => "read",
        Scope::Call => "call",
        Scope::Admin => "admin",
    };
    context
        .principal
        .allows(scope)
        .then_some(())
        .ok_or(Fault::Forbidden(name))
}

fn enter(context: &Context, id: &Id) -> Result<Arc<Cancel>, Fault> {
    let Some(flights) = &context.flights else {
        return Ok(Arc::default());
    };
    let twice = || Fault::InvalidRequest(format!("a request with the id {id} is still under way"));
    flights.enter(id).ok_or_else(twice)
}

fn leave(context: &Context, id: &Id) {
    if let Some(flights) = &context.flights {
        flights.leave(id);
    }
}

fn set_level(context: &Context, params: Option<&Object>) -> Result<Rope, Fault> {
    let level = params.and_then(|params| params.text("level")).unwrap_or_default();
    let wrong = |error| Fault::InvalidParams(format!("`level` {error}"));
    let level = level.parse().map_err(|error: UnknownLevel| wrong(error))?;
    if let Some(session) = &context.session {
        session.set_log_level(level);
    }
    Ok(RawJson::from_static("{}").into())
}

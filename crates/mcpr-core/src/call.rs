//! Requests that go to a server: whose they are, and what the server gets to see.

mod target;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use mcpr_bridge::{Hop, INPUT_RESPONSES, Passage, REQUEST_STATE, with_text};
use mcpr_protocol::{Ability, Era, Id, LogLevel, Mark, Method, Object, RawJson, Rope, Version};
use mcpr_registry::Kind;
use mcpr_router::Lease;
use mcpr_telemetry::{Steps, Trace};
use mcpr_transport::{Outgoing, Party};
use mcpr_upstream::{NOBODY, Repeat, Replica, Status, Told};
use parking_lot::Mutex;
use tokio::time::Instant;
use tokio_util::task::task_tracker::TaskTrackerToken;

pub(crate) use self::target::{Target, name, route};
use crate::client::Context;
use crate::fault::Fault;
use crate::gateway::Gateway;
use crate::sight::Sight;
use crate::tasks::TASK_ID;

/// One request for a server, with all that stays the same until its end.
pub(crate) struct Call {
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) context: Context,
    /// mcpr's own number of it, for the log and for errors.
    pub(crate) number: u64,
    pub(crate) id: Id,
    pub(crate) method: Method,
    pub(crate) params: Option<Object>,
    /// The client's progress token.
    pub(crate) progress: Option<RawJson>,
    pub(crate) target: Target,
    pub(crate) sight: Arc<Sight>,
    /// Says that it is under way, for as long as it is.
    pub(crate) _under_way: TaskTrackerToken,
    pub(crate) began: Instant,
    /// Whether its server may have seen it.
    pub(crate) sent: AtomicBool,
    /// How many microseconds after its begin it was sent last.
    pub(crate) sent_after: AtomicU64,
    /// Its span, where somebody is told of spans.
    pub(crate) trace: Option<Trace>,
    /// For whom it is made.
    pub(crate) party: Party,
    /// Whether mcpr waits for a task of a stateless server in place of its client.
    pub(crate) takes_tasks: AtomicBool,
    /// The visits of URLs that its server waits for.
    pub(crate) after: Vec<Box<str>>,
    /// What a stateless server gets of what it asked for.
    pub(crate) inputs: Mutex<Option<Inputs>>,
    /// The tags of backends that the client would like (LB-02).
    pub(crate) likes: Arc<[Box<str>]>,
}

/// What a stateless server asked for, and gets with a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inputs {
    /// The text of `inputResponses`; empty for none.
    responses: Rope,
    /// The text of `requestState`; empty for none.
    state: Rope,
    /// The backend that asked: it may be the only one that knows what about.
    home: Option<Box<str>>,
}

impl Inputs {
    /// What a stateless client came back with.
    pub(crate) fn passed(responses: Option<RawJson>, state: Option<RawJson>, home: Option<String>) -> Self {
        Self {
            responses: responses.map(Rope::from).unwrap_or_default(),
            state: state.map(Rope::from).unwrap_or_default(),
            home: home.map(String::into_boxed_str),
        }
    }

    /// What was asked of a client of the session era.
    pub(crate) fn collected(
        answers: &[(String, Rope)],
        state: Option<RawJson>,
        home: Option<Box<str>>,
    ) -> Self {
        let entries = answers.iter().map(|(key, answer)| (key.as_str(), answer.clone()));
        let responses = match answers.is_empty() {
            true => Rope::new(),
            false => mcpr_bridge::input_responses(entries),
        };
        Self {
            responses,
            state: state.map(Rope::from).unwrap_or_default(),
            home,
        }
    }
}

/// The methods whose server may ask for input first (2026-07-28, multi round-trip requests).
pub(crate) fn takes_inputs(method: &Method) -> bool {
    matches!(
        method,
        Method::ToolsCall | Method::PromptsGet | Method::ResourcesRead
    )
}

impl Call {
    /// The request as it goes to the leased replica now, under this id, with this token for its progress.
    pub(crate) fn outgoing(&self, lease: &Lease, id: u64, token: u64) -> Outgoing {
        let span = self.begin_hop(lease);
        let version = lease.replica.version;
        let (member, value) = self.target.change.clone();
        let mut changes: Vec<(&'static str, Rope)> = Vec::with_capacity(4);
        changes.push((member, value.into()));
        let arguments = self.params.as_ref().and_then(|params| params.get("arguments"));
        let stateless = version.era() == Era::Stateless;
        if self.as_task(lease) {
            changes.push(("task", RawJson::from_static("{}").into()));
        }
        if takes_inputs(&self.method) {
            let inputs = self
                .inputs
                .lock()
                .clone()
                .filter(|_| stateless)
                .unwrap_or_default();
            changes.push((INPUT_RESPONSES, inputs.responses));
            changes.push((REQUEST_STATE, inputs.state));
        }
        Outgoing {
            id,
            params: self.hop(
                version,
                &self.method,
                self.progress.is_some().then_some(token),
                |hop| {
                    let span = span.as_deref();
                    mcpr_bridge::params(self.params.as_ref(), changes, &Hop { span, ..hop.clone() })
                },
            ),
            name: self.method.named_by().map(|_| self.target.origin.clone()),
            headers: if stateless {
                self.target.headers(arguments.as_ref())
            } else {
                Vec::new()
            },
            method: self.method.clone(),
            party: self.party,
        }
    }

    /// A request of mcpr's own about a task that the call has become.
    pub(crate) fn about_task(
        &self,
        replica: &Replica,
        method: Method,
        task: &str,
        responses: Option<Rope>,
    ) -> Outgoing {
        let mut changes: Vec<(&'static str, Rope)> = vec![(TASK_ID, RawJson::string(task).into())];
        changes.extend(responses.map(|responses| (INPUT_RESPONSES, responses)));
        Outgoing {
            id: replica.next_id(),
            params: self.hop(replica.version, &method, None, |hop| {
                mcpr_bridge::params(None, changes, hop)
            }),
            name: Some(task.into()),
            headers: Vec::new(),
            method,
            party: self.party,
        }
    }

    /// The hop to a server of that revision.
    fn hop<R>(
        &self,
        version: Version,
        method: &Method,
        progress: Option<u64>,
        go: impl FnOnce(&Hop<'_>) -> R,
    ) -> R {
        let own = self.gateway.client_info();
        let capabilities = match self.takes_tasks.load(Ordering::Relaxed) {
            true => self.context.abilities.with(Ability::Tasks).declared(version),
            false => self.context.capabilities(),
        };
        go(&Hop {
            version,
            method,
            progress,
            capabilities: &capabilities,
            client_info: self.context.client.info.as_ref().unwrap_or(&own),
            log_level: self.context.heard_level().map(LogLevel::as_str),
            span: None,
        })
    }

    /// Begins the span of a sending; gives what tells the server of it.
    fn begin_hop(&self, lease: &Lease) -> Option<String> {
        let trace = self.trace.as_ref()?;
        let address = crate::traces::address(lease.backend());
        Some(
            trace.begin_hop(&mcpr_telemetry::Hop {
                server: self.target.server.as_str(),
                target: self
                    .method
                    .named_by()
                    .filter(|key| *key == "name")
                    .map(|_| &*self.target.origin),
                version: lease.replica.version.as_str(),
                address: address.as_ref().map(|(host, port)| (host.as_str(), *port)),
            }),
        )
    }

    /// It is sent now.
    pub(crate) fn note_sent(&self) {
        let after = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.sent_after.store(after, Ordering::Relaxed);
        self.sent.store(true, Ordering::Relaxed);
    }

    /// When it was sent last.
    pub(crate) fn sent_at(&self) -> Option<Instant> {
        let after = Duration::from_micros(self.sent_after.load(Ordering::Relaxed));
        self.sent.load(Ordering::Relaxed).then(|| self.began + after)
    }

    /// Where the time went until now, if it was sent.
    pub(crate) fn steps(&self, now: Instant) -> Option<Steps> {
        let wait = Duration::from_micros(self.sent_after.load(Ordering::Relaxed));
        self.sent.load(Ordering::Relaxed).then(|| Steps {
            wait,
            server: (now - self.began).saturating_sub(wait),
        })
    }

    /// What is asked for, where it has a name of its own.
    pub(crate) fn item(&self) -> Option<(Kind, &str)> {
        let kind = match self.method {
            Method::ToolsCall => Kind::Tools,
            Method::PromptsGet => Kind::Prompts,
            Method::ResourcesRead => Kind::Resources,
            _ => return None,
        };
        Some((kind, &self.target.origin))
    }

    /// The backend that knows what it is about, and whether no other one can know it.
    pub(crate) fn home(&self) -> Option<(Box<str>, bool)> {
        if let Some(home) = &self.target.home {
            return Some((home.clone(), true));
        }
        let inputs = self.inputs.lock();
        let home = inputs.as_ref().and_then(|inputs| inputs.home.clone());
        home.map(|home| (home, false))
    }

    /// Whether it may be sent again to a server that may have worked on it (LB-04).
    pub(crate) fn may_be_repeated(&self) -> bool {
        let server = self.gateway.pool.get(&self.target.server);
        self.target.harmless && server.is_some_and(|server| server.spec.repeat == Repeat::Safe)
    }

    /// Finds out again whose it is, by what is offered now.
    pub(crate) fn resolve_again(&mut self) -> Result<(), Fault> {
        self.sight = self.gateway.sight(&self.context);
        let (gateway, sight) = (&self.gateway, &self.sight);
        self.target = Target::resolve(gateway, sight, &self.context, &self.method, self.params.as_ref())?;
        Ok(())
    }

    /// The roots that a server may know within the call.
    pub(crate) fn roots(&self) -> Told {
        let client = self.party.client;
        let owner = match &self.context.session {
            _ if !self.context.abilities.has(Ability::Roots) => NOBODY,
            Some(session) => session.roots_owner(),
            None => client,
        };
        Told { owner, client }
    }

    /// Takes what the server asked for, for the next time the call is sent.
    pub(crate) fn bring(&self, inputs: Inputs) {
        *self.inputs.lock() = Some(inputs);
    }

    /// Whether the server takes the call only as a task that mcpr waits for.
    pub(crate) fn as_task(&self, lease: &Lease) -> bool {
        self.target.task_required && lease.replica.version == Version::V2025_11_25
    }

    /// Whether the server has a level of log messages that can be set.
    pub(crate) fn can_log(&self, lease: &Lease) -> bool {
        let logs = |status: &Status| {
            let offers = status.offers.as_ref();
            offers.is_some_and(|offers| offers.capabilities.logging)
        };
        lease.replica.version.era() == Era::Session && lease.backend().look(logs)
    }

    /// The server's answer as it goes to the client.
    pub(crate) fn incoming(&self, lease: &Lease, outcome: Result<RawJson, RawJson>) -> Result<Rope, Rope> {
        let passage = Passage {
            client: self.context.client.version,
            server: lease.replica.version,
            method: &self.method,
            abilities: self.context.abilities,
            asked: self.target.asked.as_deref(),
            server_info: Some(&self.sight.server_info),
        };
        let expose = |uri: &str| self.target.expose(&self.sight, uri);
        match outcome {
            Ok(result) => {
                let result = self.rewrapped(lease, result);
                Ok(mcpr_bridge::result(&result, &passage, &expose))
            }
            Err(error) => mcpr_bridge::error(&error, &passage, &expose),
        }
    }

    /// A stateless server's result with its state, and its task's id, as this client gets to hold them.
    fn rewrapped(&self, lease: &Lease, result: RawJson) -> RawJson {
        if lease.replica.version.era() == Era::Session || self.context.era() == Era::Session {
            return result;
        }
        let backend = lease.backend();
        let changed = match &self.method {
            Method::TasksGet | Method::TasksUpdate | Method::TasksCancel => self.renamed_task(&result),
            method if takes_inputs(method) => {
                let needs_more = result.may_hold(Mark::InputRequired);
                let wrapped = needs_more
                    .then(|| self.gateway.wrap_state(self, backend, &result))
                    .flatten();
                wrapped.or_else(|| self.gateway.seal_task(&self.context, backend, &result))
            }
            _ => None,
        };
        changed.unwrap_or(result)
    }

    /// The result of a task method, under the id that the client used.
    fn renamed_task(&self, result: &RawJson) -> Option<RawJson> {
        let object = Object::read(result).ok()?;
        object.get(TASK_ID)?;
        let text = with_text(result, TASK_ID, self.target.asked.as_deref()?);
        Some(RawJson::trusted(text.into_bytes()))
    }

    /// The time limits of the server for a call.
    pub(crate) fn limits(&self) -> (Option<Duration>, Option<Duration>) {
        self.gateway.limits_of(&self.target.server)
    }
}

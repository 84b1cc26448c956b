//! Calls that have become tasks which their clients do not know of (extension of 2026-07-28): mcpr
//! looks at the task until it has ended, and the client sees a call like any other.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use mcpr_bridge::InputRequired;
use mcpr_protocol::{Era, ErrorObject, Id, Message, Method, Object, RawJson, Response, Rope, code, key};
use mcpr_router::{Lease, RouteError};
use mcpr_transport::{Failed, FailedKind, Outgoing, Reason, Sent};
use mcpr_upstream::{Replica, Upstream};
use memchr::memmem;
use tokio::time::{Instant, sleep, timeout};

use super::Step;
use super::begin::begin;
use super::course::{Course, Open, State};
use crate::call::Call;
use crate::fault::Fault;
use crate::tasks::TASK_ID;

/// How long the news that nobody wants a task any more may take.
const CANCEL: Duration = Duration::from_secs(5);

/// How long a server may take to say how a task stands.
const ANSWER: Duration = Duration::from_secs(30);

/// For how long a server is asked again that does not say it, and how often: tasks are made to
/// outlive that.
const PERSISTENCE: (Duration, Duration) = (Duration::from_secs(30), Duration::from_millis(250));

/// How often a task is asked for whose server does not say how often.
const POLL: Duration = Duration::from_secs(1);

/// The least and the longest pause between two looks at a task.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(60));

/// A task that is waited for.
pub(super) struct Task {
    lease: Lease,
    who: Followee,
    pause: Duration,
    /// What was asked for under these keys has been answered.
    answered: Vec<String>,
}

/// A task at its server.
#[derive(Clone)]
pub(super) struct Followee {
    /// Where it is.
    backend: Arc<Upstream>,
    replica: Arc<Replica>,
    id: String,
}

/// What came of a look at a task.
pub(super) enum Followed {
    /// It goes on.
    Stands(Box<Task>),
    /// It asks for something.
    Asks(Box<Task>, InputRequired),
    /// It has ended, with this outcome of the call.
    Ended(Lease, Result<RawJson, RawJson>),
    /// The server has given it up.
    GivenUp,
}

impl Course {
    /// A stateless server that takes the call only as a task, which its client knows nothing of.
    pub(super) fn wants_to_be_task(&mut self, open: &Open, response: &Response) -> bool {
        let unaware =
            self.call.context.era() == Era::Session && open.lease.replica.version.era() == Era::Stateless;
        let wants = |error: &RawJson| {
            let error = error.read::<ErrorObject>().ok();
            error.is_some_and(|error| {
                let data = error.data.as_ref().map_or(&b""[..], |data| data.as_bytes());
                error.code == code::MISSING_CAPABILITY
                    && memmem::find(data, key::TASKS_EXTENSION.as_bytes()).is_some()
            })
        };
        let wanted = unaware && response.outcome.as_ref().is_err_and(wants);
        if !wanted || self.call.takes_tasks.swap(true, Ordering::Relaxed) {
            return false;
        }
        self.state = State::Beginning(Box::pin(begin(self.call.clone())));
        true
    }

    /// The task that a stateless server has made of a call, if mcpr waits for it.
    pub(super) fn follows(&self, response: &Response) -> Option<(String, Duration)> {
        let may_be_one = self.call.takes_tasks.load(Ordering::Relaxed);
        let result = response.outcome.as_ref().ok().filter(|_| may_be_one);
        result.and_then(read_task)
    }

    /// Follows a task in place of the client.
    pub(super) fn follow(&mut self, lease: Lease, (id, pause): (String, Duration)) {
        let who = Followee {
            backend: lease.backend().clone(),
            replica: lease.replica.clone(),
            id,
        };
        self.followed = Some(who.clone());
        self.look_at(Box::new(Task {
            lease,
            who,
            pause,
            answered: Vec::new(),
        }));
    }

    fn look_at(&mut self, task: Box<Task>) {
        self.state = State::Following(Box::pin(look(self.call.clone(), task)));
    }

    /// Takes what came of a look at a task.
    pub(super) fn followed(&mut self, followed: Result<Followed, Fault>) -> Option<Step> {
        self.state = State::Over;
        match followed {
            Ok(Followed::Stands(task)) => {
                self.look_at(task);
                None
            }
            Ok(Followed::Asks(task, wanted)) => self.ask_for_inputs(Some(task), None, wanted),
            Ok(Followed::Ended(lease, outcome)) => {
                self.followed = None;
                let id = Some(Id::number(0));
                Some(self.answered_with(&lease, Response { id, outcome }))
            }
            Ok(Followed::GivenUp) => {
                self.followed = None;
                Some(self.fail(&Fault::Unanswered("the server gave the task up".to_owned())))
            }
            Err(fault) => {
                self.give_up(Reason::Client);
                Some(self.fail(&fault))
            }
        }
    }

    /// Gives a task what it asked for, and goes on waiting.
    pub(super) fn update_task(&mut self, mut task: Box<Task>, answers: Vec<(String, Rope)>) {
        task.answered.extend(answers.iter().map(|(key, _)| key.clone()));
        let entries = answers.iter().map(|(key, answer)| (key.as_str(), answer.clone()));
        let responses = mcpr_bridge::input_responses(entries);
        let call = self.call.clone();
        self.state = State::Following(Box::pin(async move {
            // What was taken twice counts once: each key is good for one answer.
            task.ask(&call, Method::TasksUpdate, Some(responses)).await?;
            look(call, task).await
        }));
    }
}

impl Task {
    /// Asks the server about it, again and again where it does not answer.
    async fn ask(&mut self, call: &Call, method: Method, responses: Option<Rope>) -> Result<RawJson, Fault> {
        let began = Instant::now();
        loop {
            self.who.find(call);
            let request = call.about_task(&self.who.replica, method.clone(), &self.who.id, responses.clone());
            let failed = match timeout(ANSWER, ask(&self.who.replica, request)).await {
                Ok(Ok(answer)) => return answer.map_err(|error| self.refused(error.message)),
                Ok(Err(failed)) => failed,
                Err(_) => Failed::maybe_sent(FailedKind::TimedOut, format!("no answer to `{method}`")),
            };
            if began.elapsed() >= PERSISTENCE.0 {
                return Err(lost(&self.lease, &failed));
            }
            tracing::debug!(server = %self.who.replica.server, reason = %failed, "a task is asked for again");
            self.lease.upstream.suspect();
            sleep(PERSISTENCE.1).await;
        }
    }

    fn refused(&self, said: String) -> Fault {
        Fault::TaskRefused {
            server: self.lease.upstream.name.clone(),
            said,
        }
    }

    /// What has come of it, by what the server says.
    fn seen(mut self: Box<Self>, state: &RawJson) -> Result<Followed, Fault> {
        let malformed = |lease: &Lease| {
            let detail = "what it says of its task cannot be read";
            lost(lease, &Failed::maybe_sent(FailedKind::Malformed, detail))
        };
        let Ok(state) = Object::read(state) else {
            return Err(malformed(&self.lease));
        };
        self.pause = pause(&state);
        let outcome = match state.text("status").as_deref() {
            Some("completed") => state.get("result").map(Ok),
            Some("failed") => state.get("error").map(Err),
            Some("cancelled") => return Ok(Followed::GivenUp),
            Some("input_required") => {
                return Ok(match open_questions(&state, &self.answered) {
                    Some(wanted) => Followed::Asks(self, wanted),
                    None => Followed::Stands(self),
                });
            }
            _ => return Ok(Followed::Stands(self)),
        };
        let outcome = outcome.ok_or_else(|| malformed(&self.lease))?;
        Ok(Followed::Ended(self.lease, outcome))
    }
}

impl Followee {
    /// Finds the connection to ask on: the one that it began on may have been replaced.
    fn find(&mut self, call: &Call) {
        if !self.replica.is_gone() {
            return;
        }
        // The backend itself may have been replaced, by a change of its configuration.
        let server = call.gateway.pool.get(&self.replica.server);
        let now = server.and_then(|server| server.backend_labelled(&self.backend.label));
        if let Some(now) = now {
            self.backend = now;
        }
        if let Some(replica) = self.backend.replica() {
            self.replica = replica;
        }
    }
}

/// Looks at a task, after the pause that its server wants.
async fn look(call: Arc<Call>, mut task: Box<Task>) -> Result<Followed, Fault> {
    sleep(task.pause).await;
    let state = task.ask(&call, Method::TasksGet, None).await?;
    task.seen(&state)
}

/// The id of a task and how often to ask for it.
fn read_task(result: &RawJson) -> Option<(String, Duration)> {
    let task = Object::read(result).ok()?;
    (task.text("resultType").as_deref() == Some("task")).then_some(())?;
    Some((task.text(TASK_ID)?, pause(&task)))
}

fn pause(task: &Object) -> Duration {
    let asked = task
        .get("pollIntervalMs")
        .and_then(|pause| pause.as_str().parse().ok());
    let asked = asked.map_or(POLL, Duration::from_millis);
    asked.clamp(PAUSES.0, PAUSES.1)
}

/// What a task asks for and has not been told; keys are used once in the life of a task.
fn open_questions(state: &Object, answered: &[String]) -> Option<InputRequired> {
    let mut wanted = InputRequired::of_task(state)?;
    wanted.requests.retain(|(key, _)| !answered.contains(key));
    (!wanted.requests.is_empty()).then_some(wanted)
}

/// The call has long been taken, so nothing is proven by how the wait for its end failed.
pub(super) fn lost(lease: &Lease, failed: &Failed) -> Fault {
    let failed = Failed {
        sent: Sent::Maybe,
        ..failed.clone()
    };
    RouteError::of(lease.upstream.name.clone(), &failed).into()
}

async fn ask(replica: &Replica, request: Outgoing) -> Result<Result<RawJson, ErrorObject>, Failed> {
    let mut exchange = replica.open(request).await?;
    loop {
        if let Message::Response(response) = exchange.next().await? {
            return Ok(response.outcome.map_err(|error| {
                let unread = |_| ErrorObject::new(code::INTERNAL, "an error that cannot be read");
                error.read().unwrap_or_else(unread)
            }));
        }
    }
}

/// Tells a stateless server that nobody wants a task any more.
pub(super) async fn cancel_followed(call: Arc<Call>, mut task: Followee) {
    task.find(&call);
    let request = call.about_task(&task.replica, Method::TasksCancel, &task.id, None);
    tell(&task.replica, request).await;
}

/// Tells a server something whose answer matters to nobody.
pub(super) async fn tell(replica: &Replica, request: Outgoing) {
    let told = timeout(CANCEL, ask(replica, request)).await;
    if !matches!(told, Ok(Ok(_))) {
        tracing::debug!(server = %replica.server, "a task could not be cancelled");
    }
}

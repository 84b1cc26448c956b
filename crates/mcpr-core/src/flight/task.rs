//! Calls that have become tasks which their clients do not know of: mcpr waits for the end, and the
//! client sees a call like any other.
//!
//! A task of 2025-11-25 has one request that is answered at its end; one of the extension of
//! 2026-07-28 is asked for again and again.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use mcpr_bridge::InputRequired;
use mcpr_protocol::{Era, ErrorObject, Id, Message, Method, Object, RawJson, Response, Rope, code, key};
use mcpr_router::{Lease, RouteError};
use mcpr_transport::{Failed, FailedKind, Outgoing, Party};
use mcpr_upstream::Replica;
use memchr::memmem;

use super::Step;
use super::begin::begin;
use super::course::{Course, Open, State};
use crate::call::Call;
use crate::fault::Fault;
use crate::tasks::TASK_ID;

/// How long the news that nobody wants a task any more may take.
const CANCEL: Duration = Duration::from_secs(5);

/// How often a task is asked for whose server does not say how often.
const POLL: Duration = Duration::from_secs(1);

/// The least and the longest pause between two looks at a task.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(60));

/// A task that is waited for.
pub(super) struct Task {
    pub(super) lease: Lease,
    id: String,
    pause: Duration,
    /// What was asked for under these keys has been answered.
    answered: Vec<String>,
}

/// What came of a task.
pub(super) enum Followed {
    /// It has ended, with this outcome of the call.
    Ended(Lease, Result<RawJson, RawJson>),
    /// It asks for something.
    Asks(Box<Task>, InputRequired),
}

impl Course {
    /// The task of 2025-11-25 that a call has become, if its server takes it as one only.
    pub(super) fn became_task(&self, open: &Open, response: &Response) -> Option<RawJson> {
        if self.task.is_some() || !self.call.as_task(&open.lease) {
            return None;
        }
        let result = Object::read(response.outcome.as_ref().ok()?).ok()?;
        result.object("task")?.get(TASK_ID)
    }

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

    /// Follows a task that mcpr has asked for in place of its client. Gives back what is none.
    pub(super) fn follow_task(&mut self, open: Open, response: Response) -> Result<(), (Open, Response)> {
        if !self.call.takes_tasks.load(Ordering::Relaxed) {
            return Err((open, response));
        }
        let Some((id, pause)) = response.outcome.as_ref().ok().and_then(read_task) else {
            return Err((open, response));
        };
        self.followed = Some((open.lease.replica.clone(), id.clone()));
        let task = Task {
            lease: open.lease,
            id,
            pause,
            answered: Vec::new(),
        };
        self.state = State::Following(Box::pin(follow(self.call.clone(), task)));
        Ok(())
    }

    /// Takes what came of a task.
    pub(super) fn followed(&mut self, followed: Result<Followed, Fault>) -> Option<Step> {
        self.state = State::Over;
        match followed {
            Err(fault) => Some(self.fail(&fault)),
            Ok(Followed::Ended(lease, outcome)) => {
                self.followed = None;
                let id = Some(Id::number(0));
                Some(self.answered_with(&lease, Response { id, outcome }))
            }
            Ok(Followed::Asks(task, wanted)) => self.ask_for_inputs(Some(task), wanted),
        }
    }

    /// Gives a task what it asked for, and goes on waiting.
    pub(super) fn update_task(&mut self, mut task: Box<Task>, answers: Vec<(String, Rope)>) {
        task.answered.extend(answers.iter().map(|(key, _)| key.clone()));
        let entries = answers.iter().map(|(key, answer)| (key.as_str(), answer.clone()));
        let responses = mcpr_bridge::input_responses(entries);
        let call = self.call.clone();
        self.state = State::Following(Box::pin(async move {
            let replica = task.lease.replica.clone();
            let update = call.about_task(&replica, Method::TasksUpdate, &task.id, Some(responses));
            ask(&replica, update)
                .await
                .map_err(|failed| lost(&task.lease, &failed))?
                .map_err(|error| Fault::Unanswered(error.message))?;
            follow(call, *task).await
        }));
    }
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

/// Looks at a task until something has come of it.
async fn follow(call: Arc<Call>, mut task: Task) -> Result<Followed, Fault> {
    loop {
        tokio::time::sleep(task.pause).await;
        let get = call.about_task(&task.lease.replica, Method::TasksGet, &task.id, None);
        let answer = ask(&task.lease.replica, get).await;
        let answer = answer.map_err(|failed| lost(&task.lease, &failed))?;
        let state = answer.map_err(|error| Fault::Unanswered(error.message))?;
        let state = Object::read(&state).map_err(|_| malformed(&task.lease))?;
        task.pause = pause(&state);
        let outcome = match state.text("status").as_deref() {
            Some("completed") => Ok(state.get("result").ok_or_else(|| malformed(&task.lease))?),
            Some("failed") => Err(state.get("error").ok_or_else(|| malformed(&task.lease))?),
            Some("cancelled") => return Err(Fault::Unanswered("the server gave the task up".to_owned())),
            Some("input_required") => match open_questions(&state, &task.answered) {
                Some(wanted) => return Ok(Followed::Asks(Box::new(task), wanted)),
                None => continue,
            },
            _ => continue,
        };
        return Ok(Followed::Ended(task.lease, outcome));
    }
}

/// What a task asks for and has not been told; keys are used once in the life of a task.
fn open_questions(state: &Object, answered: &[String]) -> Option<InputRequired> {
    let mut wanted = InputRequired::of_task(state)?;
    wanted.requests.retain(|(key, _)| !answered.contains(key));
    (!wanted.requests.is_empty()).then_some(wanted)
}

fn lost(lease: &Lease, failed: &Failed) -> Fault {
    RouteError::of(lease.upstream.name.clone(), failed).into()
}

fn malformed(lease: &Lease) -> Fault {
    let failed = Failed::maybe_sent(FailedKind::Malformed, "what it says of its task cannot be read");
    lost(lease, &failed)
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

/// Asks for the result of a task of 2025-11-25. The answer comes when the task has ended, and is
/// the result of the call; what the server asks meanwhile comes on the same exchange.
pub(super) async fn begin_wait(lease: Lease, task: RawJson) -> Result<Open, Fault> {
    let request = about(&lease.replica, Method::TasksResult, &task, lease.party);
    let id = request.id;
    match lease.replica.open(request).await {
        Ok(exchange) => Ok(Open { lease, exchange, id }),
        Err(failed) => Err(lost(&lease, &failed)),
    }
}

/// Tells a stateless server that nobody wants a task any more.
pub(super) async fn cancel_followed(call: Arc<Call>, replica: Arc<Replica>, id: String) {
    let request = call.about_task(&replica, Method::TasksCancel, &id, None);
    tell(&replica, request).await;
}

/// Tells the server that nobody wants a task of 2025-11-25 any more.
pub(super) async fn cancel_task(replica: Arc<Replica>, task: RawJson) {
    let request = about(&replica, Method::TasksCancel, &task, Party::GATEWAY);
    tell(&replica, request).await;
}

async fn tell(replica: &Replica, request: Outgoing) {
    let told = tokio::time::timeout(CANCEL, ask(replica, request)).await;
    if !matches!(told, Ok(Ok(_))) {
        tracing::debug!(server = %replica.server, "a task could not be cancelled");
    }
}

fn about(replica: &Replica, method: Method, task: &RawJson, party: Party) -> Outgoing {
    let mut params = Rope::from(bytes::Bytes::from_static(b"{\"taskId\":"));
    params.append(task.clone().into());
    params.push_static("}");
    Outgoing {
        id: replica.next_id(),
        method,
        params,
        name: None,
        headers: Vec::new(),
        party,
    }
}

//! Questions to the client during a request, in the way of each era.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::sync::oneshot::Receiver;
use tokio::time::{sleep, timeout};

use crate::message::{self, Params, Request, quoted};
use crate::outlet::Outlet;
use crate::server::{Context, Server};
use crate::spec::{Raw, filled, named};

/// What a server asks during the requests that cause it. The result of such a request repeats all
/// answers: a list of rounds, each with what came for it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Interview {
    /// The requests that cause it, by their keys.
    #[serde(default = "calls")]
    on: Vec<String>,
    /// The questions, round by round; those of one round are asked at once. In the stateless era a
    /// round without questions only gives a state.
    rounds: Vec<Vec<Ask>>,
    /// Begins again after the last round, without end.
    #[serde(default)]
    endless: bool,
    /// Session era over HTTP: asks on the stream of GET, where nothing says which call it is about.
    #[serde(default)]
    aside: bool,
    /// Session era: asks after the answer to the request, which holds no answers then.
    #[serde(default)]
    late: bool,
    /// Stateless era: gives no state, and so has one round.
    #[serde(default)]
    stateless: bool,
    /// Session era: seconds to wait before each round.
    #[serde(default)]
    pause: f64,
}

/// A question to the client.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ask {
    pub(crate) method: String,
    /// In its texts, `{args}` stands for the arguments of the call.
    pub(crate) params: Option<Raw>,
    /// Its id instead of a fresh one.
    id: Option<Raw>,
    /// Seconds after which it is taken back.
    withdraw: Option<f64>,
}

/// What becomes of a request that may cause an interview.
pub(crate) enum Outcome {
    /// It causes none.
    Quiet,
    /// The result that asks for more.
    Asks(String),
    /// All that was said.
    Said(String),
}

/// What a stateless server has its client carry.
#[derive(Default, Serialize, Deserialize)]
struct State {
    round: usize,
    said: Vec<Raw>,
}

impl Interview {
    /// Whether a request causes it before its answer.
    fn is_for(&self, request: &Request) -> bool {
        !self.late && named(&self.on, request)
    }
}

impl Ask {
    /// The parameters for a call with these arguments.
    pub(crate) fn params_for(&self, arguments: &str) -> String {
        filled(self.params.as_ref().map_or("{}", |raw| raw.get()), arguments)
    }

    /// The question as an entry of `inputRequests`.
    pub(crate) fn entry(&self, arguments: &str) -> String {
        let (method, params) = (quoted(&self.method), self.params_for(arguments));
        format!(r#"{{"method":{method},"params":{params}}}"#)
    }
}

impl Server {
    /// Asks what the script says for the request.
    pub(crate) async fn interview(
        &self,
        request: &Request,
        params: &Params,
        context: Context<'_>,
        stateless: bool,
    ) -> Outcome {
        let Some(interview) = self.spec.interview.iter().find(|all| all.is_for(request)) else {
            return Outcome::Quiet;
        };
        let arguments = params.arguments_text();
        if stateless {
            return next_round(interview, params, arguments);
        }
        Outcome::Said(self.ask_all(interview, arguments, context).await)
    }

    /// Asks what the script wants to be asked too late.
    pub(crate) fn ask_late(&self, request: &Request) {
        let Ok(params) = &request.params else { return };
        let late = self.spec.interview.iter().filter(|all| all.late);
        for ask in late
            .filter(|all| named(&all.on, request))
            .flat_map(|all| all.rounds.iter().flatten())
        {
            let asked = ask.params_for(params.arguments_text());
            let id = self.id_of(ask);
            self.notices
                .send(&message::request(&id, &ask.method, Some(&asked)));
        }
    }

    async fn ask_all(&self, interview: &Interview, arguments: &str, context: Context<'_>) -> String {
        let aside = interview
            .aside
            .then(|| self.notices.outlet_of(context.talk))
            .flatten();
        let outlet = aside.as_ref().unwrap_or(context.outlet);
        let mut said = Vec::new();
        loop {
            for round in &interview.rounds {
                sleep(Duration::from_secs_f64(interview.pause)).await;
                said.push(self.ask_round(round, arguments, outlet).await);
            }
            if !interview.endless {
                return format!("[{}]", said.join(","));
            }
        }
    }

    /// Asks several questions at once; gives what came for them.
    pub(crate) async fn ask_round(&self, round: &[Ask], arguments: &str, outlet: &Outlet) -> String {
        let put = |ask| {
            let id = self.id_of(ask);
            let answer = self.put(&id, &ask.method, Some(&ask.params_for(arguments)), outlet);
            (ask, id, answer)
        };
        let open: Vec<_> = round.iter().map(put).collect();
        let mut said = Vec::new();
        for (ask, id, answer) in open {
            said.push(answered(ask, &id, answer, outlet).await);
        }
        format!("[{}]", said.join(","))
    }

    fn id_of(&self, ask: &Ask) -> String {
        ask.id
            .as_ref()
            .map_or_else(|| self.fresh_id(), |id| id.get().to_owned())
    }
}

/// Waits for an answer, or takes the question back.
async fn answered(ask: &Ask, id: &str, answer: Receiver<String>, outlet: &Outlet) -> String {
    let Some(seconds) = ask.withdraw else {
        return answer.await.unwrap_or_default();
    };
    match timeout(Duration::from_secs_f64(seconds), answer).await {
        Ok(answer) => answer.unwrap_or_default(),
        Err(_) => {
            let params = format!(r#"{{"requestId":{id},"reason":"never mind"}}"#);
            outlet.send(&message::notification("notifications/cancelled", Some(&params)));
            quoted("taken back")
        }
    }
}

/// Where a stateless interview stands, by what the client brings.
fn next_round(interview: &Interview, params: &Params, arguments: &str) -> Outcome {
    let brought = params.input_responses.as_ref().map_or("{}", |raw| raw.get());
    let Some(mut state) = state_of(interview, params) else {
        return Outcome::Asks(needs_more(interview, &State::default(), &[], arguments));
    };
    let missing = missing(&interview.rounds[state.round], state.round, brought);
    if !missing.is_empty() {
        return Outcome::Asks(needs_more(interview, &state, &missing, arguments));
    }
    state
        .said
        .push(RawValue::from_string(brought.to_owned()).expect("answers are JSON"));
    state.round += 1;
    if interview.endless {
        state.round %= interview.rounds.len();
    }
    if state.round < interview.rounds.len() {
        return Outcome::Asks(needs_more(interview, &state, &[], arguments));
    }
    let said: Vec<_> = state.said.iter().map(|raw| raw.get()).collect();
    Outcome::Said(format!("[{}]", said.join(",")))
}

/// The state that the client carries; `None` where it comes for the first time.
fn state_of(interview: &Interview, params: &Params) -> Option<State> {
    if interview.stateless {
        return params.input_responses.as_ref().map(|_| State::default());
    }
    let text = params.request_state.as_ref()?;
    Some(serde_json::from_str(text).expect("the client brings the state that it was given"))
}

fn needs_more(interview: &Interview, state: &State, only: &[String], arguments: &str) -> String {
    let wanted = |key: &String| only.is_empty() || only.contains(key);
    let asks = interview.rounds[state.round].iter().enumerate();
    let entries = asks.map(|(index, ask)| (key(state.round, index), ask.entry(arguments)));
    let entries: Vec<_> = entries
        .filter(|(key, _)| wanted(key))
        .map(|(key, entry)| format!("{}:{entry}", quoted(&key)))
        .collect();
    let requests = match entries.is_empty() {
        true => String::new(),
        false => format!(r#","inputRequests":{{{}}}"#, entries.join(",")),
    };
    let state = match interview.stateless {
        true => String::new(),
        false => {
            let state = serde_json::to_string(state).expect("a state is JSON");
            format!(r#","requestState":{}"#, quoted(&state))
        }
    };
    format!(r#"{{"resultType":"input_required"{requests}{state}}}"#)
}

fn missing(round: &[Ask], number: usize, brought: &str) -> Vec<String> {
    let brought: BTreeMap<String, Raw> = serde_json::from_str(brought).unwrap_or_default();
    let keys = (0..round.len()).map(|index| key(number, index));
    keys.filter(|key| !brought.contains_key(key)).collect()
}

/// The key of a question: no two of one interview have the same.
fn key(round: usize, index: usize) -> String {
    format!("q{round}.{index}")
}

fn calls() -> Vec<String> {
    vec!["tools/call".to_owned()]
}

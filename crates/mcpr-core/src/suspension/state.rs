//! The sealed state that a client holds for a call that is to go on.

use std::time::{Duration, SystemTime};

use mcpr_bridge::{Purpose, digest};
use mcpr_protocol::{Method, Object};
use serde::{Deserialize, Serialize};

use crate::client::Context;
use crate::gateway::Gateway;

/// What is in a sealed state.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    /// A call that waits in this gateway; each number is given once.
    Held { gateway: String, call: u64 },
    /// The state of a stateless server.
    Wrapped {
        server: String,
        state: String,
        /// The backend that made it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        backend: Option<String>,
    },
    /// Visits after which the call is made again.
    Visits(Vec<Box<str>>),
}

impl State {
    pub(super) fn held(gateway: &Gateway, call: u64) -> Self {
        let gateway = gateway.pool.instance().to_owned();
        Self::Held { gateway, call }
    }
}

/// To what a state is bound.
pub(super) struct Binding {
    digest: String,
}

impl Binding {
    pub(super) fn of(method: &Method, params: Option<&Object>) -> Self {
        let digest = digest(method, params);
        Self {
            digest: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
        }
    }

    pub(super) fn seal(&self, gateway: &Gateway, context: &Context, state: &State, life: Duration) -> String {
        let payload = serde_json::to_vec(state).expect("a state of ours can be written");
        let expires = SystemTime::now() + life;
        gateway
            .sealer
            .seal(Purpose::RequestState, &self.parts(context), expires, &payload)
    }

    pub(super) fn open(&self, gateway: &Gateway, context: &Context, text: &str) -> Option<State> {
        let now = SystemTime::now();
        let opened = gateway
            .sealer
            .open(Purpose::RequestState, &self.parts(context), text, now);
        serde_json::from_slice(&opened.ok()?).ok()
    }

    fn parts<'a>(&'a self, context: &'a Context) -> [&'a str; 2] {
        [context.principal.key(), &self.digest]
    }
}

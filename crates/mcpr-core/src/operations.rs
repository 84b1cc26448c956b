//! What operators can ask: each operation of the admin API, on this gateway.

mod explain;
mod history;
mod items;
mod projects;
mod requests;
mod running;
mod servers;
mod status;
mod stream;
mod switches;
mod tokens;
mod toolsets;

use std::sync::Arc;

use bytes::Bytes;
use http::Response;
use mcpr_admin::{ErrorCode, Failure, PREFIX, dispatch, refuse, route};
use mcpr_auth::Principal;

pub(crate) use self::status::how_servers_are;
pub use self::stream::Texts;
use crate::front::http::may_operate;
use crate::gateway::Gateway;

/// The gateway as operators see it.
#[derive(Clone)]
pub struct Operator {
    gateway: Arc<Gateway>,
}

impl Operator {
    /// The operator's side of a gateway.
    pub fn new(gateway: Arc<Gateway>) -> Self {
        Self { gateway }
    }

    /// Carries out what was sent to `path`, which is what follows `/admin/v1/`.
    pub async fn perform(&self, caller: &Principal, path: &str, body: &[u8]) -> Response<Bytes> {
        match Self::check_scope(caller, path) {
            Err(failure) => refuse(failure),
            Ok(()) => dispatch(self, caller, &format!("{PREFIX}{path}"), body).await,
        }
    }

    /// Whether the caller may ask for what is at `path`.
    fn check_scope(caller: &Principal, path: &str) -> Result<(), Failure> {
        let route = route(&format!("{PREFIX}{path}"));
        match route.filter(|route| !may_operate(caller, route.read_only)) {
            Some(route) => Err(Self::lacks_scope(if route.read_only { "read" } else { "admin" })),
            None => Ok(()),
        }
    }

    /// Why a caller whose token lacks a scope gets nothing.
    pub(crate) fn lacks_scope(scope: &str) -> Failure {
        let failure = Failure::new(
            ErrorCode::Permission,
            format!("this token lacks the scope `{scope}`"),
        );
        failure.hint(format!(
            "make one that has it: mcpr-ctl tokens create --name NAME --scope {scope}"
        ))
    }
}

//! What operators can ask: each operation of the admin API, on this gateway.

mod items;
mod requests;
mod status;
mod tokens;

use std::sync::Arc;

use bytes::Bytes;
use http::Response;
use mcpr_admin::{ErrorCode, Failure, PREFIX, dispatch, refuse, route};
use mcpr_auth::Principal;

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
        let path = format!("{PREFIX}{path}");
        match route(&path) {
            Some(route) if !may_operate(caller, route.read_only) => {
                Self::refuse_for_scope(if route.read_only { "read" } else { "admin" })
            }
            _ => dispatch(self, caller, &path, body).await,
        }
    }

    /// The answer for a caller whose token lacks a scope.
    pub(crate) fn refuse_for_scope(scope: &str) -> Response<Bytes> {
        let failure = Failure::new(
            ErrorCode::Permission,
            format!("this token lacks the scope `{scope}`"),
        );
        refuse(failure.hint(format!(
            "make one that has it: mcpr-ctl tokens create --name NAME --scope {scope}"
        )))
    }
}

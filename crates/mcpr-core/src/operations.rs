//! What operators can ask: each operation of the admin API, on this gateway.

mod explain;
mod history;
mod items;
mod log;
mod pins;
mod projects;
mod requests;
mod running;
mod secrets;
mod servers;
mod status;
mod stream;
mod switches;
mod tokens;
mod toolsets;

use std::sync::Arc;

use bytes::Bytes;
use http::Response;
use mcpr_admin::{
    CallTool, ErrorCode, Execute, Failure, GetPrompt, Operation, PREFIX, ReadResource, dispatch, refuse,
    route,
};
use mcpr_auth::{Principal, Scope};

pub(crate) use self::projects::unsaved;
pub(crate) use self::status::how_servers_are;
pub use self::stream::Texts;
use crate::fault::Fault;
use crate::gateway::Gateway;

/// What ends with whoever asked for it: requests to servers, which are cancelled there.
const REQUESTS: [&str; 3] = [<CallTool as Operation>::PATH, ReadResource::PATH, GetPrompt::PATH];

impl Gateway {
    /// Carries out an operation of the admin API, such as [`Status`](mcpr_admin::Status) or
    /// [`EquipToolset`](mcpr_admin::EquipToolset), in the name of the operator.
    ///
    /// # Errors
    ///
    /// What an operator would be told: what was named does not exist, or it did not work.
    pub async fn operate<O>(self: &Arc<Self>, operation: O) -> Result<O::Output, Failure>
    where
        O: Operation,
        Operator: Execute<O, Principal>,
    {
        let operator = Operator::new(self.clone());
        operator.execute(&Principal::local(), operation).await
    }
}

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
            Ok(()) if REQUESTS.contains(&path) => {
                dispatch(self, caller, &format!("{PREFIX}{path}"), body).await
            }
            Ok(()) => self.perform_to_the_end(caller, path, body).await,
        }
    }

    async fn perform_to_the_end(&self, caller: &Principal, path: &str, body: &[u8]) -> Response<Bytes> {
        let (operator, caller) = (self.clone(), caller.clone());
        let (path, body) = (format!("{PREFIX}{path}"), body.to_vec());
        let work = async move { dispatch(&operator, &caller, &path, &body).await };
        let died = || refuse(Failure::new(ErrorCode::Failed, Fault::Internal.to_string()));
        self.gateway.to_the_end(work).await.unwrap_or_else(died)
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

/// Whether an operator's request is the operator's to make.
fn may_operate(principal: &Principal, read_only: bool) -> bool {
    principal.allows(if read_only { Scope::Read } else { Scope::Admin })
}

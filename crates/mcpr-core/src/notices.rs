//! Telling clients what has changed: lists, resources and tasks.

use mcpr_auth::Principal;

use crate::client::Context;
use crate::gateway::Gateway;
use crate::scope::{Asked, Scope};

mod filter;
mod listen;
mod session;

pub(crate) use filter::Filter;
pub(crate) use listen::Listen;
pub(crate) use session::SessionNotices;

/// Whose sight it is that changes.
#[derive(Clone)]
pub(crate) struct Caller {
    pub(crate) principal: Principal,
    pub(crate) asked: Asked,
}

impl Caller {
    /// Whoever makes a request.
    pub(crate) fn of(context: &Context) -> Self {
        Self {
            principal: context.principal.clone(),
            asked: context.asked.clone(),
        }
    }

    /// What limits its sight now.
    pub(crate) fn scope(&self, gateway: &Gateway) -> Scope {
        gateway.scope(&self.principal, &self.asked).0
    }
}

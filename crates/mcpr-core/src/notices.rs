//! Telling clients what has changed: lists, resources and tasks.

use mcpr_auth::Principal;
use mcpr_registry::ServerName;

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

    /// Whether what a server tells still concerns it: a project can lose a server after somebody subscribed.
    pub(crate) fn hears(&self, gateway: &Gateway, server: &ServerName) -> bool {
        let scope = self.scope(gateway);
        scope.is_everywhere() || gateway.snapshot().sight(&scope).sees(server.as_str())
    }
}

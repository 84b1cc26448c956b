//! Who asks about toolsets, and what he is told when it cannot be done.

use std::sync::Arc;

use mcpr_admin::{ErrorCode, Failure};
use mcpr_auth::{Principal, Timestamp, Token};
use mcpr_registry::nearest;
use mcpr_store::{DEFAULT, DatabaseFault, OPERATOR, StoreError};

use super::Toolset;
use crate::client::Context;
use crate::fault::Fault;
use crate::gateway::Gateway;
use crate::operations::unsaved;
use crate::scope::{Asked, Choice, Scope, nobody};
use crate::sight::Sight;

/// Who asks.
pub(crate) struct Asker {
    pub(crate) principal: Principal,
    asked: Asked,
    /// Whether he may speak for others, and sees everything.
    pub(crate) operator: bool,
}

/// Whose equipped toolset it is about.
#[derive(Clone)]
pub(crate) struct Whom {
    /// The key of a principal, or `default`.
    pub(crate) key: String,
    /// The principal, where it is one that is known.
    principal: Option<Principal>,
    asked: Asked,
}

/// Why it was not done.
#[derive(Debug)]
pub(crate) enum ToolsetError {
    /// Whoever asked can do better.
    Failure(Failure),
    /// The gateway could not.
    Fault(Fault),
    /// What is kept could not be read or changed.
    Store(StoreError),
}

impl Asker {
    /// A client, for itself.
    pub(crate) fn client(context: &Context) -> Self {
        Self {
            principal: context.principal.clone(),
            asked: context.asked.clone(),
            operator: false,
        }
    }

    /// An operator.
    pub(crate) fn operator(principal: &Principal) -> Self {
        Self {
            principal: principal.clone(),
            asked: Asked::default(),
            operator: true,
        }
    }

    /// What limits his sight, without any choice of tools.
    pub(crate) fn reach(&self, gateway: &Gateway) -> Scope {
        match self.operator {
            true => Scope::everything(),
            false => gateway.scope(&self.principal, &self.asked).0.unchosen(),
        }
    }

    /// What he sees.
    pub(crate) fn sight(&self, gateway: &Gateway) -> Arc<Sight> {
        match self.operator {
            true => gateway.snapshot().sight(&Scope::everything()),
            false => gateway.sight_of(&self.principal, &self.asked),
        }
    }

    /// The toolsets he can name.
    pub(crate) fn toolsets(&self, gateway: &Gateway) -> Vec<Arc<Toolset>> {
        match self.operator {
            true => gateway.toolsets.all(),
            false => gateway.toolsets.within_reach(self.principal.key()),
        }
    }

    /// Who owns what he builds.
    pub(crate) fn owner(&self) -> &str {
        match self.operator {
            true => OPERATOR,
            false => self.principal.key(),
        }
    }

    /// The toolset that he means.
    pub(crate) fn find(
        &self,
        gateway: &Gateway,
        name: &str,
        owner: Option<&str>,
    ) -> Result<Arc<Toolset>, ToolsetError> {
        let found = match owner {
            Some(owner) => gateway.toolsets.exactly(owner, name),
            None => gateway.toolsets.find(self.owner(), name),
        };
        found.ok_or_else(|| self.no_toolset(gateway, name, owner))
    }

    pub(crate) fn no_toolset(&self, gateway: &Gateway, name: &str, owner: Option<&str>) -> ToolsetError {
        let all = self.toolsets(gateway);
        let of = owner.map_or_else(String::new, |owner| format!(" of `{owner}`"));
        let failure = Failure::new(ErrorCode::NotFound, format!("there is no toolset `{name}`{of}"));
        let hint = match nearest(name, all.iter().map(|toolset| &*toolset.name)) {
            Some(near) => format!("did you mean `{near}`?"),
            None if self.operator => "see `mcpr-ctl toolsets ls` for those there are".to_owned(),
            None => "see `list-toolsets` for those there are".to_owned(),
        };
        failure.hint(hint).into()
    }

    /// Whose equipped toolset he means: his own, or as an operator that of the principal he names.
    pub(crate) async fn whom(&self, gateway: &Gateway, named: Option<&str>) -> Result<Whom, ToolsetError> {
        let Some(key) = named.filter(|_| self.operator) else {
            return Ok(Whom {
                key: self.principal.key().to_owned(),
                principal: Some(self.principal.clone()),
                asked: self.asked.clone(),
            });
        };
        let principal = match key {
            DEFAULT => None,
            "local" => Some(Principal::local()),
            "anonymous" => Some(Principal::anonymous()),
            _ => match key.strip_prefix("stdio:") {
                Some(digest) => Some(Principal::stdio(digest)),
                None => Some(Principal::from(&gateway.token_named(key).await?)),
            },
        };
        Ok(Whom {
            key: principal.as_ref().map_or(key, Principal::key).to_owned(),
            principal,
            asked: Asked::default(),
        })
    }
}

impl Whom {
    /// What limits his sight now, and what decides it.
    pub(crate) fn scope(&self, gateway: &Gateway) -> (Scope, mcpr_admin::ActiveBy) {
        match &self.principal {
            Some(principal) => gateway.scope(principal, &self.asked),
            None => gateway.scope(&nobody(), &Asked::default()),
        }
    }

    /// What limits his sight with a toolset.
    pub(crate) fn scope_with(&self, gateway: &Gateway, toolset: &Arc<Toolset>) -> Scope {
        let scope = match &self.principal {
            Some(principal) => gateway.scope(principal, &self.asked).0,
            None => Scope::everything(),
        };
        Scope {
            choice: Choice::Only(toolset.clone()),
            ..scope
        }
    }
}

impl Gateway {
    /// The token of this id, or else of this name: the one that is good, or the last of those that are over.
    pub(crate) async fn token_named(&self, which: &str) -> Result<Token, ToolsetError> {
        let tokens = self.store.tokens().await?.into_iter().map(|(token, _)| token);
        let (by_id, others): (Vec<_>, Vec<_>) = tokens.partition(|token| token.id.as_str() == which);
        let named = others.into_iter().filter(|token| token.name == which);
        let now = Timestamp::now();
        let (mut good, over): (Vec<_>, Vec<_>) = named.partition(|token| token.is_active(now));
        if let (true, [_, _, ..]) = (by_id.is_empty(), &good[..]) {
            let ids: Vec<_> = good.iter().map(|token| token.id.as_str()).collect();
            let what = format!("`{which}` names several tokens: {}", ids.join(", "));
            return Err(Failure::new(ErrorCode::Invalid, what)
                .hint("name one by its id")
                .into());
        }
        let found = by_id
            .into_iter()
            .next()
            .or(good.pop())
            .or(over.into_iter().last());
        let unknown = || {
            let failure = Failure::new(ErrorCode::NotFound, format!("there is no token `{which}`"));
            failure.hint("see `mcpr-ctl tokens ls`; without a token there are `default`, `local`, `anonymous` and `stdio:DIGEST`")
        };
        Ok(found.ok_or_else(unknown)?)
    }
}

impl From<Failure> for ToolsetError {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl ToolsetError {
    /// What a client is told: what it can mend, or else what kind of fault it is; the details are in the log only
    /// (HTTP-04).
    pub(crate) fn for_client(self) -> Result<Failure, Fault> {
        match self {
            Self::Failure(failure) => Ok(failure),
            Self::Fault(fault) => Err(fault),
            Self::Store(StoreError::Database(error)) => Err(match error.fault() {
                DatabaseFault::Locked => Fault::DatabaseLocked,
                fault => Fault::NotKept(fault),
            }),
            Self::Store(_) => Err(Fault::Internal),
        }
    }
}

impl From<StoreError> for ToolsetError {
    fn from(error: StoreError) -> Self {
        tracing::error!(reason = %error, "a change of toolsets could not be stored");
        Self::Store(error)
    }
}

impl From<ToolsetError> for Failure {
    /// What an operator is told.
    fn from(error: ToolsetError) -> Self {
        let fault = match error {
            ToolsetError::Failure(failure) => return failure,
            ToolsetError::Fault(fault) => fault,
            ToolsetError::Store(StoreError::Database(error)) if error.fault() == DatabaseFault::Locked => {
                Fault::DatabaseLocked
            }
            ToolsetError::Store(error) => return unsaved(error),
        };
        let code = match fault {
            Fault::OperationInProgress | Fault::DatabaseLocked => ErrorCode::Unavailable,
            _ => ErrorCode::Failed,
        };
        Failure::new(code, fault.to_string())
    }
}

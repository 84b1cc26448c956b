//! What an embedding program says before its gateway starts.

use std::sync::Arc;

use mcpr_auth::TokenStore;
use mcpr_config::{Config, ConfigError};
use mcpr_router::Balance;
use mcpr_store::Store;
use mcpr_telemetry::{CallLog, Secrets};
use mcpr_upstream::Dial;

use crate::gateway::Facts;
use crate::layers::Layer;
use crate::native::Tool;
use crate::reload::Reload;

/// A gateway in the making.
pub struct Builder {
    pub(super) config: Config,
    pub(super) store: Option<Arc<dyn Store>>,
    pub(super) dial: Option<Arc<dyn Dial>>,
    pub(super) calls: CallLog,
    pub(super) layers: Vec<Arc<dyn Layer>>,
    pub(super) tools: Vec<Tool>,
    pub(super) balance: Option<Arc<dyn Balance>>,
    pub(super) tokens: Option<Arc<dyn TokenStore>>,
    pub(super) secrets: Secrets,
    pub(super) facts: Facts,
    pub(super) reload: Option<Arc<Reload>>,
}

impl Builder {
    pub(crate) fn new(config: Config) -> Self {
        Self {
            config,
            store: None,
            dial: None,
            calls: CallLog::none(),
            layers: Vec::new(),
            tools: Vec::new(),
            balance: None,
            tokens: None,
            secrets: Secrets::default(),
            facts: Facts::default(),
            reload: None,
        }
    }

    /// Keeps state here; by default nothing outlives the gateway.
    pub fn store(self, store: Arc<dyn Store>) -> Self {
        Self {
            store: Some(store),
            ..self
        }
    }

    /// Reaches servers in another way than as child processes and over HTTP.
    pub fn dial(self, dial: Arc<dyn Dial>) -> Self {
        Self {
            dial: Some(dial),
            ..self
        }
    }

    /// Records every request here.
    pub fn calls(self, calls: CallLog) -> Self {
        Self { calls, ..self }
    }

    /// Has this code run before and after each request, behind the layers that were added before.
    pub fn layer(mut self, layer: impl Layer) -> Self {
        self.layers.push(Arc::new(layer));
        self
    }

    /// Offers a tool of this program, under the server `native`.
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Chooses among the backends of a server by this rule instead of the configured ones (`balance`). Backends
    /// that are not ready, are at their limit or fail again and again are never among those it chooses from.
    pub fn balance(mut self, rule: impl Balance + 'static) -> Self {
        self.balance = Some(Arc::new(rule));
        self
    }

    /// Lets in whom this says, instead of the holders of mcpr's own tokens. `mcpr-ctl tokens` and the admin API
    /// then make, list and revoke none.
    pub fn tokens(mut self, tokens: impl TokenStore + 'static) -> Self {
        self.tokens = Some(Arc::new(tokens));
        self
    }

    /// Keeps the values that must never be shown.
    pub fn secrets(self, secrets: Secrets) -> Self {
        Self { secrets, ..self }
    }

    /// Tells operators of the process around the gateway.
    pub fn facts(self, facts: Facts) -> Self {
        Self { facts, ..self }
    }

    /// Says how the configuration is read again when an operator wants that.
    pub fn reload(self, read: impl Fn() -> Result<Config, ConfigError> + Send + Sync + 'static) -> Self {
        Self {
            reload: Some(Arc::new(read)),
            ..self
        }
    }
}

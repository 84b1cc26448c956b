//! A gateway with all that it needs of a process.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mcpr_core::{Facts, Gateway};
use mcpr_store::Store;
use mcpr_telemetry::Telemetry;
use mcpr_transport::child::Guardian;
use mcpr_upstream::Dialer;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use crate::problem::Problem;
use crate::settings::Settings;

/// A running gateway.
pub(crate) struct Host {
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) guardian: Guardian,
    store: Arc<dyn Store>,
}

/// How long a gateway may take to end once its calls have had their time; then the guardian ends
/// what is left. With the usual `drain.grace` that makes less than 8 s in all (B47).
pub(crate) const SERVERS_GRACE: Duration = Duration::from_millis(4800);

impl Host {
    /// Opens the database and starts the gateway, with `listen` as what operators are told of its URLs.
    pub(crate) async fn start(
        settings: Settings,
        telemetry: &Telemetry,
        listen: Vec<String>,
    ) -> Result<Self, Problem> {
        let config = settings.config;
        let store = match mcpr_store::open(&settings.paths.database).await {
            Ok(store) => store,
            // A pipe needs no tokens: without a database it only learns again what earlier runs knew.
            Err(error) if listen.is_empty() => {
                tracing::warn!(reason = %error, "nothing will be remembered: the database cannot be used");
                Arc::new(mcpr_store::Memory::new())
            }
            Err(error) => return Err(error.into()),
        };
        if store.is_read_only() {
            let database = settings.paths.database.display();
            tracing::warn!(
                "the database {database} is on a read-only file system: what it holds counts, and nothing that \
                 changes will be remembered"
            );
        }
        let guardian = guardian();
        let dialer = Dialer {
            guardian: guardian.clone(),
            message_max: config.gateway.limits.server_message,
            ..Dialer::default()
        };
        for secret in dialer.proxies.credentials() {
            telemetry.secrets().add(&secret);
        }
        let facts = Facts {
            listen,
            log_file: telemetry.log_path().map(Path::to_owned),
        };
        let gateway = Gateway::builder(config)
            .store(store.clone())
            .dial(Arc::new(dialer))
            .log(telemetry.control())
            .tracer(settings.tracer)
            .secrets(telemetry.secrets().clone())
            .secret_folders(settings.secrets)
            .facts(facts);
        let gateway = match settings.origin {
            Some(origin) => gateway.reload(move || origin.read()),
            None => gateway,
        };
        let gateway = gateway.start().await?;
        Ok(Self {
            gateway,
            guardian,
            store,
        })
    }

    /// Takes nothing new, and lets calls under way finish for as long as the configuration says.
    pub(crate) async fn wind_down(&self) {
        self.gateway.leave();
        self.gateway.finish(self.gateway.grace()).await;
    }

    /// Ends the gateway and its servers; when that takes longer, only what must not be lost.
    pub(crate) async fn shut_down_within(&self, time: Duration) {
        if timeout(time, self.gateway.shutdown()).await.is_err() {
            self.store.close().await;
        }
    }
}

/// Without a guardian the servers of a gateway that is killed may live on; that is no reason not to run.
fn guardian() -> Guardian {
    Guardian::start_own(&["__guardian"]).unwrap_or_else(|error| {
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            "if the gateway is killed, servers may stay behind"
        );
        Guardian::none()
    })
}

/// The runtime of a gateway.
pub(crate) fn runtime() -> Result<Runtime, Problem> {
    Ok(Builder::new_multi_thread().enable_all().build()?)
}

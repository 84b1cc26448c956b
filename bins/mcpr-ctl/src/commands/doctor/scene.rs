//! All that has to be asked or read before anything can be judged.

use std::time::Duration;

use mcpr_admin::{
    ClientError, ListTokens, ListTools, Operation, ServerReport, Status, StatusReport, TokenReport,
    ToolReport,
};
use mcpr_config::clients::{Known, endpoint, endpoint_of};
use mcpr_config::{Config, ConfigError, Locations, Overrides, Process};
use mcpr_store::{Assignment, SavedListing};

use super::door::Door;
use crate::cli::Global;
use crate::clients::{Seen, look};
use crate::connect::Gateway;
use crate::database::{Absent, Database, Offline};
use crate::problem::Problem;

/// How long anything may take that is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is there.
#[derive(Debug)]
pub(super) struct Scene {
    /// Whether the gateway was named by its URL: then the files here say nothing about it.
    pub(super) elsewhere: bool,
    /// Where everything lies.
    pub(super) locations: Option<Locations>,
    /// What the files say, or why they say nothing.
    pub(super) config: Result<Config, ConfigError>,
    /// The gateway, or why there is none to ask.
    pub(super) gateway: Result<Running, ClientError>,
    /// What a gateway would know from earlier runs; only read without one.
    pub(super) stored: Stored,
    /// The servers in the words of the files, to be compared with those of clients.
    pub(super) known: Vec<Known>,
    /// The clients on this machine.
    pub(super) clients: Vec<Seen>,
}

/// A gateway that answers.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) status: StatusReport,
    pub(super) tools: Option<Vec<ToolReport>>,
    pub(super) tokens: Option<Vec<TokenReport>>,
    /// Whom it lets in; nothing if it serves its client on a pipe.
    pub(super) door: Option<Door>,
}

/// What stands in the database.
#[derive(Debug, Default)]
pub(super) struct Stored {
    pub(super) tokens: Option<Vec<TokenReport>>,
    pub(super) listings: Vec<SavedListing>,
    pub(super) assignments: Vec<Assignment>,
}

impl Scene {
    /// Looks everywhere at once. What cannot be had is left out, and whoever wants to judge it says so.
    pub(super) async fn gather(global: &Global) -> Result<Self, Problem> {
        let gateway = Running::ask(&Gateway::locate(global)?).await;
        let locations = locations(global, gateway.as_ref().ok());
        let config = match &locations {
            Ok(locations) => configuration(locations),
            Err(_) => Err(ConfigError::NoHome),
        };
        let locations = locations.ok();
        let stored = match (&gateway, &locations) {
            (Err(_), Some(locations)) => Stored::read(locations).await,
            _ => Stored::default(),
        };
        let files = config.iter().flat_map(|config| &config.files);
        let known = files
            .filter_map(|file| Known::read(file, &Process).ok())
            .collect();
        Ok(Self {
            elsewhere: global.gateway.is_some(),
            locations,
            config,
            gateway,
            stored,
            known,
            clients: look(&Process),
        })
    }

    /// How the gateway says that a server is doing.
    pub(super) fn server(&self, name: &str) -> Option<&ServerReport> {
        let running = self.gateway.as_ref().ok()?;
        running.status.servers.iter().find(|server| server.name == name)
    }

    /// The URLs of the gateway: where it listens, and where its configuration says.
    pub(super) fn endpoints(&self) -> Vec<String> {
        let running = self
            .gateway
            .iter()
            .flat_map(|running| &running.status.listen)
            .map(|url| endpoint(url));
        let configured = self
            .config
            .iter()
            .map(|config| endpoint_of(config.gateway.listen));
        running.chain(configured).collect()
    }
}

impl Running {
    async fn ask(gateway: &Gateway) -> Result<Self, ClientError> {
        let status = gateway.ask_within(PATIENCE, &Status {}).await?;
        let (tools, tokens, door) = tokio::join!(
            asked(gateway, ListTools::default()),
            asked(gateway, ListTokens {}),
            door(status.listen.first())
        );
        Ok(Self {
            status,
            tools: tools.map(|list| list.tools),
            tokens: tokens.map(|list| list.tokens),
            door,
        })
    }
}

async fn asked<O: Operation>(gateway: &Gateway, operation: O) -> Option<O::Output> {
    gateway.ask_within(PATIENCE, &operation).await.ok()
}

async fn door(listen: Option<&String>) -> Option<Door> {
    Some(Door::knock(listen?, PATIENCE).await)
}

/// The files that count. A running gateway of this machine knows best which ones it has read.
fn locations(global: &Global, running: Option<&Running>) -> Result<Locations, ConfigError> {
    let named = !global.config.is_empty() || global.gateway.is_some();
    let read = running
        .filter(|_| !named)
        .map(|running| &running.status.config_files);
    match read {
        Some(files) if !files.is_empty() => {
            let files: Vec<_> = files.iter().map(Into::into).collect();
            Locations::from_env(&files, &Process)
        }
        _ => Locations::from_env(&global.config, &Process),
    }
}

fn configuration(locations: &Locations) -> Result<Config, ConfigError> {
    let mut config = Config::load(locations, &Process)?;
    Overrides::from_env(&Process)?.apply(&mut config.gateway);
    Ok(config)
}

impl Stored {
    /// Reads the database if there is one that this mcpr made; `files` tells what is wrong with another.
    async fn read(locations: &Locations) -> Self {
        let current = mcpr_store::inspect(&locations.paths.database)
            .ok()
            .flatten()
            .is_some_and(|found| found.is_current());
        if !current {
            return Self::default();
        }
        match tokio::time::timeout(PATIENCE, Self::open(locations.clone())).await {
            Ok(Some(stored)) => stored,
            _ => Self::default(),
        }
    }

    async fn open(locations: Locations) -> Option<Self> {
        let database = Database::open(locations, Absent::CountAsEmpty).await.ok()?;
        let tokens = database.carry_out(ListTokens {}).await;
        let (listings, assignments) = database.known().await;
        database.close().await;
        Some(Self {
            tokens: tokens.ok().map(|list| list.tokens),
            listings,
            assignments,
        })
    }
}

//! Changes of the plan while everything runs: by operators, by other processes, by the configuration.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use mcpr_admin::{ErrorCode, Failure, Reloaded};
use mcpr_config::{Config, ConfigError, Finding, GatewayOptions, ServerEntry, Severity};
use mcpr_store::{SavedEquip, SavedPins, SavedProject, SavedToolset, Store, StoreError, Switch};
use mcpr_telemetry::{Level, LogControl, Timed};

use crate::gateway::Gateway;
use crate::plan::{Plan, Switches};
use crate::start::refuse_own_url;

/// Reads the configuration again.
pub(crate) type Reload = dyn Fn() -> Result<Config, ConfigError> + Send + Sync;

/// What operators and principals have changed at run time, as it is stored.
pub(crate) struct StoredState {
    pub(crate) switches: Vec<Switch>,
    pub(crate) projects: Vec<SavedProject>,
    pub(crate) toolsets: Vec<SavedToolset>,
    pub(crate) equips: Vec<SavedEquip>,
    pub(crate) pins: Vec<SavedPins>,
}

impl StoredState {
    /// Reads all of it.
    pub(crate) async fn read(store: &dyn Store) -> Result<Self, StoreError> {
        Ok(Self {
            switches: store.switches().await?,
            projects: store.projects().await?,
            toolsets: store.toolsets().await?,
            equips: store.equips().await?,
            pins: store.pins().await?,
        })
    }
}

impl Gateway {
    /// Changes the plan, and has servers and lists follow. Whoever changes what is stored does that
    /// before, under the same guard of `planning`.
    pub(crate) fn replan(&self, change: impl FnOnce(&mut Plan)) {
        self.plans.send_modify(|plan| {
            let mut changed = (**plan).clone();
            change(&mut changed);
            changed.tell_names(&self.secrets);
            *plan = Arc::new(changed);
        });
        self.pool.apply(self.plan().desired());
    }

    /// Has lists be made anew for everybody, where something changed that is not in the plan.
    pub(crate) fn republish(&self) {
        self.pool.touch();
    }

    /// Takes over what is stored now.
    pub(crate) async fn recall(&self) -> Result<(), StoreError> {
        let _one_at_a_time = self.planning.lock().await;
        // Nothing of its own is stored and not yet in memory, or the other way round, while this is read.
        let _no_change_meanwhile = self.toolsets.changing.lock().await;
        let stored = StoredState::read(&*self.store).await?;
        let plan = self.plan();
        let of_operator =
            self.toolsets
                .replace(&plan.options.toolsets, &stored.toolsets, Some(stored.equips));
        let of_pins = self.pins.replace(stored.pins);
        let switches = Switches::new(stored.switches);
        let projects = plan.projects_with(stored.projects);
        // Most of what others write says nothing of this: nobody is woken for it.
        if switches != plan.switches || projects != plan.projects {
            self.replan(|plan| {
                plan.switches = switches;
                plan.projects = projects;
            });
        } else if of_operator || of_pins {
            self.republish();
        }
        Ok(())
    }

    /// Reads the configuration again and changes what differs. Servers with the same entry, and all
    /// sessions, live on; a file that cannot be read changes nothing.
    pub(crate) async fn reload(&self) -> Result<Reloaded, Failure> {
        let _timed = Timed::of("reading the configuration again");
        let _one_at_a_time = self.planning.lock().await;
        let read = self.reload.clone().ok_or_else(|| {
            Failure::new(
                ErrorCode::Invalid,
                "this gateway was not started from a file that could be read again",
            )
        })?;
        let read = tokio::task::spawn_blocking(move || read()).await;
        let read =
            read.map_err(|_| Failure::new(ErrorCode::Failed, "the configuration could not be read"))?;
        let mut config = read.map_err(|error| unreadable(&error))?;
        refuse_nothing(&self.plan().files, &config.files)?;
        config.servers.splice(..0, self.tools.entry());
        refuse_own_url(&mut config.servers, &self.facts.listen);
        for secret in config.servers.iter().flat_map(|entry| &entry.secrets) {
            self.secrets.add(secret.reveal());
        }
        let _no_change_meanwhile = self.toolsets.changing.lock().await;
        let stored = self.store.toolsets().await;
        let stored = stored.map_err(|error| Failure::new(ErrorCode::Failed, error.to_string()))?;
        let projects = self.store.projects().await;
        let projects = projects.map_err(|error| Failure::new(ErrorCode::Failed, error.to_string()))?;
        let before = self.plan();
        let reloaded = differences(&self.started_with, &before, &config);
        self.follow_log_level(before.options.log.level, config.gateway.log.level);
        self.toolsets.replace(&config.gateway.toolsets, &stored, None);
        self.replan(|plan| {
            let known = std::mem::take(&mut plan.servers);
            let mut fresh = Plan::new(config, std::mem::take(&mut plan.switches), projects);
            for (name, entry) in &mut fresh.servers {
                if let Some(same) = known.get(name).filter(|same| **same == *entry) {
                    *entry = same.clone();
                }
            }
            *plan = fresh;
        });
        tracing::info!(
            added = reloaded.added.len(),
            removed = reloaded.removed.len(),
            changed = reloaded.changed.len(),
            "the configuration was read again"
        );
        Ok(reloaded)
    }
}

impl Gateway {
    /// Logs what the configuration says now, unless that is what it said before: what an operator has
    /// chosen meanwhile then stays.
    fn follow_log_level(&self, before: Level, now: Level) {
        if let Some(log) = self.log.as_ref().filter(|_| before != now) {
            self.change_log_level(log, now, "the configuration changed what is logged");
        }
    }

    /// Changes what is logged, and tells that where both the old and the new level let it through.
    pub(crate) fn change_log_level(&self, log: &LogControl, level: Level, why: &str) {
        let before = log.level();
        if before > level {
            log.set_level(level);
        }
        tracing::info!(%before, now = %level, "{why}");
        log.set_level(level);
    }
}

fn unreadable(error: &ConfigError) -> Failure {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    let failure = Failure::new(
        ErrorCode::InvalidConfig,
        format!("the old configuration stays: {text}"),
    );
    failure.hint("mend the file and reload again; `mcpr-gateway check` shows all that is wrong")
}

/// No file at all in place of those that were there is a slip, or an editor between two steps, and no
/// wish to end all servers.
fn refuse_nothing(before: &[PathBuf], now: &[PathBuf]) -> Result<(), Failure> {
    let Some(gone) = before.last().filter(|_| now.is_empty()) else {
        return Ok(());
    };
    let text = format!(
        "the old configuration stays: the configuration file `{}` is gone",
        gone.display()
    );
    Err(Failure::new(ErrorCode::InvalidConfig, text)
        .hint("put it back; for a gateway without servers, let it hold `{\"mcpServers\": {}}`"))
}

/// What a new configuration changes.
fn differences(started: &GatewayOptions, before: &Plan, after: &Config) -> Reloaded {
    let servers = mcpr_config::servers(after.servers.clone());
    let known: BTreeSet<&str> = before.order.iter().map(|name| name.as_str()).collect();
    let fresh: BTreeSet<&str> = servers.iter().map(|entry| entry.name.as_str()).collect();
    let differs = |entry: &&ServerEntry| {
        let old = before.servers.get(&entry.name);
        old.is_some_and(|old| !old.means_the_same(entry))
    };
    let changed: Vec<String> = servers
        .iter()
        .filter(differs)
        .map(|entry| entry.name.to_string())
        .collect();
    let texts = |names: Vec<&&str>| {
        names
            .into_iter()
            .map(|name| (*name).to_owned())
            .collect::<Vec<_>>()
    };
    Reloaded {
        files: after
            .files
            .iter()
            .map(|file| file.display().to_string())
            .collect(),
        added: texts(fresh.difference(&known).collect()),
        removed: texts(known.difference(&fresh).collect()),
        unchanged: (fresh.intersection(&known).count() - changed.len()) as u64,
        changed,
        needs_restart: started.needs_restart(&after.gateway),
        warnings: after
            .warnings
            .iter()
            .filter(|finding| finding.severity > Severity::Note)
            .map(Finding::text)
            .collect(),
    }
}

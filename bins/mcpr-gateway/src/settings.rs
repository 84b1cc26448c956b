//! Files, variables and flags, put together.

use std::path::PathBuf;

use mcpr_config::{Config, ConfigError, Environment, Locations, LogFile, Overrides, Paths, Process};

/// What a gateway is told.
#[derive(Debug)]
pub(crate) struct Settings {
    /// Where everything lies.
    pub(crate) paths: Paths,
    /// What the files say, with the variables and flags over them.
    pub(crate) config: Config,
}

impl Settings {
    /// Reads the files that count: those that are named, else the usual ones.
    pub(crate) fn load(
        files: &[PathBuf],
        flags: &Overrides,
        log: Option<LogFile>,
    ) -> Result<Self, ConfigError> {
        Self::read(Locations::from_env(files, &Process)?, &Process, flags, log)
    }

    /// Reads the files of these locations.
    pub(crate) fn read(
        locations: Locations,
        env: &dyn Environment,
        flags: &Overrides,
        log: Option<LogFile>,
    ) -> Result<Self, ConfigError> {
        let mut config = Config::load(&locations, env)?;
        let gateway = &mut config.gateway;
        Overrides::from_env(env)?.apply(gateway);
        flags.apply(gateway);
        gateway.log.file = log.unwrap_or_else(|| gateway.log.file.clone());
        Ok(Self {
            paths: locations.paths,
            config,
        })
    }
}

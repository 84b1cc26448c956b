//! Files, variables and flags, put together.

use std::path::PathBuf;
use std::time::Duration;

use mcpr_config::{
    Config, ConfigError, Environment, Locations, LogFile, Overrides, Paths, Process, SecretFolders,
};
use mcpr_telemetry::Tracer;

/// What a gateway is told.
#[derive(Debug)]
pub(crate) struct Settings {
    /// Where everything lies.
    pub(crate) paths: Paths,
    /// Where servers find the secrets that they ask for.
    pub(crate) secrets: SecretFolders,
    /// What the files say, with the variables and flags over them.
    pub(crate) config: Config,
    /// Who is told of spans.
    pub(crate) tracer: Tracer,
    /// How often the log tells of memory.
    pub(crate) memory: Option<Duration>,
    /// How it is read again; nothing for a gateway that has its files to itself.
    pub(crate) origin: Option<Origin>,
}

/// What was said when the files were read.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    files: Vec<PathBuf>,
    flags: Overrides,
    log: Option<LogFile>,
}

impl Origin {
    /// Reads the files that count now.
    pub(crate) fn read(&self) -> Result<Config, ConfigError> {
        Settings::load(&self.files, &self.flags, self.log.clone()).map(|settings| settings.config)
    }
}

impl Settings {
    /// Reads the files that count: those that are named, else the usual ones.
    pub(crate) fn load(
        files: &[PathBuf],
        flags: &Overrides,
        log: Option<LogFile>,
    ) -> Result<Self, ConfigError> {
        let settings = Self::read(
            Locations::from_env(files, &Process)?,
            &Process,
            flags,
            log.clone(),
        )?;
        let origin = Origin {
            files: files.to_owned(),
            flags: flags.clone(),
            log,
        };
        Ok(Self {
            origin: Some(origin),
            ..settings
        })
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
            secrets: locations.secrets,
            config,
            tracer: Tracer::off(),
            memory: None,
            origin: None,
        })
    }
}

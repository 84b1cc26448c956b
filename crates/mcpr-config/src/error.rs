//! Why there is no configuration at all.

use std::io;
use std::path::PathBuf;

use crate::fault::Fault;

/// Why a configuration could not be read; a fault of one server alone never ends up here.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A file that was named, or that exists, cannot be read.
    #[error("the configuration file `{}` cannot be read", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file is not JSON, or says something about the gateway itself that is not valid.
    #[error("{0}")]
    Invalid(Box<Fault>),
    /// One of mcpr's own variables has a value that it cannot have.
    #[error("the variable `{name}` {problem}")]
    Variable {
        /// The variable.
        name: &'static str,
        /// What is wrong with it, and what it may be.
        problem: String,
    },
    /// There is no folder to keep things in.
    #[error("there is no home folder to keep the configuration and the database in; set HOME or MCPR_HOME")]
    NoHome,
}

impl From<Fault> for ConfigError {
    fn from(fault: Fault) -> Self {
        Self::Invalid(Box::new(fault))
    }
}

impl From<&ConfigError> for Fault {
    fn from(error: &ConfigError) -> Self {
        match error {
            ConfigError::Invalid(fault) => (**fault).clone(),
            ConfigError::Unreadable { source, .. } => Self::new(format!("{error}: {source}")),
            _ => Self::new(error.to_string()),
        }
    }
}

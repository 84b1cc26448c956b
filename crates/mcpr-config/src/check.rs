//! Judges a configuration without starting anything (CFG-06).

mod page;

use std::path::PathBuf;

use mcpr_registry::ServerName;
use mcpr_upstream::{Reach, StdioSpec};
use serde::Serialize;

use crate::config::Config;
use crate::entry::{ServerEntry, ServerState, Via};
use crate::environment::Environment;
use crate::error::ConfigError;
use crate::fault::{Fault, Finding, Severity};
use crate::gateway::TlsFiles;
use crate::locations::Locations;
use crate::overrides::Overrides;

/// What a check found. Serialised, it is what `mcpr-gateway check --json` and `mcpr-ctl config check
/// --json` print; its `Display` is their page for people.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Report {
    /// Whether everything can be used: no finding is an error.
    pub valid: bool,
    /// The files that were read.
    pub files: Vec<PathBuf>,
    /// The servers, in the order of the files.
    pub servers: Vec<ServerReport>,
    /// What there is to say, in the order of the files' reading.
    pub findings: Vec<Finding>,
}

/// A server as a check sees it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ServerReport {
    /// Its name.
    pub name: ServerName,
    /// Whether it can be used.
    pub state: CheckedState,
    /// How it is reached, if the entry says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub via: Option<Via>,
    /// Its command line or URL as the file has it.
    pub shown: String,
    /// The program that its command was found to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<PathBuf>,
}

/// Whether a server can be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckedState {
    /// Nothing speaks against it.
    Enabled,
    /// The file says that it is not to be used.
    Disabled,
    /// What the file says about it is not valid.
    Misconfigured,
    /// Its program does not exist.
    NotFound,
}

/// Finds the program of a server as starting it would, or says why there is none.
pub type Resolve<'a> = &'a dyn Fn(&StdioSpec) -> Result<PathBuf, String>;

/// Reads, expands and resolves everything, and starts nothing.
pub fn check(locations: &Locations, env: &dyn Environment, resolve: Resolve<'_>) -> Report {
    let overrides = Overrides::from_env(env).err();
    let mut report = match Config::load(locations, env) {
        Ok(config) => Report::of(config, env, resolve),
        Err(error) => Report::failed(&error),
    };
    report
        .findings
        .extend(overrides.map(|error| Finding::error((&error).into())));
    report.valid = report
        .findings
        .iter()
        .all(|finding| finding.severity < Severity::Error);
    report
}

impl Report {
    fn failed(error: &ConfigError) -> Self {
        let findings = vec![Finding::error(error.into())];
        Self {
            valid: false,
            files: Vec::new(),
            servers: Vec::new(),
            findings,
        }
    }

    fn of(config: Config, env: &dyn Environment, resolve: Resolve<'_>) -> Self {
        let secrets = config.secrets();
        let Config {
            servers,
            warnings: mut findings,
            files,
            gateway,
            contents: _,
        } = config;
        findings.extend(unreadable(gateway.tls.as_ref(), env));
        let mut servers: Vec<_> = servers
            .iter()
            .map(|entry| judge(entry, resolve, &mut findings))
            .collect();
        // Where a program is, or was looked for, is told by its whole path, references filled in.
        for fault in findings.iter_mut().map(|finding| &mut finding.fault) {
            fault.what = secrets.scrub(&fault.what).into_owned();
        }
        for program in servers.iter_mut().filter_map(|server| server.program.as_mut()) {
            *program = secrets.scrub(&program.to_string_lossy()).into_owned().into();
        }
        Self {
            valid: true,
            files,
            servers,
            findings,
        }
    }
}

/// The files of a certificate that cannot be read.
fn unreadable(tls: Option<&TlsFiles>, env: &dyn Environment) -> Vec<Finding> {
    let files = tls
        .into_iter()
        .flat_map(|tls| [("cert", &tls.cert), ("key", &tls.key)]);
    let faults = files.filter_map(|(key, path)| {
        let error = env.read(path).err()?;
        let what = format!("`mcpr.tls.{key}`: {} cannot be read: {error}", path.display());
        Some(Finding::error(Fault::new(what)))
    });
    faults.collect()
}

fn judge(entry: &ServerEntry, resolve: Resolve<'_>, findings: &mut Vec<Finding>) -> ServerReport {
    let mut program = None;
    let (state, fault) = match (&entry.state, program_of(entry, resolve)) {
        (ServerState::Disabled(_), _) => (CheckedState::Disabled, None),
        (ServerState::Misconfigured(fault), _) => (CheckedState::Misconfigured, Some(fault.clone())),
        (ServerState::Enabled(_), Some(Err(fault))) => (CheckedState::NotFound, Some(fault)),
        (ServerState::Enabled(_), found) => {
            program = found.and_then(Result::ok);
            (CheckedState::Enabled, None)
        }
    };
    findings.extend(fault.map(|fault| Finding::error(fault).of(entry.name.as_str())));
    ServerReport {
        name: entry.name.clone(),
        state,
        via: entry.via,
        shown: entry.shown.clone(),
        program,
    }
}

/// The program of a server that is one.
fn program_of(entry: &ServerEntry, resolve: Resolve<'_>) -> Option<Result<PathBuf, Fault>> {
    let ServerState::Enabled(spec) = &entry.state else {
        return None;
    };
    let Reach::Stdio(process) = &spec.reach else {
        return None;
    };
    Some(resolve(process).map_err(|reason| not_found(entry, process, &reason)))
}

fn not_found(entry: &ServerEntry, process: &StdioSpec, reason: &str) -> Fault {
    let spaced = process.command.contains(' ');
    let hint = if spaced {
        "arguments belong in `args`"
    } else {
        "install it, or give its full path"
    };
    Fault::new(format!("`command` cannot be found: {reason}"))
        .hint(hint)
        .at(&entry.place)
}

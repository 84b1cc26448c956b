//! Whether what is about to be written, or is written, can be used.

use mcpr_config::{Config, Document, Fault, Finding, Locations, Process, ServerState, Severity};
use mcpr_upstream::Reach;

use crate::problem::Problem;

/// Makes sure that a document can be read and that this server in it can be used, as far as its
/// form goes; gives what is to be said about it.
pub(crate) fn check_server(document: &Document, name: &str) -> Result<Vec<String>, Problem> {
    let config = document.judge(&Process)?;
    if let Some(fault) = config
        .servers
        .iter()
        .find(|entry| entry.name.as_str() == name)
        .and_then(|entry| fault_of(&entry.state))
    {
        let message = format!(
            "server `{name}` could not be used, so nothing was written: {}",
            fault.what
        );
        return Err(Problem::config(message, fault.hint.clone()));
    }
    let of_it = |finding: &&Finding| finding.server.as_deref() == Some(name);
    let grave = |finding: &&Finding| finding.severity >= Severity::Warning;
    let remarks = config.warnings.iter().filter(of_it).filter(grave);
    Ok(remarks.map(|finding| finding.fault.reason()).collect())
}

/// What is wrong with a server, switched off or not.
pub(crate) fn fault_of(state: &ServerState) -> Option<&Fault> {
    match state {
        ServerState::Misconfigured(fault) => Some(fault),
        ServerState::Disabled(otherwise) => fault_of(otherwise),
        ServerState::Enabled(_) => None,
    }
}

/// Why a server that is fine in its form cannot be used from here, such as a variable that is not set.
pub(crate) fn missing_here(locations: &Locations, name: &str) -> Option<String> {
    let config = Config::load(locations, &Process).ok()?;
    let entry = config.servers.iter().find(|entry| entry.name.as_str() == name)?;
    match &entry.state {
        ServerState::Enabled(spec) => match &spec.reach {
            Reach::Stdio(process) => process.program().err().map(|error| error.to_string()),
            Reach::Http(_) | Reach::Native => None,
        },
        ServerState::Misconfigured(fault) => Some(fault.reason()),
        ServerState::Disabled(_) => None,
    }
}

//! Stories that read whole files.

mod check;
mod documents;
mod entries;
mod expansion;
mod groups;
mod invalid_files;
mod invalid_servers;
mod layers;
mod schema;
mod secrets;

use mcpr_upstream::{HttpSpec, Reach, StdioSpec, UpstreamSpec};

use crate::environment::tests::Fixed;
use crate::{Config, ConfigError, Locations, ServerEntry, ServerState};

/// The path of the file in these stories; its folder is `/base`.
const FILE: &str = "mcpr.json";

/// Reads a file in an environment.
fn load_in(env: Fixed, text: &str) -> Result<Config, ConfigError> {
    let env = env.file("/base/mcpr.json", text);
    let locations = Locations::from_env(&[FILE.into()], &env)?;
    Config::load(&locations, &env)
}

fn load(text: &str) -> Config {
    load_in(Fixed::default(), text).unwrap()
}

/// A file with one server, `s`, whose entry is `entry`.
fn server_in(env: Fixed, entry: &str) -> ServerEntry {
    let config = load_in(env, &format!("{{\"mcpServers\": {{\"s\": {entry}}}}}")).unwrap();
    config.servers.into_iter().next().unwrap()
}

fn server(entry: &str) -> ServerEntry {
    server_in(Fixed::default(), entry)
}

fn spec(entry: &ServerEntry) -> &UpstreamSpec {
    match &entry.state {
        ServerState::Enabled(spec) => spec,
        other => panic!("{}: {other:?}", entry.name),
    }
}

fn process(entry: &ServerEntry) -> &StdioSpec {
    match &spec(entry).reach {
        Reach::Stdio(process) => process,
        _ => panic!("{} is no process", entry.name),
    }
}

fn http(entry: &ServerEntry) -> &HttpSpec {
    match &spec(entry).reach {
        Reach::Http(http) => http,
        _ => panic!("{} is no URL", entry.name),
    }
}

fn reason(entry: &ServerEntry) -> String {
    match &entry.state {
        ServerState::Misconfigured(fault) => fault.to_string(),
        other => panic!("{} is fine: {other:?}", entry.name),
    }
}

fn warnings(config: &Config) -> Vec<String> {
    config.warnings.iter().map(ToString::to_string).collect()
}

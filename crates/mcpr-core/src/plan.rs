//! What the gateway is to do: what its configuration says, and what operators have changed since.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use mcpr_config::{Config, Contents, Fault, GatewayOptions, ServerEntry, ServerState};
use mcpr_registry::{Origin, Overrides, ServerName, ToolOverride};
use mcpr_store::{SavedProject, Switch};
use mcpr_telemetry::Secrets;
use mcpr_upstream::{ServerSpec, UpstreamSpec};

/// All of it at one moment: one value, swapped as a whole.
#[derive(Clone)]
pub(crate) struct Plan {
    /// The configured servers.
    pub(crate) servers: BTreeMap<ServerName, Arc<ServerEntry>>,
    /// Their order in the configuration.
    pub(crate) order: Vec<ServerName>,
    /// What the configuration says of the gateway itself.
    pub(crate) options: GatewayOptions,
    /// The files of the configuration.
    pub(crate) files: Vec<PathBuf>,
    /// What they held when they were read.
    pub(crate) contents: Contents,
    /// What operators have turned at run time.
    pub(crate) switches: Switches,
    /// Named sets of servers.
    pub(crate) projects: BTreeMap<Box<str>, Project>,
}

/// What operators have turned at run time; it outlives a restart.
#[derive(Clone, PartialEq, Eq, Default)]
pub(crate) struct Switches {
    servers: BTreeMap<Box<str>, bool>,
    tools: BTreeMap<(Box<str>, Box<str>), Turned>,
}

/// What operators have turned of one tool.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Turned {
    pub(crate) enabled: Option<bool>,
    pub(crate) name: Option<String>,
    pub(crate) description: Option<String>,
}

/// A named set of servers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Project {
    pub(crate) from_file: bool,
    pub(crate) description: Option<String>,
    pub(crate) servers: Vec<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) toolset: Option<String>,
}

/// What a server comes to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Standing<'p> {
    /// It is used, like this.
    On(&'p UpstreamSpec),
    /// Its entry cannot be used.
    Misconfigured(&'p Fault),
    /// The configuration turns it off.
    OffInFile,
    /// An operator has turned it off.
    SwitchedOff,
}

impl Plan {
    /// The plan of a configuration, with what operators have changed at run time.
    pub(crate) fn new(config: Config, switches: Switches, projects: Vec<SavedProject>) -> Self {
        let servers = mcpr_config::servers(config.servers);
        let order = servers.iter().map(|entry| entry.name.clone()).collect();
        let by_name = |entry: ServerEntry| (entry.name.clone(), Arc::new(entry));
        let mut plan = Self {
            servers: servers.into_iter().map(by_name).collect(),
            order,
            options: config.gateway,
            files: config.files,
            contents: config.contents,
            switches,
            projects: BTreeMap::new(),
        };
        plan.set_projects(projects);
        plan
    }

    /// Has the names that everybody sees told in the log and the history too, also where a secret is the same.
    pub(crate) fn tell_names(&self, secrets: &Secrets) {
        let servers = self.servers.keys().map(ServerName::as_str);
        let projects = self.projects.keys().map(|name| &**name);
        servers.chain(projects).for_each(|name| secrets.add_name(name));
    }

    /// Takes other projects of operators.
    pub(crate) fn set_projects(&mut self, saved: Vec<SavedProject>) {
        self.projects = self.projects_with(saved);
    }

    /// The projects of the configuration, and those of operators that have other names.
    pub(crate) fn projects_with(&self, saved: Vec<SavedProject>) -> BTreeMap<Box<str>, Project> {
        let saved = saved.into_iter().map(|saved| {
            let project = Project {
                from_file: false,
                description: saved.description,
                servers: saved.servers,
                tags: saved.tags,
                toolset: saved.toolset,
            };
            (saved.name.into_boxed_str(), project)
        });
        let filed = self.options.projects.iter().map(|filed| {
            let project = Project {
                from_file: true,
                description: filed.description.clone(),
                servers: filed.servers.iter().map(ServerName::to_string).collect(),
                tags: filed.tags.clone(),
                toolset: filed.toolset.clone(),
            };
            (filed.name.as_str().into(), project)
        });
        saved.chain(filed).collect()
    }

    /// The servers, in the order of the configuration.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Arc<ServerEntry>> {
        self.order.iter().map(|name| &self.servers[name])
    }

    /// The server of that name.
    pub(crate) fn server(&self, name: &str) -> Option<&Arc<ServerEntry>> {
        self.entries().find(|entry| entry.name.as_str() == name)
    }

    /// What a server comes to with what operators have turned.
    pub(crate) fn standing<'p>(&self, entry: &'p ServerEntry) -> Standing<'p> {
        match (&entry.state, self.switches.server(&entry.name)) {
            (_, Some(false)) => Standing::SwitchedOff,
            (ServerState::Disabled(_), None) => Standing::OffInFile,
            (ServerState::Disabled(otherwise), Some(true)) => usable(otherwise),
            (state, _) => usable(state),
        }
    }

    /// The servers that shall be kept.
    pub(crate) fn desired(&self) -> Vec<(ServerName, ServerSpec)> {
        let on = |entry: &Arc<ServerEntry>| match self.standing(entry) {
            Standing::On(spec) => Some((entry.name.clone(), entry.server_spec(spec))),
            _ => None,
        };
        self.entries().filter_map(on).collect()
    }

    /// The names and descriptions that tools of a server have in place of its own; what operators
    /// say at run time wins.
    pub(crate) fn overrides(&self, entry: &ServerEntry) -> Arc<Overrides> {
        let mut all = entry.tools.overrides.clone();
        for ((server, tool), turned) in &self.switches.tools {
            if **server == *entry.name.as_str() && (turned.name.is_some() || turned.description.is_some()) {
                let known: &mut ToolOverride = all.entry(tool.to_string()).or_default();
                let Turned {
                    name, description, ..
                } = turned.clone();
                known.name = name.or(known.name.take());
                known.description = description.or(known.description.take());
            }
        }
        Arc::new(all)
    }

    /// The servers that belong to a project now.
    pub(crate) fn members(&self, project: &Project) -> BTreeSet<ServerName> {
        let belongs = |entry: &&Arc<ServerEntry>| {
            let named = project.servers.iter().any(|name| name == entry.name.as_str());
            named || entry.backends.tags.iter().any(|tag| project.tags.contains(tag))
        };
        self.entries()
            .filter(belongs)
            .map(|entry| entry.name.clone())
            .collect()
    }
}

impl Switches {
    /// Reads them as they were stored.
    pub(crate) fn new(stored: Vec<Switch>) -> Self {
        let mut switches = Self::default();
        stored.into_iter().for_each(|switch| switches.put(switch));
        switches
    }

    /// Takes one, in place of what was turned of the same thing before.
    pub(crate) fn put(&mut self, switch: Switch) {
        let server: Box<str> = switch.server.into();
        match switch.tool {
            None => match switch.enabled {
                Some(enabled) => drop(self.servers.insert(server, enabled)),
                None => drop(self.servers.remove(&server)),
            },
            Some(tool) => {
                let turned = Turned {
                    enabled: switch.enabled,
                    name: switch.name,
                    description: switch.description,
                };
                let key = (server, tool.into_boxed_str());
                if turned == Turned::default() {
                    self.tools.remove(&key);
                } else {
                    self.tools.insert(key, turned);
                }
            }
        }
    }

    /// Whether a server was turned on or off.
    pub(crate) fn server(&self, name: &ServerName) -> Option<bool> {
        self.servers.get(name.as_str()).copied()
    }

    /// What was turned of a tool.
    pub(crate) fn tool(&self, origin: &Origin) -> Turned {
        let key = (origin.server.as_str().into(), Box::from(&*origin.name));
        self.tools.get(&key).cloned().unwrap_or_default()
    }

    /// The tools that were turned off.
    pub(crate) fn tools_off(&self) -> BTreeSet<(&str, &str)> {
        let off = self
            .tools
            .iter()
            .filter(|(_, turned)| turned.enabled == Some(false));
        off.map(|((server, tool), _)| (&**server, &**tool)).collect()
    }
}

impl Standing<'_> {
    /// Whether it is not to be used.
    pub(crate) fn is_off(self) -> bool {
        matches!(self, Self::OffInFile | Self::SwitchedOff)
    }
}

fn usable(state: &ServerState) -> Standing<'_> {
    match state {
        ServerState::Enabled(spec) => Standing::On(spec),
        ServerState::Misconfigured(fault) => Standing::Misconfigured(fault),
        // Off within off does not exist; to leave it off is the safe reading.
        ServerState::Disabled(_) => Standing::OffInFile,
    }
}

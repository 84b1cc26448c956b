//! From files to options.

use mcpr_registry::nearest;
use mcpr_telemetry::Secrets;
use std::io;
use std::path::{Path, PathBuf};

use crate::contents::Contents;
use crate::entry::{self, ServerEntry, Surroundings};
use crate::environment::Environment;
use crate::error::ConfigError;
use crate::expand::References;
use crate::fault::{Fault, Finding};
use crate::gateway::{self, GatewayOptions};
use crate::group;
use crate::keys;
use crate::locations::{Locations, SecretFolders, Sources};
use crate::paths::Folder;
use crate::read::listed;
use crate::source::Source;
use crate::tree::{self, Key, Node, Shape};

/// Everything that the configuration files say.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Config {
    /// The servers, in the order of the files; one that a later file replaces keeps its place.
    pub servers: Vec<ServerEntry>,
    /// What the gateway itself is told.
    pub gateway: GatewayOptions,
    /// What is worth saying to a person. A misconfigured server says it in its own state.
    pub warnings: Vec<Finding>,
    /// The files that were read, as they were named.
    pub files: Vec<PathBuf>,
    /// What they held, to tell when they are to be read again.
    pub contents: Contents,
}

/// The files, one over the other.
#[derive(Default)]
pub(crate) struct Layers {
    pub(crate) servers: Vec<(Key, Node)>,
    pub(crate) gateway: Vec<(Key, Node)>,
    findings: Vec<Finding>,
}

/// What faults name in the place of a file, where the configuration is a text.
const TEXT: &str = "(configuration)";

/// Keys of other programs' files that look like ours.
const FOREIGN_ROOT: [&str; 1] = ["mcp"];

impl Config {
    /// Reads the files that count.
    ///
    /// Without any file there are no servers, and a warning says where one was looked for.
    ///
    /// # Errors
    ///
    /// A file that is named or exists and cannot be read, is not JSON, or says something about the
    /// gateway itself that is not valid. A fault in a server is only that server's.
    pub fn load(locations: &Locations, env: &dyn Environment) -> Result<Self, ConfigError> {
        let found = sources(locations, env)?;
        // Before the secrets are read: whoever sets one meanwhile has the configuration read again.
        let vault = locations.secrets.vault.as_ref();
        let vault = vault.map(|vault| (vault.clone(), Contents::look(vault, env)));
        let mut config = Self::build(&found, &locations.secrets, env, References::FillIn)?;
        config.contents.extend(vault);
        if let Sources::Usual(files) = &locations.sources {
            let missing = files.iter().take_while(|file| !config.files.contains(file));
            missing.for_each(|file| config.contents.add_missing(file));
            if found.is_empty() {
                config.warnings.push(Finding::warning(nothing_found(files)));
            }
        }
        Ok(config)
    }

    /// Reads these files, a later one over an earlier one, without any place of mcpr's own: a
    /// `${secret:NAME}` is only looked for among the credentials of systemd.
    ///
    /// # Errors
    ///
    /// As for [`Config::load`].
    pub fn from_files(files: &[PathBuf], env: &dyn Environment) -> Result<Self, ConfigError> {
        let sources = files
            .iter()
            .map(|file| open(file, env))
            .collect::<Result<Vec<_>, _>>()?;
        Self::build(&sources, &credentials(env), env, References::FillIn)
    }

    /// Reads a text instead of a file; its relative paths are meant from the working folder.
    ///
    /// # Errors
    ///
    /// A text that is not JSON, or says something about the gateway itself that is not valid. A fault in a
    /// server is only that server's.
    ///
    /// ```
    /// use mcpr_config::{Config, Process};
    ///
    /// let text = r#"{ "mcpServers": { "git": { "command": "uvx", "args": ["mcp-server-git"] } } }"#;
    /// let config = Config::from_text(text, &Process)?;
    /// assert_eq!(config.servers[0].name.as_str(), "git");
    /// # Ok::<(), mcpr_config::ConfigError>(())
    /// ```
    pub fn from_text(text: &str, env: &dyn Environment) -> Result<Self, ConfigError> {
        let source = Source::decode(&env.absolute(Path::new(TEXT)), text.as_bytes())?;
        let config = Self::build(&[source], &credentials(env), env, References::FillIn)?;
        Ok(Self {
            files: Vec::new(),
            contents: Contents::default(),
            ..config
        })
    }

    /// The values of all servers that must not be shown.
    pub fn secrets(&self) -> Secrets {
        let secrets = Secrets::default();
        for secret in self.servers.iter().flat_map(|entry| &entry.secrets) {
            secrets.add(secret.reveal());
        }
        secrets
    }

    pub(crate) fn build(
        sources: &[Source],
        secrets: &SecretFolders,
        env: &dyn Environment,
        references: References,
    ) -> Result<Self, ConfigError> {
        let mut layers = Layers::of(sources)?;
        let mut warnings = std::mem::take(&mut layers.findings);
        let gateway = layers.gateway(env)?;
        let surroundings = Surroundings {
            env,
            secrets,
            references,
            timeouts: gateway.timeouts,
            pins: gateway.pins,
        };
        let read = |(key, node): &(Key, Node)| entry::read(key, node, &surroundings, &mut warnings);
        let mut servers: Vec<ServerEntry> = layers.servers.iter().filter_map(read).collect();
        group::check(&mut servers, &mut warnings);
        let files = sources.iter().map(|source| source.path().to_owned()).collect();
        Ok(Self {
            servers,
            gateway,
            warnings,
            files,
            contents: Contents::of(sources),
        })
    }
}

/// Where secrets are, without any place of mcpr's own.
fn credentials(env: &dyn Environment) -> SecretFolders {
    SecretFolders {
        credentials: env.variable_os("CREDENTIALS_DIRECTORY").map(PathBuf::from),
        ..SecretFolders::default()
    }
}

/// The files that count.
pub(crate) fn sources(locations: &Locations, env: &dyn Environment) -> Result<Vec<Source>, ConfigError> {
    match &locations.sources {
        Sources::Named(files) => files.iter().map(|file| open(file, env)).collect(),
        Sources::Usual(files) => Ok(first(files, env)?.into_iter().collect()),
    }
}

fn open(path: &Path, env: &dyn Environment) -> Result<Source, ConfigError> {
    let unreadable = |source| ConfigError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let content = env.read(path).map_err(unreadable)?;
    Ok(Source::decode(path, &content)?)
}

/// The first file that exists.
fn first(files: &[PathBuf], env: &dyn Environment) -> Result<Option<Source>, ConfigError> {
    for file in files {
        match open(file, env) {
            Err(ConfigError::Unreadable { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
            opened => return opened.map(Some),
        }
    }
    Ok(None)
}

fn nothing_found(files: &[PathBuf]) -> Fault {
    let places: Vec<_> = files.iter().map(|file| file.display().to_string()).collect();
    let places = listed(places.iter().map(String::as_str));
    let what = format!("there is no configuration file, so there are no servers; looked for {places}");
    Fault::new(what).hint("write one, or name one with `--config FILE`")
}

impl Layers {
    /// Reads the files, each over those before.
    pub(crate) fn of(sources: &[Source]) -> Result<Self, Fault> {
        let mut layers = Self::default();
        for source in sources {
            let root = tree::parse(source, &mut layers.findings)?;
            layers.add(root)?;
        }
        Ok(layers)
    }

    /// Puts a file over those before.
    fn add(&mut self, root: Node) -> Result<(), Fault> {
        let members = root.loose_members(&keys::ROOT)?;
        let unknown = root
            .entries()?
            .iter()
            .filter(|(key, _)| !keys::ROOT.known(&key.text));
        self.findings
            .extend(unknown.filter_map(|(key, node)| slip(key).or_else(|| stray(key, node))));
        let servers = members.read("mcpServers", Node::entries)?.unwrap_or_default();
        let more = members.read("servers", Node::entries)?.unwrap_or_default();
        self.findings
            .extend(more.iter().filter_map(|(key, _)| twice(servers, key)));
        let unseen = more
            .iter()
            .filter(|(key, _)| !servers.iter().any(|(known, _)| known.text == key.text));
        put(&mut self.servers, servers.iter().chain(unseen));
        put(
            &mut self.gateway,
            members.read("mcpr", Node::entries)?.unwrap_or_default(),
        );
        Ok(())
    }

    fn gateway(&mut self, env: &dyn Environment) -> Result<GatewayOptions, Fault> {
        let members = std::mem::take(&mut self.gateway);
        let Some((first, _)) = members.first() else {
            return Ok(GatewayOptions::default());
        };
        let node = Node {
            place: first.place.clone(),
            path: "mcpr".into(),
            shape: Shape::Object(members),
        };
        gateway::read(&node, &|file| Folder::of(file, env))
    }
}

/// Replaces members of the same key, and adds the others.
fn put<'n>(members: &mut Vec<(Key, Node)>, later: impl IntoIterator<Item = &'n (Key, Node)>) {
    for (key, node) in later {
        match members.iter_mut().find(|(known, _)| known.text == key.text) {
            Some(member) => *member = (key.clone(), node.clone()),
            None => members.push((key.clone(), node.clone())),
        }
    }
}

fn slip(key: &Key) -> Option<Finding> {
    let known = nearest(&key.text, ["mcpServers", "servers", "mcpr"])?;
    let fault = Fault::new(format!("unknown key `{}` is ignored", key.text)).at(&key.place);
    let warning = Finding::warning(fault.hint(format!("did you mean `{known}`?")));
    (!FOREIGN_ROOT.contains(&key.text.as_str())).then_some(warning)
}

/// A server that stands where none is looked for.
fn stray(key: &Key, node: &Node) -> Option<Finding> {
    let members = node.entries().ok()?;
    let server = members
        .iter()
        .any(|(member, _)| ["command", "url"].contains(&member.text.as_str()));
    let fault = Fault::new(format!("`{}` looks like a server and is ignored", key.text)).at(&key.place);
    server.then(|| Finding::warning(fault.hint("servers stand in an object `mcpServers`")))
}

fn twice(servers: &[(Key, Node)], key: &Key) -> Option<Finding> {
    let known = servers.iter().find(|(known, _)| known.text == key.text)?;
    let what = format!(
        "this server is also in `mcpServers`, in line {}",
        known.0.place.line
    );
    let fault = Fault::new(what).hint("only that one counts").at(&key.place);
    Some(Finding::warning(fault).of(&key.text))
}

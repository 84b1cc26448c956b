//! Which of the servers that were found are taken.

use std::path::{Path, PathBuf};

use mcpr_registry::ServerName;

use super::convert::{Entry, convert};
use super::{Found, Server, parse, servers};
use crate::clients::{ClientApp, Value};
use crate::entry::RESERVED;
use crate::environment::Environment;
use crate::fault::Fault;

/// The servers of mcpr's own file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Known {
    servers: Vec<(String, Option<Server>)>,
}

/// What is to become of the servers that were found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Plan {
    /// Those that are taken, in the order in which they were found.
    pub taken: Vec<Taken>,
    /// Those that are not.
    pub skipped: Vec<Skipped>,
}

/// A server that is taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Taken {
    /// Its name in mcpr's file.
    pub name: String,
    /// The client that it comes from.
    pub app: Option<ClientApp>,
    /// The file that it comes from.
    pub file: PathBuf,
    /// The server.
    pub server: Server,
    /// Whether it takes the place of one of that name.
    pub replaces: bool,
}

/// A server that is not taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Skipped {
    /// What the client calls it.
    pub name: String,
    /// The client.
    pub app: Option<ClientApp>,
    /// The file.
    pub file: PathBuf,
    /// Why.
    pub reason: String,
}

impl Known {
    /// Reads mcpr's own file; one that is not there has no servers.
    ///
    /// # Errors
    ///
    /// When it cannot be read or is not JSON.
    pub fn read(file: &Path, env: &dyn Environment) -> Result<Self, Fault> {
        let Some(whole) = parse::read(file, env)? else {
            return Ok(Self::default());
        };
        let server = |entry: Entry<'_>| (entry.name.to_owned(), convert(&entry).ok());
        let entries = servers::entries(None, &whole, None);
        Ok(Self {
            servers: entries.into_iter().map(server).collect(),
        })
    }

    /// The servers that can be compared with others, with their names.
    pub fn servers(&self) -> impl Iterator<Item = (&str, &Server)> {
        self.servers
            .iter()
            .filter_map(|(name, server)| Some((name.as_str(), server.as_ref()?)))
    }

    fn has(&self, name: &str) -> bool {
        self.servers.iter().any(|(known, _)| known == name)
    }
}

impl Plan {
    /// Decides for each server in turn. Only `force` replaces one that mcpr's file has; `endpoints`
    /// are the URLs of mcpr itself.
    pub fn of(found: Vec<Found>, known: &Known, force: bool, endpoints: &[String]) -> Self {
        let mut plan = Self::default();
        for found in found {
            match plan.decide(&found, known, force, endpoints) {
                Ok(taken) => plan.taken.push(taken),
                Err(reason) => plan.skipped.push(Skipped {
                    name: found.name,
                    app: found.app,
                    file: found.file,
                    reason,
                }),
            }
        }
        plan
    }

    /// The servers that are taken, as members of mcpr's file.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.taken
            .iter()
            .map(|taken| (taken.name.as_str(), &taken.server.entry))
    }

    fn decide(
        &self,
        found: &Found,
        known: &Known,
        force: bool,
        endpoints: &[String],
    ) -> Result<Taken, String> {
        let mut server = found.server.clone()?;
        if server.is_mcpr(endpoints) {
            return Err("it is mcpr itself".to_owned());
        }
        let name = usable_name(&found.name)?;
        if name != found.name {
            server.notes.push(format!(
                "it is called `{name}` here: names have 1 to 64 characters and no `/`"
            ));
        }
        self.check(&name, &server)?;
        let replaces = check_known(&name, &server, known, force)?;
        Ok(Taken {
            name,
            app: found.app,
            file: found.file.clone(),
            server,
            replaces,
        })
    }

    /// Whether a server that was taken before stands in the way.
    fn check(&self, name: &str, server: &Server) -> Result<(), String> {
        let from = |taken: &Taken| match taken.app {
            Some(app) => app.title().to_owned(),
            None => taken.file.display().to_string(),
        };
        if let Some(same) = self.taken.iter().find(|taken| taken.server.is_same(server)) {
            return Err(format!("it is the same as `{}` of {}", same.name, from(same)));
        }
        match self.taken.iter().find(|taken| taken.name == name) {
            Some(other) => Err(format!(
                "{} has another server of this name, which is taken; rename one to have both",
                from(other)
            )),
            None => Ok(()),
        }
    }
}

/// Whether mcpr's own file stands in the way; else whether its server is replaced.
fn check_known(name: &str, server: &Server, known: &Known, force: bool) -> Result<bool, String> {
    if let Some((same, _)) = known.servers().find(|(_, known)| known.is_same(server)) {
        return Err(format!("mcpr has it already, as `{same}`"));
    }
    match (known.has(name), force) {
        (false, _) => Ok(false),
        (true, true) => Ok(true),
        (true, false) => {
            Err("mcpr has another server of this name, which stays; `--force` replaces it".to_owned())
        }
    }
}

/// The name that a server gets in mcpr's file.
fn usable_name(name: &str) -> Result<String, String> {
    let plain = name.trim().replace('/', "-");
    let cut: String = plain.chars().filter(|c| !c.is_control()).take(64).collect();
    if RESERVED.contains(&cut.as_str()) {
        return Err(format!(
            "mcpr keeps the name `{cut}` for itself; rename it in the client's file"
        ));
    }
    cut.parse::<ServerName>()
        .map(|_| cut)
        .map_err(|_| "it has no name".to_owned())
}

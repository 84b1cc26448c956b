//! The clients on this machine.

use std::path::{Path, PathBuf};

use mcpr_config::clients::{self, ClientApp, Found, Server};
use mcpr_config::{Environment, Fault};
use mcpr_transport::child::resolve::resolve;

/// A client as it is found on this machine.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) app: ClientApp,
    /// Its program, if it is found.
    pub(crate) program: Option<PathBuf>,
    /// The file that an entry goes into.
    pub(crate) file: Option<PathBuf>,
    /// Its files that exist, with the servers in them.
    pub(crate) files: Vec<ClientFile>,
}

/// A file of a client.
#[derive(Debug)]
pub(crate) struct ClientFile {
    pub(crate) path: PathBuf,
    pub(crate) servers: Result<Vec<Found>, Fault>,
}

/// An entry of a client that leads to mcpr.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pointer<'s> {
    pub(crate) name: &'s str,
    pub(crate) server: &'s Server,
}

/// Looks for all clients. Nothing is started and nothing is written.
pub(crate) fn look(env: &dyn Environment) -> Vec<Seen> {
    ClientApp::ALL
        .into_iter()
        .map(|app| Seen::look(app, env))
        .collect()
}

impl Seen {
    /// Looks for one client.
    pub(crate) fn look(app: ClientApp, env: &dyn Environment) -> Self {
        let paths = app.files(env);
        let read = |path: &PathBuf| {
            let servers = clients::read(Some(app), path, env).transpose()?;
            Some(ClientFile {
                path: path.clone(),
                servers,
            })
        };
        let files: Vec<ClientFile> = paths.iter().filter_map(read).collect();
        let file = files.first().map(|file| &file.path).or(paths.first());
        Self {
            app,
            program: app.programs().iter().find_map(|name| on_path(name, env)),
            file: file.cloned(),
            files,
        }
    }

    /// Whether there is anything of it here.
    pub(crate) fn is_installed(&self) -> bool {
        self.program.is_some() || !self.files.is_empty()
    }

    /// The entry that leads to mcpr, if it has one.
    pub(crate) fn pointer(&self, endpoints: &[String]) -> Option<Pointer<'_>> {
        self.usable()
            .find(|pointer| pointer.name == "mcpr" || pointer.server.is_mcpr(endpoints))
    }

    /// The servers that it starts or reaches itself.
    pub(crate) fn others(&self, endpoints: &[String]) -> impl Iterator<Item = Pointer<'_>> {
        self.usable()
            .filter(move |pointer| pointer.name != "mcpr" && !pointer.server.is_mcpr(endpoints))
    }

    /// What is wrong with its files.
    pub(crate) fn fault(&self) -> Option<&Fault> {
        self.files.iter().find_map(|file| file.servers.as_ref().err())
    }

    fn usable(&self) -> impl Iterator<Item = Pointer<'_>> {
        let found = self
            .files
            .iter()
            .filter_map(|file| file.servers.as_ref().ok())
            .flatten();
        found.filter_map(|found| {
            let server = found
                .server
                .as_ref()
                .ok()
                .filter(|server| !server.is_disabled())?;
            Some(Pointer {
                name: &found.name,
                server,
            })
        })
    }
}

/// The program of this name in `PATH`.
pub(crate) fn on_path(name: &str, env: &dyn Environment) -> Option<PathBuf> {
    let path = env.variable_os("PATH")?;
    resolve(name, &path, None, Path::new("/")).ok()
}

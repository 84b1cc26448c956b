//! The files that servers are taken from.

use std::path::{Path, PathBuf};

use mcpr_admin::ExitCode;
use mcpr_config::clients::{ClientApp, Found, read};
use mcpr_config::{Environment, Fault, Process};

use crate::cli::Init;
use crate::problem::Problem;

/// What was looked at, and what was found.
#[derive(Debug, Default)]
pub(super) struct Sources {
    /// All servers, in the order of the clients and their files.
    pub(super) found: Vec<Found>,
    /// Every file that was looked at.
    pub(super) files: Vec<Source>,
    /// Files of projects in the current folder that were left alone.
    pub(super) here: Vec<(ClientApp, &'static str)>,
}

/// A file that was looked at.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) app: Option<ClientApp>,
    pub(super) file: PathBuf,
    /// How many servers it has; `None` if there is no such file.
    pub(super) servers: Result<Option<usize>, Fault>,
}

impl Sources {
    /// Looks at the file that was named, or at those of clients; never at mcpr's own.
    pub(super) fn look(args: &Init, output: &Path) -> Result<Self, Problem> {
        let mut sources = Self::default();
        if let Some(file) = &args.from_file {
            sources.named(file)?;
            return Ok(sources);
        }
        let named = &args.from[..];
        let apps = if named.is_empty() {
            &ClientApp::ALL[..]
        } else {
            named
        };
        for app in apps {
            let mut files = app.files(&Process);
            let project = app.project_file().filter(|_| named.contains(app));
            // In the home folder the file of a project is the user's.
            files.extend(project.map(|file| Process.absolute(Path::new(file))));
            files.dedup();
            let files = files.into_iter().filter(|file| file != output);
            files.for_each(|file| sources.add(Some(*app), file));
        }
        sources.here = left_alone(named);
        Ok(sources)
    }

    /// Whether there is nothing to take anything from.
    pub(super) fn are_empty(&self) -> bool {
        let some = |source: &Source| matches!(source.servers, Ok(Some(1..)));
        !self.files.iter().any(some) && self.faults().next().is_none()
    }

    /// Files that could not be read.
    pub(super) fn faults(&self) -> impl Iterator<Item = (&Source, &Fault)> {
        self.files
            .iter()
            .filter_map(|source| Some((source, source.servers.as_ref().err()?)))
    }

    fn named(&mut self, file: &Path) -> Result<(), Problem> {
        let file = Process.absolute(file);
        if !file.exists() {
            let what = format!("there is no file `{}`", file.display());
            return Err(Problem::new(ExitCode::NotFound, what));
        }
        self.add(None, file);
        Ok(())
    }

    fn add(&mut self, app: Option<ClientApp>, file: PathBuf) {
        let servers = match read(app, &file, &Process) {
            Ok(None) => Ok(None),
            Ok(Some(found)) => {
                let count = found.len();
                self.found.extend(found);
                Ok(Some(count))
            }
            Err(fault) => Err(fault),
        };
        self.files.push(Source { app, file, servers });
    }
}

/// Files of projects that lie here, of clients that were not named.
fn left_alone(named: &[ClientApp]) -> Vec<(ClientApp, &'static str)> {
    let others = ClientApp::ALL.into_iter().filter(|app| !named.contains(app));
    let files = others.filter_map(|app| Some((app, app.project_file()?)));
    // In the home folder these are the user's own files.
    let at_home =
        |app: ClientApp, file: &str| app.files(&Process).contains(&Process.absolute(Path::new(file)));
    files
        .filter(|(app, file)| Path::new(file).is_file() && !at_home(*app, file))
        .collect()
}

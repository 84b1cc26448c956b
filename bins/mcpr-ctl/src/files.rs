//! The configuration files, opened to be looked into and changed (CFG-01).

pub(crate) mod changes;
pub(crate) mod judge;

use std::path::{Path, PathBuf};

use mcpr_config::{Config, Document, GatewayOptions, Locations, Process, Sources, WriteError};

use crate::cli::Global;
use crate::problem::Problem;

/// The configuration files that count; the last one wins.
#[derive(Debug)]
pub(crate) struct Files {
    pub(crate) locations: Locations,
    documents: Vec<Document>,
}

/// Files that were changed and written.
#[derive(Debug)]
pub(crate) struct Changed<T> {
    pub(crate) files: Files,
    /// What the change gave.
    pub(crate) what: T,
    /// Settings that differ now, and that a running gateway does not take over.
    pub(crate) needs_restart: Vec<String>,
}

/// How often a change is tried: each time somebody else has made one, so many can make theirs at once.
const TRIES: usize = 100;

impl Files {
    /// Opens the files that count. Of those that are named the last one may be missing, and of the
    /// usual ones all: then the user's is a new one.
    pub(crate) fn open(global: &Global) -> Result<Self, Problem> {
        let locations = Locations::from_env(&global.config, &Process)?;
        let documents = match &locations.sources {
            Sources::Named(files) => named(files)?,
            Sources::Usual(files) => vec![usual(files)?],
        };
        Ok(Self { locations, documents })
    }

    /// The last file of which this is true, else the last one.
    pub(crate) fn last_where(&mut self, wanted: impl Fn(&Document) -> bool) -> &mut Document {
        let last = self.documents.len() - 1;
        let index = self.documents.iter().rposition(wanted).unwrap_or(last);
        &mut self.documents[index]
    }

    /// The last file that has a server; it is an error if none has.
    pub(crate) fn with_server(&mut self, name: &str) -> Result<&mut Document, Problem> {
        match self
            .documents
            .iter()
            .rposition(|document| document.has_server(name))
        {
            Some(index) => Ok(&mut self.documents[index]),
            None => Err(self.no_server(name)),
        }
    }

    /// Whether some file has a server of this name.
    pub(crate) fn has_server(&self, name: &str) -> bool {
        self.documents.iter().any(|document| document.has_server(name))
    }

    /// All files.
    pub(crate) fn documents(&self) -> &[Document] {
        &self.documents
    }

    /// That there is no such server, and which one was probably meant.
    pub(crate) fn no_server(&self, name: &str) -> Problem {
        let places = self
            .documents
            .iter()
            .map(|document| document.path().display().to_string());
        let places: Vec<_> = places.collect();
        let known: Vec<_> = self.documents.iter().flat_map(Document::servers).collect();
        let problem = Problem::not_found(format!("there is no server `{name}` in {}", places.join(", ")));
        match mcpr_config::nearest(name, known.iter().map(String::as_str)) {
            Some(known) => problem.hint(format!("did you mean `{known}`?")),
            None => problem.hint("`mcpr-ctl config show` shows what there is"),
        }
    }

    /// Opens the files, has them changed, and writes what has changed. Where somebody else was quicker, all
    /// of it is done again with what the file holds then.
    pub(crate) fn change<T>(
        global: &Global,
        mut change: impl FnMut(&mut Self) -> Result<T, Problem>,
    ) -> Result<Changed<T>, Problem> {
        for _ in 0..TRIES {
            let mut files = Self::open(global)?;
            let what = change(&mut files)?;
            if let Some(needs_restart) = files.save()? {
                return Ok(Changed {
                    files,
                    what,
                    needs_restart,
                });
            }
        }
        let what = "others change the configuration file all the time, so nothing was written";
        Err(Problem::failed(what).hint("run the command again when they are done"))
    }

    /// Writes what has changed, and gives the settings of it that a running gateway does not take over.
    /// Nothing if nothing was written, as somebody else has changed a file since it was opened.
    fn save(&self) -> Result<Option<Vec<String>>, Problem> {
        let before = self.options();
        let mut written = false;
        for document in self.documents.iter().filter(|document| document.is_changed()) {
            match self.write(document)? {
                Err(WriteError::Changed(_)) if !written => return Ok(None),
                ended => ended?,
            }
            written = true;
        }
        Ok(Some(self.needs_restart(before.as_ref())))
    }

    /// Writes a document of these files, and gives the settings that a running gateway does not take over.
    pub(crate) fn save_one(&self, document: &Document) -> Result<Vec<String>, Problem> {
        let before = self.options();
        self.write(document)??;
        Ok(self.needs_restart(before.as_ref()))
    }

    /// The user's folder is made if it is not there.
    fn write(&self, document: &Document) -> Result<Result<(), WriteError>, Problem> {
        let folder = document.path().parent();
        if let (true, Some(folder)) = (document.path() == self.locations.paths.config, folder) {
            make_folder(folder)?;
        }
        Ok(document.write())
    }

    /// What the files tell the gateway itself; nothing if they cannot be read.
    fn options(&self) -> Option<GatewayOptions> {
        Some(Config::load(&self.locations, &Process).ok()?.gateway)
    }

    fn needs_restart(&self, before: Option<&GatewayOptions>) -> Vec<String> {
        let both = before.zip(self.options());
        both.map_or_else(Vec::new, |(before, now)| before.needs_restart(&now))
    }
}

fn named(files: &[PathBuf]) -> Result<Vec<Document>, Problem> {
    let opened = files.iter().enumerate().map(|(index, file)| {
        let document = Document::open(file, &Process)?;
        if document.is_new() && index + 1 < files.len() {
            let missing = format!("there is no configuration file `{}`", file.display());
            return Err(Problem::config(
                missing,
                Some("only the last --config may be a new file".to_owned()),
            ));
        }
        Ok(document)
    });
    opened.collect()
}

/// The first that exists, else the first as a new file.
fn usual(files: &[PathBuf]) -> Result<Document, Problem> {
    let mut new = None;
    for file in files {
        let document = Document::open(file, &Process)?;
        if !document.is_new() {
            return Ok(document);
        }
        new = new.or(Some(document));
    }
    new.ok_or_else(|| Problem::failed("no place is known for a configuration file"))
}

#[cfg(unix)]
fn make_folder(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;

    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}

#[cfg(not(unix))]
fn make_folder(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)
}

//! The configuration files, opened to be looked into and changed (CFG-01).

pub(crate) mod changes;
pub(crate) mod judge;

use std::path::{Path, PathBuf};

use mcpr_config::{Document, Locations, Process, Sources};

use crate::cli::Global;
use crate::problem::Problem;

/// The configuration files that count; the last one wins.
#[derive(Debug)]
pub(crate) struct Files {
    pub(crate) locations: Locations,
    documents: Vec<Document>,
}

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

    /// Writes what has changed.
    pub(crate) fn save(&self) -> Result<(), Problem> {
        self.documents
            .iter()
            .try_for_each(|document| self.save_one(document))
    }

    /// Writes a document of these files. The user's folder is made if it is not there.
    pub(crate) fn save_one(&self, document: &Document) -> Result<(), Problem> {
        let folder = document.path().parent();
        if let (true, Some(folder)) = (document.path() == self.locations.paths.config, folder) {
            make_folder(folder)?;
        }
        Ok(document.write()?)
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

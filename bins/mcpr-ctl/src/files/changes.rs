//! What was done to the configuration files, and what is to be done next.

use std::path::{Path, PathBuf};

use mcpr_admin::Status;
use serde::Serialize;

use crate::cli::Global;
use crate::connect::Gateway;
use crate::out::facts::joined;
use crate::out::{Out, path};

/// What was done to the files. Serialised, it is what commands that change them print as JSON.
#[derive(Debug, Serialize)]
pub(crate) struct Changes {
    pub(crate) changes: Vec<Change>,
}

/// What was done to one thing in a file.
#[derive(Debug, Serialize)]
pub(crate) struct Change {
    #[serde(serialize_with = "path::shown")]
    pub(crate) file: PathBuf,
    pub(crate) change: Deed,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) server: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
}

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Deed {
    Added,
    Replaced,
    Changed,
    Removed,
    Unchanged,
}

impl Changes {
    pub(crate) fn of<const N: usize>(changes: [Change; N]) -> Self {
        Self {
            changes: changes.into(),
        }
    }

    /// For people: one line for each.
    pub(crate) fn page(&self) -> String {
        self.changes.iter().map(Change::line).collect()
    }
}

impl Change {
    pub(crate) fn new(file: &Path, change: Deed) -> Self {
        Self {
            file: file.to_owned(),
            change,
            server: None,
            key: None,
        }
    }

    pub(crate) fn server(self, name: &str) -> Self {
        Self {
            server: Some(name.to_owned()),
            ..self
        }
    }

    pub(crate) fn key(self, key: &str) -> Self {
        Self {
            key: Some(key.to_owned()),
            ..self
        }
    }

    fn line(&self) -> String {
        let file = self.file.display();
        let named: Vec<_> = [&self.server, &self.key].into_iter().flatten().collect();
        let what = named.first().map(|name| format!("`{name}`"));
        let Some(what) = what else {
            return match self.change {
                Deed::Unchanged => format!("{file} is unchanged\n"),
                _ => format!("changed {file}\n"),
            };
        };
        match self.change {
            Deed::Added => format!("added {what} to {file}\n"),
            Deed::Replaced => format!("replaced {what} in {file}\n"),
            Deed::Changed => format!("changed {what} in {file}\n"),
            Deed::Removed => format!("removed {what} from {file}\n"),
            Deed::Unchanged => format!("{what} in {file} is unchanged\n"),
        }
    }
}

/// Tells a person when a running gateway will know of a change in this file.
///
/// `needs_restart` are the settings that it would only know after a restart.
pub(crate) async fn tell_next_step(global: &Global, out: &Out, file: &Path, needs_restart: &[String]) {
    // What runs elsewhere reads other files.
    if out.is_json() || global.gateway.is_some() {
        return;
    }
    let Ok(gateway) = Gateway::locate(global) else {
        return;
    };
    let Ok(status) = gateway.ask(&Status {}).await else {
        return;
    };
    let same = |read: &String| same_file(Path::new(read), file);
    if status.config_files.iter().any(same) {
        out.note("the running gateway reads it within a second");
        if let Some(settings) = joined(needs_restart) {
            out.note(&format!("{settings} only counts after a restart of the gateway"));
        }
    } else {
        let read = status.config_files.join(", ");
        let read = if read.is_empty() {
            "no file".to_owned()
        } else {
            read
        };
        out.note(&format!(
            "the running gateway does not read this file: it reads {read}"
        ));
    }
}

fn same_file(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    one == other || real(one) == real(other)
}

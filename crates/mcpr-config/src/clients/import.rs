//! The servers that stand in clients' files, in mcpr's own words (`mcpr-gateway init`).
//!
//! `parse` makes a value out of any of the languages, `servers` finds the entries in it, `convert`
//! and `text` turn one entry into mcpr's, and `plan` decides which of all are taken.

mod convert;
mod parse;
mod plan;
mod servers;
mod text;

use std::path::{Path, PathBuf};

use mcpr_telemetry::Secrets;

use super::{ClientApp, Value};
use crate::arguments;
use crate::entry::shown_url;
use crate::environment::Environment;
use crate::fault::Fault;
use crate::veil::is_written_out;
use convert::{Entry, convert};

pub use plan::{Known, Plan, Skipped, Taken};

/// A server that stands in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// The client whose file it is, if it is one's.
    pub app: Option<ClientApp>,
    /// The file.
    pub file: PathBuf,
    /// The folder of the project that it belongs to.
    pub folder: Option<PathBuf>,
    /// What the file calls it.
    pub name: String,
    /// The server in mcpr's words, or why there are none for it.
    pub server: Result<Server, String>,
}

/// A server in mcpr's words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Server {
    /// The entry for mcpr's file. Secrets are in it as the client's file has them.
    pub entry: Value,
    /// What became of things that have no counterpart.
    pub notes: Vec<String>,
}

/// Reads the servers of a file; `None` if there is no such file. Without a client, the content and
/// the name of the file tell whose it is.
///
/// # Errors
///
/// When the file cannot be read or is not in its language. A single entry that cannot be used is
/// among the others, with the reason.
pub fn read(app: Option<ClientApp>, file: &Path, env: &dyn Environment) -> Result<Option<Vec<Found>>, Fault> {
    let Some(whole) = parse::read(file, env)? else {
        return Ok(None);
    };
    let app = app.or_else(|| servers::whose(file, &whole));
    let folder = app.and_then(|app| servers::project(app, file, env));
    let entries = servers::entries(app, &whole, folder.as_deref());
    let found = |entry: Entry<'_>| Found {
        app,
        file: file.to_owned(),
        folder: entry.folder.map(Path::to_owned),
        name: entry.name.to_owned(),
        server: convert(&entry),
    };
    Ok(Some(entries.into_iter().map(found).collect()))
}

impl Server {
    /// Its command line or URL for people, without what may be secret in them.
    pub fn shown(&self) -> String {
        match (self.text("command"), self.text("url")) {
            (Some(command), _) => {
                let args = self.entry.get("args").map(Value::items).unwrap_or_default();
                let words: Vec<_> = args.iter().filter_map(Value::scalar).collect();
                let args = arguments::shown(&words, &self.variables());
                std::iter::once(command.to_owned())
                    .chain(args)
                    .collect::<Vec<_>>()
                    .join(" ")
            }
            (None, Some(url)) => shown_url(url),
            (None, None) => String::new(),
        }
    }

    /// The values of variables that are written out: what repeats them is secret too.
    fn variables(&self) -> Secrets {
        let secrets = Secrets::default();
        let variables = self.entry.get("env").map(Value::members).unwrap_or_default();
        let values = variables.iter().filter_map(|(_, value)| value.scalar());
        values
            .filter(|value| is_written_out(value))
            .for_each(|value| secrets.add(value));
        secrets
    }

    /// How it is reached, in one word.
    pub fn via(&self) -> &str {
        match (self.text("command"), self.text("type")) {
            (Some(_), _) => "stdio",
            (None, kind) => kind.unwrap_or("http"),
        }
    }

    /// Whether it is switched off.
    pub fn is_disabled(&self) -> bool {
        self.entry.get("disabled").and_then(Value::boolean) == Some(true)
    }

    /// Whether it is the same server as the other: started or reached in the same way. How long
    /// calls may take and whether it is on does not count.
    pub fn is_same(&self, other: &Self) -> bool {
        let texts = ["command", "url", "cwd", "envFile"];
        let objects = ["env", "headers"];
        texts.iter().all(|key| self.text(key) == other.text(key))
            && self.entry.get("args").map(Value::items) == other.entry.get("args").map(Value::items)
            && objects
                .iter()
                .all(|key| sorted(&self.entry, key) == sorted(&other.entry, key))
    }

    /// Whether the other is this server or one that differs only in variables and headers: a client
    /// that starts it beside mcpr has its tools twice.
    pub fn offers_same(&self, other: &Self) -> bool {
        ["command", "url"]
            .iter()
            .all(|key| self.text(key) == other.text(key))
            && self.entry.get("args").map(Value::items) == other.entry.get("args").map(Value::items)
    }

    /// Whether it is a gateway of mcpr: its program that is or leads to one, or one of these URLs.
    pub fn is_mcpr(&self, endpoints: &[String]) -> bool {
        let url = self.text("url").map(place);
        let url_is_ours = |url: String| endpoints.iter().any(|endpoint| place(endpoint) == url);
        self.starts_gateway() || url.is_some_and(url_is_ours)
    }

    /// The program has other uses too, such as the servers of its demo.
    fn starts_gateway(&self) -> bool {
        let program = self.text("command").map(Path::new).and_then(Path::file_stem);
        let args = self.entry.get("args").map(Value::items).unwrap_or_default();
        let verb = args.first().and_then(Value::text);
        program.is_some_and(|stem| stem == "mcpr-gateway") && matches!(verb, None | Some("connect" | "stdio"))
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.entry.get(key).and_then(Value::text)
    }
}

/// Where a URL leads, however it is written.
fn place(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or(url).trim_end_matches('/');
    url.replacen("localhost", "127.0.0.1", 1)
}

/// The members of an object in it, in one order; none of them is the same as no object.
fn sorted<'v>(entry: &'v Value, key: &str) -> Vec<&'v (String, Value)> {
    let mut members: Vec<_> = entry
        .get(key)
        .map(Value::members)
        .unwrap_or_default()
        .iter()
        .collect();
    members.sort_by(|(a, _), (b, _)| a.cmp(b));
    members
}

#[cfg(test)]
mod tests;

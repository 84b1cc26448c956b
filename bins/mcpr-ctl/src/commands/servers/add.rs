//! `servers add`

use std::path::Path;

use mcpr_admin::ExitCode;
use mcpr_config::clients::shell_word;
use mcpr_config::{Document, is_written_out, looks_secret};
use mcpr_protocol::RawJson;
use mcpr_registry::ServerName;

use crate::cli::Global;
use crate::cli::servers::{Kind, NewServer};
use crate::files::Files;
use crate::files::changes::{Change, Changes, Deed, tell_next_step};
use crate::files::judge::{check_server, missing_here};
use crate::out::Out;
use crate::problem::Problem;

/// Puts a server into the file.
pub(super) async fn add(global: &Global, out: &Out, new: &NewServer) -> Result<ExitCode, Problem> {
    let name = new.name.parse::<ServerName>();
    let name = name.map_err(|error| Problem::usage(error.to_string()))?;
    let name = name.as_str();
    refuse_strays(new)?;
    let saved = Files::change(global, |files| {
        let known = files.has_server(name);
        let document = files.last_where(|document| document.has_server(name));
        if known && !new.force {
            return Err(known_already(document, name));
        }
        document
            .set_server(name, &entry(new))
            .map_err(|fault| Problem::from(&fault))?;
        let remarks = check_server(document, name)?;
        Ok((document.path().to_owned(), known, remarks))
    })?;
    let (file, known, remarks) = saved.what;
    let deed = if known { Deed::Replaced } else { Deed::Added };
    let changes = Changes::of([Change::new(&file, deed).server(name)]);
    out.report(&changes, |changes, _| changes.page())?;
    let remarks = remarks.into_iter().chain(written_out(new, &file));
    let missing = missing_here(&saved.files.locations, name);
    let missing = missing.map(|what| format!("as things are here, `{name}` cannot start: {what}"));
    remarks.chain(missing).for_each(|remark| out.note(&remark));
    out.note(&format!("`mcpr-ctl servers test {}` tries it", shell_word(name)));
    tell_next_step(global, out, &file, &saved.needs_restart).await;
    Ok(ExitCode::Ok)
}

fn known_already(document: &Document, name: &str) -> Problem {
    let message = format!(
        "there is a server `{name}` already in {}",
        document.path().display()
    );
    Problem::failed(message).hint(format!(
        "--force replaces it; `mcpr-ctl servers set {} KEY=VALUE` changes a part of it",
        shell_word(name)
    ))
}

/// A program has no headers, and an address no variables.
fn refuse_strays(new: &NewServer) -> Result<(), Problem> {
    let strays = [
        ("--header", !new.headers.is_empty(), "--url"),
        ("--type", new.kind.is_some(), "--url"),
        ("--env", !new.env.is_empty(), "a program"),
        ("--cwd", new.cwd.is_some(), "a program"),
    ];
    let wanted = if new.url.is_some() { "--url" } else { "a program" };
    match strays
        .into_iter()
        .find(|(_, given, with)| *given && *with != wanted)
    {
        Some((flag, _, with)) => Err(Problem::usage(format!(
            "{flag} goes with {with}, not with {wanted}"
        ))),
        None => Ok(()),
    }
}

/// The entry as it goes into the file.
fn entry(new: &NewServer) -> RawJson {
    let mut entry = Members::default();
    match (&new.url, new.command.split_first()) {
        (Some(url), _) => {
            // Claude Code skips an entry that has no type.
            entry.text("type", Some(new.kind.unwrap_or(Kind::Http).as_str()));
            entry.text("url", Some(url));
        }
        (None, Some((command, args))) => {
            entry.text("command", Some(&program(command)));
            entry.texts("args", args);
        }
        (None, None) => {}
    }
    entry.pairs("headers", &new.headers);
    entry.pairs("env", &new.env);
    entry.text("cwd", new.cwd.as_deref().map(from_here).as_deref());
    entry.flag("disabled", new.disabled);
    let mut own = Members::default();
    own.text("prefix", new.prefix.as_deref());
    own.texts("tags", &new.tags);
    own.flag("lazy", new.lazy);
    if !own.0.is_empty() {
        entry.put("mcpr", &own.object());
    }
    entry.object()
}

/// A program that is given as a path is meant from here, but in the file it is read from its folder.
fn program(command: &str) -> String {
    if command.contains('/') {
        from_here(command)
    } else {
        command.to_owned()
    }
}

fn from_here(path: &str) -> String {
    if path.starts_with("~/") || path.contains("${") {
        return path.to_owned();
    }
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.into());
    absolute.to_string_lossy().into_owned()
}

/// That secrets stand in the file as they are, if so.
fn written_out(new: &NewServer, file: &Path) -> Option<String> {
    let secret = |(name, value): &&(String, String)| {
        is_written_out(value) && (looks_secret(name) || value.to_ascii_lowercase().starts_with("bearer "))
    };
    let names = new.headers.iter().chain(&new.env).filter(secret);
    let names: Vec<_> = names.map(|(name, _)| format!("`{name}`")).collect();
    (!names.is_empty()).then(|| {
        format!(
            "{} stands as it is in {}; a ${{VARIABLE}} in its place is filled in from those of the gateway",
            names.join(", "),
            file.display()
        )
    })
}

/// The members of a JSON object.
#[derive(Default)]
struct Members(Vec<String>);

impl Members {
    fn put(&mut self, key: &str, value: &RawJson) {
        self.0
            .push(format!("{}:{}", RawJson::string(key).as_str(), value.as_str()));
    }

    fn text(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.put(key, &RawJson::string(value));
        }
    }

    fn texts(&mut self, key: &str, values: &[String]) {
        if !values.is_empty() {
            self.put(key, &RawJson::render(&values));
        }
    }

    fn flag(&mut self, key: &str, set: bool) {
        if set {
            self.put(key, &RawJson::from_static("true"));
        }
    }

    /// An object of texts; of two with one name the last one counts.
    fn pairs(&mut self, key: &str, pairs: &[(String, String)]) {
        let mut members = Self::default();
        for (index, (name, value)) in pairs.iter().enumerate() {
            if !pairs[index + 1..].iter().any(|(later, _)| later == name) {
                members.text(name, Some(value));
            }
        }
        if !members.0.is_empty() {
            self.put(key, &members.object());
        }
    }

    fn object(&self) -> RawJson {
        RawJson::trusted(format!("{{{}}}", self.0.join(",")))
    }
}

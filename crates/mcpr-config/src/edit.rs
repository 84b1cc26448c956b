//! Changing a configuration file by a program, with everything else in it left as people wrote it.
//!
//! A change is a range of the text and what stands there from now on, so comments, the order of
//! keys, indentation, line breaks and every other entry stay byte for byte.

mod disk;
mod layout;
mod members;
#[cfg(test)]
mod tests;
mod trivia;

use std::io::{self, Write};
use std::path::Path;

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged;
use mcpr_protocol::RawJson;

pub use self::disk::WriteError;
use self::layout::Habits;
use self::members::{Change, Site, apply, member};
use crate::config::Config;
use crate::environment::Environment;
use crate::error::ConfigError;
use crate::expand::References;
use crate::fault::Fault;
use crate::locations::SecretFolders;
use crate::source::Source;
use crate::tree;
use crate::veil;

/// A configuration file that is looked into or changed.
///
/// ```no_run
/// use mcpr_config::{Document, Process};
/// use mcpr_protocol::RawJson;
///
/// let mut document = Document::open(".mcp.json".as_ref(), &Process)?;
/// document.set_server("git", &RawJson::from_static(r#"{"command":"uvx","args":["mcp-server-git"]}"#))?;
/// document.write()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Document {
    source: Source,
    /// What the file holds; `None` if there is none.
    before: Option<Vec<u8>>,
    /// What it said when it was opened.
    opened: String,
    /// Whether it begins with a byte order mark.
    marked: bool,
}

/// Where servers stand: in `mcpServers`, or as VS Code has them.
const SECTIONS: [&str; 2] = ["mcpServers", "servers"];

const MARK: &str = "\u{feff}";

impl Document {
    /// Opens a file. One that is not there, or that is empty, counts as an empty object.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or is not a JSON object (comments and trailing commas are fine).
    pub fn open(path: &Path, env: &dyn Environment) -> Result<Self, ConfigError> {
        match env.read(path) {
            Ok(content) => Ok(Self::new(path, Some(content))?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::new(path, None)?),
            Err(source) => Err(ConfigError::Unreadable {
                path: path.to_owned(),
                source,
            }),
        }
    }

    /// Takes another text in the place of the file's.
    ///
    /// # Errors
    ///
    /// When it is not a JSON object.
    pub fn with_text(&self, text: &[u8]) -> Result<Self, Fault> {
        let other = Self::new(self.path(), Some(text.to_owned()))?;
        Ok(Self {
            before: self.before.clone(),
            opened: self.opened.clone(),
            ..other
        })
    }

    fn new(path: &Path, before: Option<Vec<u8>>) -> Result<Self, Fault> {
        let bytes = before.as_deref().unwrap_or_default();
        let marked = bytes.starts_with(MARK.as_bytes());
        let mut source = Source::decode(path, bytes)?;
        if source.text().trim().is_empty() {
            source = source.with_text("{}\n".into());
        }
        with_root(&source, |_| ())?;
        Ok(Self {
            opened: source.text().to_owned(),
            source,
            before,
            marked,
        })
    }

    /// The file, as it was named.
    pub fn path(&self) -> &Path {
        self.source.path()
    }

    /// Whether there is no such file yet.
    pub fn is_new(&self) -> bool {
        self.before.is_none()
    }

    /// Whether it says something else than the file.
    pub fn is_changed(&self) -> bool {
        self.text() != self.opened
    }

    /// What it says now, without the byte order mark that it may have.
    pub fn text(&self) -> &str {
        self.source.text()
    }

    /// The text with `•••` in the place of what may be secret: the values of variables and headers
    /// that are written out, and what URLs hold besides host and path.
    pub fn veiled(&self) -> String {
        let hidden = |root: &Object<'_>, text: &str| {
            let hidden = veil::hidden(root).into_iter();
            apply(text, hidden.map(|(at, shown)| Change::new(at, shown)).collect())
        };
        self.within(hidden).unwrap_or_default()
    }

    /// Writes the text, without a byte order mark, into a file that was not there before and that only
    /// its owner may read.
    ///
    /// # Errors
    ///
    /// When there is such a file, or the system refuses.
    pub fn copy_to(&self, path: &Path) -> io::Result<()> {
        disk::private(path)?.write_all(self.text().as_bytes())
    }

    fn bytes(&self) -> Vec<u8> {
        let mark = if self.marked { MARK } else { "" };
        [mark.as_bytes(), self.text().as_bytes()].concat()
    }

    /// The names of the servers, in their order.
    pub fn servers(&self) -> Vec<String> {
        let names = |root: &Object<'_>, _: &str| {
            let sections = SECTIONS.iter().filter_map(|section| object_at(root, section));
            let members = sections.flat_map(|section| &section.properties);
            let mut names: Vec<_> = members.map(|member| member.name.as_str().to_owned()).collect();
            let mut seen = std::collections::HashSet::new();
            names.retain(|name| seen.insert(name.clone()));
            names
        };
        self.within(names).unwrap_or_default()
    }

    /// Whether there is a server of this name.
    pub fn has_server(&self, name: &str) -> bool {
        self.section_of(name).is_some()
    }

    /// Whether these keys lead to something.
    pub fn has(&self, path: &[&str]) -> bool {
        let found = |root: &Object<'_>, _: &str| {
            let (last, before) = path.split_last()?;
            let holder = before
                .iter()
                .try_fold(root, |object, key| object_at(object, key))?;
            member(holder, last).map(|_| ())
        };
        self.within(found).ok().flatten().is_some()
    }

    /// Adds a server, or puts the entry in the place of the one of this name.
    ///
    /// # Errors
    ///
    /// When what should hold servers is no object.
    pub fn set_server(&mut self, name: &str, entry: &RawJson) -> Result<(), Fault> {
        let section = self.section_of(name).unwrap_or_else(|| self.section_for_more());
        self.set(&[section, name], Some(entry))
    }

    /// Changes one value of a server; `None` removes the key. `false` if there is no such server.
    ///
    /// # Errors
    ///
    /// When the keys lead through something that is no object.
    pub fn set_in_server(
        &mut self,
        name: &str,
        path: &[&str],
        value: Option<&RawJson>,
    ) -> Result<bool, Fault> {
        let Some(section) = self.section_of(name) else {
            return Ok(false);
        };
        self.set(&[&[section, name], path].concat(), value)?;
        Ok(true)
    }

    /// Removes a server wherever it stands. `false` if there is none of this name.
    ///
    /// # Errors
    ///
    /// When what should hold servers is no object.
    pub fn remove_server(&mut self, name: &str) -> Result<bool, Fault> {
        let mut found = false;
        while let Some(section) = self.section_of(name) {
            self.set(&[section, name], None)?;
            found = true;
        }
        Ok(found)
    }

    /// Changes the value that these keys lead to; what is missing on the way is made. `None` removes the key.
    ///
    /// # Errors
    ///
    /// When they lead through something that is no object.
    pub fn set(&mut self, path: &[&str], value: Option<&RawJson>) -> Result<(), Fault> {
        loop {
            let changes = self.changes(path, value)?;
            let text = apply(self.text(), changes);
            let same = text == self.text();
            self.source = self.source.with_text(text);
            // A key that is there twice must not come back when the last one has gone.
            if value.is_some() || same {
                return Ok(());
            }
        }
    }

    /// What has to change for this.
    fn changes(&self, path: &[&str], value: Option<&RawJson>) -> Result<Vec<Change>, Fault> {
        with_root(&self.source, |root| {
            let text = self.text();
            let mut site = Site {
                text,
                habits: Habits::of(text, root),
                chain: vec![root],
            };
            for (depth, key) in path.iter().enumerate() {
                let object = *site.chain.last().expect("it began with the root");
                let behind = &path[depth + 1..];
                match (member(object, key), value) {
                    (None, None) => return Ok(Vec::new()),
                    (None, Some(value)) => return Ok(site.insert(key, &nested(behind, value))),
                    (Some(member), None) if behind.is_empty() => return Ok(site.remove(member)),
                    (Some(member), Some(value)) if behind.is_empty() => {
                        return Ok(site.replace(member, value));
                    }
                    (Some(member), value) => match (&member.value, value) {
                        (Value::Object(inner), _) => site.chain.push(inner),
                        (Value::NullKeyword(_), Some(value)) => {
                            return Ok(site.replace(member, &nested(behind, value)));
                        }
                        (Value::NullKeyword(_), None) => return Ok(Vec::new()),
                        _ => return Err(no_object(&self.source, &path[..=depth], member.value.start())),
                    },
                }
            }
            Ok(Vec::new())
        })?
    }

    /// Reads what the document says, as far as that can be judged without what its `${…}` stand
    /// for: those may be set where the gateway runs and not here.
    ///
    /// # Errors
    ///
    /// As for [`Config::load`].
    pub fn judge(&self, env: &dyn Environment) -> Result<Config, ConfigError> {
        let sources = std::slice::from_ref(&self.source);
        Config::build(sources, &SecretFolders::default(), env, References::Leave)
    }

    /// Writes the file, if it says something else now: whole or not at all. A file that is not
    /// there is made, for its owner alone; its folder must exist. A link stays one.
    ///
    /// # Errors
    ///
    /// When somebody else has changed the file since it was opened, or the system refuses.
    pub fn write(&self) -> Result<(), WriteError> {
        if !self.is_changed() {
            return Ok(());
        }
        disk::replace(self.path(), self.before.as_deref(), &self.bytes())
    }

    fn section_of(&self, name: &str) -> Option<&'static str> {
        let found = |root: &Object<'_>, _: &str| {
            let has = |section: &&str| {
                object_at(root, section).is_some_and(|object| member(object, name).is_some())
            };
            SECTIONS.into_iter().find(has)
        };
        self.within(found).ok().flatten()
    }

    /// Where a new server goes: where the others are.
    fn section_for_more(&self) -> &'static str {
        let found = |root: &Object<'_>, _: &str| {
            SECTIONS
                .into_iter()
                .find(|section| member(root, section).is_some())
        };
        self.within(found).ok().flatten().unwrap_or(SECTIONS[0])
    }

    fn within<T>(&self, look: impl FnOnce(&Object<'_>, &str) -> T) -> Result<T, Fault> {
        with_root(&self.source, |root| look(root, self.text()))
    }
}

/// Looks at the object that the whole document is.
fn with_root<T>(source: &Source, look: impl FnOnce(&Object<'_>) -> T) -> Result<T, Fault> {
    match tree::commented(source)? {
        Value::Object(root) => Ok(look(&root)),
        other => Err(Fault::new("the file must hold an object").at(&source.place(other.start()))),
    }
}

fn object_at<'o, 't>(object: &'o Object<'t>, key: &str) -> Option<&'o Object<'t>> {
    match &member(object, key)?.value {
        Value::Object(object) => Some(object),
        _ => None,
    }
}

/// The value inside of objects of these keys.
fn nested(path: &[&str], value: &RawJson) -> RawJson {
    let wrap = |inner: RawJson, key: &&str| {
        RawJson::trusted(format!(
            "{{{}:{}}}",
            RawJson::string(key).as_str(),
            inner.as_str()
        ))
    };
    path.iter().rev().fold(value.clone(), wrap)
}

fn no_object(source: &Source, path: &[&str], at: usize) -> Fault {
    let fault = Fault::new(format!(
        "`{}` is no object, so nothing can be set in it",
        path.join(".")
    ));
    fault.at(&source.place(at))
}

//! References in the texts of clients, as mcpr writes them.

use std::path::Path;

use super::convert::Entry;
use crate::clients::table::Variables;
use crate::clients::{ClientApp, Value};
use crate::reference::{self, Reference};

/// Rewrites texts and remembers what is to be said about them.
pub(super) struct Texts<'e> {
    entry: &'e Entry<'e>,
    pub(super) notes: Vec<String>,
}

impl<'e> Texts<'e> {
    pub(super) fn of(entry: &'e Entry<'e>) -> Self {
        Self {
            entry,
            notes: Vec::new(),
        }
    }

    /// A text of the client as mcpr reads it.
    pub(super) fn text(&mut self, text: &str) -> String {
        match self.variables() {
            None | Some(Variables::Braces) => text.to_owned(),
            Some(Variables::Env) => self.references(text),
            Some(Variables::Shell) => with_braces(text),
            Some(Variables::None | Variables::Keys) => self.literal(text),
        }
    }

    /// The value of a header. Goose alone fills variables in there and nowhere else.
    pub(super) fn header(&mut self, text: &str) -> String {
        if self.entry.app == Some(ClientApp::Goose) {
            return with_braces(text);
        }
        self.text(text)
    }

    /// A path, from the folder of the project if it is relative.
    pub(super) fn path(&mut self, text: &str) -> String {
        let text = self.text(text);
        match self.entry.folder {
            Some(folder) if is_relative(&text) => {
                folder.join(text.trim_start_matches("./")).display().to_string()
            }
            _ => text,
        }
    }

    /// A program: a bare name stays one.
    pub(super) fn program(&mut self, text: &str) -> String {
        if text.contains(std::path::is_separator) {
            self.path(text)
        } else {
            self.text(text)
        }
    }

    pub(super) fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    fn variables(&self) -> Option<Variables> {
        self.entry.app.map(|app| app.profile().variables)
    }

    /// The text of a client that fills nothing in.
    fn literal(&mut self, text: &str) -> String {
        if let Some((_, inside, _)) = reference::next(text) {
            self.note(format!(
                "mcpr takes `${{{inside}}}` for a variable; {} hands it on as it is",
                self.entry.client()
            ));
        }
        text.to_owned()
    }

    fn references(&mut self, text: &str) -> String {
        let mut written = String::new();
        let mut rest = text;
        while let Some((plain, inside, after)) = reference::next(rest) {
            written += plain;
            written += &self.reference(inside);
            rest = after;
        }
        written + rest
    }

    fn reference(&mut self, inside: &str) -> String {
        let as_it_is = format!("${{{inside}}}");
        match Reference::parse(inside) {
            Reference::Input(id) => self.input(id),
            Reference::Folder => self.folder(&as_it_is, |folder| folder.display().to_string()),
            Reference::FolderName => self.folder(&as_it_is, |folder| {
                folder
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned()
            }),
            Reference::Unknown(_) => {
                self.note(format!("`{as_it_is}` means nothing to mcpr: put its value there"));
                as_it_is
            }
            _ => as_it_is,
        }
    }

    /// What the client asks for becomes a variable.
    fn input(&mut self, id: &str) -> String {
        let variable = variable_name(id);
        let asked = self
            .entry
            .inputs
            .iter()
            .find(|input| input.get("id").and_then(Value::text) == Some(id));
        let what = asked.and_then(|input| input.get("description")?.text());
        let what = what.map_or_else(String::new, |what| format!(" ({what})"));
        self.note(format!(
            "{} asks for `{id}`{what}: mcpr takes it from the variable {variable}, set it where the gateway starts",
            self.entry.client()
        ));
        format!("${{env:{variable}}}")
    }

    fn folder(&mut self, as_it_is: &str, how: impl FnOnce(&Path) -> String) -> String {
        if let Some(folder) = self.entry.folder {
            return how(folder);
        }
        self.note(format!(
            "`{as_it_is}` is the folder open in {}; to mcpr it is the folder of its own file: put the path there",
            self.entry.client()
        ));
        as_it_is.to_owned()
    }
}

fn is_relative(text: &str) -> bool {
    !(Path::new(text).is_absolute() || text.starts_with('~') || text.starts_with('$') || text.is_empty())
}

/// `$NAME` as `${NAME}`, which stays as it is.
fn with_braces(text: &str) -> String {
    let mut written = String::new();
    let mut rest = text;
    while let Some((plain, after)) = rest.split_once('$') {
        let name: String = after.chars().take_while(|c| is_name(*c)).collect();
        written += plain;
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            written.push('$');
            rest = after;
        } else {
            written += &format!("${{{name}}}");
            rest = &after[name.len()..];
        }
    }
    written + rest
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn variable_name(id: &str) -> String {
    let name: String = id
        .chars()
        .map(|c| if is_name(c) { c.to_ascii_uppercase() } else { '_' })
        .collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        format!("_{name}")
    } else {
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_of_a_shell_gets_braces() {
        assert_eq!(with_braces("Bearer $TOKEN!"), "Bearer ${TOKEN}!");
        assert_eq!(with_braces("${A}-$B_1.$"), "${A}-${B_1}.$");
        assert_eq!(with_braces("5$ $1"), "5$ $1");
    }

    #[test]
    fn an_input_becomes_the_name_of_a_variable() {
        assert_eq!(variable_name("github-token"), "GITHUB_TOKEN");
        assert_eq!(variable_name("7.key"), "_7_KEY");
    }
}

//! What the types of operations say of themselves in the source: their members, words and prose.

use std::fs;
use std::path::{Path, PathBuf};

use mcpr_admin::{ROUTES, Route};

/// The table of operations, and the types it is made of.
pub(super) struct Source {
    pub(super) table: Vec<Entry>,
    pub(super) types: Vec<Type>,
}

/// A row of the table of operations.
pub(super) struct Entry {
    pub(super) path: String,
    /// The type that is sent.
    pub(super) operation: String,
    /// The type that comes back.
    pub(super) output: String,
}

/// A type that is sent or comes back.
pub(super) struct Type {
    pub(super) name: String,
    pub(super) about: String,
    pub(super) content: Content,
    /// Its variants by their names in the source, each with its prose.
    variants: Vec<(String, String)>,
}

/// What a type has.
pub(super) enum Content {
    Members(Vec<Member>),
    /// Each with its prose.
    Words(Vec<(String, String)>),
}

/// A member of a type.
pub(super) struct Member {
    pub(super) name: String,
    /// Its type as the source has it.
    pub(super) kind: String,
    pub(super) optional: bool,
    /// Whether its own members stand in its place.
    pub(super) flat: bool,
    pub(super) about: String,
}

/// What was read of a type so far.
#[derive(Default)]
struct Draft {
    attributes: String,
    about: String,
}

impl Source {
    pub(super) fn read() -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let files = fs::read_dir(folder.join("operation")).expect("the folder of the operations");
        let mut files: Vec<PathBuf> = files.flatten().map(|file| file.path()).collect();
        files.push(folder.join("failure.rs"));
        files.sort();
        let texts = files
            .iter()
            .map(|file| fs::read_to_string(file).expect("a source can be read"));
        let table = fs::read_to_string(folder.join("dispatch.rs")).expect("the table can be read");
        Self {
            table: table.lines().filter_map(Entry::read).collect(),
            types: texts.flat_map(|text| types(&text)).collect(),
        }
    }

    pub(super) fn find(&self, name: &str) -> Option<&Type> {
        self.types.iter().find(|known| known.name == name)
    }

    pub(super) fn of(&self, name: &str) -> &Type {
        self.find(name)
            .unwrap_or_else(|| panic!("the source has no type `{name}`"))
    }

    /// The prose of a variant.
    pub(super) fn variant(&self, of: &str, name: &str) -> &str {
        let mut variants = self.of(of).variants.iter();
        let found = variants.find(|(known, _)| known == name);
        &found.unwrap_or_else(|| panic!("`{of}` has no `{name}`")).1
    }

    /// The word for a variant.
    pub(super) fn word(&self, of: &str, variant: &str) -> &str {
        let which = self.of(of);
        let place = which.variants.iter().position(|(known, _)| known == variant);
        match (&which.content, place) {
            (Content::Words(words), Some(place)) => &words[place].0,
            _ => panic!("`{of}::{variant}` is no word"),
        }
    }
}

impl Entry {
    /// Reads `Operation: "path", read_only = true => Output;`.
    fn read(line: &str) -> Option<Self> {
        let (operation, rest) = line.trim().split_once(": ")?;
        let (path, rest) = rest.trim_start().strip_prefix('"')?.split_once("\",")?;
        let (_, output) = rest.split_once("=> ")?;
        Some(Self {
            path: path.to_owned(),
            operation: operation.to_owned(),
            output: output.strip_suffix(';')?.to_owned(),
        })
    }
}

impl Type {
    /// Whether a member or a variant holds the other type.
    pub(super) fn mentions(&self, other: &str) -> bool {
        let Content::Members(members) = &self.content else {
            return false;
        };
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let holds = |kind: &str| kind.split(|c| !is_word(c)).any(|word| word == other);
        members.iter().any(|member| holds(&member.kind))
    }
}

impl Draft {
    /// Takes a line that stands before what it is about; gives back any other.
    fn take<'t>(&mut self, line: &'t str) -> Option<&'t str> {
        if let Some(prose) = line.strip_prefix("///") {
            let prose = prose.trim();
            let gap = if self.about.is_empty() || prose.is_empty() {
                ""
            } else {
                " "
            };
            self.about += gap;
            self.about += prose;
        } else if line.starts_with("#[") {
            self.attributes += line;
        } else {
            return Some(line);
        }
        None
    }

    fn member(self, line: &str, camel: bool) -> Option<Member> {
        let (name, kind) = line.strip_prefix("pub ")?.strip_suffix(',')?.split_once(": ")?;
        Some(Member {
            name: if camel { camel_case(name) } else { name.to_owned() },
            optional: kind.starts_with("Option<") || self.attributes.contains("default"),
            flat: self.attributes.contains("flatten"),
            kind: kind.to_owned(),
            about: self.about,
        })
    }
}

/// The public types of a file.
fn types(text: &str) -> Vec<Type> {
    let mut types = Vec::new();
    let mut lines = text.lines();
    let mut draft = Draft::default();
    while let Some(line) = lines.next() {
        let Some(line) = draft.take(line) else { continue };
        let draft = std::mem::take(&mut draft);
        let head = line
            .strip_prefix("pub struct ")
            .or_else(|| line.strip_prefix("pub enum "));
        let Some(name) = head.and_then(|head| head.split(' ').next()) else {
            continue;
        };
        let inside: Vec<&str> = match line.ends_with("{}") {
            true => Vec::new(),
            false => lines
                .by_ref()
                .take_while(|line| *line != "}")
                .map(str::trim)
                .collect(),
        };
        let is_enum = line.starts_with("pub enum ");
        types.push(if is_enum {
            choice(name, draft, &inside, text)
        } else {
            record(name, draft, &inside)
        });
    }
    types
}

fn record(name: &str, draft: Draft, inside: &[&str]) -> Type {
    let camel = draft.attributes.contains("camelCase");
    let mut members = Vec::new();
    let mut next = Draft::default();
    for line in inside {
        if let Some(line) = next.take(line) {
            members.extend(std::mem::take(&mut next).member(line, camel));
        }
    }
    Type {
        name: name.to_owned(),
        about: draft.about,
        content: Content::Members(members),
        variants: Vec::new(),
    }
}

/// An enum: fixed words, or an object with one of several members.
fn choice(name: &str, draft: Draft, inside: &[&str], text: &str) -> Type {
    let mut all = Vec::new();
    let mut next = Draft::default();
    for line in inside {
        if let Some(line) = next.take(line) {
            all.push((
                line.trim_end_matches(',').to_owned(),
                std::mem::take(&mut next).about,
            ));
        }
    }
    let words = words(name, text);
    let word = |(variant, about): &(String, String)| {
        let known = words.iter().find(|(known, _)| known == variant);
        known.map(|(_, word)| (word.clone(), about.clone()))
    };
    let content = match words.is_empty() {
        false => Content::Words(all.iter().filter_map(word).collect()),
        true => Content::Members(
            all.iter()
                .filter_map(|(variant, about)| held(variant, about))
                .collect(),
        ),
    };
    Type {
        name: name.to_owned(),
        about: draft.about,
        content,
        variants: all,
    }
}

/// The member that stands for a variant such as `Result(RawJson)`.
fn held(variant: &str, about: &str) -> Option<Member> {
    let (name, kind) = variant.strip_suffix(')')?.split_once('(')?;
    Some(Member {
        name: name.to_lowercase(),
        kind: kind.to_owned(),
        optional: true,
        flat: false,
        about: about.to_owned(),
    })
}

/// The words of an enum by its variants, from its `words!`.
fn words(name: &str, text: &str) -> Vec<(String, String)> {
    let Some((_, rest)) = text.split_once(&format!("words!({name} {{")) else {
        return Vec::new();
    };
    let inside = rest.split('}').next().unwrap_or_default();
    let pairs = inside.split(',').filter_map(|pair| pair.split_once(" = "));
    let bare = |text: &str| text.trim().trim_matches('"').to_owned();
    pairs.map(|(variant, word)| (bare(variant), bare(word))).collect()
}

fn camel_case(name: &str) -> String {
    let mut parts = name.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| all + &part[..1].to_uppercase() + &part[1..])
}

#[test]
fn the_source_has_the_table_that_the_program_has() {
    let read = Source::read().table;
    let routes: Vec<&str> = read.iter().map(|entry| entry.path.as_str()).collect();
    let known: Vec<&str> = ROUTES.iter().map(|Route { path, .. }| *path).collect();
    assert_eq!(routes, known);
}

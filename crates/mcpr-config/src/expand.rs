//! Replaces each `${…}` by what it stands for (CFG-03).

use std::io;
use std::path::{MAIN_SEPARATOR_STR, Path};

use mcpr_secrets::VaultError;

use crate::environment::Environment;
use crate::fault::Fault;
use crate::locations::SecretFolders;
use crate::paths::Folder;
use crate::reference::{Piece, Reference, pieces};
use crate::secrets::{self, Lookup};
use crate::tree::Node;

/// What becomes of references.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum References {
    /// They are replaced by what they stand for.
    FillIn,
    /// They stay as they are: only the form of a file is judged.
    Leave,
}

/// Where references are looked up.
pub(crate) struct Lookups<'a> {
    pub(crate) references: References,
    pub(crate) env: &'a dyn Environment,
    pub(crate) folder: Folder,
    pub(crate) secrets: &'a SecretFolders,
}

/// An expanded text. It has no `Debug`, since it may hold a secret.
#[derive(Default)]
pub(crate) struct Expanded {
    pub(crate) text: String,
    /// The parts of it that came from elsewhere and may be secret.
    pub(crate) secrets: Vec<String>,
    /// The first variable, file or secret that holds nothing.
    pub(crate) hollow: Option<String>,
}

/// What a reference stands for.
struct Value {
    text: String,
    secret: bool,
}

impl Lookups<'_> {
    /// Expands a text once: what a reference stands for is not looked at again.
    pub(crate) fn expand(&self, node: &Node) -> Result<Expanded, Fault> {
        let mut expanded = Expanded::default();
        for piece in pieces(node.scalar()?) {
            match piece {
                Piece::Plain(plain) => expanded.text.push_str(plain),
                Piece::Reference(reference) if self.leaves(reference) => expanded.text.push_str("${…}"),
                Piece::Reference(reference) => {
                    let value = self
                        .look_up(reference, &node.path)
                        .map_err(|fault| fault.at(&node.place))?;
                    expanded.push(reference, value);
                }
            }
        }
        Ok(expanded)
    }

    /// Whether something of this text is left open.
    pub(crate) fn leaves_open(&self, node: &Node) -> bool {
        let open = |piece| matches!(piece, Piece::Reference(reference) if self.leaves(reference));
        node.scalar().is_ok_and(|text| pieces(text).into_iter().any(open))
    }

    fn leaves(&self, reference: Reference<'_>) -> bool {
        self.references == References::Leave && !matches!(reference, Reference::Unknown(_))
    }

    fn look_up(&self, reference: Reference<'_>, field: &str) -> Result<Value, Fault> {
        match reference {
            Reference::Variable { name, default } => self.variable(name, default, field),
            Reference::File(path) => self.file(path, field),
            Reference::Secret(name) => self
                .secret(name, field)
                .unwrap_or_else(|| Err(self.no_secret(name, field))),
            Reference::Input(id) => self
                .secret(id, field)
                .unwrap_or_else(|| Err(self.no_input(id, field))),
            Reference::Home => self.home(field),
            Reference::Folder => Ok(Value::plain(self.folder.path.to_string_lossy())),
            Reference::FolderName => Ok(Value::plain(
                self.folder.path.file_name().unwrap_or_default().to_string_lossy(),
            )),
            Reference::Separator => Ok(Value::plain(MAIN_SEPARATOR_STR)),
            Reference::Unknown(inside) => Err(unknown(inside, field)),
        }
    }

    /// As in a shell, the default of `${NAME:-default}` also stands in for an empty value.
    fn variable(&self, name: &str, default: Option<&str>, field: &str) -> Result<Value, Fault> {
        if self.env.variable(name).is_none() && self.env.variable_os(name).is_some() {
            return Err(Fault::new(format!(
                "{field} needs {name}, which is no text in UTF-8"
            )));
        }
        match (self.env.variable(name), default) {
            (Some(value), None) => Ok(Value {
                secret: !is_public(name),
                text: value,
            }),
            (Some(value), Some(_)) if !value.is_empty() => Ok(Value {
                secret: !is_public(name),
                text: value,
            }),
            (_, Some(default)) => Ok(Value::plain(default)),
            (None, None) => {
                let hint = format!("set it where mcpr starts, or give a default: `${{{name}:-…}}`");
                Err(Fault::new(format!("{field} needs {name}, which is not set")).hint(hint))
            }
        }
    }

    fn file(&self, path: &str, field: &str) -> Result<Value, Fault> {
        let full = self.folder.path(path);
        let content = self.env.read(&full).and_then(line);
        content
            .map(Value::secret)
            .map_err(|error| unreadable(field, &full, &error))
    }

    /// The value of a secret; `None` if there is none of that name.
    fn secret(&self, name: &str, field: &str) -> Option<Result<Value, Fault>> {
        let read = |lookup| read(lookup, field);
        let credential = secrets::credential(name, self.secrets, self.env).map(read);
        let kept = || self.kept(self.secrets.vault.as_deref()?, name, field);
        let file = || secrets::own_file(name, self.secrets, self.env).map(read);
        credential.or_else(kept).or_else(file)
    }

    /// The value of a secret in the vault; `None` if none is kept under this name.
    fn kept(&self, vault: &Path, name: &str, field: &str) -> Option<Result<Value, Fault>> {
        let unusable = |error: VaultError| {
            let what = format!("{field} needs the secret `{name}`, which cannot be read: {error}");
            Fault::new(match std::error::Error::source(&error) {
                Some(cause) => format!("{what}: {cause}"),
                None => what,
            })
        };
        let kept = self.env.kept_secret(vault, name).map_err(unusable).transpose()?;
        Some(kept.map(Value::secret))
    }

    fn no_secret(&self, name: &str, field: &str) -> Fault {
        Fault::new(format!("{field} needs the secret `{name}`, which does not exist"))
            .hint(self.how_to_keep(name))
    }

    fn no_input(&self, id: &str, field: &str) -> Fault {
        let what = format!("{field} needs the input `{id}`, and mcpr cannot ask for it");
        Fault::new(what).hint(self.how_to_keep(id))
    }

    fn how_to_keep(&self, name: &str) -> String {
        match &self.secrets.vault {
            Some(_) => format!("run `mcpr-ctl secrets set {name}`"),
            None => "use a variable instead: `${NAME}`".to_owned(),
        }
    }

    fn home(&self, field: &str) -> Result<Value, Fault> {
        let home = self.env.home().map(|home| Value::plain(home.to_string_lossy()));
        home.ok_or_else(|| {
            Fault::new(format!("{field} needs the home folder, which is not known")).hint("set HOME")
        })
    }
}

impl Expanded {
    fn push(&mut self, reference: Reference<'_>, value: Value) {
        self.text.push_str(&value.text);
        if value.text.is_empty() {
            self.hollow = self
                .hollow
                .take()
                .or_else(|| reference.wanted().map(str::to_owned));
        } else if value.secret {
            self.secrets.push(value.text);
        }
    }
}

impl Value {
    fn plain(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            secret: false,
        }
    }

    fn secret(text: String) -> Self {
        Self { text, secret: true }
    }
}

/// What the file of a secret gave.
fn read((path, content): Lookup, field: &str) -> Result<Value, Fault> {
    let value = content.and_then(line).map(Value::secret);
    value.map_err(|error| unreadable(field, &path, &error))
}

fn unreadable(field: &str, path: &Path, error: &io::Error) -> Fault {
    Fault::new(format!(
        "{field} needs the file `{}`, which cannot be read: {error}",
        path.display()
    ))
}

fn unknown(inside: &str, field: &str) -> Fault {
    let forms = "`${NAME}`, `${NAME:-default}`, `${env:NAME}`, `${file:PATH}`, `${secret:NAME}`, `${userHome}`, \
                 `${workspaceFolder}` and `${pathSeparator}`";
    Fault::new(format!("{field} has `${{{inside}}}`, which means nothing here"))
        .hint(format!("mcpr knows {forms}"))
}

/// The content of a file without the break that editors put at its end.
fn line(content: Vec<u8>) -> io::Result<String> {
    let not_text = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8");
    let text = String::from_utf8(content).map_err(not_text)?;
    let line = text.strip_suffix('\n').unwrap_or(&text);
    Ok(line.strip_suffix('\r').unwrap_or(line).to_owned())
}

/// Variables whose values are in every path and log line, and no secrets.
fn is_public(name: &str) -> bool {
    const PUBLIC: [&str; 10] = [
        "HOME", "USER", "LOGNAME", "PATH", "PWD", "SHELL", "TMPDIR", "TEMP", "LANG", "HOSTNAME",
    ];
    PUBLIC.contains(&name) || name.starts_with("XDG_") || name.starts_with("LC_")
}

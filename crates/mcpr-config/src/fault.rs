//! What is wrong in a file, where, and what to do about it.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

/// A place in a file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Place {
    /// The file, as it was named.
    pub file: PathBuf,
    /// The line; the first is 1.
    pub line: usize,
    /// The column in characters; the first is 1.
    pub column: usize,
}

/// One thing that is wrong.
///
/// `Display` gives all of it in one line; [`Fault::reason`] leaves the place out.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Fault {
    /// What is wrong; never holds the value of a variable, file or secret.
    #[serde(rename = "message")]
    pub what: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Where it is.
    #[serde(flatten)]
    pub place: Option<Place>,
}

/// A fault with its weight and the server it concerns.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Finding {
    /// How much it matters.
    pub severity: Severity,
    /// The server's key in the file, as written there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// What is wrong.
    #[serde(flatten)]
    pub fault: Fault,
}

/// How much a finding matters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Probably not what was meant.
    Warning,
    /// A server, or the whole file, cannot be used.
    Error,
}

impl Fault {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            hint: None,
            place: None,
        }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self {
            hint: Some(hint.into()),
            ..self
        }
    }

    /// Says where it is, unless that is known more exactly already.
    pub(crate) fn at(self, place: &Place) -> Self {
        Self {
            place: self.place.or_else(|| Some(place.clone())),
            ..self
        }
    }

    /// What is wrong and what to do, without the place.
    pub fn reason(&self) -> String {
        match &self.hint {
            Some(hint) => format!("{}; {hint}", self.what),
            None => self.what.clone(),
        }
    }
}

impl Finding {
    pub(crate) fn new(severity: Severity, fault: Fault) -> Self {
        Self {
            severity,
            server: None,
            fault,
        }
    }

    pub(crate) fn note(fault: Fault) -> Self {
        Self::new(Severity::Note, fault)
    }

    pub(crate) fn warning(fault: Fault) -> Self {
        Self::new(Severity::Warning, fault)
    }

    pub(crate) fn error(fault: Fault) -> Self {
        Self::new(Severity::Error, fault)
    }

    pub(crate) fn of(self, server: impl Into<String>) -> Self {
        Self {
            server: Some(server.into()),
            ..self
        }
    }

    /// All of it in one line but how much it matters.
    pub fn text(&self) -> String {
        let place = self.fault.place.as_ref().map(|place| format!("{place}: "));
        let server = self.server.as_ref().map(|server| format!("server `{server}`: "));
        let reason = self.fault.reason();
        format!(
            "{}{}{reason}",
            place.unwrap_or_default(),
            server.unwrap_or_default()
        )
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file.display(), self.line, self.column)
    }
}

impl std::error::Error for Fault {}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.reason())
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.severity, self.text())
    }
}

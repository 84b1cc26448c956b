//! What a binary may choose about its logs.

use std::path::PathBuf;

use crate::level::{Format, Level};
use crate::redact::Secrets;

/// The choices [`init`](crate::init) takes.
#[derive(Clone, Debug)]
pub struct Options {
    /// The least grave level that is logged.
    pub level: Level,
    /// The shape of the lines; `None` is pretty on a terminal and in stdio mode, JSON otherwise.
    pub format: Option<Format>,
    /// The file that is written besides stderr.
    pub file: FileChoice,
    /// How many run files stay in the folder of [`FileChoice::Auto`], this one included.
    pub keep: usize,
    /// Whether stdout carries the protocol; the reader of stderr is then a client's log pane.
    pub stdio_mode: bool,
    /// What no line may contain; more can be added later through any clone.
    pub secrets: Secrets,
}

/// Where the log file of a run lies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum FileChoice {
    /// A new file for this run in the given folder, named by the time of its start in UTC.
    Auto(PathBuf),
    /// Exactly this file; lines are appended.
    Path(PathBuf),
    /// No file: stderr alone.
    #[default]
    None,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            level: Level::default(),
            format: None,
            file: FileChoice::None,
            keep: 10,
            stdio_mode: false,
            secrets: Secrets::default(),
        }
    }
}

impl Options {
    /// The format in force when stderr is, or is not, a terminal.
    pub(crate) fn format_on(&self, terminal: bool) -> Format {
        let usual = if terminal || self.stdio_mode {
            Format::Pretty
        } else {
            Format::Json
        };
        self.format.unwrap_or(usual)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_01_the_format_follows_the_reader_unless_it_is_chosen() {
        let piped = Options::default();
        let stdio = Options {
            stdio_mode: true,
            ..Options::default()
        };
        let chosen = Options {
            format: Some(Format::Json),
            ..stdio.clone()
        };

        assert_eq!(piped.format_on(false), Format::Json);
        assert_eq!(piped.format_on(true), Format::Pretty);
        assert_eq!(stdio.format_on(false), Format::Pretty);
        assert_eq!(chosen.format_on(true), Format::Json);
    }
}

//! What the place that is written to can show.

use std::env;
use std::io::IsTerminal;

use crate::cli::Color;

/// What the place that is written to can show.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// How many letters fit into a line of the terminal; a pipe or file has no such width.
    pub(crate) width: Option<usize>,
    /// Whether colours are wanted.
    pub(crate) color: bool,
}

/// What a piece of text means; the colour follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paint {
    /// All is well.
    Good,
    /// It needs attention.
    Bad,
    /// It is on its way, or not as it should be.
    Uncertain,
    /// It stands above others.
    Head,
    /// It is not important.
    Dim,
}

impl Look {
    /// What this stream can show.
    pub(crate) fn of(stream: &impl IsTerminal, color: Color) -> Self {
        let terminal = stream.is_terminal();
        Self {
            width: terminal.then(terminal_width),
            color: wants_color(color, terminal),
        }
    }

    /// The text with its colour, if there are colours.
    pub(crate) fn paint(&self, paint: Paint, text: &str) -> String {
        if !self.color {
            return text.to_owned();
        }
        let code = match paint {
            Paint::Good => 32,
            Paint::Bad => 31,
            Paint::Uncertain => 33,
            Paint::Head => 1,
            Paint::Dim => 2,
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

fn wants_color(color: Color, terminal: bool) -> bool {
    let value = |name| env::var_os(name).filter(|value| !value.is_empty());
    match color {
        Color::Always => true,
        Color::Never => false,
        // Whatever it is set to, even 0: https://no-color.org
        Color::Auto if value("NO_COLOR").is_some() => false,
        Color::Auto => {
            let forced = value("CLICOLOR_FORCE").is_some_and(|value| value != "0");
            forced || terminal && value("TERM").is_none_or(|term| term != "dumb")
        }
    }
}

fn terminal_width() -> usize {
    let columns = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    columns
        .or_else(|| window().map(|(columns, _)| columns))
        .filter(|width| *width > 0)
        .unwrap_or(80)
}

/// How many lines the terminal shows.
pub(crate) fn terminal_height() -> usize {
    let lines = env::var("LINES").ok().and_then(|lines| lines.parse().ok());
    lines
        .or_else(|| window().map(|(_, rows)| rows))
        .filter(|height| *height > 0)
        .unwrap_or(24)
}

/// The columns and rows of the window.
#[cfg(unix)]
fn window() -> Option<(usize, usize)> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    Some((size.ws_col.into(), size.ws_row.into()))
}

#[cfg(not(unix))]
fn window() -> Option<(usize, usize)> {
    None
}

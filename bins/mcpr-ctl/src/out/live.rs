//! Parts of a terminal that are drawn over again.

use std::io::{self, Write};

use super::look;

/// Lines at the end of what is on a terminal, drawn over by their next version.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    /// How many lines the last version has.
    drawn: usize,
}

/// The whole of a terminal; what was on it before comes back with the end of this value.
#[derive(Debug)]
pub(crate) struct Screen(());

/// Lines that are too long end at the edge, so that each takes one row.
const NO_WRAP: &str = "\x1b[?7l";
const WRAP: &str = "\x1b[?7h";
/// Clears the rest of the row.
const CLEAR_ROW: &str = "\x1b[K";
/// Clears all below.
const CLEAR_BELOW: &str = "\x1b[J";
const HOME: &str = "\x1b[H";
/// To the other screen, without a cursor.
const ENTER: &str = "\x1b[?1049h\x1b[?25l";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";

impl Frame {
    /// Draws the page in the place of the last one.
    pub(crate) fn draw(&mut self, page: &str) -> io::Result<()> {
        let page = fitted(page, look::terminal_height().saturating_sub(1));
        let text = self.over(&page);
        write(&text)
    }

    /// What draws the page in the place of the last one.
    fn over(&mut self, page: &str) -> String {
        let back = match self.drawn {
            0 => String::new(),
            rows => format!("\x1b[{rows}A\r"),
        };
        self.drawn = page.lines().count();
        format!("{back}{NO_WRAP}{}{WRAP}{CLEAR_BELOW}", rows(page))
    }
}

impl Screen {
    /// Takes the terminal.
    pub(crate) fn take() -> io::Result<Self> {
        write(ENTER)?;
        Ok(Self(()))
    }

    /// Fills it with the page.
    pub(crate) fn draw(&self, page: &str) -> io::Result<()> {
        let page = fitted(page, look::terminal_height());
        // Without a line feed at the end, which would move a full screen up.
        let rows = rows(&page);
        write(&format!(
            "{HOME}{NO_WRAP}{}{WRAP}{CLEAR_BELOW}",
            rows.trim_end_matches('\n')
        ))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // Nobody is left to tell if that fails.
        let _ = write(LEAVE);
    }
}

/// The lines, each in place of what was in its row before. It is cleared first: at the edge it would take a letter with it.
fn rows(page: &str) -> String {
    page.lines().map(|line| format!("{CLEAR_ROW}{line}\n")).collect()
}

/// As much of the page as fits into so many rows; the last one says what is missing.
fn fitted(page: &str, rows: usize) -> String {
    let count = page.lines().count();
    if count <= rows {
        return page.to_owned();
    }
    let shown = rows.saturating_sub(1);
    let kept: String = page.lines().take(shown).map(|line| format!("{line}\n")).collect();
    format!("{kept}… {} more lines\n", count - shown)
}

fn write(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        text.replace('\x1b', "^").replace('\r', "[home]")
    }

    #[test]
    fn ctl_01_a_page_is_drawn_over_the_one_before() {
        let mut frame = Frame::default();

        let first = frame.over("one\ntwo\n");
        let second = frame.over("three\n");

        assert_eq!(shown(&first), "^[?7l^[Kone\n^[Ktwo\n^[?7h^[J");
        assert_eq!(shown(&second), "^[2A[home]^[?7l^[Kthree\n^[?7h^[J");
        assert_eq!(frame.drawn, 1);
    }

    #[test]
    fn ctl_01_a_page_that_is_too_long_says_how_much_is_missing() {
        assert_eq!(fitted("1\n2\n3\n", 3), "1\n2\n3\n");
        assert_eq!(fitted("1\n2\n3\n4\n", 3), "1\n2\n… 2 more lines\n");
        assert_eq!(fitted("1\n2\n", 0), "… 2 more lines\n");
    }
}

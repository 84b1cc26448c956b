//! Rows and columns: aligned on a terminal, tab separated elsewhere.

use super::look::{Look, Paint};
use super::text::{cut, one_line};

/// Rows and columns.
#[derive(Debug)]
pub(crate) struct Table {
    heads: Vec<&'static str>,
    rows: Vec<Vec<Cell>>,
}

/// One field: a line of text, and what it means.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    text: String,
    paint: Option<Paint>,
}

/// The last column is never made narrower than this.
const NARROWEST: usize = 20;

impl Table {
    /// A table with these headings and no rows.
    pub(crate) fn new(heads: &[&'static str]) -> Self {
        Self::with(heads.iter().copied())
    }

    /// The same where it depends on what is wanted which there are.
    pub(crate) fn with(heads: impl IntoIterator<Item = &'static str>) -> Self {
        Self {
            heads: heads.into_iter().collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row, with one cell for each heading.
    pub(crate) fn row<const N: usize>(&mut self, cells: [Cell; N]) {
        self.add(cells);
    }

    /// The same for a table made with [`Table::with`].
    pub(crate) fn add(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let row: Vec<_> = cells.into_iter().collect();
        debug_assert_eq!(row.len(), self.heads.len());
        self.rows.push(row);
    }

    /// The table as text.
    pub(crate) fn draw(&self, look: &Look) -> String {
        let heads = self
            .heads
            .iter()
            .map(|head| Cell::from(*head).paint(Paint::Head))
            .collect();
        let rows: Vec<_> = std::iter::once(&heads).chain(&self.rows).collect();
        match look.width {
            Some(width) => aligned(&rows, width, look),
            None => rows.iter().map(|row| separated(row, look)).collect(),
        }
    }
}

impl Cell {
    /// The field with a meaning.
    pub(crate) fn paint(self, paint: Paint) -> Self {
        Self {
            paint: Some(paint),
            ..self
        }
    }

    /// The field as `shown`, which is its text with blanks behind it or less of it.
    fn drawn(&self, shown: &str, look: &Look) -> String {
        match self.paint {
            Some(paint) => look.paint(paint, shown),
            None => shown.to_owned(),
        }
    }

    fn width(&self) -> usize {
        self.text.chars().count()
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self {
            text: one_line(text),
            paint: None,
        }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl From<u64> for Cell {
    fn from(number: u64) -> Self {
        number.to_string().into()
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    /// What is not there shows as a dash.
    fn from(value: Option<T>) -> Self {
        value.map_or_else(|| Self::from("-").paint(Paint::Dim), Into::into)
    }
}

fn separated(row: &[Cell], look: &Look) -> String {
    let cells: Vec<_> = row.iter().map(|cell| cell.drawn(&cell.text, look)).collect();
    cells.join("\t") + "\n"
}

fn aligned(rows: &[&Vec<Cell>], width: usize, look: &Look) -> String {
    let widths: Vec<usize> = columns(rows)
        .map(|column| column.map(Cell::width).max().unwrap_or(0))
        .collect();
    let (_, before) = widths.split_last().unwrap_or((&0, &[]));
    let left = width
        .saturating_sub(before.iter().map(|width| width + 2).sum())
        .max(NARROWEST);
    rows.iter().map(|row| line(row, before, left, look)).collect()
}

fn columns<'a>(rows: &'a [&'a Vec<Cell>]) -> impl Iterator<Item = impl Iterator<Item = &'a Cell>> {
    let count = rows.first().map_or(0, |row| row.len());
    (0..count).map(move |index| rows.iter().filter_map(move |row| row.get(index)))
}

/// All but the last cell in the widths `before`, the last one in what is `left` of the line.
fn line(row: &[Cell], before: &[usize], left: usize, look: &Look) -> String {
    let mut line = String::new();
    for (cell, width) in row.iter().zip(before) {
        line += &cell.drawn(&format!("{:<width$}", cell.text), look);
        line += "  ";
    }
    if let Some(last) = row.last() {
        line += &last.drawn(&cut(&last.text, left), look);
    }
    line + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(&["TOOL", "N", "DESCRIPTION"]);
        table.row([
            "git_status".into(),
            12.into(),
            "Show the\n  status\tof a repository".into(),
        ]);
        table.row(["x".into(), Cell::from(None::<u64>), "A short one".into()]);
        table
    }

    fn drawn(width: Option<usize>, color: bool) -> String {
        table().draw(&Look { width, color })
    }

    #[test]
    fn on_a_terminal_columns_are_aligned_and_the_last_one_is_cut() {
        insta::assert_snapshot!(drawn(Some(40), false));
    }

    #[test]
    fn elsewhere_columns_are_separated_by_tabs_and_whole() {
        insta::assert_snapshot!(drawn(None, false));
    }

    #[test]
    fn colours_do_not_change_the_widths() {
        let plain = drawn(Some(40), true)
            .replace("\x1b[1m", "")
            .replace("\x1b[2m", "")
            .replace("\x1b[0m", "");
        assert_eq!(plain, drawn(Some(40), false));
    }

    #[test]
    fn the_last_column_stays_readable_on_a_narrow_terminal() {
        assert!(drawn(Some(10), false).contains("Show the status of…"));
    }
}

//! From the bytes of a file to its text.

use std::path::{Path, PathBuf};

use crate::fault::{Fault, Place};

/// The text of a file, with the means to say where something in it stands.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    path: PathBuf,
    text: String,
    line_starts: Vec<usize>,
    /// How many characters begin before each block of bytes: a file may be one long line.
    blocks: Vec<usize>,
}

/// The bytes of a block; so many are looked at for one place.
const BLOCK: usize = 1024;

impl Source {
    /// Takes the bytes of a file as UTF-8, whatever the locale says, with or without a byte order mark.
    pub(crate) fn decode(path: &Path, bytes: &[u8]) -> Result<Self, Fault> {
        refuse_utf_16(path, bytes)?;
        let text = std::str::from_utf8(bytes).map_err(|error| not_utf_8(path, error.valid_up_to()))?;
        Ok(Self::new(
            path,
            text.strip_prefix('\u{feff}').unwrap_or(text).to_owned(),
        ))
    }

    fn new(path: &Path, text: String) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let line_starts = std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect();
        let blocks = text.as_bytes().chunks(BLOCK).scan(0, |count, block| {
            let before = *count;
            *count += characters(block);
            Some(before)
        });
        let blocks = blocks.collect();
        Self {
            path: path.to_owned(),
            text,
            line_starts,
            blocks,
        }
    }

    /// Another text of the same file.
    pub(crate) fn with_text(&self, text: String) -> Self {
        Self::new(&self.path, text)
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where the byte at `offset` stands for a person with an editor.
    pub(crate) fn place(&self, offset: usize) -> Place {
        let line = self.line_starts.partition_point(|start| *start <= offset);
        let start = self.line_starts[line - 1];
        Place {
            file: self.path.clone(),
            line,
            column: self.characters_before(offset) - self.characters_before(start) + 1,
        }
    }

    fn characters_before(&self, offset: usize) -> usize {
        let bytes = self.text.as_bytes();
        let offset = offset.min(bytes.len());
        let block = (offset / BLOCK).min(self.blocks.len().saturating_sub(1));
        let counted = self.blocks.get(block).copied().unwrap_or_default();
        counted + characters(&bytes[block * BLOCK..offset])
    }
}

/// How many characters begin in these bytes of a text.
fn characters(bytes: &[u8]) -> usize {
    let begins = |byte: &&u8| **byte & 0b1100_0000 != 0b1000_0000;
    bytes.iter().filter(begins).count()
}

fn refuse_utf_16(path: &Path, bytes: &[u8]) -> Result<(), Fault> {
    let encoding = match bytes {
        [0xFF, 0xFE, ..] | [b'{', 0, ..] => "UTF-16 (little-endian)",
        [0xFE, 0xFF, ..] | [0, b'{', ..] => "UTF-16 (big-endian)",
        _ => return Ok(()),
    };
    let what = format!("`{}` is encoded as {encoding}", path.display());
    Err(Fault::new(what).hint("save it as UTF-8"))
}

fn not_utf_8(path: &Path, offset: usize) -> Fault {
    let what = format!(
        "`{}` is not UTF-8: the byte at offset {offset} is not valid",
        path.display()
    );
    Fault::new(what).hint("save it as UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(bytes: &[u8]) -> Result<Source, Fault> {
        Source::decode(Path::new("mcpr.json"), bytes)
    }

    #[test]
    fn b96_a_byte_order_mark_is_left_out() {
        assert_eq!(decode(b"\xEF\xBB\xBF{}").unwrap().text(), "{}");
    }

    #[test]
    fn b96_a_column_counts_characters_and_a_line_ends_with_either_break() {
        let source = decode("{\r\n  \"—\": 1\n}".as_bytes()).unwrap();
        let at = source.text().find('1').unwrap();

        assert_eq!(source.place(at).to_string(), "mcpr.json:2:8");
        assert_eq!(source.place(0).to_string(), "mcpr.json:1:1");
        assert_eq!(source.place(source.text().len()).to_string(), "mcpr.json:3:2");
    }

    #[test]
    fn b96_a_place_far_into_a_long_line_counts_characters_too() {
        let long = "—".repeat(BLOCK);
        let source = decode(format!("{{\n{long}x{long}").as_bytes()).unwrap();
        let at = source.text().find('x').unwrap();

        assert_eq!(source.place(at).to_string(), "mcpr.json:2:1025");
        assert_eq!(source.place(source.text().len()).to_string(), "mcpr.json:2:2050");
        assert_eq!(decode(b"").unwrap().place(0).to_string(), "mcpr.json:1:1");
    }
}

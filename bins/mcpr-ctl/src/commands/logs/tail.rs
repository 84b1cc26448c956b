//! Reads the lines of a file that grows.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

/// The lines of a file that grows.
#[derive(Debug)]
pub(super) struct Tail {
    path: PathBuf,
    file: BufReader<File>,
    /// How much was read.
    read: u64,
    /// A line that has not ended.
    begun: Vec<u8>,
}

impl Tail {
    /// Begins at the first line. What is no file, such as a device, keeps nothing that could be read.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        if !fs::metadata(path)?.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        Ok(Self {
            path: path.to_owned(),
            file: BufReader::new(File::open(path)?),
            read: 0,
            begun: Vec::new(),
        })
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The next line that has ended.
    pub(super) fn line(&mut self) -> io::Result<Option<String>> {
        let read = self.file.read_until(b'\n', &mut self.begun)?;
        self.read += u64::try_from(read).unwrap_or(u64::MAX);
        if self.begun.pop_if(|last| *last == b'\n').is_none() {
            return Ok(None);
        }
        let line = std::mem::take(&mut self.begun);
        Ok(Some(String::from_utf8_lossy(&line).into_owned()))
    }

    /// Whether another file is now in its place, or it was emptied.
    pub(super) fn is_replaced(&self) -> bool {
        let Ok(there) = fs::metadata(&self.path) else {
            return false;
        };
        there.len() < self.read || self.is_other(&there)
    }

    #[cfg(unix)]
    fn is_other(&self, there: &fs::Metadata) -> bool {
        use std::os::unix::fs::MetadataExt;
        let own = self.file.get_ref().metadata();
        own.is_ok_and(|own| (own.dev(), own.ino()) != (there.dev(), there.ino()))
    }

    #[cfg(not(unix))]
    fn is_other(&self, _: &fs::Metadata) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn lines(tail: &mut Tail) -> Vec<String> {
        std::iter::from_fn(|| tail.line().unwrap()).collect()
    }

    fn append(path: &Path, text: &str) {
        let mut file = File::options().append(true).create(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    #[test]
    fn log_02_what_is_no_file_is_not_read() {
        for path in ["/dev/full", "/"] {
            let error = Tail::open(Path::new(path)).unwrap_err();
            assert_eq!(error.to_string(), "it is not a regular file", "{path}");
        }
    }

    #[test]
    fn a_line_is_given_when_it_has_ended() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        append(&path, "one\ntw");
        let mut tail = Tail::open(&path).unwrap();

        assert_eq!(lines(&mut tail), ["one"]);
        append(&path, "o\n\nthree\n");
        assert_eq!(lines(&mut tail), ["two", "", "three"]);
        assert!(!tail.is_replaced());
    }

    #[test]
    fn a_file_that_was_rotated_or_emptied_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        append(&path, "one\n");
        let mut rotated = Tail::open(&path).unwrap();
        assert_eq!(lines(&mut rotated), ["one"]);
        fs::rename(&path, folder.path().join("log.1")).unwrap();
        assert!(!rotated.is_replaced());
        append(&path, "a new one\n");
        assert!(rotated.is_replaced());

        let mut emptied = Tail::open(&path).unwrap();
        assert_eq!(lines(&mut emptied), ["a new one"]);
        fs::write(&path, "").unwrap();
        assert!(emptied.is_replaced());
    }
}

//! Where an export goes: a file is there whole, or as it was before.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process;

use crate::out::Out;
use crate::out::text::printable;
use crate::problem::Problem;

/// Where the calls go.
pub(super) enum Target<'a> {
    /// To standard output.
    Standard(&'a Out),
    /// Into a file, which takes its place when all is written.
    File(Draft<'a>),
    /// Into something that is there and no file, such as a named pipe.
    Stream(&'a Path, BufWriter<File>),
}

/// A file that is being written beside its place. Dropped before its end, it leaves nothing.
pub(super) struct Draft<'a> {
    /// As it was named.
    path: &'a Path,
    /// The file itself, where the path is a link to it.
    place: PathBuf,
    aside: PathBuf,
    writer: BufWriter<File>,
}

impl<'a> Target<'a> {
    /// The file of this name; standard output for none.
    pub(super) fn of(out: &'a Out, path: Option<&'a Path>) -> Result<Self, Problem> {
        let Some(path) = path else {
            return Ok(Self::Standard(out));
        };
        let is_other = fs::metadata(path).is_ok_and(|there| !there.is_file());
        let opened = match is_other {
            true => OpenOptions::new()
                .write(true)
                .open(path)
                .map(|file| Self::Stream(path, BufWriter::new(file))),
            false => Draft::of(path).map(Self::File),
        };
        opened.map_err(|error| unwritable(path, &error))
    }

    /// Writes data, and tells whether anybody still reads.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<bool, Problem> {
        let (path, writer) = match self {
            Self::Standard(out) if out.is_terminal() => {
                return out.feed(printable(&String::from_utf8_lossy(bytes)).as_bytes());
            }
            Self::Standard(out) => return out.feed(bytes),
            Self::File(Draft { path, writer, .. }) | Self::Stream(path, writer) => (path, writer),
        };
        let written = writer.write_all(bytes);
        written.map(|()| true).map_err(|error| unwritable(path, &error))
    }

    /// All is written.
    pub(super) fn finish(self) -> Result<(), Problem> {
        let (path, finished) = match self {
            Self::Standard(_) => return Ok(()),
            Self::File(mut draft) => (draft.path, draft.take_place()),
            Self::Stream(path, mut writer) => (path, writer.flush()),
        };
        finished.map_err(|error| unwritable(path, &error))
    }
}

impl<'a> Draft<'a> {
    fn of(path: &'a Path) -> io::Result<Self> {
        let none = || io::Error::new(io::ErrorKind::InvalidInput, "it names no file");
        let place = match path.canonicalize() {
            Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_symlink() => path.to_owned(),
            real => real?,
        };
        let mut name = OsString::from(".");
        name.push(place.file_name().ok_or_else(none)?);
        name.push(format!(".{}.tmp", process::id()));
        let aside = place.with_file_name(name);
        let _ = fs::remove_file(&aside); // What an earlier process of this number left.
        let writer = BufWriter::new(for_owner_only().open(&aside)?);
        Ok(Self {
            path,
            place,
            aside,
            writer,
        })
    }

    fn take_place(&mut self) -> io::Result<()> {
        self.writer.flush()?;
        self.writer.get_ref().sync_all()?;
        fs::rename(&self.aside, &self.place)
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        // One that has taken its place is not there any more.
        let _ = fs::remove_file(&self.aside);
    }
}

/// Arguments are nobody else's business.
fn for_owner_only() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn unwritable(path: &Path, error: &io::Error) -> Problem {
    let problem = Problem::failed(format!("`{}` cannot be written: {error}", path.display()));
    problem.hint("name another file with --output")
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn write(path: &Path) {
        let mut draft = Draft::of(path).unwrap();
        draft.writer.write_all(b"calls").unwrap();
        draft.take_place().unwrap();
    }

    #[test]
    fn log_06_a_draft_that_was_left_over_is_neither_used_nor_in_the_way() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls");
        let left = folder.path().join(format!(".calls.{}.tmp", process::id()));
        fs::write(&left, "what another has left, for everybody to read").unwrap();

        write(&path);

        assert_eq!(fs::read_to_string(&path).unwrap(), "calls");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(!left.exists());
    }

    #[test]
    fn log_06_a_link_stays_a_link_and_one_to_nothing_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::write(&real, "before").unwrap();
        symlink(&real, &link).unwrap();

        write(&link);

        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), "calls");
        fs::remove_file(&real).unwrap();
        assert!(Draft::of(&link).is_err());
    }
}

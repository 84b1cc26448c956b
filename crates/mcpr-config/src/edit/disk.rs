//! Writing a file so that it is there whole or not at all.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Why a changed file was not written. The file is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// Somebody else has written it meanwhile.
    #[error("`{}` was changed by somebody else meanwhile, so it was not written", .0.display())]
    Changed(PathBuf),
    /// The system refused.
    #[error("`{}` cannot be written", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// So many links are followed, as the system does.
const LINKS: usize = 40;

/// Puts `content` in the place of the file, if that still holds `before`; `None` is no file.
///
/// A link stays: what it leads to is replaced. A new file is for its owner alone, an old one keeps
/// its permissions.
pub(super) fn replace(path: &Path, before: Option<&[u8]>, content: &[u8]) -> Result<(), WriteError> {
    let refused = |source| WriteError::Refused {
        path: path.to_owned(),
        source,
    };
    let target = follow(path).map_err(refused)?;
    let _alone = alone_in(folder_of(&target));
    let now = existing(fs::read(&target)).map_err(refused)?;
    if now.as_deref() != before {
        return Err(WriteError::Changed(path.to_owned()));
    }
    let old = existing(fs::metadata(&target)).map_err(refused)?;
    swap(&target, old.as_ref(), content).map_err(refused)
}

/// The file that the path leads to, whether or not it is there.
fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        match fs::read_link(&path) {
            Ok(target) => path = path.parent().unwrap_or(Path::new("")).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("it is a link that leads to itself"))
}

/// What is not there is nothing.
fn existing<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}

fn folder_of(target: &Path) -> &Path {
    match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Keeps others that write like this out of the folder, until it is dropped: between the look at
/// what a file holds and its replacement nobody else may replace it. The lock is the folder's, as
/// the file itself is another one afterwards; not every file system has such locks.
fn alone_in(folder: &Path) -> Option<File> {
    let folder = File::open(folder).ok()?;
    folder.lock().ok()?;
    Some(folder)
}

fn swap(target: &Path, old: Option<&Metadata>, content: &[u8]) -> io::Result<()> {
    let folder = folder_of(target);
    let name = target
        .file_name()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "it names no file"))?;
    let aside = folder.join(format!(".{}.{}.tmp", name.to_string_lossy(), std::process::id()));
    let swapped = write(&aside, old, content).and_then(|()| fs::rename(&aside, target));
    if swapped.is_err() {
        let _ = fs::remove_file(&aside);
    }
    swapped?;
    // So that the name is as lasting as the content. Not every file system can do that.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

fn write(path: &Path, old: Option<&Metadata>, content: &[u8]) -> io::Result<()> {
    // What an earlier, killed run of the same process id has left.
    let _ = fs::remove_file(path);
    let mut file = private(path)?;
    file.write_all(content)?;
    if let Some(old) = old {
        keep_owner(&file, old);
        file.set_permissions(old.permissions())?;
    }
    file.sync_all()
}

/// A file that was not there before, for its owner alone.
#[cfg(unix)]
pub(super) fn private(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;

    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}

#[cfg(not(unix))]
pub(super) fn private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// Only the superuser can give files away, and only then it matters.
#[cfg(unix)]
fn keep_owner(file: &File, old: &Metadata) {
    use std::os::unix::fs::{MetadataExt, fchown};

    let _ = fchown(file, Some(old.uid()), Some(old.gid()));
}

#[cfg(not(unix))]
fn keep_owner(_file: &File, _old: &Metadata) {}

//! Files that are for their owner alone, and never half written.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::VaultError;

#[cfg(unix)]
#[expect(clippy::cast_possible_wrap, reason = "the flags of the system are small")]
const WITHOUT_WAITING: i32 = rustix::fs::OFlags::NONBLOCK.bits() as i32;

/// The content of a file; nothing if it is not there.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>, VaultError> {
    match content(path) {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(VaultError::unreadable(path)(error)),
    }
}

/// Puts a file in the place of the one that was there; it survives a power cut.
pub(crate) fn replace(path: &Path, content: &[u8]) -> Result<(), VaultError> {
    let fresh = beside(path, ".new");
    let written = write(&fresh, content).and_then(|()| fs::rename(&fresh, path));
    written.and_then(|()| keep_name(path)).map_err(|error| {
        let _ = fs::remove_file(&fresh); // Only if it was not renamed; the next change replaces it else.
        VaultError::unwritable(path)(error)
    })
}

/// Makes a file that must not be there yet; whether it was not. It is there whole or not at all.
pub(crate) fn create(path: &Path, content: &[u8]) -> Result<bool, VaultError> {
    let fresh = beside(path, ".new");
    let linked = write(&fresh, content).and_then(|()| fs::hard_link(&fresh, path));
    let _ = fs::remove_file(&fresh);
    match linked {
        Ok(()) => keep_name(path)
            .map(|()| true)
            .map_err(VaultError::unwritable(path)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(VaultError::unwritable(path)(error)),
    }
}

/// Waits until nobody else changes the files beside `path`; the turn ends with what is given.
pub(crate) fn turn(path: &Path) -> Result<File, VaultError> {
    let lock = beside(path, ".lock");
    let taken = make_folder(path).and_then(|()| {
        let mut options = private();
        // To write alone would fail for a pipe, and would not say why.
        options.read(true).write(true).create(true).truncate(false);
        let file = open(&mut options, &lock)?;
        file.lock()?;
        Ok(file)
    });
    taken.map_err(VaultError::unwritable(path))
}

/// Whether others than the owner may read a file. Where files have no modes, nobody may.
pub(crate) fn is_shared(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::metadata(path).is_ok_and(|file| file.permissions().mode() & 0o077 != 0)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

fn content(path: &Path) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    open(OpenOptions::new().read(true), path)?.read_to_end(&mut content)?;
    Ok(content)
}

/// Opens a file without waiting for anybody, as a pipe would have it, and nothing that is none.
fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, WITHOUT_WAITING);
    let file = options.open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is no file but a folder, a pipe or a device",
        )),
    }
}

fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let _ = fs::remove_file(path); // What a process left that was killed here may have any mode.
    let mut file = private().write(true).create_new(true).open(path)?;
    file.write_all(content)?;
    file.sync_all()
}

/// Has the folder remember the name of a file through a power cut.
fn keep_name(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) if cfg!(unix) => File::open(named(folder))?.sync_all(),
        _ => Ok(()),
    }
}

/// A folder by a name it can be opened by: that of a file without a path is empty.
fn named(folder: &Path) -> &Path {
    match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    }
}

fn make_folder(path: &Path) -> io::Result<()> {
    let Some(folder) = path.parent() else {
        return Ok(());
    };
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(named(folder))
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_a_path_is_in_the_folder_of_today() {
        assert_eq!(named(Path::new("")), Path::new("."));
        assert!(keep_name(Path::new("a-file-of-no-folder")).is_ok());
    }
}

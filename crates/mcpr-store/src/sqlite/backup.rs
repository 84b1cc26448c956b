//! Copies a database while others use it.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;

use super::fault::Fault;
use super::{file, schema};
use crate::{DatabaseError, DatabaseFault, StoreError};

/// How long another process may hold the file.
const PATIENCE: Duration = Duration::from_secs(5);

/// Copies the database at `path` to `to`, in place of a file that is there, and gives the size of the copy;
/// `None` if there is no database. What was acknowledged before is in the copy, as of one moment, whether or
/// not a gateway runs. The copy is for its owner alone, and is there whole or not at all.
///
/// Blocks for as long as the disk takes. No two may be under way at once to the same file.
///
/// # Errors
///
/// [`StoreError::Database`], which names the database or the copy, whichever is at fault.
pub fn backup(path: &Path, to: &Path) -> Result<Option<u64>, StoreError> {
    if !path.exists() {
        return Ok(None);
    }
    let db = open(path).map_err(|fault| fault.at(path))?;
    clear(to);
    let fresh = beside(to)?;
    file::new_private_file().open(&fresh).map_err(of_copy(to))?;
    let copied = copy(&db, &fresh).and_then(|()| keep(&fresh, to));
    if copied.is_err() {
        let _ = fs::remove_file(&fresh); // What went wrong first is what is told.
    }
    copied.map(Some).map_err(|fault| match fault.is_of_copy() {
        true => fault.at(to),
        false => fault.at(path),
    })
}

/// Opens it as it is, also one of an older mcpr: before an update is when backups are made.
fn open(path: &Path) -> Result<Connection, Fault> {
    let mut db = file::open_to_read(path)?;
    db.busy_timeout(PATIENCE)?;
    schema::check(&db.transaction()?)?;
    Ok(db)
}

/// Writes all of it, as of one moment, into an empty file.
fn copy(db: &Connection, fresh: &Path) -> Result<(), Fault> {
    let name = fresh.to_str().ok_or(DatabaseFault::Unwritable)?;
    db.execute("VACUUM INTO ?", [name])?;
    Ok(())
}

/// Puts the copy where it belongs, so that it survives a power cut.
fn keep(fresh: &Path, to: &Path) -> Result<u64, Fault> {
    let kept = || -> io::Result<u64> {
        let copy = File::open(fresh)?;
        copy.sync_all()?;
        fs::rename(fresh, to)?;
        File::open(folder_of(to))?.sync_all()?;
        Ok(copy.metadata()?.len())
    };
    kept().map_err(|error| of_copy(to)(error).into())
}

fn of_copy(path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    let fault = |error: &io::Error| match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => DatabaseFault::Full,
        _ => DatabaseFault::Unwritable,
    };
    move |error| DatabaseError::new(path, fault(&error), Some(Box::new(error))).into()
}

/// A name beside `path` that nobody can foresee: in a folder that others may write to, something of theirs could
/// wait under any other, and they could read the copy.
fn beside(path: &Path) -> Result<PathBuf, StoreError> {
    let mut drawn = [0; 8];
    getrandom::fill(&mut drawn).map_err(StoreError::NoRandomness)?;
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{:016x}.new", u64::from_ne_bytes(drawn)));
    Ok(name.into())
}

/// Removes what backups to `path` left that were killed.
fn clear(path: &Path) {
    let entries = fs::read_dir(folder_of(path)).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| is_left(&entry.file_name(), path)) {
        let _ = fs::remove_file(entry.path()); // It may be somebody else's.
    }
}

/// Whether that is a name that [`beside`] gives, or of what SQLite makes beside such a file.
fn is_left(name: &OsStr, path: &Path) -> bool {
    let of = |whole: &str| {
        let drawn = whole
            .strip_prefix(path.file_name()?.to_str()?)?
            .strip_prefix('.')?;
        let drawn = drawn
            .strip_suffix("-journal")
            .unwrap_or(drawn)
            .strip_suffix(".new")?;
        Some(drawn.len() == 16 && drawn.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    name.to_str().and_then(of) == Some(true)
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn database(folder: &Path) -> PathBuf {
        let path = folder.join("mcpr.db");
        drop(file::open(&path).unwrap());
        path
    }

    #[test]
    fn sec_02_what_others_have_prepared_beside_a_backup_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let (path, copy) = (database(folder.path()), folder.path().join("copy.db"));
        // As what belongs to somebody else in a folder of all, it cannot be removed.
        fs::create_dir(folder.path().join("copy.db.new")).unwrap();
        let (link, theirs) = (folder.path().join("link"), folder.path().join("theirs"));
        symlink(&theirs, &link).unwrap();

        backup(&path, &copy).unwrap().unwrap();

        assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
        assert_ne!(beside(&copy).unwrap(), beside(&copy).unwrap());
        let used = file::new_private_file().open(&link);
        assert_eq!(used.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert!(!theirs.exists());
    }

    #[test]
    fn ctl_01_what_killed_backups_have_left_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let (path, copy) = (database(folder.path()), folder.path().join("copy.db"));
        let left = beside(&copy).unwrap();
        let others = [
            "copy.db.0.new",
            "other.db.0123456789abcdef.new",
            "copy.db.0123456789abcdef",
        ];
        fs::write(&left, "half of it").unwrap();
        fs::write(left.with_extension("new-journal"), "").unwrap();
        others
            .iter()
            .for_each(|name| fs::write(folder.path().join(name), "").unwrap());

        backup(&path, &copy).unwrap().unwrap();

        let mut names: Vec<_> = fs::read_dir(folder.path()).unwrap().flatten().collect();
        names.retain(|entry| !entry.file_name().to_str().unwrap().starts_with("mcpr.db"));
        assert_eq!(names.len(), others.len() + 1, "{names:?}");
        assert!(others.iter().all(|name| folder.path().join(name).exists()));
    }
}

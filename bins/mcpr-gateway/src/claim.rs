//! One gateway for each home.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use mcpr_admin::ExitCode;

use crate::problem::Problem;

/// The right of this process to serve from a home, which ends with this value or the process.
///
/// Who finds a gateway at the control socket knows its process from there; this tells the others, of a
/// gateway that has no socket, or another one.
#[derive(Debug)]
pub(crate) struct Claim(
    #[expect(dead_code, reason = "the lock is held as long as the file is open")] Option<File>,
);

impl Claim {
    /// Takes the home in which this database lies.
    pub(crate) fn of(database: &Path) -> Result<Self, Problem> {
        let path = database.with_extension("lock");
        let Ok(mut file) = open(&path) else {
            return Ok(Self(None)); // The database will say what is wrong with the folder.
        };
        match file.try_lock() {
            Ok(()) => {
                // Whoever reads no number is told less, and that is all.
                let _ = file
                    .set_len(0)
                    .and_then(|()| writeln!(file, "{}", std::process::id()));
                Ok(Self(Some(file)))
            }
            Err(TryLockError::WouldBlock) => Err(taken(database, &mut file)),
            // Some file systems have no locks.
            Err(TryLockError::Error(_)) => Ok(Self(None)),
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let mut options = OpenOptions::new();
    options
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600);
    options.open(path)
}

fn taken(database: &Path, file: &mut File) -> Problem {
    let mut text = String::new();
    let read = file.rewind().and_then(|()| file.read_to_string(&mut text));
    let pid = read.ok().and_then(|_| text.trim().parse::<u32>().ok());
    let (who, end) = match pid {
        Some(pid) => (
            format!("process {pid}"),
            format!("stop that process (`kill {pid}`)"),
        ),
        None => (
            "a process that does not say its number".to_owned(),
            "stop that process".to_owned(),
        ),
    };
    let what = format!("another gateway ({who}) uses the database {}", database.display());
    Problem::new(ExitCode::AddressInUse, what).hint(format!("set another folder with MCPR_HOME, or {end}"))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_home_that_is_taken_names_the_process_and_is_free_after_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("state/mcpr.db");

        let claim = Claim::of(&database).unwrap();

        let refused = Claim::of(&database).unwrap_err();
        let pid = std::process::id();
        assert_eq!(refused.exit, ExitCode::AddressInUse);
        assert!(refused.message.contains(&format!("process {pid}")), "{refused:?}");
        drop(claim);
        // A process that another test is just starting has the file until it is another program.
        let soon = Instant::now() + Duration::from_secs(10);
        while Claim::of(&database).is_err() {
            assert!(Instant::now() < soon, "it is free");
            std::thread::yield_now();
        }
    }
}

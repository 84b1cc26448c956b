//! A folder that goes when the demo does.

use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, open};

/// A folder of this process alone. Dropping it removes it with all that is in it.
#[derive(Debug)]
pub(super) struct Home {
    path: PathBuf,
    /// The folder itself, locked for as long as its demo lives.
    _held: File,
}

const PREFIX: &str = "mcpr-demo-";

/// A process id comes back one day, and may do so in a container that shares the folder.
const TRIES: u32 = 100;

impl Home {
    /// Makes one among the temporary files, for this user's eyes only, and removes those of demos that were killed.
    pub(super) fn make() -> io::Result<Self> {
        let folder = std::env::temp_dir();
        sweep(&folder);
        for number in 1..=TRIES {
            let path = folder.join(format!("{PREFIX}{}-{number}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
                // Another demo may have swept it away, as nobody held it yet.
                Ok(()) => {
                    if let Some(_held) = hold(&path).filter(|_| path.exists()) {
                        return Ok(Self { path, _held });
                    }
                }
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    /// The folder.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file into it.
    pub(super) fn write(&self, name: &str, text: &str) -> io::Result<PathBuf> {
        let path = self.path.join(name);
        fs::write(&path, text)?;
        Ok(path)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // What cannot be removed lies among temporary files, where the system tidies up.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Locks the folder; none if another process has, or it is not this user's to open.
fn hold(path: &Path) -> Option<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = File::from(open(path, flags, Mode::empty()).ok()?);
    folder.try_lock().ok()?;
    Some(folder)
}

/// Removes the folders whose demos have not done it.
fn sweep(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let left = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
    for path in left.map(|entry| entry.path()) {
        if let Some(_held) = hold(&path) {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_demo_left_is_removed_and_what_another_uses_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let home = |name: &str| {
            let path = folder.path().join(name);
            fs::create_dir(&path).unwrap();
            fs::write(path.join("mcpr.json"), "{}").unwrap();
            path
        };
        let (left, used, other) = (home("mcpr-demo-1-1"), home("mcpr-demo-2-1"), home("else"));
        let _held = hold(&used).unwrap();

        sweep(folder.path());

        assert!(!left.exists() && used.join("mcpr.json").exists() && other.exists());
    }
}

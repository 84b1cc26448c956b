//! A folder that goes when the demo does.

use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// A folder of this process alone. Dropping it removes it with all that is in it.
#[derive(Debug)]
pub(super) struct Home(PathBuf);

/// A process id comes back one day, and a demo that was killed leaves its folder behind.
const TRIES: u32 = 100;

impl Home {
    /// Makes one among the temporary files, for this user's eyes only.
    pub(super) fn make() -> io::Result<Self> {
        let (folder, pid) = (std::env::temp_dir(), std::process::id());
        for number in 1..=TRIES {
            let path = folder.join(format!("mcpr-demo-{pid}-{number}"));
            match DirBuilder::new().mode(0o700).create(&path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                made => return made.map(|()| Self(path)),
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    /// The folder.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file into it.
    pub(super) fn write(&self, name: &str, text: &str) -> io::Result<PathBuf> {
        let path = self.0.join(name);
        fs::write(&path, text)?;
        Ok(path)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // What cannot be removed lies among temporary files, where the system tidies up.
        let _ = fs::remove_dir_all(&self.0);
    }
}

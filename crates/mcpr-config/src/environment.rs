//! What a configuration may ask of the machine.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use mcpr_secrets::{Kept, Vault, VaultError};

/// The lookups that reading a configuration needs; a test answers them from memory.
pub trait Environment {
    /// The value of a variable, if it is set and is text.
    fn variable(&self, name: &str) -> Option<String>;

    /// The value of a variable, if it is set, whether or not it is text: a path need not be.
    fn variable_os(&self, name: &str) -> Option<OsString> {
        self.variable(name).map(OsString::from)
    }

    /// The home folder of the user.
    fn home(&self) -> Option<PathBuf>;

    /// The path as seen from the root, without following links.
    fn absolute(&self, path: &Path) -> PathBuf;

    /// The content of a file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// The content of a file that nobody but its owner may read.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::PermissionDenied`] if others may read it.
    fn read_private(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// The value of a secret in a vault; nothing if none is kept under this name.
    ///
    /// # Errors
    ///
    /// When the vault or its key cannot be used.
    fn kept_secret(&self, vault: &Path, name: &str) -> Result<Option<String>, VaultError>;

    /// What is kept in a vault, by name.
    ///
    /// # Errors
    ///
    /// When the vault cannot be used.
    fn kept_secrets(&self, vault: &Path) -> Result<Vec<Kept>, VaultError>;
}

/// The longest file that is read, in bytes.
const LONGEST: u64 = 16 << 20;

#[cfg(unix)]
#[expect(clippy::cast_possible_wrap, reason = "the flags of the system are small")]
const WITHOUT_WAITING: i32 = rustix::fs::OFlags::NONBLOCK.bits() as i32;

/// The environment of this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Process;

impl Environment for Process {
    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn variable_os(&self, name: &str) -> Option<OsString> {
        std::env::var_os(name)
    }

    fn home(&self) -> Option<PathBuf> {
        std::env::home_dir().filter(|home| home.is_absolute())
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        content(open(path)?)
    }

    fn read_private(&self, path: &Path) -> io::Result<Vec<u8>> {
        let file = open(path)?;
        refuse_shared(&file)?;
        content(file)
    }

    fn kept_secret(&self, vault: &Path, name: &str) -> Result<Option<String>, VaultError> {
        Vault::at(vault).reveal(name)
    }

    fn kept_secrets(&self, vault: &Path) -> Result<Vec<Kept>, VaultError> {
        Vault::at(vault).list()
    }
}

/// Opens a file without waiting for anybody. Files are read again whenever they may have changed, which is nothing
/// that a pipe or a device could stand.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, WITHOUT_WAITING);
    let file = options.open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is no file but a folder, a pipe or a device; write what it holds into a file",
        )),
    }
}

fn content(file: File) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    file.take(LONGEST + 1).read_to_end(&mut content)?;
    match content.len() as u64 > LONGEST {
        false => Ok(content),
        true => Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("it is longer than {} MiB", LONGEST >> 20),
        )),
    }
}

#[cfg(unix)]
fn refuse_shared(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;

    let shared = file.metadata()?.permissions().mode() & 0o077 != 0;
    let refused = || {
        io::Error::new(
            io::ErrorKind::PermissionDenied,
            "others may read it, run `chmod 600` on it",
        )
    };
    if shared { Err(refused()) } else { Ok(()) }
}

#[cfg(not(unix))]
fn refuse_shared(_file: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// An environment in memory: the home is `/home/ann`, the current folder `/base`.
    #[derive(Default)]
    pub(crate) struct Fixed {
        variables: BTreeMap<String, OsString>,
        files: BTreeMap<PathBuf, Vec<u8>>,
        shared: Vec<PathBuf>,
        /// What is kept, in whichever vault.
        kept: BTreeMap<String, String>,
        homeless: bool,
    }

    impl Fixed {
        pub(crate) fn with(mut self, name: &str, value: impl Into<OsString>) -> Self {
            self.variables.insert(name.into(), value.into());
            self
        }

        pub(crate) fn file(mut self, path: &str, content: impl Into<Vec<u8>>) -> Self {
            self.files.insert(path.into(), content.into());
            self
        }

        /// A file that others may read.
        pub(crate) fn shared_file(mut self, path: &str, content: &str) -> Self {
            self.shared.push(path.into());
            self.file(path, content)
        }

        /// A secret that was set.
        pub(crate) fn secret(mut self, name: &str, value: &str) -> Self {
            self.kept.insert(name.into(), value.into());
            self
        }

        pub(crate) fn homeless(self) -> Self {
            Self {
                homeless: true,
                ..self
            }
        }
    }

    impl Environment for Fixed {
        fn variable(&self, name: &str) -> Option<String> {
            self.variable_os(name)?.into_string().ok()
        }

        fn variable_os(&self, name: &str) -> Option<OsString> {
            self.variables.get(name).cloned()
        }

        fn home(&self) -> Option<PathBuf> {
            (!self.homeless).then(|| "/home/ann".into())
        }

        fn absolute(&self, path: &Path) -> PathBuf {
            Path::new("/base").join(path)
        }

        fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
            let absent = || io::Error::new(io::ErrorKind::NotFound, "no such file");
            self.files.get(&self.absolute(path)).cloned().ok_or_else(absent)
        }

        fn read_private(&self, path: &Path) -> io::Result<Vec<u8>> {
            if self.shared.iter().any(|shared| shared == path) {
                return Err(io::Error::new(
                    io::ErrorKind::PermissionDenied,
                    "others may read it",
                ));
            }
            self.read(path)
        }

        fn kept_secret(&self, _vault: &Path, name: &str) -> Result<Option<String>, VaultError> {
            Ok(self.kept.get(name).cloned())
        }

        fn kept_secrets(&self, _vault: &Path) -> Result<Vec<Kept>, VaultError> {
            let kept = |name: &String| Kept {
                name: name.clone(),
                changed: 1_800_000_000,
            };
            Ok(self.kept.keys().map(kept).collect())
        }
    }

    #[cfg(unix)]
    #[test]
    fn cfg_04_sec_05_what_is_no_file_or_has_no_end_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        let long = folder.path().join("long");
        File::create(&long).unwrap().set_len(LONGEST + 1).unwrap();

        let refused = [&*pipe, Path::new("/dev/zero"), folder.path(), &*long];
        let refused = refused.map(|path| Process.read(path).unwrap_err().to_string());

        assert!(
            refused[..3]
                .iter()
                .all(|error| error.contains("a pipe or a device")),
            "{refused:?}"
        );
        assert_eq!(refused[3], "it is longer than 16 MiB");
        assert!(Process.read_private(&pipe).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn cfg_03_a_private_file_that_others_may_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        std::fs::write(&path, "abc").unwrap();
        let mode = |bits| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(bits)).unwrap();

        mode(0o644);
        let refused = Process.read_private(&path).unwrap_err();
        mode(0o600);
        let content = Process.read_private(&path).unwrap();

        assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(content, b"abc");
    }
}

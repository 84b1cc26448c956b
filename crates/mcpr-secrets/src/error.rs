//! Why secrets cannot be had or kept.

use std::io;
use std::path::{Path, PathBuf};

/// Why secrets cannot be had or kept. No message shows one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VaultError {
    /// The system does not let the file be read.
    #[error("`{}` cannot be read; {}", path.display(), reading(source))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The system does not let the file be written.
    #[error("`{}` cannot be written; {}", path.display(), writing(source))]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The file is not what a vault writes.
    #[error("`{}` is damaged: put it back from a backup, or move it away and set the secrets again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// A newer mcpr has written the file.
    #[error("`{}` was written by a newer mcpr; use that mcpr, or move the file away and set the secrets again", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
    },
    /// Others may read the key.
    #[error("others may read the key `{}`, so it is not used; run `chmod 600` on it, and set the secrets anew if they may have been read", path.display())]
    SharedKey {
        /// The file of the key.
        path: PathBuf,
    },
    /// There are secrets, and what they were sealed with is gone.
    #[error("the key `{}` is gone, without which no secret can be read; put it back, or remove the secrets with `mcpr-ctl secrets rm` and set them again", path.display())]
    NoKey {
        /// Where the key should be.
        path: PathBuf,
    },
    /// The secret was not sealed with this key, or was altered.
    #[error("the key `{}` does not fit the secret `{name}`; put the right key back, or run `mcpr-ctl secrets set {name}`", path.display())]
    WrongKey {
        /// The file of the key.
        path: PathBuf,
        /// The secret.
        name: String,
    },
    /// The key may be in the keyring of the system, which cannot be asked.
    #[cfg(feature = "keyring")]
    #[error(
        "the keyring of the system, which may have the key of the secrets, cannot be asked; unlock it and try again, or put back \
         the file `secrets.key` if the key was there"
    )]
    Keyring(#[source] keyring_core::Error),
    /// The operating system gave no random bytes.
    #[error("the operating system gave no random bytes; try again later")]
    NoRandomness(#[source] getrandom::Error),
}

impl VaultError {
    pub(crate) fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Unreadable { path, source }
    }

    pub(crate) fn unwritable(path: &Path) -> impl Fn(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Unwritable {
            path: path.clone(),
            source,
        }
    }
}

fn reading(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::InvalidInput => "move away what has taken its place",
        _ => "check that it belongs to the user mcpr runs as",
    }
}

fn writing(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::InvalidInput => "move away what has taken the place of its lock",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "the disk is full: make room and try again; what was kept is unchanged"
        }
        io::ErrorKind::ReadOnlyFilesystem => "its file system is read-only; what was kept is unchanged",
        _ => "check that its folder belongs to the user mcpr runs as; what was kept is unchanged",
    }
}

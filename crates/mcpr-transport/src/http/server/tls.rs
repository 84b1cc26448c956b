//! TLS for those who come in.

use std::fs::{self, File};
use std::io::{self, Read, Take};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use rustix::fs::{Mode, OFlags};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpStream;
use tokio::task::spawn_blocking;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tracing::{error, info, warn};

/// How long a client may take to agree on how to speak.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// How often the files are looked at.
const LOOK: Duration = Duration::from_secs(1);

/// The most that is read of a file.
const MOST: u64 = 4 << 20;

/// The first byte of a client that speaks TLS: a record of the handshake (RFC 8446, section 5.1).
const RECORD: u8 = 22;

/// A certificate with its key, as they lie in two files of PEM.
///
/// The files are looked at each second, apart from the connections, which take what was read last. Files that
/// cannot be read, or do not fit together, change nothing until they can and do; the log says so once.
#[derive(Clone, Debug)]
pub struct Tls(Arc<Files>);

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file cannot be read.
    #[error("{} cannot be read", path.display())]
    Unreadable {
        /// Which one.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file holds something else.
    #[error("{} holds no {what}: it must be PEM, with a line that says `BEGIN {mark}`", path.display())]
    Empty {
        /// Which one.
        path: PathBuf,
        /// What is missing.
        what: &'static str,
        /// How that begins.
        mark: &'static str,
    },
    /// The two do not fit together, or are of a kind that is not known.
    #[error("the certificate {} cannot be used with the key {}", cert.display(), key.display())]
    Unfit {
        /// The file of the certificate.
        cert: PathBuf,
        /// The file of the key.
        key: PathBuf,
        /// Why.
        source: rustls::Error,
    },
}

#[derive(Debug)]
struct Files {
    cert: PathBuf,
    key: PathBuf,
    /// What was read last.
    loaded: RwLock<Loaded>,
    seen: Mutex<Seen>,
}

struct Loaded(TlsAcceptor);

/// What the last look has found.
#[derive(Debug)]
struct Seen {
    /// Of what counts; none of files that could not be used, which are tried again.
    stamps: Option<[Option<Stamp>; 2]>,
    /// What the log was told of those.
    told: Option<String>,
}

/// What tells one state of a file from another: when it was written, when its owner or its mode was changed, its
/// length, and which file it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Stamp {
    written: (i64, i64),
    changed: (i64, i64),
    length: u64,
    inode: u64,
}

/// How a connection goes on.
pub(super) enum Greeted {
    /// In TLS.
    Secured(Box<TlsStream<TcpStream>>),
    /// Without: the client does not know better.
    Plain(TcpStream),
}

impl Tls {
    /// Reads a certificate (with those between it and its root, if there are any) and its key.
    ///
    /// # Errors
    ///
    /// When one of them cannot be read, or they do not fit together.
    pub fn load(cert: &Path, key: &Path) -> Result<Self, TlsError> {
        let seen = Seen {
            stamps: Some([cert, key].map(Stamp::of)),
            told: None,
        };
        warn_of_readers(key);
        Ok(Self(Arc::new(Files {
            cert: cert.to_owned(),
            key: key.to_owned(),
            loaded: RwLock::new(Loaded(acceptor(cert, key)?)),
            seen: Mutex::new(seen),
        })))
    }

    /// Takes over what the files hold, for as long as it is polled. They are looked at by a thread that may wait: a
    /// disk that is stuck holds up no connection.
    pub(super) async fn follow(self) {
        let mut ticks = interval(LOOK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let files = self.0.clone();
            _ = spawn_blocking(move || files.look()).await; // One that panics has changed nothing.
        }
    }

    /// Finds out what a client speaks, and agrees with it on TLS if that is it.
    pub(super) async fn greet(&self, stream: TcpStream) -> io::Result<Greeted> {
        let greeted = timeout(HANDSHAKE, async {
            let mut first = [0];
            if stream.peek(&mut first).await? == 1 && first[0] != RECORD {
                return Ok(Greeted::Plain(stream));
            }
            let secured = self.0.now().accept(stream).await?;
            Ok(Greeted::Secured(Box::new(secured)))
        });
        greeted
            .await
            .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl Files {
    /// What counts now.
    fn now(&self) -> TlsAcceptor {
        self.loaded.read().0.clone()
    }

    /// Reads the files again if they are not what counts.
    fn look(&self) {
        let mut seen = self.seen.lock();
        let stamps = Some([&self.cert, &self.key].map(|path| Stamp::of(path)));
        if stamps == seen.stamps {
            return;
        }
        match acceptor(&self.cert, &self.key) {
            Ok(acceptor) => {
                *self.loaded.write() = Loaded(acceptor);
                *seen = Seen { stamps, told: None };
                info!(certificate = %self.cert.display(), "a new certificate counts from now on");
            }
            Err(reason) => {
                seen.stamps = None;
                Self::tell(&reason, &mut seen);
            }
        }
    }

    /// Tells the log why files cannot be used, once for each reason.
    fn tell(reason: &TlsError, seen: &mut Seen) {
        let text = reason.to_string();
        if seen.told.as_ref() != Some(&text) {
            error!(
                error = reason as &dyn std::error::Error,
                "the old certificate stays; the files are tried again each second"
            );
            seen.told = Some(text);
        }
    }
}

impl Stamp {
    fn of(path: &Path) -> Option<Self> {
        let found = fs::metadata(path).ok()?;
        Some(Self {
            written: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
            length: found.len(),
            inode: found.ino(),
        })
    }
}

fn acceptor(cert: &Path, key: &Path) -> Result<TlsAcceptor, TlsError> {
    let (chain, secret) = (certificates(cert)?, private_key(key)?);
    let unfit = |source| TlsError::Unfit {
        cert: cert.to_owned(),
        key: key.to_owned(),
        source,
    };
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider);
    let versions = builder.with_safe_default_protocol_versions().map_err(unfit)?;
    let fitted = versions.with_no_client_auth().with_single_cert(chain, secret);
    let mut config = fitted.map_err(unfit)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec(), b"http/1.0".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let empty = || TlsError::Empty {
        path: path.to_owned(),
        what: "certificate",
        mark: "CERTIFICATE",
    };
    let read: Result<Vec<_>, _> = CertificateDer::pem_reader_iter(open(path)?).collect();
    match read {
        Ok(chain) if !chain.is_empty() => Ok(chain),
        Ok(_) => Err(empty()),
        Err(error) => Err(unread(path, error, empty)),
    }
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    let empty = || TlsError::Empty {
        path: path.to_owned(),
        what: "private key without a passphrase",
        mark: "PRIVATE KEY",
    };
    PrivateKeyDer::from_pem_reader(open(path)?).map_err(|error| unread(path, error, empty))
}

/// Opens a file. A pipe or a device is not waited for, and not read.
fn open(path: &Path) -> Result<Take<File>, TlsError> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = rustix::fs::open(path, flags, Mode::empty()).map_err(io::Error::from);
    let opened = opened.map(File::from).and_then(|file| match file.metadata()? {
        data if !data.is_file() => Err(io::Error::other("it is no file")),
        data if data.len() > MOST => Err(io::Error::other("it is longer than 4 MiB")),
        _ => Ok(file.take(MOST)),
    });
    opened.map_err(|source| TlsError::Unreadable {
        path: path.to_owned(),
        source,
    })
}

fn unread(path: &Path, error: pem::Error, empty: impl FnOnce() -> TlsError) -> TlsError {
    match error {
        pem::Error::Io(source) => TlsError::Unreadable {
            path: path.to_owned(),
            source,
        },
        _ => empty(),
    }
}

fn warn_of_readers(key: &Path) {
    if fs::metadata(key).is_ok_and(|found| found.mode() & 0o077 != 0) {
        let path = key.display();
        warn!(%path, "others can read the key of the certificate; `chmod 600` keeps it for its owner");
    }
}

impl std::fmt::Debug for Loaded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Loaded(..)")
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use rcgen::{CertificateParams, KeyPair};

    use super::*;

    /// Writes a new certificate and its key.
    fn certify(cert: &Path, key: &Path) {
        let pair = KeyPair::generate().unwrap();
        let params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        fs::write(cert, params.self_signed(&pair).unwrap().pem()).unwrap();
        fs::write(key, pair.serialize_pem()).unwrap();
    }

    #[test]
    fn files_that_could_not_be_used_are_tried_again_and_told_of_once() {
        let folder = tempfile::tempdir().unwrap();
        let [cert, key] = ["cert.pem", "key.pem"].map(|name| folder.path().join(name));
        certify(&cert, &key);
        let files = Tls::load(&cert, &key).unwrap().0;
        fs::write(&key, "no key").unwrap();
        files.look();
        let told = files.seen.lock().told.clone();
        files.look();
        assert!(told.is_some() && files.seen.lock().told == told);
        assert_eq!(files.seen.lock().stamps, None, "whatever they look like");

        certify(&cert, &key);
        files.look();

        assert!(files.seen.lock().stamps.is_some() && files.seen.lock().told.is_none());
    }

    #[test]
    fn a_file_whose_mode_or_owner_was_changed_is_looked_at_again() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let before = Stamp::of(file.path());
        let changed = |_| {
            fs::set_permissions(file.path(), fs::Permissions::from_mode(0o640)).unwrap();
            Stamp::of(file.path()) != before
        };
        assert!(
            (0..1_000_000).any(changed),
            "the clock of the file system goes on"
        );
    }
}

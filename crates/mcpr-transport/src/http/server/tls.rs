//! TLS for those who come in.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tracing::{error, info, warn};

/// How long a client may take to agree on how to speak.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// The first byte of a client that speaks TLS: a record of the handshake (RFC 8446, section 5.1).
const RECORD: u8 = 22;

/// A certificate with its key, as they lie in two files of PEM.
///
/// The files are looked at again whenever somebody connects. What is there then counts for new
/// connections; files that do not fit together change nothing, and the log says so.
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
    #[error("{} holds no {what}: it must be PEM, with a line `-----BEGIN {mark}-----`", path.display())]
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
    loaded: Mutex<Loaded>,
}

/// What was read last.
struct Loaded {
    acceptor: TlsAcceptor,
    stamps: [Option<Stamp>; 2],
}

/// What tells one content of a file from another: when it was written, its length, and which file it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Stamp {
    written: (i64, i64),
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
        let files = [cert, key].map(Stamp::of);
        warn_of_readers(key);
        let loaded = Loaded {
            acceptor: acceptor(cert, key)?,
            stamps: files,
        };
        Ok(Self(Arc::new(Files {
            cert: cert.to_owned(),
            key: key.to_owned(),
            loaded: Mutex::new(loaded),
        })))
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
        let mut loaded = self.loaded.lock();
        self.look(&mut loaded);
        loaded.acceptor.clone()
    }

    fn look(&self, loaded: &mut Loaded) {
        let stamps = [&self.cert, &self.key].map(|path| Stamp::of(path));
        if stamps == loaded.stamps {
            return;
        }
        // Noted even if they cannot be used: the same files are not tried, and told of, again.
        loaded.stamps = stamps;
        match acceptor(&self.cert, &self.key) {
            Ok(acceptor) => {
                loaded.acceptor = acceptor;
                info!(certificate = %self.cert.display(), "a new certificate counts from now on");
            }
            Err(reason) => {
                error!(
                    error = &reason as &dyn std::error::Error,
                    "the old certificate stays"
                );
            }
        }
    }
}

impl Stamp {
    fn of(path: &Path) -> Option<Self> {
        let found = fs::metadata(path).ok()?;
        Some(Self {
            written: (found.mtime(), found.mtime_nsec()),
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
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
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

fn open(path: &Path) -> Result<File, TlsError> {
    File::open(path).map_err(|source| TlsError::Unreadable {
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

//! TLS with the trust of the platform, and of those that the environment adds.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{CertificateError, ClientConfig, Error, OtherError, RootCertStore};
use rustls_platform_verifier::Verifier;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tracing::warn;

/// Names a file of certificates that are trusted too. Users of MCP servers have set it for Node.
const EXTRA: &str = "NODE_EXTRA_CA_CERTS";
/// Name the certificates that are trusted instead of the platform's, where that has files.
const INSTEAD: [&str; 2] = ["SSL_CERT_FILE", "SSL_CERT_DIR"];

/// Speaks TLS over a connection; the certificate must be one of `host`.
///
/// # Errors
///
/// When no host can have this name, no authority is trusted at all, or the two do not agree on how to
/// speak; [`said_of`] tells what can be done.
pub async fn wrap<S: AsyncRead + AsyncWrite + Unpin>(host: &str, stream: S) -> io::Result<TlsStream<S>> {
    let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
    TlsConnector::from(config()?).connect(name, stream).await
}

/// What is wrong, and what can be done where a certificate is of nobody we trust (B111).
#[must_use]
pub fn said_of(error: &io::Error) -> String {
    let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    match tls {
        Some(Error::InvalidCertificate(CertificateError::UnknownIssuer)) => format!(
            "nobody that is trusted has issued its certificate; if your company has its own authority, \
             name the file with its certificate in `{EXTRA}`"
        ),
        Some(Error::InvalidCertificate(CertificateError::Other(other))) if is_authority(other) => {
            "its certificate is one for an authority (`CA:TRUE`, as `openssl req -x509` makes it unless it is told \
             otherwise): make one for the server, with `-addext basicConstraints=critical,CA:FALSE`"
                .to_owned()
        }
        _ => error.to_string(),
    }
}

/// Whether a certificate is that of an authority, and shown as that of a server.
fn is_authority(other: &OtherError) -> bool {
    format!("{other:?}").contains("CaUsedAsEndEntity")
}

/// Made once: reading the certificates of the platform takes milliseconds.
fn config() -> io::Result<Arc<ClientConfig>> {
    static CONFIG: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    if let Some(config) = CONFIG.get() {
        return Ok(Arc::clone(config));
    }
    let extra = extra_roots(std::env::var_os(EXTRA));
    let config = build(extra).map_err(|error| io::Error::other(no_roots(&error)))?;
    Ok(Arc::clone(CONFIG.get_or_init(|| Arc::new(config))))
}

fn build(extra: Vec<CertificateDer<'static>>) -> Result<ClientConfig, Error> {
    let provider = Arc::new(ring::default_provider());
    let verifier = Verifier::new_with_extra_roots(extra, provider.clone())?;
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let mut config = builder
        .dangerous() // So it is called for every verifier that is given; this one is the platform's.
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// The certificates in the file that the variable names. One that cannot be used is told of, and
/// does not stand in the way of the others, as in Node.
fn extra_roots(file: Option<OsString>) -> Vec<CertificateDer<'static>> {
    let Some(file) = file.filter(|file| !file.is_empty()) else {
        return Vec::new();
    };
    let file = Path::new(&file);
    let read = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let read = read.unwrap_or_else(|error| {
        warn!(file = %file.display(), reason = %error, "the file that {EXTRA} names cannot be read");
        Vec::new()
    });
    let mut known = RootCertStore::empty();
    let (roots, odd): (Vec<_>, Vec<_>) = read.into_iter().partition(|root| known.add(root.clone()).is_ok());
    if !odd.is_empty() {
        warn!(file = %file.display(), count = odd.len(), "certificates that {EXTRA} names cannot be used");
    }
    roots
}

/// Without a single trusted certificate the variables that name them are the likely reason.
fn no_roots(error: &Error) -> String {
    let set = INSTEAD
        .iter()
        .filter_map(|&name| Some((name, std::env::var_os(name)?)));
    let set: Vec<_> = set
        .map(|(name, value)| format!("{name}={}", value.display()))
        .collect();
    if set.is_empty() {
        return error.to_string();
    }
    format!(
        "{error}; {} must name certificates that can be read",
        set.join(", ")
    )
}

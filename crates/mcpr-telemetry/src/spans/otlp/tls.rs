//! TLS toward a collector, with the trust of the platform and that of the variables of OpenTelemetry.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::{self, PemObject};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;

/// Name a file of certificates that are trusted too: the first that is set.
const TRUSTED: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE",
    "OTEL_EXPORTER_OTLP_CERTIFICATE",
];

/// TLS cannot be spoken as the variables say.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoTrust {
    #[error(
        "the file `{file}` that `{variable}` names has no certificates that can be read: it must be PEM, with those of the authorities to trust"
    )]
    File {
        variable: &'static str,
        file: String,
        #[source]
        source: pem::Error,
    },
    #[error(
        "no authority is trusted: name a file with the certificates of one in `OTEL_EXPORTER_OTLP_CERTIFICATE`"
    )]
    Tls(#[from] rustls::Error),
}

/// For a collector behind TLS.
pub(super) fn trusting() -> Result<ClientConfig, NoTrust> {
    let named = TRUSTED.into_iter().find_map(|variable| {
        let file = env::var_os(variable).filter(|file| !file.is_empty())?;
        Some((variable, PathBuf::from(file)))
    });
    config(named.as_ref().map(|(variable, file)| (*variable, &**file)))
}

/// For a collector without TLS: nobody is trusted, and nobody need be.
pub(super) fn idle() -> Result<ClientConfig, NoTrust> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions()?;
    Ok(builder
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth())
}

pub(super) fn config(named: Option<(&'static str, &Path)>) -> Result<ClientConfig, NoTrust> {
    let extra = named.map_or(Ok(Vec::new()), |(variable, file)| {
        certificates(file).map_err(|source| NoTrust::File {
            variable,
            file: file.display().to_string(),
            source,
        })
    })?;
    let provider = Arc::new(ring::default_provider());
    let verifier = Verifier::new_with_extra_roots(extra, provider.clone())?;
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(builder
        .dangerous() // So it is called for every verifier that is given; this one is the platform's.
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth())
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, pem::Error> {
    let found: Vec<_> = CertificateDer::pem_file_iter(file)?.collect::<Result<_, _>>()?;
    match found.is_empty() {
        true => Err(pem::Error::NoItemsFound),
        false => Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;
    use std::fs;

    use super::*;

    #[test]
    fn log_07_a_file_without_certificates_is_refused_with_its_name_and_variable() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ca.pem");
        for content in [None, Some(""), Some("no certificate")] {
            if let Some(content) = content {
                fs::write(&file, content).unwrap();
            }
            let error = config(Some((TRUSTED[1], &file))).unwrap_err();
            let said = error.to_string();
            assert!(said.contains(TRUSTED[1]) && said.contains("ca.pem"), "{said}");
            assert!(error.source().is_some(), "{said}");
        }
    }
}

//! An address that speaks TLS.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use rcgen::{CertificateParams, KeyPair};
use rustix::fs::Mode;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tempfile::TempDir;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::super::{Tls, TlsError};
use super::*;

/// A certificate for localhost in its two files, and what a client trusts.
struct Paper {
    folder: TempDir,
    trusted: CertificateDer<'static>,
}

impl Paper {
    fn new() -> Self {
        let mut paper = Self {
            folder: tempfile::tempdir().unwrap(),
            trusted: CertificateDer::from(Vec::new()),
        };
        paper.renew();
        paper
    }

    /// Another certificate in the same files.
    fn renew(&mut self) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        let certificate = params.self_signed(&key).unwrap();
        fs::write(self.cert(), certificate.pem()).unwrap();
        fs::write(self.key(), key.serialize_pem()).unwrap();
        self.trusted = certificate.der().clone();
    }

    fn cert(&self) -> PathBuf {
        self.folder.path().join("cert.pem")
    }

    fn key(&self) -> PathBuf {
        self.folder.path().join("key.pem")
    }

    fn server(&self) -> Server {
        Server::echo(Options {
            tls: Some(Tls::load(&self.cert(), &self.key()).unwrap()),
            ..Options::default()
        })
    }

    /// A client that trusts this certificate and no other.
    async fn client(&self, server: &Server) -> io::Result<TlsStream<TcpStream>> {
        let mut roots = RootCertStore::empty();
        roots.add(self.trusted.clone()).unwrap();
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let builder = builder.with_safe_default_protocol_versions().unwrap();
        let config = builder.with_root_certificates(roots).with_no_client_auth();
        let stream = TcpStream::connect(server.addr).await.unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        TlsConnector::from(Arc::new(config)).connect(name, stream).await
    }

    /// Waits until the server has taken this certificate over.
    async fn comes_to_count(&self, server: &Server) {
        let counts = async {
            while self.client(server).await.is_err() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let counted = tokio::time::timeout(Duration::from_secs(10), counts).await;
        counted.expect("the new certificate counts");
    }

    /// Sends a request, and gives all that comes back.
    async fn ask(&self, server: &Server, request: &str) -> String {
        let mut client = self.client(server).await.unwrap();
        client.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        answer
    }
}

fn closing(body: &str) -> String {
    post("/mcp", "Connection: close\r\n", body)
}

#[tokio::test]
async fn requests_and_answers_of_any_size_pass_in_tls() {
    let paper = Paper::new();
    let server = paper.server();
    for body in ["{}".to_owned(), format!("\"{}\"", "x".repeat(3 << 20))] {
        let answer = paper.ask(&server, &closing(&body)).await;
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with(&body));
    }
}

#[tokio::test]
async fn who_speaks_no_tls_is_told_in_words() {
    let paper = Paper::new();
    let server = paper.server();

    let answer = server.ask(&post("/mcp", "", "{}")).await;

    assert_eq!((answer.status, answer.header("connection")), (400, Some("close")));
    assert!(answer.body.contains("https://"), "{}", answer.body);
    assert_eq!(server.desk.verified.load(Ordering::Relaxed), 0);
    assert!(paper.client(&server).await.is_ok());
}

#[tokio::test]
async fn a_new_certificate_counts_without_a_restart_and_a_broken_one_changes_nothing() {
    let mut paper = Paper::new();
    let server = paper.server();
    let mut old = paper.client(&server).await.unwrap();

    fs::write(paper.key(), "no key").unwrap();
    assert!(paper.client(&server).await.is_ok(), "the old one stays");

    paper.renew();
    paper.comes_to_count(&server).await;

    old.write_all(closing("{}").as_bytes()).await.unwrap();
    let mut answer = String::new();
    old.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "open connections live on");
}

#[tokio::test]
async fn sec_05_a_pipe_in_the_place_of_a_file_holds_up_nobody() {
    let mut paper = Paper::new();
    let server = paper.server();
    fs::remove_file(paper.cert()).unwrap();
    let pipe = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, paper.cert(), pipe, Mode::RUSR, 0).unwrap();

    for _ in 0..16 {
        assert!(paper.client(&server).await.is_ok(), "the old one stays");
    }

    let pipe = Tls::load(&paper.cert(), &paper.key()).unwrap_err();
    assert!(matches!(pipe, TlsError::Unreadable { .. }), "{pipe}");
    fs::remove_file(paper.cert()).unwrap();
    paper.renew();
    paper.comes_to_count(&server).await;
}

#[tokio::test(start_paused = true)]
async fn sec_05_a_client_that_does_not_agree_on_anything_is_given_up() {
    let paper = Paper::new();
    let server = paper.server();
    let mut silent = server.client().await;
    let mut halfway = server.client().await;
    halfway.send([22, 3, 1]).await;

    assert_eq!(
        (silent.rest().await, halfway.rest().await),
        (String::new(), String::new())
    );
}

#[test]
fn what_cannot_be_used_says_which_file_and_why() {
    let (paper, other) = (Paper::new(), Paper::new());
    let text = paper.folder.path().join("text");
    fs::write(&text, "hello").unwrap();
    let missing = paper.folder.path().join("missing");
    let error = |cert: &PathBuf, key: &PathBuf| Tls::load(cert, key).unwrap_err();

    assert!(matches!(error(&missing, &paper.key()), TlsError::Unreadable { path, .. } if path == missing));
    assert!(matches!(error(&text, &paper.key()), TlsError::Empty { path, .. } if path == text));
    let keyless = error(&paper.cert(), &text).to_string();
    assert!(
        keyless.contains("private key") && keyless.contains("text"),
        "{keyless}"
    );
    // What looks like the beginning of a key would be taken out of the log.
    assert!(!keyless.contains("-----"), "{keyless}");
    assert!(matches!(
        error(&paper.cert(), &other.key()),
        TlsError::Unfit { .. }
    ));
}

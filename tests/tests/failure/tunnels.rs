//! Servers that speak TLS, whose certificates are of an authority that only a variable names, and
//! the tunnels that lead to them (B111). `mcpr-ctl servers test` has an environment of its own.

use std::path::Path;
use std::sync::Arc;

use mcpr_tests::{Fake, Proxy, binary};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_util::task::AbortOnDropHandle;

/// The name in the certificate, which only the proxy knows; the address of this machine is in it too.
const NAME: &str = "server.test";

/// A fake server behind TLS.
struct Secured {
    port: u16,
    /// The file of the authority's certificate, in a folder of its own.
    authority: TempDir,
    _fake: Fake,
    _serving: AbortOnDropHandle<()>,
}

impl Secured {
    async fn start() -> Self {
        let fake = Fake::script().tool("t").with(r#"{"session": true}"#).http();
        let (authority, config) = certified();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let serving = tokio::spawn(decrypt(
            listener,
            TlsAcceptor::from(Arc::new(config)),
            fake.port(),
        ));
        Self {
            port,
            authority,
            _fake: fake,
            _serving: AbortOnDropHandle::new(serving),
        }
    }

    fn authority(&self) -> String {
        self.authority.path().join("ca.pem").display().to_string()
    }

    async fn proxy(&self) -> Proxy {
        let host = format!("{NAME}:443");
        Proxy::that().knows(&host, self.port).start().await
    }
}

/// An authority of nobody's, in a file, and a server with a certificate of it.
fn certified() -> (TempDir, ServerConfig) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ca.pem"), issuer.pem()).unwrap();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new([NAME, "127.0.0.1"].map(str::to_owned)).unwrap();
    let certificate = params.signed_by(&key, &issuer).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = config.unwrap().with_no_client_auth();
    let config = config.with_single_cert(vec![certificate.der().clone()], key);
    (folder, config.unwrap())
}

async fn decrypt(listener: TcpListener, acceptor: TlsAcceptor, port: u16) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let acceptor = acceptor.clone();
        connections.spawn(async move {
            let mut stream = acceptor.accept(stream).await.ok()?;
            let mut server = TcpStream::connect(("127.0.0.1", port)).await.ok()?;
            tokio::io::copy_bidirectional(&mut stream, &mut server).await.ok()
        });
    }
}

/// What `mcpr-ctl servers test` says of a server at this URL, with these variables and no others.
async fn tested(url: &str, variables: &[(&str, &str)]) -> Value {
    let home = tempfile::tempdir().unwrap();
    let file = json!({ "mcpServers": { "a": { "type": "http", "url": url } } });
    std::fs::write(home.path().join("mcpr.json"), file.to_string()).unwrap();
    let output = ctl(home.path())
        .envs(variables.iter().copied())
        .output()
        .await
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    serde_json::from_slice(&said)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&said)))
}

fn ctl(home: &Path) -> Command {
    let mut command = Command::new(binary("mcpr-ctl"));
    command
        .args(["--json", "servers", "test", "a"])
        .env_clear()
        .env("MCPR_HOME", home);
    command
}

fn url() -> String {
    format!("https://{NAME}/mcp")
}

#[tokio::test(flavor = "multi_thread")]
async fn b111_tls_goes_through_a_tunnel_of_the_proxy() {
    let server = Secured::start().await;
    let proxy = server.proxy().await;
    let variables = [
        ("HTTPS_PROXY", &*proxy.url()),
        ("NODE_EXTRA_CA_CERTS", &*server.authority()),
    ];

    let tested = tested(&url(), &variables).await;

    assert_eq!(tested["tools"], 1, "{tested}");
    let asked = proxy.asked();
    assert!(!asked.is_empty());
    assert!(
        asked
            .iter()
            .all(|line| line == "CONNECT server.test:443 HTTP/1.1"),
        "{asked:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn b111_a_tunnel_is_asked_for_with_the_credentials_of_the_url() {
    let server = Secured::start().await;
    let known = Proxy::that().knows("server.test:443", server.port);
    let proxy = known.wants("me:s3cret").start().await;
    let authority = server.authority();
    let with = async |proxy: &str| {
        let variables = [("https_proxy", proxy), ("NODE_EXTRA_CA_CERTS", &*authority)];
        tested(&url(), &variables).await
    };

    let let_in = with(&proxy.url().replace("://", "://me:s3cret@")).await;
    let refused = with(&proxy.url().replace("://", "://me:gu3ss3d@"))
        .await
        .to_string();

    assert_eq!(let_in["tools"], 1, "{let_in}");
    let expected = format!(
        "cannot connect to https://server.test through the proxy {} (https_proxy): it does not accept",
        proxy.url()
    );
    assert!(refused.contains(&expected), "{refused}");
    assert!(!refused.contains("gu3ss3d"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn b111_a_tunnel_that_is_refused_says_who_refused_it_and_how() {
    let proxy = Proxy::that().refuses("403 Forbidden").start().await;

    let refused = tested(&url(), &[("ALL_PROXY", &proxy.url())]).await.to_string();

    let expected = format!(
        "through the proxy {} (ALL_PROXY): it answers 403 Forbidden",
        proxy.url()
    );
    assert!(refused.contains(&expected), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn b111_authorities_can_be_added_or_put_in_the_place_of_the_usual_ones() {
    let server = Secured::start().await;
    let proxy = server.proxy().await;
    let (file, folder) = (server.authority(), server.authority.path().display().to_string());
    for trust in [
        ("NODE_EXTRA_CA_CERTS", &*file),
        ("SSL_CERT_FILE", &*file),
        ("SSL_CERT_DIR", &*folder),
    ] {
        let tested = tested(&url(), &[("HTTPS_PROXY", &proxy.url()), trust]).await;

        assert_eq!(tested["tools"], 1, "{trust:?}: {tested}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b111_a_certificate_of_an_unknown_authority_is_refused_with_the_way_out() {
    let server = Secured::start().await;
    let proxy = server.proxy().await;
    let way = proxy.url();
    let usual = tested(&url(), &[("HTTPS_PROXY", &way)]).await.to_string();
    let empty = [("HTTPS_PROXY", &*way), ("SSL_CERT_FILE", "/nowhere/ca.pem")];
    let nobody = tested(&url(), &empty).await.to_string();

    assert!(
        usual.contains("name the file with its certificate in `NODE_EXTRA_CA_CERTS`"),
        "{usual}"
    );
    assert!(
        nobody.contains("SSL_CERT_FILE=/nowhere/ca.pem must name"),
        "{nobody}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn b111_a_server_with_a_certificate_is_reached_if_its_authority_is_trusted_and_its_name_is_right() {
    let server = Secured::start().await;
    let trust = ("NODE_EXTRA_CA_CERTS", &*server.authority());
    let (right, wrong) = (
        format!("https://127.0.0.1:{}/mcp", server.port),
        format!("https://localhost:{}/mcp", server.port),
    );
    assert_eq!(tested(&right, &[trust]).await["tools"], 1);

    let stranger = tested(&right, &[]).await.to_string();
    let misnamed = tested(&wrong, &[trust]).await.to_string();

    assert!(
        stranger.contains("nobody that is trusted has issued"),
        "{stranger}"
    );
    assert!(misnamed.contains("certificate"), "{misnamed}");
}

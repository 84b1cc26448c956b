//! The way to the collector: to the address that the variables name, and to no other.
//!
//! With the spans go the headers of `OTEL_EXPORTER_OTLP_HEADERS`, which may be credentials. So a redirect is not
//! followed, and no proxy comes between two programs on one machine.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use reqwest::Url;
use reqwest::blocking::{Client, ClientBuilder};
use reqwest::redirect::Policy;
use rustls::ClientConfig;
use tracing::warn;

use super::tls::{self, NoTrust};

/// Sends batches, and tells when they do not arrive.
#[derive(Debug)]
pub(super) struct Way {
    client: Client,
    /// Whether the last one did not.
    fails: AtomicBool,
}

/// There is no way to such an address.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoWay {
    #[error("the address must begin with `http://` or `https://`, as in http://127.0.0.1:4318")]
    NoUrl,
    #[error(transparent)]
    Trust(#[from] NoTrust),
    #[error("no client can be made for it")]
    Client(#[from] reqwest::Error),
    #[error("no thread can be started for it")]
    Thread(#[from] std::io::Error),
}

impl Way {
    /// The way to this address, for batches that may take so long.
    pub(super) fn to(url: &str, timeout: Duration) -> Result<Self, NoWay> {
        let url = Url::parse(url).map_err(|_| NoWay::NoUrl)?;
        let config = match url.scheme() {
            "http" => tls::idle()?,
            "https" => tls::trusting()?,
            _ => return Err(NoWay::NoUrl),
        };
        Self::with(config, &url, timeout)
    }

    fn with(config: ClientConfig, url: &Url, timeout: Duration) -> Result<Self, NoWay> {
        let client = ClientBuilder::new().tls_backend_preconfigured(config);
        let mut client = client.timeout(timeout).redirect(Policy::none());
        if is_here(url) {
            client = client.no_proxy();
        }
        Ok(Self {
            client: built(client)?,
            fails: AtomicBool::new(false),
        })
    }

    /// Why batches do not arrive, where that is news: once until one does. The SDK tells of each, and of some without
    /// a reason.
    fn news(&self, answer: &Result<Response<Bytes>, HttpError>) -> Option<String> {
        let reason = failure(answer);
        let failed_before = self.fails.swap(reason.is_some(), Ordering::Relaxed);
        reason.filter(|_| !failed_before)
    }
}

#[async_trait]
impl HttpClient for Way {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let answer = self.client.send_bytes(request).await;
        if let Some(reason) = self.news(&answer) {
            warn!(reason, "spans do not reach the collector");
        }
        answer
    }
}

/// Whatever the caller's thread is: one of a runtime may not make a client that blocks.
fn built(client: ClientBuilder) -> Result<Client, NoWay> {
    let build = thread::Builder::new().spawn(move || client.build())?;
    let client = build.join().map_err(|_| std::io::Error::other("it panicked"))?;
    Ok(client?)
}

/// Whether an address is on this machine: no proxy could reach that.
fn is_here(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_end_matches('.');
    match host.trim_matches(['[', ']']).parse::<IpAddr>() {
        Ok(address) => {
            let address = address.to_canonical();
            address.is_loopback() || address.is_unspecified()
        }
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

/// Why a batch has not arrived. The body of an answer may repeat what was sent, and is not told.
fn failure(answer: &Result<Response<Bytes>, HttpError>) -> Option<String> {
    match answer {
        Ok(answer) if answer.status().is_success() => None,
        Ok(answer) if answer.status().is_redirection() => Some(format!(
            "it answers {}, which names another address; spans go to the configured one alone",
            answer.status()
        )),
        Ok(answer) => Some(format!("it answers {}", answer.status())),
        Err(error) => {
            // The outer ones repeat the address; the last one has the reason.
            let mut cause: &(dyn std::error::Error + 'static) = &**error;
            while let Some(inner) = cause.source() {
                cause = inner;
            }
            Some(cause.to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::path::{Path, PathBuf};
    use std::pin::pin;
    use std::sync::Arc;
    use std::task::{Context, Poll, Waker};

    use rustls::crypto::ring;
    use rustls::pki_types::PrivatePkcs8KeyDer;
    use rustls::{ServerConfig, ServerConnection, StreamOwned};

    use super::*;

    /// Sends a batch with a credential, and gives the status of the answer; the client blocks instead of waiting.
    fn send(way: &Way, url: &str) -> u16 {
        let request = Request::post(url).header("authorization", "Bearer S3CRET");
        let sending = pin!(way.send_bytes(request.body(Bytes::new()).unwrap()));
        match sending.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(answer) => answer.unwrap().status().as_u16(),
            Poll::Pending => panic!("it waits"),
        }
    }

    /// Answers one request after the other with these heads.
    fn answer(collector: &TcpListener, heads: &[String]) {
        for head in heads {
            let (mut connection, _) = collector.accept().unwrap();
            let _ = connection.read(&mut [0; 4096]).unwrap();
            let head = format!("HTTP/1.1 {head}content-length: 0\r\nconnection: close\r\n\r\n");
            connection.write_all(head.as_bytes()).unwrap();
        }
    }

    #[test]
    fn sec_04_a_collector_that_redirects_is_not_followed() {
        let [collector, other] = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let [url, elsewhere] = [&collector, &other].map(|at| format!("http://{}/", at.local_addr().unwrap()));
        let heads = ["302 x", "307 x"].map(|head| format!("{head}\r\nlocation: {elsewhere}\r\n"));
        let answering = thread::spawn(move || answer(&collector, &heads));
        let way = Way::to(&url, Duration::from_secs(10)).unwrap();

        let got = [(); 2].map(|()| send(&way, &url));

        answering.join().unwrap();
        assert_eq!(got, [302, 307]);
        other.set_nonblocking(true).unwrap();
        assert!(other.accept().is_err(), "nothing goes to another address");
    }

    /// A collector behind TLS that answers each connection, and the file with its certificate.
    fn encrypted(folder: &Path) -> (String, PathBuf) {
        let rcgen::CertifiedKey { cert, signing_key } =
            rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let file = folder.join("ca.pem");
        fs::write(&file, cert.pem()).unwrap();
        let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der());
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key.into());
        let config = Arc::new(config.unwrap());
        let collector = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!(
            "https://localhost:{}/v1/traces",
            collector.local_addr().unwrap().port()
        );
        thread::spawn(move || {
            for connection in collector.incoming() {
                let session = ServerConnection::new(config.clone()).unwrap();
                let mut connection = StreamOwned::new(session, connection.unwrap());
                // Who does not trust it says no more.
                if connection.read(&mut [0; 4096]).is_ok() {
                    let answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
                    let _ = connection.write_all(answer.as_bytes());
                }
            }
        });
        (url, file)
    }

    #[test]
    fn log_07_a_collector_behind_tls_is_reached_if_it_is_trusted_and_not_else() {
        let folder = tempfile::tempdir().unwrap();
        let (url, file) = encrypted(folder.path());
        let way = |trusted| {
            let config = tls::config(trusted).unwrap();
            Way::with(config, &Url::parse(&url).unwrap(), Duration::from_secs(10)).unwrap()
        };

        assert_eq!(
            send(&way(Some(("OTEL_EXPORTER_OTLP_CERTIFICATE", &*file))), &url),
            200
        );
        let request = Request::post(&url).body(Bytes::new()).unwrap();
        let stranger = way(None);
        let sending = pin!(stranger.send_bytes(request));
        let Poll::Ready(answer) = sending.poll(&mut Context::from_waker(Waker::noop())) else {
            panic!("it waits")
        };
        let reason = failure(&answer).unwrap();
        assert!(reason.contains("UnknownIssuer"), "{reason}");
    }

    #[test]
    fn log_07_why_batches_do_not_arrive_is_told_until_one_does() {
        let way = Way::to("http://127.0.0.1:1", Duration::from_secs(1)).unwrap();
        let with = |status: u16| Ok(Response::builder().status(status).body(Bytes::new()).unwrap());
        let lost: HttpError = Box::new(std::io::Error::other("nobody listens"));
        let answers = [
            with(200),
            with(302),
            with(307),
            with(200),
            with(503),
            Err(lost),
            with(202),
            with(307),
        ];
        let news = answers.map(|answer| way.news(&answer).unwrap_or_default());
        let told = [
            "",
            "it answers 302",
            "",
            "",
            "it answers 503",
            "",
            "",
            "it answers 307",
        ];
        for (news, told) in news.iter().zip(told) {
            assert_eq!(news.is_empty(), told.is_empty(), "{news}");
            assert!(news.starts_with(told), "{news}");
        }
        assert!(news[1].contains("the configured one alone"), "{}", news[1]);
    }

    #[test]
    fn sec_04_only_what_is_on_this_machine_is_reached_without_a_proxy() {
        let is_here = |url: &str| is_here(&Url::parse(url).unwrap());
        for here in [
            "127.0.0.1:4318",
            "127.9.9.9",
            "[::1]:4318",
            "[::ffff:127.0.0.1]",
            "0.0.0.0",
            "LOCALHOST",
            "a.localhost.",
        ] {
            assert!(is_here(&format!("http://{here}/v1/traces")), "{here}");
        }
        for there in [
            "10.0.0.1",
            "collector",
            "localhost.test",
            "127.0.0.1.test",
            "[2001:db8::1]",
        ] {
            assert!(!is_here(&format!("http://{there}/v1/traces")), "{there}");
        }
    }

    #[test]
    fn log_07_an_address_to_which_there_is_no_way_is_refused_at_once_and_says_what_to_do() {
        for (url, said) in [
            ("127.0.0.1:4318", "must begin with `http://`"),
            ("localhost:4318/v1/traces", "must begin with `http://`"),
            ("unix:///tmp/socket", "must begin with `http://`"),
            ("http://", "must begin with `http://`"),
        ] {
            let error = Way::to(url, Duration::from_secs(1)).unwrap_err().to_string();
            assert!(error.contains(said), "{url}: {error}");
        }
    }
}

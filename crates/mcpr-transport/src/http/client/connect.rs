//! Makes connections.

use std::io;
use std::path::Path;
use std::time::Duration;

use http::{HeaderValue, Method, Request, Uri, header};
use hyper::client::conn::http1;
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream, lookup_host};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::debug;

use super::address::Origin;
use super::body::Once;
use super::carrier::{Carrier, Carriers};
use super::proxy::Proxy;
use super::verdict;
use crate::{Failed, FailedKind};

/// The sending half of one connection.
pub(super) type Sender = http1::SendRequest<Once>;

/// What bytes go to and fro on.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> Stream for S {}

/// Makes connections to one origin, and owns the tasks that run them.
#[derive(Debug)]
pub(super) struct Connector {
    pub(super) origin: Origin,
    pub(super) proxy: Option<Proxy>,
    pub(super) timeout: Duration,
    pub(super) tasks: TaskTracker,
    pub(super) stop: CancellationToken,
    /// What is connected.
    pub(super) open: Carriers,
}

impl Connector {
    /// A new connection, ready for its first request.
    pub(super) async fn connect(&self) -> Result<Carrier, Failed> {
        if self.stop.is_cancelled() {
            return Err(Failed::unsent(
                FailedKind::Closed,
                "the connection was closed by mcpr",
            ));
        }
        timeout(self.timeout, self.dial()).await.unwrap_or_else(|_| {
            let after = format!("no answer within {:?}", self.timeout);
            Err(self.unreachable(&after))
        })
    }

    async fn dial(&self) -> Result<Carrier, Failed> {
        if let Some(socket) = &self.origin.socket {
            return self.local(socket).await;
        }
        if let Some(proxy) = &self.proxy {
            return self.dial_through(proxy).await;
        }
        let tcp = self.tcp(&self.origin).await?;
        if self.origin.secure {
            self.secured(tcp).await
        } else {
            self.handshake(tcp).await
        }
    }

    async fn local(&self, socket: &Path) -> Result<Carrier, Failed> {
        let stream = UnixStream::connect(socket).await;
        self.handshake(stream.map_err(|error| self.unreachable(&error))?)
            .await
    }

    async fn dial_through(&self, proxy: &Proxy) -> Result<Carrier, Failed> {
        let tcp = self.tcp(&proxy.at).await?;
        if proxy.at.secure {
            let stream = self.encrypted(&proxy.at, tcp).await?;
            self.beyond(proxy, stream).await
        } else {
            self.beyond(proxy, tcp).await
        }
    }

    /// Over a connection to the proxy: it reads plain requests itself, all else goes through a tunnel.
    async fn beyond(&self, proxy: &Proxy, stream: impl Stream) -> Result<Carrier, Failed> {
        if !self.origin.secure {
            return self.handshake(stream).await;
        }
        let tunnel = self.tunnel(proxy, stream).await?;
        self.secured(tunnel).await
    }

    /// Has the proxy connect us to the origin (RFC 9110, section 9.3.6).
    async fn tunnel(&self, proxy: &Proxy, stream: impl Stream) -> Result<TokioIo<Upgraded>, Failed> {
        let made = http1::handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = made.map_err(|error| self.unreachable(&error))?;
        let stop = self.stop.child_token();
        self.tasks
            .spawn(stop.run_until_cancelled_owned(connection.with_upgrades()));
        let wish = self.wish(proxy).map_err(|error| self.unreachable(&error))?;
        let broken = |error: hyper::Error| self.unreachable(&verdict::innermost(&error));
        let answer = sender.send_request(wish).await.map_err(broken)?;
        if !answer.status().is_success() {
            return Err(self.unreachable(&proxy.refusal(answer.status())));
        }
        let tunnel = hyper::upgrade::on(answer).await.map_err(broken)?;
        Ok(TokioIo::new(tunnel))
    }

    fn wish(&self, proxy: &Proxy) -> Result<Request<Once>, http::Error> {
        let to = format!("{}:{}", self.origin.host, self.origin.port);
        let mut wish = Request::new(Once::new(None));
        *wish.method_mut() = Method::CONNECT;
        *wish.uri_mut() = Uri::try_from(&to)?;
        let headers = wish.headers_mut();
        headers.insert(header::HOST, HeaderValue::try_from(to)?);
        if let Some(authorization) = &proxy.authorization {
            headers.insert(header::PROXY_AUTHORIZATION, authorization.clone());
        }
        Ok(wish)
    }

    async fn tcp(&self, to: &Origin) -> Result<TcpStream, Failed> {
        let stream = first_address(to, self.timeout).await.and_then(tuned);
        stream.map_err(|error| self.unreachable(&error))
    }

    async fn secured(&self, stream: impl Stream) -> Result<Carrier, Failed> {
        let stream = self.encrypted(&self.origin, stream).await?;
        self.handshake(stream).await
    }

    #[cfg(feature = "tls")]
    async fn encrypted<S: Stream>(&self, to: &Origin, stream: S) -> Result<impl Stream + use<S>, Failed> {
        let stream = super::tls::wrap(to.bare_host(), stream).await;
        stream.map_err(|error| self.unreachable(&super::tls::said_of(&error)))
    }

    #[cfg(not(feature = "tls"))]
    async fn encrypted<S: Stream>(&self, _: &Origin, _: S) -> Result<S, Failed> {
        Err(self.unreachable(&"this build speaks no https; build it with the feature `tls`"))
    }

    async fn handshake(&self, stream: impl Stream) -> Result<Carrier, Failed> {
        let made = http1::handshake(TokioIo::new(stream)).await;
        let (sender, connection) = made.map_err(|error| self.unreachable(&error))?;
        let running = async move {
            if let Err(error) = connection.await {
                debug!(%error, "a connection ended");
            }
        };
        let carrier = Carrier::new(sender, Box::pin(running), self.stop.clone(), &self.open);
        Ok(carrier)
    }

    fn unreachable(&self, reason: &dyn std::fmt::Display) -> Failed {
        let detail = match &self.proxy {
            None => format!("cannot connect to {}: {reason}", self.origin),
            Some(proxy) => format!("cannot connect to {} through {proxy}: {reason}", self.origin),
        };
        Failed::unsent(FailedKind::Unreachable, detail)
    }
}

/// Tries every address of a host, each with its share of the time.
async fn first_address(to: &Origin, time: Duration) -> io::Result<TcpStream> {
    let addresses: Vec<_> = lookup_host((to.bare_host(), to.port)).await?.collect();
    let share = time / u32::try_from(addresses.len().max(1)).unwrap_or(u32::MAX);
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for address in addresses {
        match timeout(share, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => last = error,
            Err(_) => last = io::Error::new(io::ErrorKind::TimedOut, format!("{address} does not answer")),
        }
    }
    Err(last)
}

/// Small messages go out at once, and a peer that is gone is noticed on a silent stream too.
fn tuned(stream: TcpStream) -> io::Result<TcpStream> {
    use rustix::net::sockopt;
    stream.set_nodelay(true)?;
    sockopt::set_socket_keepalive(&stream, true)?;
    sockopt::set_tcp_keepidle(&stream, Duration::from_secs(60))?;
    sockopt::set_tcp_keepintvl(&stream, Duration::from_secs(15))?;
    Ok(stream)
}

//! Makes connections.

use std::future::poll_fn;
use std::io;
use std::time::Duration;

use mcpr_protocol::Rope;
use tokio::net::{TcpStream, UnixStream, lookup_host};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::address::Origin;
use super::http1::{Connection, Open, Stream};
use super::proxy::Proxy;
use crate::{Failed, FailedKind};

/// Makes connections to one origin.
#[derive(Debug)]
pub(super) struct Connector {
    pub(super) origin: Origin,
    pub(super) proxy: Option<Proxy>,
    pub(super) timeout: Duration,
    pub(super) tasks: TaskTracker,
    pub(super) stop: CancellationToken,
    /// What is connected.
    pub(super) open: Open,
}

impl Connector {
    /// A new connection, ready for its first request.
    pub(super) async fn connect(&self) -> Result<Connection, Failed> {
        let dialled = timeout(self.timeout, self.dial()).await;
        let stream = dialled.unwrap_or_else(|_| {
            let after = format!("no answer within {:?}", self.timeout);
            Err(self.unreachable(&after))
        })?;
        let connection = Connection::new(stream, &self.open);
        // Whoever stops us from now on finds it among those that are open.
        if self.stop.is_cancelled() {
            let detail = "the connection was closed by mcpr";
            return Err(Failed::unsent(FailedKind::Closed, detail));
        }
        Ok(connection)
    }

    async fn dial(&self) -> Result<Box<dyn Stream>, Failed> {
        if let Some(socket) = &self.origin.socket {
            let stream = UnixStream::connect(socket).await;
            return Ok(Box::new(stream.map_err(|error| self.unreachable(&error))?));
        }
        if let Some(proxy) = &self.proxy {
            return self.dial_through(proxy).await;
        }
        let tcp = self.tcp(&self.origin).await?;
        if self.origin.secure {
            Ok(Box::new(self.encrypted(&self.origin, tcp).await?))
        } else {
            Ok(Box::new(tcp))
        }
    }

    async fn dial_through(&self, proxy: &Proxy) -> Result<Box<dyn Stream>, Failed> {
        let tcp = self.tcp(&proxy.at).await?;
        if proxy.at.secure {
            let stream = self.encrypted(&proxy.at, tcp).await?;
            self.beyond(proxy, Box::new(stream)).await
        } else {
            self.beyond(proxy, Box::new(tcp)).await
        }
    }

    /// Over a connection to the proxy: it reads plain requests itself, all else goes through a tunnel.
    async fn beyond(&self, proxy: &Proxy, stream: Box<dyn Stream>) -> Result<Box<dyn Stream>, Failed> {
        if !self.origin.secure {
            return Ok(stream);
        }
        let tunnel = self.tunnel(proxy, stream).await?;
        Ok(Box::new(self.encrypted(&self.origin, tunnel).await?))
    }

    /// Has the proxy connect us to the origin (RFC 9110, section 9.3.6).
    async fn tunnel(&self, proxy: &Proxy, stream: Box<dyn Stream>) -> Result<Box<dyn Stream>, Failed> {
        let mut connection = Connection::new(stream, &self.open);
        connection.send(self.wish(proxy), &Rope::new());
        let answer = poll_fn(|cx| connection.poll_head(cx)).await;
        let answer = answer.map_err(|lost| self.unreachable(&lost.why))?;
        if !answer.status.is_success() {
            return Err(self.unreachable(&proxy.refusal(answer.status)));
        }
        // Who is called by TLS does not speak first.
        let tunnel = connection.into_stream();
        tunnel.ok_or_else(|| self.unreachable(&"what comes through it is not TLS"))
    }

    fn wish(&self, proxy: &Proxy) -> Vec<u8> {
        let to = format!("{}:{}", self.origin.host, self.origin.port);
        let mut wish = format!("CONNECT {to} HTTP/1.1\r\nhost: {to}\r\n").into_bytes();
        if let Some(authorization) = &proxy.authorization {
            wish.extend_from_slice(b"proxy-authorization: ");
            wish.extend_from_slice(authorization.as_bytes());
            wish.extend_from_slice(b"\r\n");
        }
        wish.extend_from_slice(b"\r\n");
        wish
    }

    async fn tcp(&self, to: &Origin) -> Result<TcpStream, Failed> {
        let stream = first_address(to, self.timeout).await.and_then(tuned);
        stream.map_err(|error| self.unreachable(&error))
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

//! Makes connections.

use std::io;
use std::path::Path;
use std::time::Duration;

use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream, lookup_host};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::debug;

use super::address::Origin;
use super::body::Once;
use crate::{Failed, FailedKind};

/// The sending half of one connection.
pub(super) type Sender = http1::SendRequest<Once>;

/// Makes connections to one origin, and owns the tasks that run them.
#[derive(Debug)]
pub(super) struct Connector {
    pub(super) origin: Origin,
    pub(super) timeout: Duration,
    pub(super) tasks: TaskTracker,
    pub(super) stop: CancellationToken,
}

impl Connector {
    /// A new connection, ready for its first request.
    pub(super) async fn connect(&self) -> Result<Sender, Failed> {
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

    async fn dial(&self) -> Result<Sender, Failed> {
        if let Some(socket) = &self.origin.socket {
            return self.local(socket).await;
        }
        let tcp = self.tcp().await.map_err(|error| self.unreachable(&error))?;
        if self.origin.secure {
            self.secured(tcp).await
        } else {
            self.handshake(tcp).await
        }
    }

    async fn local(&self, socket: &Path) -> Result<Sender, Failed> {
        let stream = UnixStream::connect(socket).await;
        self.handshake(stream.map_err(|error| self.unreachable(&error))?)
            .await
    }

    /// Tries every address of the host, each with its share of the time.
    async fn tcp(&self) -> io::Result<TcpStream> {
        let addresses: Vec<_> = lookup_host((self.origin.bare_host(), self.origin.port))
            .await?
            .collect();
        let share = self.timeout / u32::try_from(addresses.len().max(1)).unwrap_or(u32::MAX);
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
        for address in addresses {
            match timeout(share, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => return tuned(stream),
                Ok(Err(error)) => last = error,
                Err(_) => {
                    last = io::Error::new(io::ErrorKind::TimedOut, format!("{address} does not answer"))
                }
            }
        }
        Err(last)
    }

    #[cfg(feature = "tls")]
    async fn secured(&self, tcp: TcpStream) -> Result<Sender, Failed> {
        let stream = super::tls::wrap(self.origin.bare_host(), tcp).await;
        self.handshake(stream.map_err(|error| self.unreachable(&error))?)
            .await
    }

    #[cfg(not(feature = "tls"))]
    async fn secured(&self, _: TcpStream) -> Result<Sender, Failed> {
        Err(self.unreachable(&"this build speaks no https; build it with the feature `tls`"))
    }

    async fn handshake<S>(&self, stream: S) -> Result<Sender, Failed>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let made = http1::handshake(TokioIo::new(stream)).await;
        let (sender, connection) = made.map_err(|error| self.unreachable(&error))?;
        let stop = self.stop.child_token();
        self.tasks.spawn(async move {
            if let Some(Err(error)) = stop.run_until_cancelled_owned(connection).await {
                debug!(%error, "a connection ended");
            }
        });
        Ok(sender)
    }

    fn unreachable(&self, reason: &dyn std::fmt::Display) -> Failed {
        let detail = format!("cannot connect to {}: {reason}", self.origin);
        Failed::unsent(FailedKind::Unreachable, detail)
    }
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

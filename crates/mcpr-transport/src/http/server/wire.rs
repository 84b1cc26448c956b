//! The socket of one connection.

use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::{Sleep, sleep};

use super::pulse::Pulse;

/// How long a client may go on sending behind its last answer, such as a body that was refused. Closing at once would
/// reset the connection, and the client would never see the answer (RFC 9112 9.6).
const LINGER: Duration = Duration::from_secs(5);

/// A socket as it was accepted.
#[derive(Debug)]
pub(super) enum Socket {
    /// From the network.
    Tcp(TcpStream),
    /// From this machine.
    Unix(UnixStream),
    /// From the network, in TLS.
    #[cfg(feature = "tls")]
    Tls(Box<tokio_rustls::server::TlsStream<TcpStream>>),
}

/// A socket that leaves marks of what happens on it, and closes gently where a body was refused.
pub(super) struct Wire {
    socket: Socket,
    pulse: Arc<Pulse>,
    stuck: bool,
    /// Whether the client may not have read all yet.
    gentle: bool,
    lingering: Option<Pin<Box<Sleep>>>,
}

/// Calls the same method of whichever socket it is.
macro_rules! either {
    ($socket:expr, $stream:ident => $call:expr) => {
        match $socket {
            Socket::Tcp($stream) => $call,
            Socket::Unix($stream) => $call,
            #[cfg(feature = "tls")]
            Socket::Tls($stream) => $call,
        }
    };
}

impl Socket {
    /// The address the connection came in on; none for a local socket.
    pub(super) fn local_ip(&self) -> Option<IpAddr> {
        match self {
            Self::Tcp(stream) => local_ip(stream),
            Self::Unix(_) => None,
            #[cfg(feature = "tls")]
            Self::Tls(stream) => local_ip(stream.get_ref().0),
        }
    }
}

fn local_ip(stream: &TcpStream) -> Option<IpAddr> {
    stream.local_addr().ok().map(|addr| addr.ip().to_canonical())
}

impl Wire {
    pub(super) fn new(socket: Socket, pulse: Arc<Pulse>) -> Self {
        Self {
            socket,
            pulse,
            stuck: false,
            gentle: false,
            lingering: None,
        }
    }

    /// The client has begun a request head.
    pub(super) fn heard(&self) {
        self.pulse.heard();
    }

    /// From now on its end waits for that of the client: what the client still sends to a socket that is closed makes
    /// the system throw away what the client has not read.
    pub(super) fn ends_gently(&mut self) {
        self.gentle = true;
    }

    /// Notes whether the client takes what is written.
    fn note<T>(&mut self, written: Poll<T>) -> Poll<T> {
        match (written.is_pending(), self.stuck) {
            (true, false) => self.pulse.stuck(),
            (false, true) => self.pulse.unstuck(),
            _ => {}
        }
        self.stuck = written.is_pending();
        written
    }

    /// Reads and forgets until the client has closed too, or the patience ends.
    fn poll_linger(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let lingering = self.lingering.get_or_insert_with(|| Box::pin(sleep(LINGER)));
        let mut scrap = [0; 16 * 1024];
        while lingering.as_mut().poll(cx).is_pending() {
            let mut scrap = ReadBuf::new(&mut scrap);
            let read = either!(&mut self.socket, stream => Pin::new(stream).poll_read(cx, &mut scrap));
            if ready!(read).is_err() || scrap.filled().is_empty() {
                break;
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        either!(&mut self.socket, stream => Pin::new(stream).poll_read(cx, into))
    }
}

impl AsyncWrite for Wire {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        let written = either!(&mut self.socket, stream => Pin::new(stream).poll_write(cx, from));
        self.note(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        from: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = either!(&mut self.socket, stream => Pin::new(stream).poll_write_vectored(cx, from));
        self.note(written)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    /// A socket holds nothing back; TLS may.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = either!(&mut self.socket, stream => Pin::new(stream).poll_flush(cx));
        self.note(flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.lingering.is_none() {
            ready!(either!(&mut self.socket, stream => Pin::new(stream).poll_shutdown(cx)))?;
        }
        match self.gentle || self.pulse.is_unread() {
            true => self.poll_linger(cx),
            false => Poll::Ready(Ok(())),
        }
    }
}

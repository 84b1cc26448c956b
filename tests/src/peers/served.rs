//! A real server that listens on a port of its own.

use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tokio::net::TcpSocket;

use super::{Words, ready};
use crate::wait_until;

/// How long a server may take until it listens.
const PATIENCE: Duration = Duration::from_secs(60);

/// server-everything over HTTP. It ends when dropped.
#[derive(Debug)]
pub struct Served {
    child: Child,
    address: SocketAddr,
    path: &'static str,
    /// Keeps others from the port until the server has it. The two can share it because this one never listens.
    _reserved: TcpSocket,
}

impl Served {
    /// server-everything over streamable HTTP.
    pub async fn everything() -> Self {
        Self::start(&ready().everything_http(), "/mcp").await
    }

    /// server-everything over the old HTTP+SSE.
    pub async fn everything_sse() -> Self {
        Self::start(&ready().everything_sse(), "/sse").await
    }

    /// Its URL.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.address, self.path)
    }

    async fn start(words: &Words, path: &'static str) -> Self {
        let reserved = reserve().expect("a free port");
        let address = reserved.local_addr().expect("a bound socket has an address");
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).env("PORT", address.port().to_string());
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let child = command.spawn().expect("node starts");
        let served = Self {
            child,
            address,
            path,
            _reserved: reserved,
        };
        wait_until(PATIENCE, "a real server to listen", || {
            TcpStream::connect(address).ok()
        })
        .await;
        served
    }
}

/// A socket with a port of its own that the server can bind too.
fn reserve() -> std::io::Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(SocketAddr::from(([127, 0, 0, 1], 0)))?;
    Ok(socket)
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have left by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

//! Knocks where the gateway listens, without a token.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use mcpr_config::clients::endpoint;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Who is let in where a gateway listens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Door {
    /// Whoever has a token.
    Tokens,
    /// Anybody.
    Open,
    /// Nobody answers there.
    Silent,
    /// Something answers that does not tell.
    Unclear,
}

impl Door {
    /// Finds out, within this time. Tokens are asked for before anything else is looked at, so an empty request will do.
    pub(super) async fn knock(listen: &str, patience: Duration) -> Self {
        let Some(address) = address(listen) else {
            return Self::Unclear;
        };
        match timeout(patience, ask(address)).await {
            Ok(Ok(head)) => Self::of(&head),
            Ok(Err(_)) | Err(_) => Self::Silent,
        }
    }

    fn of(head: &str) -> Self {
        let status = head.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3));
        match status {
            Some("401") => Self::Tokens,
            // It takes no requests with this `Host`, tokens or not.
            Some("403") | None => Self::Unclear,
            Some(_) => Self::Open,
        }
    }
}

/// The address in the URL, as it is reached from here.
fn address(listen: &str) -> Option<SocketAddr> {
    let reached = endpoint(listen);
    let (authority, _) = reached.strip_prefix("http://")?.split_once('/')?;
    authority.parse().ok()
}

async fn ask(address: SocketAddr) -> io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    let request =
        format!("POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut head = [0; 16];
    let length = stream.read(&mut head).await?;
    Ok(String::from_utf8_lossy(&head[..length]).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn http_03_only_a_401_means_that_tokens_are_asked_for() {
        assert_eq!(Door::of("HTTP/1.1 401 Un"), Door::Tokens);
        assert_eq!(Door::of("HTTP/1.1 415 Un"), Door::Open);
        assert_eq!(Door::of("HTTP/1.1 403 Fo"), Door::Unclear);
        assert_eq!(Door::of("SSH-2.0-OpenSSH"), Door::Unclear);
        assert_eq!(Door::of(""), Door::Unclear);
    }

    #[test]
    fn an_address_for_all_is_reached_by_loopback() {
        assert_eq!(
            address("http://0.0.0.0:3282/mcp"),
            Some(([127, 0, 0, 1], 3282).into())
        );
        assert_eq!(
            address("http://127.0.0.1:80/mcp"),
            Some(([127, 0, 0, 1], 80).into())
        );
        assert_eq!(address("unix"), None);
    }
}

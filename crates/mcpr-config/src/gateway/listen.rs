//! Where to listen, as people write it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;

/// An address to listen on, with or without a port.
///
/// ```
/// use mcpr_config::Listen;
///
/// let listen: Listen = "localhost".parse()?;
/// assert_eq!(listen.with_port(3282).to_string(), "127.0.0.1:3282");
/// # Ok::<(), mcpr_config::InvalidListen>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Listen {
    /// The address.
    pub ip: IpAddr,
    /// The port, if one was given.
    pub port: Option<u16>,
}

/// A text that is no address to listen on.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "`{0}` is not an address to listen on; write one such as `127.0.0.1:3282`, `[::1]:3282` or `0.0.0.0`"
)]
pub struct InvalidListen(pub String);

impl Listen {
    /// The address with its own port, or else with this one.
    pub fn with_port(self, port: u16) -> SocketAddr {
        SocketAddr::new(self.ip, self.port.unwrap_or(port))
    }
}

impl FromStr for Listen {
    type Err = InvalidListen;

    fn from_str(text: &str) -> Result<Self, InvalidListen> {
        let with_port = || {
            text.parse::<SocketAddr>()
                .map(|at| Self {
                    ip: at.ip(),
                    port: Some(at.port()),
                })
                .ok()
        };
        let bare = || {
            text.trim_matches(['[', ']'])
                .parse()
                .map(|ip| Self { ip, port: None })
                .ok()
        };
        with_port()
            .or_else(bare)
            .or_else(|| local(text))
            .ok_or_else(|| InvalidListen(text.to_owned()))
    }
}

/// `localhost` is IPv4 here: that is where clients look first.
fn local(text: &str) -> Option<Listen> {
    let ip = Ipv4Addr::LOCALHOST.into();
    match text.strip_prefix("localhost")? {
        "" => Some(Listen { ip, port: None }),
        port => Some(Listen {
            ip,
            port: Some(port.strip_prefix(':')?.parse().ok()?),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_needs_no_port() {
        let at = |text: &str| {
            text.parse::<Listen>()
                .map(|listen| listen.with_port(1).to_string())
        };

        assert_eq!(at("0.0.0.0:80").unwrap(), "0.0.0.0:80");
        assert_eq!(at("0.0.0.0").unwrap(), "0.0.0.0:1");
        assert_eq!(at("::1").unwrap(), "[::1]:1");
        assert_eq!(at("[::1]:80").unwrap(), "[::1]:80");
        assert_eq!(at("localhost:80").unwrap(), "127.0.0.1:80");
        for text in [
            "",
            "3282",
            "example.com",
            "localhost:x",
            "localhost8",
            "1.2.3.4:99999",
        ] {
            assert_eq!(at(text).unwrap_err(), InvalidListen(text.into()));
        }
    }
}

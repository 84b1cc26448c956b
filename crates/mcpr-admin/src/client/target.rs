//! Where a gateway is.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue};
use http::uri::{Authority, Scheme};
use http::{Request, Uri};
use http_body_util::Full;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::ClientError;
use super::exchange::Answer;
use crate::{PREFIX, Secret};

/// Where a gateway is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// At a local socket.
    Socket {
        /// Its file.
        path: PathBuf,
        /// The token to show, which most do not want to see.
        token: Option<Secret>,
    },
    /// At an address.
    Http {
        /// Host and port.
        authority: Authority,
        /// What the path begins with before the admin API's own; empty, or a path without a slash at its end.
        base: String,
        /// The token to show.
        token: Option<Secret>,
    },
}

/// A text that is not the URL of a gateway.
#[derive(Debug, thiserror::Error)]
pub enum InvalidUrl {
    /// It is no URL at all.
    #[error("`{0}` is not a URL; write it like http://127.0.0.1:3282")]
    Malformed(String),
    /// It holds a user name or password, which `http` would send in the clear and messages would show.
    #[error("the URL of the gateway holds a user name or password; put a token into MCPR_TOKEN instead")]
    Credentials,
    /// It has a scheme that is not `http`.
    #[error(
        "`{0}` cannot be used: only http is spoken here; reach a gateway elsewhere through an SSH tunnel, say"
    )]
    Scheme(String),
}

/// A machine that is there answers a connection at once; one that is not may never.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

impl Target {
    pub(super) fn url(text: &str, token: Option<Secret>) -> Result<Self, InvalidUrl> {
        let shown = || text.split(['?', '#']).next().unwrap_or_default().to_owned();
        if text.contains('@') {
            return Err(InvalidUrl::Credentials);
        }
        let uri: Uri = text.parse().map_err(|_| InvalidUrl::Malformed(shown()))?;
        if uri.scheme().is_some_and(|scheme| *scheme != Scheme::HTTP) {
            return Err(InvalidUrl::Scheme(shown()));
        }
        let authority = uri
            .authority()
            .cloned()
            .ok_or_else(|| InvalidUrl::Malformed(shown()))?;
        let base = uri.path().trim_end_matches('/');
        let base = base.strip_suffix("/mcp").unwrap_or(base).to_owned();
        Ok(Self::Http {
            authority,
            base,
            token,
        })
    }

    /// Sends an operation and gives the answer as soon as its head is there.
    pub(super) async fn post(
        &self,
        path: &str,
        accept: Option<&'static str>,
        body: Bytes,
    ) -> Result<Answer, ClientError> {
        let mut request = self.request(path, body);
        if let Some(accept) = accept {
            request
                .headers_mut()
                .insert(ACCEPT, HeaderValue::from_static(accept));
        }
        let answer = match self {
            Self::Socket { path, .. } => Answer::to(self.reached(local(path)).await?, request).await,
            Self::Http { authority, .. } => Answer::to(self.reached(remote(authority)).await?, request).await,
        };
        answer.map_err(ClientError::Broken)
    }

    fn request(&self, path: &str, body: Bytes) -> Request<Full<Bytes>> {
        let base = match self {
            Self::Socket { .. } => "",
            Self::Http { base, .. } => base,
        };
        let mut request = Request::post(format!("{base}{PREFIX}{path}"))
            .header(HOST, self.host())
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(body))
            .expect("the base was a path of a URL");
        if let Some(value) = self.authorization() {
            request.headers_mut().insert(AUTHORIZATION, value);
        }
        request
    }

    fn host(&self) -> &str {
        match self {
            Self::Socket { .. } => "localhost",
            Self::Http { authority, .. } => authority.as_str(),
        }
    }

    /// A token that cannot stand in a header is no token of mcpr; without it the gateway says what to do.
    fn authorization(&self) -> Option<HeaderValue> {
        let (Self::Http { token, .. } | Self::Socket { token, .. }) = self;
        let token = token.as_ref()?;
        let mut value = HeaderValue::try_from(format!("Bearer {}", token.reveal())).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    async fn reached<S>(&self, connecting: impl Future<Output = io::Result<S>>) -> Result<S, ClientError> {
        let connected = timeout(CONNECT_LIMIT, connecting).await;
        connected
            .unwrap_or_else(|late| Err(late.into()))
            .map_err(|source| self.unreached(source))
    }

    fn unreached(&self, source: io::Error) -> ClientError {
        let target = self.clone();
        match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
                ClientError::NotRunning { target, source }
            }
            io::ErrorKind::PermissionDenied => ClientError::Forbidden { target, source },
            _ => ClientError::Unreachable { target, source },
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Socket { path, .. } => write!(f, "{}", path.display()),
            Self::Http { authority, base, .. } => write!(f, "http://{authority}{base}"),
        }
    }
}

#[cfg(unix)]
async fn local(path: &std::path::Path) -> io::Result<tokio::net::UnixStream> {
    tokio::net::UnixStream::connect(path).await
}

#[cfg(not(unix))]
async fn local(_path: &std::path::Path) -> io::Result<TcpStream> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "there are no local sockets here; name the gateway by its URL",
    ))
}

async fn remote(authority: &Authority) -> io::Result<TcpStream> {
    let host = authority.host().trim_start_matches('[').trim_end_matches(']');
    let stream = TcpStream::connect((host, authority.port_u16().unwrap_or(80))).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(url: &str) -> String {
        Target::url(url, None).map_or_else(|error| error.to_string(), |target| target.to_string())
    }

    #[test]
    fn ctl_02_a_gateway_is_named_as_people_have_it_at_hand() {
        for url in [
            "http://127.0.0.1:3282",
            "http://127.0.0.1:3282/",
            "http://127.0.0.1:3282/mcp",
            "http://127.0.0.1:3282/mcp/",
            "127.0.0.1:3282",
        ] {
            assert_eq!(target(url), "http://127.0.0.1:3282", "{url}");
        }
        assert_eq!(target("http://box/tools/mcp"), "http://box/tools");
        assert_eq!(target("http://[::1]:3282/mcp"), "http://[::1]:3282");
    }

    #[test]
    fn ctl_04_a_url_that_cannot_be_used_says_why() {
        let said = ["https://box", "ftp://box", "not a url", "", "/mcp"]
            .map(target)
            .join("\n");
        insta::assert_snapshot!(said);
    }

    #[test]
    fn sec_04_what_is_secret_in_a_url_is_not_said_again() {
        for url in [
            "http://me:hunter22@box/mcp",
            "https://box/mcp?key=hunter22",
            "hunter22@box:port",
            "ftp://box/#hunter22",
        ] {
            let said = target(url);
            assert!(said.contains('`') || said.contains("MCPR_TOKEN"), "{said}");
            assert!(!said.contains("hunter22"), "{said}");
        }
    }

    #[test]
    fn log_04_the_token_does_not_show() {
        let target = Target::url("http://box", Some(Secret::new("mcpr_adm_x"))).unwrap();
        let request = target.request("status", Bytes::new());

        assert_eq!(request.headers()[AUTHORIZATION], "Bearer mcpr_adm_x");
        assert!(!format!("{target:?} {target} {request:?}").contains("mcpr_adm_x"));
    }
}

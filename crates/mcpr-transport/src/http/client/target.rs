//! Where a server is, as the configuration says it.

use std::fmt;
use std::path::Path;

use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::uri::{PathAndQuery, Uri};

use super::address::Origin;
use super::proxy::{Proxies, Proxy, Unusable};
use crate::http::names;

/// A URL and the headers that go with every request to it.
///
/// The URL is used as it is written: nothing is trimmed or added. Both may hold secrets, so
/// `Debug` and `Display` show the origin only.
#[derive(Clone)]
pub struct Target {
    origin: Origin,
    path: PathAndQuery,
    headers: HeaderMap,
    proxy: Option<Proxy>,
}

/// Why something cannot be a target; `Display` holds no secret.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TargetError {
    /// It is no URL.
    #[error("the URL is not valid ({0}); characters outside ASCII and spaces must be percent-encoded")]
    Invalid(String),
    /// It is a URL of something else.
    #[error("the URL must begin with `http://` or `https://` and name a host")]
    NotHttp,
    /// It holds a user name.
    #[error("the URL holds a user name or password; send them in an `Authorization` header instead")]
    Credentials,
    /// A header name with characters that are not allowed.
    #[error("`{0}` is not a valid header name")]
    HeaderName(String),
    /// A header value with characters that are not allowed.
    #[error("the value of header `{0}` holds a character that no header can carry, such as a line end")]
    HeaderValue(String),
    /// A proxy variable with something else than the URL of a proxy.
    #[error(
        "`{0}` names no proxy that mcpr can use: it takes `http://HOST:PORT` or `https://HOST:PORT`; \
         correct it, or list the host in `NO_PROXY`"
    )]
    Proxy(&'static str),
}

impl Target {
    /// Takes a URL and headers.
    ///
    /// Headers that the protocol sets itself are left out: nobody can break the connection with
    /// them. A `Host` header replaces the one made from the URL.
    ///
    /// # Errors
    ///
    /// A sentence for the one who wrote the configuration.
    pub fn new<'a>(
        url: &str,
        headers: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, TargetError> {
        if !begins_as_http(url) {
            return Err(TargetError::NotHttp);
        }
        let url: Uri = url
            .parse()
            .map_err(|error: http::uri::InvalidUri| TargetError::Invalid(error.to_string()))?;
        if url
            .authority()
            .is_some_and(|authority| authority.as_str().contains('@'))
        {
            return Err(TargetError::Credentials);
        }
        let origin = Origin::of(&url).ok_or(TargetError::NotHttp)?;
        let path = url.path_and_query().cloned();
        let path = path.unwrap_or_else(|| PathAndQuery::from_static("/"));
        Ok(Self {
            headers: read_headers(&origin, headers)?,
            origin,
            path,
            proxy: None,
        })
    }

    /// The endpoint at `path` of whoever listens at a local socket, with headers as for
    /// [`Target::new`].
    ///
    /// # Errors
    ///
    /// A sentence for the one who wrote the headers.
    pub fn local<'a>(
        socket: &Path,
        path: &'static str,
        headers: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, TargetError> {
        let origin = Origin::local(socket);
        Ok(Self {
            headers: read_headers(&origin, headers)?,
            origin,
            path: PathAndQuery::from_static(path),
            proxy: None,
        })
    }

    /// The same, reached through the proxy that stands on the way to it, if any does.
    ///
    /// # Errors
    ///
    /// When the variable that decides names no proxy.
    pub fn through(self, proxies: &Proxies) -> Result<Self, TargetError> {
        let proxy = proxies.toward(&self.origin);
        let proxy = proxy.map_err(|Unusable(variable)| TargetError::Proxy(variable))?;
        Ok(Self { proxy, ..self })
    }

    pub(super) fn proxy(&self) -> Option<&Proxy> {
        self.proxy.as_ref()
    }

    pub(super) fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Path and query, as a request line names them.
    pub(super) fn path(&self) -> Uri {
        self.path.clone().into()
    }

    /// What every request carries.
    pub(super) fn headers(&self) -> &HeaderMap {
        &self.headers
    }
}

fn begins_as_http(url: &str) -> bool {
    url.split_once("://").is_some_and(|(scheme, _)| {
        ["http", "https"]
            .iter()
            .any(|known| scheme.eq_ignore_ascii_case(known))
    })
}

fn read_headers<'a>(
    origin: &Origin,
    texts: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<HeaderMap, TargetError> {
    let mut headers = HeaderMap::new();
    for (name, value) in texts {
        let name = read_name(name)?;
        let value = read_value(&name, value)?;
        if is_ours(&name) {
            tracing::warn!(address = %origin, header = %name, "a configured header is left out: the protocol sets it");
        } else {
            headers.append(name, value);
        }
    }
    for (name, value) in [
        (header::HOST, origin.authority()),
        (header::USER_AGENT, user_agent()),
    ] {
        let value = read_value(&name, &value)?;
        headers.entry(name).or_insert(value);
    }
    Ok(headers)
}

fn user_agent() -> String {
    format!("mcpr/{}", env!("CARGO_PKG_VERSION"))
}

fn read_name(name: &str) -> Result<HeaderName, TargetError> {
    name.trim()
        .parse()
        .map_err(|_| TargetError::HeaderName(name.to_owned()))
}

fn read_value(name: &HeaderName, value: &str) -> Result<HeaderValue, TargetError> {
    let value = HeaderValue::from_bytes(value.trim_ascii().as_bytes());
    let mut value = value.map_err(|_| TargetError::HeaderValue(name.to_string()))?;
    value.set_sensitive(true);
    Ok(value)
}

/// Whether the protocol, or the way the messages are framed, decides about a header.
fn is_ours(name: &HeaderName) -> bool {
    const OURS: [HeaderName; 15] = [
        header::ACCEPT,
        header::ACCEPT_ENCODING,
        header::CONNECTION,
        header::CONTENT_ENCODING,
        header::CONTENT_LENGTH,
        header::CONTENT_TYPE,
        header::EXPECT,
        header::TE,
        header::TRANSFER_ENCODING,
        header::UPGRADE,
        names::LAST_EVENT_ID,
        names::METHOD,
        names::NAME,
        names::PROTOCOL_VERSION,
        names::SESSION_ID,
    ];
    OURS.contains(name) || name.as_str().starts_with(names::PARAM_PREFIX)
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.origin.fmt(f)
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({})", self.origin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(url: &str) -> TargetError {
        Target::new(url, []).unwrap_err()
    }

    #[test]
    fn b67_a_url_is_used_verbatim() {
        for path in ["/mcp", "/mcp/", "/", "/a//b/?x=%20&y", "/a/../b"] {
            let target = Target::new(&format!("http://h:1{path}"), []).unwrap();
            assert_eq!(target.path().to_string(), path);
        }
        assert_eq!(Target::new("http://h", []).unwrap().path(), "/");
    }

    #[test]
    fn b28_what_is_no_url_is_refused_with_a_sentence() {
        assert_eq!(refusal("localhost:3000/mcp"), TargetError::NotHttp);
        assert_eq!(refusal("ws://h/"), TargetError::NotHttp);
        assert_eq!(refusal("http://me:secret@h/"), TargetError::Credentials);
        assert!(refusal("http://h/ä b").to_string().contains("percent-encoded"));
        assert_eq!(refusal(""), TargetError::NotHttp);
    }

    #[test]
    fn b10_secrets_are_in_no_debug_text() {
        let target = Target::new("https://h/t0ken?key=t0ken", [("Authorization", "Bearer t0ken")]).unwrap();
        assert_eq!(format!("{target:?} {target}"), "Target(https://h) https://h");
        let error = Target::new("http://h", [("X-Key", "t0ken\nX: y")])
            .unwrap_err()
            .to_string();
        assert!(error.contains("x-key") && !error.contains("t0ken"));
        assert!(target.headers().values().all(HeaderValue::is_sensitive));
    }

    #[test]
    fn b87_headers_of_the_protocol_cannot_be_configured() {
        let configured = [
            ("Accept", "*/*"),
            ("MCP-Protocol-Version", "1"),
            ("mcp-param-x", "1"),
            ("X-Own", "ü"),
        ];
        let target = Target::new("http://h", configured).unwrap();
        let names: Vec<_> = target.headers().keys().map(HeaderName::as_str).collect();
        assert_eq!(names, ["x-own", "host", "user-agent"]);
    }

    #[test]
    fn a_configured_host_replaces_ours() {
        let target = Target::new("http://127.0.0.1:9", [("Host", "example.org")]).unwrap();
        assert_eq!(
            target.headers().get_all("host").iter().collect::<Vec<_>>(),
            ["example.org"]
        );
    }
}

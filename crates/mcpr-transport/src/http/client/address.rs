//! Where a URL leads, and where a reference in an answer leads from there.

use std::fmt;
use std::path::Path;

use http::Uri;

/// Scheme, host and port: what must not change when a server points somewhere else.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Origin {
    pub(crate) secure: bool,
    /// In lower case, an IPv6 address in brackets.
    pub(crate) host: Box<str>,
    pub(crate) port: u16,
    /// The local socket that is connected to in place of host and port.
    pub(crate) socket: Option<Box<Path>>,
}

impl Origin {
    /// The origin of an absolute `http` or `https` URL.
    pub(crate) fn of(url: &Uri) -> Option<Self> {
        let secure = match url.scheme_str()? {
            "http" => false,
            "https" => true,
            _ => return None,
        };
        let host = url.host().filter(|host| !host.is_empty())?;
        // A port that is out of range must not become the usual one.
        let behind = url
            .authority()?
            .as_str()
            .rsplit_once(host)
            .map_or("", |(_, behind)| behind);
        let port = match behind.strip_prefix(':') {
            Some("") | None => {
                if secure {
                    443
                } else {
                    80
                }
            }
            Some(port) => port.parse().ok()?,
        };
        Some(Self {
            secure,
            host: host.to_ascii_lowercase().into(),
            port,
            socket: None,
        })
    }

    /// Whoever listens at a local socket.
    pub(crate) fn local(socket: &Path) -> Self {
        Self {
            secure: false,
            host: "localhost".into(),
            port: 80,
            socket: Some(socket.into()),
        }
    }

    /// The host as a resolver or a certificate knows it.
    pub(crate) fn bare_host(&self) -> &str {
        let inner = self
            .host
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        inner.unwrap_or(&self.host)
    }

    /// The value of `Host`.
    pub(crate) fn authority(&self) -> String {
        let usual = if self.secure { 443 } else { 80 };
        if self.port == usual {
            self.host.to_string()
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(socket) = &self.socket {
            return socket.display().fmt(f);
        }
        let scheme = if self.secure { "https" } else { "http" };
        write!(f, "{scheme}://{}", self.authority())
    }
}

/// The absolute URL that `reference` means in a document at `path` of `origin` (RFC 3986, section 5).
pub(crate) fn resolve(origin: &Origin, path: &Uri, reference: &str) -> Option<Uri> {
    let reference = reference.trim().split('#').next().unwrap_or_default();
    if has_scheme(reference) {
        return reference.parse().ok();
    }
    if reference.starts_with("//") {
        let scheme = if origin.secure { "https:" } else { "http:" };
        return format!("{scheme}{reference}").parse().ok();
    }
    let path = without_dots(&merged(path, reference));
    format!("{origin}{path}").parse().ok()
}

fn has_scheme(reference: &str) -> bool {
    let end = reference.find([':', '/', '?']);
    let scheme = end
        .filter(|&end| reference[end..].starts_with(':'))
        .map(|end| &reference[..end]);
    scheme.is_some_and(|scheme| scheme.starts_with(|first: char| first.is_ascii_alphabetic()))
}

/// Path and query of a reference without a host.
fn merged(base: &Uri, reference: &str) -> String {
    match reference.chars().next() {
        None => base
            .path_and_query()
            .map_or("/", |whole| whole.as_str())
            .to_owned(),
        Some('/') => reference.to_owned(),
        Some('?') => format!("{}{reference}", base.path()),
        Some(_) => {
            let folder = base.path().rfind('/').map_or("/", |end| &base.path()[..=end]);
            format!("{folder}{reference}")
        }
    }
}

fn without_dots(whole: &str) -> String {
    let (path, query) = whole.find('?').map_or((whole, ""), |at| whole.split_at(at));
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split('/').skip(1) {
        match segment {
            "." => {}
            ".." => drop(kept.pop()),
            segment => kept.push(segment),
        }
    }
    let folder = path.ends_with("/.") || path.ends_with("/..");
    let end = if folder && !kept.is_empty() { "/" } else { "" };
    format!("/{}{end}{query}", kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(url: &str, reference: &str) -> String {
        let url: Uri = url.parse().unwrap();
        resolve(&Origin::of(&url).unwrap(), &url, reference).map_or_else(String::new, |url| url.to_string())
    }

    #[test]
    fn a_port_out_of_range_is_no_url() {
        let port = |url: &str| Origin::of(&url.parse().unwrap()).map(|origin| origin.port);
        assert_eq!(port("http://127.0.0.1:99999/mcp"), None);
        assert_eq!(port("http://[::1]:8080/"), Some(8080));
        assert_eq!(port("https://u:p@a.b"), Some(443));
        assert_eq!(port("http://a.b:"), Some(80));
    }

    #[test]
    fn b98_references_of_every_kind_are_resolved() {
        let base = "http://h:81/a/sse?k=1";
        let cases = [
            ("/messages?s=1", "http://h:81/messages?s=1"),
            ("messages?s=1", "http://h:81/a/messages?s=1"),
            ("./messages", "http://h:81/a/messages"),
            ("../messages/", "http://h:81/messages/"),
            ("../../x", "http://h:81/x"),
            ("..", "http://h:81/"),
            ("?s=http://x", "http://h:81/a/sse?s=http://x"),
            ("", "http://h:81/a/sse?k=1"),
            ("/m#part", "http://h:81/m"),
            ("//other/m", "http://other/m"),
            ("https://other:1/m", "https://other:1/m"),
            (" /m\r", "http://h:81/m"),
            ("/a b", ""),
        ];
        for (reference, expected) in cases {
            assert_eq!(from(base, reference), expected, "{reference}");
        }
    }

    #[test]
    fn an_origin_knows_its_usual_port() {
        let origin = |url: &str| Origin::of(&url.parse().unwrap());
        assert_eq!(origin("HTTPS://Example.org/x"), origin("https://example.org:443"));
        assert_ne!(origin("http://example.org"), origin("https://example.org"));
        assert_eq!(origin("http://[::1]:8080/").unwrap().bare_host(), "::1");
        assert_eq!(
            origin("http://[::1]:8080/").unwrap().to_string(),
            "http://[::1]:8080"
        );
        assert!(origin("ftp://x/").is_none());
    }
}

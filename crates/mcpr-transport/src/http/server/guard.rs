//! Which names and which web pages may be used to call (step 2 of a request's path).
//!
//! A web page of a stranger can make a browser call a loopback address under the stranger's own
//! name (DNS rebinding). So the `Host` must be a name of this gateway and an `Origin`, where there
//! is one, a page that is trusted; programs that are no browsers send no `Origin`.

use std::net::{IpAddr, Ipv6Addr};

use http::header::{HOST, ORIGIN};
use http::request::Parts;
use http::{HeaderMap, HeaderValue};

use super::{Options, Refusal};

/// The names and pages that are allowed beside those of the loopback interface.
#[derive(Debug)]
pub(super) struct Guard {
    hosts: Vec<Name>,
    origins: Vec<String>,
}

/// A host name, with the port if only that one is meant.
#[derive(Debug)]
struct Name {
    host: String,
    port: Option<u16>,
}

impl Guard {
    pub(super) fn new(options: &Options) -> Self {
        let hosts = options.allowed_hosts.iter();
        let origins = options.allowed_origins.iter();
        Self {
            hosts: hosts.filter_map(|entry| Name::read(entry)).collect(),
            origins: origins
                .map(|entry| entry.trim_end_matches('/').to_owned())
                .collect(),
        }
    }

    /// Checks the name the client used: one `Host` header, and the authority of an absolute URI.
    ///
    /// `local` is the address the connection came in on. It is allowed as it stands, because a
    /// rebinding attack needs a name.
    pub(super) fn check_host(&self, head: &Parts, local: Option<IpAddr>) -> Result<(), Refusal> {
        let mut named = head.headers.get_all(HOST).iter();
        let host = match (named.next().map(HeaderValue::to_str), named.next()) {
            (Some(Ok(host)), None) => host,
            (None, _) => return Err(Refusal::Host(String::new())),
            _ => return Err(Refusal::Host("not a single name".to_owned())),
        };
        let target = head.uri.authority().map(|authority| authority.as_str());
        match [Some(host), target]
            .into_iter()
            .flatten()
            .find(|name| !self.is_ours(name, local))
        {
            Some(foreign) => Err(Refusal::Host(Refusal::shown(foreign))),
            None => Ok(()),
        }
    }

    /// Checks the web page that calls, and gives its origin if there is one.
    pub(super) fn check_origin<'head>(
        &self,
        headers: &'head HeaderMap,
    ) -> Result<Option<&'head HeaderValue>, Refusal> {
        let mut named = headers.get_all(ORIGIN).iter();
        let Some(value) = named.next() else {
            return Ok(None);
        };
        let origin = value.to_str().unwrap_or_default();
        let host = headers.get(HOST).and_then(|host| host.to_str().ok());
        if named.next().is_none() && self.is_trusted(origin, host) {
            return Ok(Some(value));
        }
        Err(Refusal::Origin(Refusal::shown(&String::from_utf8_lossy(
            value.as_bytes(),
        ))))
    }

    fn is_ours(&self, authority: &str, local: Option<IpAddr>) -> bool {
        let Some((host, port)) = split(authority) else {
            return false;
        };
        let host = host.strip_suffix('.').unwrap_or(host);
        is_loopback(host)
            || local.is_some_and(|local| host.parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical() == local))
            || self.hosts.iter().any(|name| name.fits(host, port))
    }

    /// `host` has passed [`check_host`](Self::check_host), so a page of the same host is ours.
    fn is_trusted(&self, origin: &str, host: Option<&str>) -> bool {
        if self
            .origins
            .iter()
            .any(|allowed| allowed.eq_ignore_ascii_case(origin))
        {
            return true;
        }
        let Some(("http" | "https", authority)) = origin.split_once("://") else {
            return false;
        };
        let same = host.is_some_and(|host| host.eq_ignore_ascii_case(authority));
        same || split(authority).is_some_and(|(host, _)| is_loopback(host))
    }
}

impl Name {
    /// Reads `name`, `name:port` or `name:*`.
    fn read(entry: &str) -> Option<Self> {
        let (host, port) = split(entry.strip_suffix(":*").unwrap_or(entry))?;
        Some(Self {
            host: host.to_owned(),
            port,
        })
    }

    fn fits(&self, host: &str, port: Option<u16>) -> bool {
        self.host.eq_ignore_ascii_case(host) && (self.port.is_none() || self.port == port)
    }
}

/// Host (an IPv6 address without its brackets) and port.
fn split(authority: &str) -> Option<(&str, Option<u16>)> {
    let (host, rest) = match authority.strip_prefix('[') {
        Some(bracketed) => bracketed
            .split_once(']')
            .filter(|(host, _)| host.parse::<Ipv6Addr>().is_ok())?,
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    match rest {
        "" => Some((host, None)),
        _ => Some((host, Some(rest.strip_prefix(':')?.parse().ok()?))),
    }
}

fn is_loopback(host: &str) -> bool {
    host == "127.0.0.1" // What nearly all say, and quicker than to read an address.
        || host.eq_ignore_ascii_case("localhost")
        || host
            .parse::<IpAddr>()
            .is_ok_and(|ip| ip.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn guard(hosts: &[&str], origins: &[&str]) -> Guard {
        let owned = |list: &[&str]| list.iter().map(|&entry| entry.to_owned()).collect();
        Guard::new(&Options {
            allowed_hosts: owned(hosts),
            allowed_origins: owned(origins),
            ..Options::default()
        })
    }

    fn head(headers: &[(&str, &str)]) -> Parts {
        let request = headers
            .iter()
            .fold(Request::post("/mcp"), |request, (name, value)| {
                request.header(*name, *value)
            });
        request.body(()).unwrap().into_parts().0
    }

    fn host_passes(guard: &Guard, host: &str) -> bool {
        guard.check_host(&head(&[("host", host)]), None).is_ok()
    }

    fn origin_passes(guard: &Guard, host: &str, origin: &str) -> bool {
        guard
            .check_origin(&head(&[("host", host), ("origin", origin)]).headers)
            .is_ok()
    }

    #[test]
    fn sec_01_loopback_names_of_any_port_are_ours() {
        let guard = guard(&[], &[]);
        for host in [
            "localhost",
            "LOCALHOST:3282",
            "localhost.:1",
            "127.0.0.1:3282",
            "127.9.9.9",
            "[::1]:3282",
            "[::1]",
        ] {
            assert!(host_passes(&guard, host), "{host}");
        }
    }

    #[test]
    fn sec_01_any_other_name_is_foreign() {
        let guard = guard(&[], &[]);
        for host in [
            "evil.example",
            "localhost.evil.example",
            "evil@localhost",
            "127.0.0.1.evil.example",
            "localhost:port",
            "localhost:99999",
            "::1",
            "[::1",
            "[::1]x",
            "[localhost]",
            "[127.0.0.1]:3282",
            "0.0.0.0",
            "192.168.1.5",
            "10.0.0.1:3282",
            "",
        ] {
            assert!(!host_passes(&guard, host), "{host}");
        }
    }

    #[test]
    fn sec_01_no_host_two_hosts_and_a_foreign_target_are_refused() {
        let guard = guard(&[], &[]);
        assert!(guard.check_host(&head(&[]), None).is_err());
        assert!(
            guard
                .check_host(&head(&[("host", "localhost"), ("host", "localhost")]), None)
                .is_err()
        );
        let mut absolute = head(&[("host", "localhost")]);
        absolute.uri = "http://evil.example/mcp".parse().unwrap();
        assert!(guard.check_host(&absolute, None).is_err());
    }

    #[test]
    fn b93_a_configured_name_passes_with_its_port_or_with_any() {
        let guard = guard(&["Gateway.example", "exact:8443", "any:*"], &[]);
        for host in [
            "gateway.example",
            "gateway.example:9",
            "exact:8443",
            "any:1",
            "any",
        ] {
            assert!(host_passes(&guard, host), "{host}");
        }
        assert!(!host_passes(&guard, "exact:8444") && !host_passes(&guard, "exact"));
    }

    #[test]
    fn the_address_a_connection_came_in_on_is_ours() {
        let local = Some("192.168.1.5".parse().unwrap());
        let check = |host| {
            guard(&[], &[])
                .check_host(&head(&[("host", host)]), local)
                .is_ok()
        };
        assert!(check("192.168.1.5:3282"));
        assert!(!check("192.168.1.6:3282"));
    }

    #[test]
    fn sec_01_loopback_pages_and_configured_pages_may_call() {
        let guard = guard(
            &["gateway.example"],
            &["https://app.example/", "vscode-webview://panel"],
        );
        for origin in [
            "http://localhost:6274",
            "https://127.0.0.1",
            "http://[::1]:1",
            "https://app.example",
            "vscode-webview://panel",
        ] {
            assert!(origin_passes(&guard, "localhost", origin), "{origin}");
        }
        assert!(
            origin_passes(&guard, "gateway.example", "https://gateway.example"),
            "its own page"
        );
    }

    #[test]
    fn sec_01_foreign_pages_may_not_call() {
        let guard = guard(&[], &["https://app.example"]);
        for origin in [
            "http://evil.example",
            "null",
            "http://app.example",
            "https://app.example:444",
            "https://app.example.evil",
            "http://localhost.evil",
            "file://localhost",
            "http://localhost@evil.example",
            "",
        ] {
            assert!(!origin_passes(&guard, "localhost", origin), "{origin}");
        }
    }

    #[test]
    fn a_caller_without_an_origin_is_no_browser() {
        assert_eq!(guard(&[], &[]).check_origin(&HeaderMap::new()), Ok(None));
    }
}

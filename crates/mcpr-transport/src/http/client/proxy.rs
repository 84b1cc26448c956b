//! Which proxy stands between us and a server, as the environment says it (B111).
//!
//! The variables are those that curl, Node and Python know, in either case; the one in lower case
//! wins, as it does there. hyper-util reads their URLs and matches hosts and networks; what it does
//! not know is done here: ports and `*.` in `NO_PROXY`, which variable it was, and that a variable
//! that cannot be used is an error and not passed over.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use http::{HeaderValue, StatusCode, Uri};
use hyper_util::client::proxy::matcher::Matcher;

use super::address::Origin;

/// The proxies that some variables name.
///
/// The values may hold passwords, so `Debug` shows the names only.
#[derive(Clone, Default)]
pub struct Proxies(Arc<BTreeMap<&'static str, String>>);

/// The proxy on the way to one origin. `Display` names it, and its variable, without credentials.
#[derive(Clone, Debug)]
pub(super) struct Proxy {
    /// Where it is.
    pub(super) at: Origin,
    /// What it is shown.
    pub(super) authorization: Option<HeaderValue>,
    variable: &'static str,
}

/// The variable that names something else than a proxy that can be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Unusable(pub(super) &'static str);

/// For each kind of URL, from the one that wins to the one that is asked last.
const FOR_HTTP: [&str; 4] = ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"];
const FOR_HTTPS: [&str; 4] = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];
const EXEMPT: [&str; 2] = ["no_proxy", "NO_PROXY"];

impl Proxies {
    /// Those of the environment, as it is now.
    pub fn from_env() -> Self {
        let names = FOR_HTTP.into_iter().chain(FOR_HTTPS).chain(EXEMPT);
        Self::of(names.filter_map(|name| Some((name, std::env::var(name).ok()?))))
    }

    /// Those of these variables, by their usual names; others are left out.
    pub fn of<'a>(variables: impl IntoIterator<Item = (&'a str, String)>) -> Self {
        let known = |name: &str| {
            let mut names = FOR_HTTP.into_iter().chain(FOR_HTTPS).chain(EXEMPT);
            names.find(|known| *known == name)
        };
        let given = variables.into_iter();
        let given = given.filter(|(_, value)| !value.trim().is_empty());
        Self(Arc::new(
            given
                .filter_map(|(name, value)| Some((known(name)?, value)))
                .collect(),
        ))
    }

    /// What of the variables is secret: users, passwords, and both as a proxy is shown them.
    pub fn credentials(&self) -> Vec<String> {
        let named = self.0.iter().filter(|(name, _)| !EXEMPT.contains(name));
        named
            .flat_map(|(_, value)| credentials_in(value.trim()))
            .collect()
    }

    /// The proxy on the way to `origin`; `None` where the way is direct.
    pub(super) fn toward(&self, origin: &Origin) -> Result<Option<Proxy>, Unusable> {
        let names = if origin.secure { FOR_HTTPS } else { FOR_HTTP };
        let Some((variable, value)) = self.first(names) else {
            return Ok(None);
        };
        if origin.socket.is_some() || is_here(origin) || self.is_exempt(origin) {
            return Ok(None);
        }
        let found = Matcher::builder().all(value.trim()).build();
        let found = url(origin).and_then(|url| found.intercept(&url));
        let found = found.and_then(|found| Some((Origin::of(found.uri())?, found.basic_auth().cloned())));
        let (at, authorization) = found.ok_or(Unusable(variable))?;
        Ok(Some(Proxy {
            at,
            authorization,
            variable,
        }))
    }

    fn first<const N: usize>(&self, names: [&'static str; N]) -> Option<(&'static str, &str)> {
        let mut set = names
            .into_iter()
            .filter_map(|name| Some((name, self.0.get(name)?.as_str())));
        set.next()
    }

    fn is_exempt(&self, origin: &Origin) -> bool {
        let Some((_, list)) = self.first(EXEMPT) else {
            return false;
        };
        let entries = list.split([',', ' ', '\t', '\n']);
        let entries: Vec<_> = entries
            .filter_map(|entry| meant_for(entry, origin.port))
            .collect();
        if entries.contains(&"*") {
            return true;
        }
        // Any proxy does for the question.
        let matcher = Matcher::builder()
            .all("http://proxy")
            .no(entries.join(","))
            .build();
        url(origin).is_some_and(|url| matcher.intercept(&url).is_none())
    }
}

/// What is secret in the URL of a proxy.
fn credentials_in(value: &str) -> Vec<String> {
    let rest = value.split_once("://").map_or(value, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let Some((user, _)) = authority.rsplit_once('@') else {
        return Vec::new();
    };
    // Any server does for the question.
    let proxy = Matcher::builder()
        .all(value)
        .build()
        .intercept(&Uri::from_static("http://server/"));
    let shown = proxy.and_then(|proxy| Some(proxy.basic_auth()?.to_str().ok()?.to_owned()));
    user.split(':').map(str::to_owned).chain(shown).collect()
}

/// The host, suffix or network of an entry of `NO_PROXY`, if the entry is about that port.
fn meant_for(entry: &str, port: u16) -> Option<&str> {
    let bracketed = entry.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let (host, its_port) = match (bracketed, entry.split_once(':')) {
        (Some((host, behind)), _) => (host, behind.strip_prefix(':')),
        // An address of IPv6 has more than one colon.
        (None, Some((host, behind))) if !behind.contains(':') => (host, Some(behind)),
        _ => (entry, None),
    };
    let meant = its_port.is_none_or(|its| its.parse() == Ok(port));
    let host = host.strip_prefix("*.").unwrap_or(host);
    (meant && !host.is_empty()).then_some(host)
}

/// Whether an origin is this machine: no proxy could reach that.
fn is_here(origin: &Origin) -> bool {
    let host = origin.bare_host().trim_end_matches('.');
    match host.parse::<IpAddr>() {
        Ok(address) => {
            let address = address.to_canonical();
            address.is_loopback() || address.is_unspecified()
        }
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

fn url(origin: &Origin) -> Option<Uri> {
    format!("{origin}/").parse().ok()
}

impl Proxy {
    /// What it means that the proxy itself answers with this status.
    pub(super) fn refusal(&self, status: StatusCode) -> String {
        match (status, &self.authorization) {
            (StatusCode::PROXY_AUTHENTICATION_REQUIRED, None) => {
                format!(
                    "it wants a user name and a password; put them into `{}`, as in `http://USER:PASSWORD@HOST:PORT`",
                    self.variable
                )
            }
            (StatusCode::PROXY_AUTHENTICATION_REQUIRED, Some(_)) => {
                format!(
                    "it does not accept the user name and password in `{}`",
                    self.variable
                )
            }
            _ => format!("it answers {status}"),
        }
    }
}

impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the proxy {} ({})", self.at, self.variable)
    }
}

impl fmt::Debug for Proxies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(url: &str) -> Origin {
        Origin::of(&url.parse().unwrap()).unwrap()
    }

    /// The proxy on the way to a URL, in words; nothing where the way is direct.
    fn way(variables: &[(&str, &str)], url: &str) -> String {
        let proxies = Proxies::of(variables.iter().map(|(name, value)| (*name, (*value).to_owned())));
        match proxies.toward(&origin(url)) {
            Ok(proxy) => proxy.map_or_else(String::new, |proxy| proxy.to_string()),
            Err(Unusable(variable)) => format!("unusable {variable}"),
        }
    }

    #[test]
    fn b111_each_kind_of_url_has_its_variable_and_lower_case_wins() {
        let variables = [("HTTP_PROXY", "http://up:1"), ("ALL_PROXY", "http://all:2")];
        assert_eq!(
            way(&variables, "http://a.test/mcp"),
            "the proxy http://up:1 (HTTP_PROXY)"
        );
        assert_eq!(
            way(&variables, "https://a.test/mcp"),
            "the proxy http://all:2 (ALL_PROXY)"
        );
        let both = [("HTTPS_PROXY", "http://up:1"), ("https_proxy", "low:3")];
        assert_eq!(
            way(&both, "https://a.test"),
            "the proxy http://low:3 (https_proxy)"
        );
        assert_eq!(way(&both, "http://a.test"), "");
        assert_eq!(
            way(
                &[("http_proxy", " "), ("all_proxy", "https://s")],
                "http://a.test"
            ),
            "the proxy https://s (all_proxy)"
        );
        assert_eq!(way(&[("FTP_PROXY", "http://up:1")], "http://a.test"), "");
    }

    #[test]
    fn b111_this_machine_is_never_behind_a_proxy() {
        let all = [("ALL_PROXY", "http://p:1")];
        for here in [
            "http://127.0.0.1:8/mcp",
            "http://127.9.9.9/",
            "https://localhost:8",
            "http://LOCALHOST",
            "http://a.localhost",
            "http://[::1]:9/",
            "http://[::ffff:127.0.0.1]/",
            "http://0.0.0.0:5/",
        ] {
            assert_eq!(way(&all, here), "", "{here}");
        }
        for there in ["http://10.0.0.1", "http://localhost.test", "http://[2001:db8::1]"] {
            assert_ne!(way(&all, there), "", "{there}");
        }
        let socket = Origin::local(std::path::Path::new("/run/ctl.sock"));
        let proxies = Proxies::of([("ALL_PROXY", "http://p:1".to_owned())]);
        assert!(proxies.toward(&socket).unwrap().is_none());
    }

    #[test]
    fn b111_no_proxy_knows_suffixes_ports_addresses_and_networks() {
        for (list, exempt, others) in [
            (
                "corp.test",
                &["http://corp.test", "http://a.CORP.test:8"][..],
                &["http://nocorp.test"][..],
            ),
            (
                ".corp.test, x",
                &["http://a.corp.test", "http://x"],
                &["http://y"],
            ),
            ("*.corp.test", &["http://a.corp.test"], &["http://b.test"]),
            (
                "corp.test:81",
                &["http://corp.test:81"],
                &["http://corp.test", "http://corp.test:811"],
            ),
            ("corp.test:443 x", &["https://corp.test"], &["http://corp.test"]),
            (
                "10.0.0.0/8,192.168.1.7",
                &["http://10.9.8.7:1", "http://192.168.1.7"],
                &["http://11.0.0.1", "http://192.168.1.8", "http://a.10.test"],
            ),
            ("10.0.0.1:81", &["http://10.0.0.1:81"], &["http://10.0.0.1"]),
            (
                "fd00::/8,[2001:db8::1],[2001:db8::2]:81",
                &[
                    "http://[fd12::1]",
                    "http://[2001:db8::1]:5",
                    "http://[2001:db8::2]:81",
                ],
                &["http://[fe80::1]", "http://[2001:db8::2]"],
            ),
            ("*", &["http://a.test", "https://10.0.0.1"], &[]),
            (",: ,", &[], &["http://a.test"]),
        ] {
            let variables = [("ALL_PROXY", "http://p:1"), ("NO_PROXY", list)];
            for url in exempt {
                assert_eq!(way(&variables, url), "", "{url} by {list}");
            }
            for url in others {
                assert_ne!(way(&variables, url), "", "{url} by {list}");
            }
        }
        let both = [
            ("ALL_PROXY", "http://p:1"),
            ("NO_PROXY", "a.test"),
            ("no_proxy", "b.test"),
        ];
        assert_ne!(way(&both, "http://a.test"), "");
    }

    #[test]
    fn b111_credentials_come_from_the_url_and_are_never_shown() {
        let proxies = Proxies::of([("HTTPS_PROXY", "http://me:s3cr%40t@p.test:1/x".to_owned())]);

        let proxy = proxies.toward(&origin("https://a.test")).unwrap().unwrap();

        let shown = proxy.authorization.as_ref().unwrap();
        assert_eq!(shown, "Basic bWU6czNjckB0", "me:s3cr@t");
        assert_eq!(proxy.to_string(), "the proxy http://p.test:1 (HTTPS_PROXY)");
        assert!(!format!("{proxy:?} {proxies:?}").contains("s3cr") && shown.is_sensitive());
        assert!(!format!("{proxy:?}").contains("bWU6"));
    }

    #[test]
    fn b111_a_variable_that_names_no_usable_proxy_is_named() {
        for value in [
            "socks5://p:1",
            "p:1:2",
            "ftp://p",
            "http://",
            "http://p:99999",
            "a b",
        ] {
            assert_eq!(
                way(&[("ALL_PROXY", value)], "http://a.test"),
                "unusable ALL_PROXY",
                "{value}"
            );
            assert_eq!(way(&[("ALL_PROXY", value)], "http://127.0.0.1"), "", "{value}");
        }
    }

    #[test]
    fn b111_users_and_passwords_of_proxies_are_known_as_secrets() {
        let variables = [
            ("HTTP_PROXY", "http://me:pass%40word@proxy:1".to_owned()),
            ("ALL_PROXY", "http://proxy:2".to_owned()),
            ("NO_PROXY", "a:b@c".to_owned()),
        ];
        let known = Proxies::of(variables).credentials();
        assert_eq!(known, ["me", "pass%40word", "Basic bWU6cGFzc0B3b3Jk"]);
    }
}

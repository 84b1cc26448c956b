//! URLs of servers.

use crate::fault::Fault;
use crate::tree::Node;

/// Checks an expanded URL; the message never holds it.
pub(super) fn check(node: &Node, url: &str) -> Result<(), Fault> {
    let wrong = |problem: &str| {
        node.fault(problem)
            .hint("a URL such as `https://example.com/mcp` is needed")
    };
    let Some((scheme, rest)) = url.split_once("://") else {
        return Err(wrong("is not a URL"));
    };
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return Err(wrong("must begin with `http://` or `https://`"));
    }
    if authority(rest).is_empty() {
        return Err(wrong("has no host"));
    }
    if authority(rest).contains('@') {
        let fault = node.fault("has a user name or a password in it");
        return Err(fault.hint("send them in an `Authorization` header instead"));
    }
    if port(authority(rest)).is_some_and(|port| port.parse::<u16>().is_err()) {
        return Err(wrong("has a port that is none (0 to 65535)"));
    }
    if url.contains(|c: char| c.is_control() || c.is_whitespace()) {
        return Err(wrong("has a space or a line break in it"));
    }
    Ok(())
}

/// What stands behind the host, IPv6 addresses in brackets aside.
fn port(authority: &str) -> Option<&str> {
    let behind = authority.rsplit_once(']').map_or(authority, |(_, behind)| behind);
    behind.split_once(':').map(|(_, port)| port)
}

/// The URL for people: without user, query and fragment, where secrets are usual.
pub(crate) fn shown(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let authority = authority(rest);
    let path = &rest[authority.len()..];
    let path = path
        .split_once(['?', '#'])
        .map_or_else(|| path.to_owned(), |(path, _)| format!("{path}?…"));
    let host = authority
        .rsplit_once('@')
        .map_or_else(|| authority.to_owned(), |(_, host)| format!("…@{host}"));
    if scheme.is_empty() {
        format!("{host}{path}")
    } else {
        format!("{scheme}://{host}{path}")
    }
}

/// What of a URL is secret by its place: user, password, and the values of its query.
pub(super) fn secrets(url: &str) -> impl Iterator<Item = &str> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let user = authority(rest).rsplit_once('@').map(|(user, _)| user);
    let query = rest.split_once('?').map(|(_, query)| query);
    let values = query.into_iter().flat_map(|query| query.split(['&', '#']));
    let values = values.map(|pair| pair.split_once('=').map_or(pair, |(_, value)| value));
    user.into_iter().flat_map(|user| user.split(':')).chain(values)
}

/// What tells the URL from those of equal servers: host, port and path.
pub(crate) fn label(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let end = rest.find(['?', '#']).unwrap_or(rest.len());
    rest[..end].trim_end_matches('/')
}

/// Host and port, and the user if there is one.
fn authority(rest: &str) -> &str {
    // A `${VAR:-a/b?c}` is one piece, whatever is in it.
    let mut inside = false;
    let end = rest.find(|c: char| {
        inside = (inside || c == '{') && c != '}';
        !inside && matches!(c, '/' | '?' | '#')
    });
    &rest[..end.unwrap_or(rest.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_holds_no_query() {
        assert_eq!(label("http://10.0.0.1:8080/mcp?key=1"), "10.0.0.1:8080/mcp");
        assert_eq!(label("https://a.example/"), "a.example");
    }

    #[test]
    fn log_04_users_and_values_of_a_query_are_secret() {
        let all = |url| secrets(url).collect::<Vec<_>>();
        assert_eq!(
            all("https://ann:pw@h/mcp?key=a&flag#part"),
            ["ann", "pw", "a", "flag", "part"]
        );
        assert_eq!(all("https://h/mcp"), [""; 0]);
    }

    #[test]
    fn a_port_is_found_behind_any_host() {
        assert_eq!(port("127.0.0.1:99999"), Some("99999"));
        assert_eq!(port("[::1]:80"), Some("80"));
        assert_eq!(port("[::1]"), None);
        assert_eq!(port("example.com"), None);
    }

    #[test]
    fn a_shown_url_holds_neither_user_nor_query() {
        assert_eq!(shown("https://example.com/mcp"), "https://example.com/mcp");
        assert_eq!(
            shown("https://ann:pw@example.com/mcp?key=1#x"),
            "https://…@example.com/mcp?…"
        );
        assert_eq!(shown("https://example.com?key=1"), "https://example.com?…");
        assert_eq!(
            shown("${BASE:-https://example.com}/mcp"),
            "${BASE:-https://example.com}/mcp"
        );
        assert_eq!(shown("http://${HOST:-a/b}/mcp"), "http://${HOST:-a/b}/mcp");
        assert_eq!(shown("notaurl"), "notaurl");
    }
}

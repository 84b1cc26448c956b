//! A gateway is none of its own servers.

use http::Uri;
use mcpr_config::{Fault, ServerEntry, ServerState};
use mcpr_upstream::{Reach, SecretText};

/// A gateway among its own servers would call itself without end (B110).
pub(crate) fn refuse_own_url(servers: &mut [ServerEntry], listen: &[String]) {
    let own: Vec<Uri> = listen.iter().filter_map(|url| url.parse().ok()).collect();
    let is_own = |url: &SecretText| {
        let url = url.reveal().parse::<Uri>();
        url.is_ok_and(|url| own.iter().any(|own| same_endpoint(own, &url)))
    };
    for entry in servers {
        let ServerState::Enabled(spec) = &entry.state else {
            continue;
        };
        let Reach::Http(http) = &spec.reach else { continue };
        if is_own(&http.url) || entry.backends.endpoints.iter().any(is_own) {
            entry.state = ServerState::Misconfigured(Fault {
                what: "its URL is this gateway itself".into(),
                hint: Some("remove the entry, or name the server that is meant".into()),
                place: Some(entry.place.clone()),
            });
        }
    }
}

fn same_endpoint(own: &Uri, url: &Uri) -> bool {
    const LOOPBACK: [&str; 4] = ["127.0.0.1", "localhost", "[::1]", "0.0.0.0"];
    let host = |uri: &Uri| uri.host().unwrap_or_default().to_ascii_lowercase();
    let same_host = host(own) == host(url)
        || [own, url]
            .iter()
            .all(|uri| LOOPBACK.contains(&host(uri).as_str()));
    let path = |uri: &Uri| uri.path().trim_end_matches('/').to_owned();
    same_host && own.port_u16() == url.port_u16() && path(own) == path(url)
}

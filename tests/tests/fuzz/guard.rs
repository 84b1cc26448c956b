//! The guard of the HTTP server: by which names and from which pages anybody gets past it (SEC-01).

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use hyper::StatusCode;
use hyper::http::request::Parts;
use mcpr_protocol::Rope;
use mcpr_tests::fuzz::{Dice, Target, Verdict};
use mcpr_transport::http::server::{
    Bound, Call, End, Front, Health, Limits, Operation, Options, Reply, serve,
};
use proptest::{prop_assert, prop_assert_eq};
use tokio_util::sync::{CancellationToken, DropGuard};

/// What is allowed beside the loopback interface.
const HOST: &str = "gateway.example";
const PAGE: &str = "https://app.example";

const WORDS: &[&str] = &[
    "Host: localhost",
    "host:",
    "HOST: 127.0.0.1:1",
    "Origin: http://localhost",
    "origin:",
    "Origin: null",
    "\r\n",
    "\n",
    " ",
    "\t",
    "\0",
    ":",
    ".",
    "@",
    "/",
    "#",
    "evil.example",
    "localhost",
    "127.0.0.1",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "0.0.0.0",
    "gateway.example",
    "https://app.example",
    "http://",
    "HTTP://",
    "//",
    ":3282",
    ":99999",
    "%00",
    "\u{130}",
    "\u{e9}",
    "GET /mcp HTTP/1.1",
    "OPTIONS * HTTP/1.1",
    "http://evil.example/mcp",
    "Access-Control-Request-Method: POST",
    "xn--",
    "127.1",
    "0x7f.1",
    "2130706433",
];

/// Lets everybody in who gets past the guard.
struct Open;

impl Front for Open {
    type Caller = ();
    type Memo = ();

    fn admit(&self, _: &Arc<Parts>, (): &mut ()) -> Result<(), Box<Reply>> {
        Ok(())
    }

    async fn mcp(&self, (): (), _: Call) -> Reply {
        Reply::json(StatusCode::OK, Rope::from("{}".to_owned()))
    }

    async fn admin(&self, (): (), _: Operation<'_>) -> Reply {
        Reply::json(StatusCode::OK, Rope::from("{}".to_owned()))
    }

    fn health(&self, _: Health) -> Reply {
        Reply::json(StatusCode::OK, Rope::from("{}".to_owned()))
    }
}

/// A server on a thread of its own.
struct Server {
    addr: SocketAddr,
    _end: DropGuard,
}

impl Server {
    fn start() -> Self {
        let bound = Bound::tcp(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        let (addr, end) = (bound.local_addr().unwrap(), CancellationToken::new());
        let limits = Limits {
            body_time: Duration::from_millis(100),
            ..Limits::default()
        };
        let options = Options {
            allowed_hosts: vec![HOST.to_owned()],
            allowed_origins: vec![PAGE.to_owned()],
            admin: true,
            limits,
            ..Options::default()
        };
        let serving = serve(bound, Arc::new(Open), options, End::at(end.clone()));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        std::thread::spawn(move || runtime.block_on(serving));
        Self {
            addr,
            _end: end.drop_guard(),
        }
    }

    /// The head of the answer to a request, after which the connection is closed.
    fn ask(&self, head: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.addr).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.write_all(head).unwrap();
        let mut answer = Vec::new();
        _ = stream.read_to_end(&mut answer); // A server that has heard enough may reset the connection.
        String::from_utf8_lossy(&answer).into_owned()
    }
}

/// The lines of a request: the first, and the headers. What has no body says nothing of one.
fn lines(bytes: &[u8]) -> Vec<Vec<u8>> {
    let lines = bytes
        .split(|byte| *byte == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let framing = |line: &[u8]| {
        let line = line.to_ascii_lowercase();
        [
            &b"content-length"[..],
            b"transfer-encoding",
            b"expect",
            b"connection",
        ]
        .iter()
        .any(|name| line.starts_with(name))
    };
    let whole = lines.filter(|line| !line.is_empty() && !framing(line));
    whole.take(40).map(<[u8]>::to_vec).collect()
}

/// The values of a header, as they stand in the request.
fn values(lines: &[Vec<u8>], wanted: &str) -> Vec<String> {
    let text = lines
        .iter()
        .skip(1)
        .map(|line| String::from_utf8_lossy(line).into_owned());
    let pairs = text.filter_map(|line| {
        line.split_once(':')
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
    });
    let found = pairs.filter(|(name, _)| name.eq_ignore_ascii_case(wanted));
    found
        .map(|(_, value)| value.trim_matches([' ', '\t']).to_owned())
        .collect()
}

/// Whether a host, with or without a port, is this machine by whatever name, or that of the setting.
fn is_ours(authority: &str) -> bool {
    let (host, port) = match authority.rfind(':').filter(|at| !authority[*at..].contains(']')) {
        Some(at) => (&authority[..at], Some(&authority[at + 1..])),
        None => (authority, None),
    };
    let host = host.to_ascii_lowercase();
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let name = host.strip_suffix('.').unwrap_or(&host);
    let loopback = match bare {
        Some(six) => six
            .parse::<std::net::Ipv6Addr>()
            .is_ok_and(|ip| IpAddr::from(ip).to_canonical().is_loopback()),
        None => name
            .parse::<std::net::Ipv4Addr>()
            .is_ok_and(|ip| ip.is_loopback()),
    };
    port.is_none_or(|port| port.parse::<u16>().is_ok()) && (loopback || ["localhost", HOST].contains(&name))
}

/// Whether a page is one of this machine, of the setting, or of the name that the request has.
fn is_trusted(origin: &str, host: &str) -> bool {
    let authority = origin
        .strip_prefix("http://")
        .or_else(|| origin.strip_prefix("https://"));
    let of_this_machine = |authority: &str| {
        let name = authority
            .split(':')
            .next()
            .unwrap_or_default()
            .to_ascii_lowercase();
        is_ours(authority) && !name.ends_with('.') && name != HOST
    };
    let here = |authority: &str| authority.eq_ignore_ascii_case(host) || of_this_machine(authority);
    origin.eq_ignore_ascii_case(PAGE) || authority.is_some_and(here)
}

fn property(server: &Server, bytes: &[u8]) -> Verdict {
    let lines = lines(bytes);
    let head = [&lines.join(&b"\r\n"[..])[..], b"\r\nConnection: close\r\n\r\n"].concat();
    let answer = server.ask(&head).to_ascii_lowercase();
    let status: Option<u16> = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
    let (hosts, origins) = (values(&lines, "host"), values(&lines, "origin"));
    let allowed = match (&hosts[..], &origins[..]) {
        ([host], []) => is_ours(host),
        ([host], [origin]) => is_ours(host) && is_trusted(origin, host),
        _ => false,
    };
    // No answer, or one of the parser's own: it was no HTTP.
    let passed = status.is_some_and(|status| ![400, 403, 414, 431, 505].contains(&status));
    prop_assert!(allowed || !passed, "{}", answer);
    let path = lines
        .first()
        .and_then(|line| line.split(|byte| *byte == b' ').nth(1))
        .unwrap_or_default();
    prop_assert!(
        !allowed || !path.starts_with(b"/") || status != Some(403),
        "{}",
        answer
    );
    let opened = answer
        .lines()
        .find_map(|line| line.strip_prefix("access-control-allow-origin: "));
    prop_assert_eq!(opened.is_some(), passed && !origins.is_empty(), "{}", answer);
    prop_assert!(
        opened.is_none_or(|page| page == origins[0].to_ascii_lowercase()),
        "{}",
        answer
    );
    Ok(())
}

#[test]
fn sec_01_no_request_under_a_foreign_name_or_from_a_foreign_page_gets_past_the_guard() {
    let server = Server::start();
    Target::new("guard")
        .words(WORDS)
        .holds(|bytes, _: Dice| property(&server, bytes));
}

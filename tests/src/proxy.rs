//! A proxy that writes down what it is asked for.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use parking_lot::Mutex;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::task::AbortOnDropHandle;

/// A proxy on loopback. Only it knows the hosts that it is told of; to all others it answers 502.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    rules: Arc<Rules>,
    _serving: AbortOnDropHandle<()>,
}

/// A proxy in the making.
#[derive(Debug, Default)]
pub struct ProxyBuilder {
    rules: Rules,
    port: u16,
}

#[derive(Debug, Default)]
struct Rules {
    /// Where the hosts really are, by `HOST:PORT`.
    hosts: BTreeMap<String, u16>,
    /// The value of `Proxy-Authorization` that it wants.
    authorization: Option<String>,
    /// What it answers to everything.
    status: Option<&'static str>,
    asked: Mutex<Vec<String>>,
}

/// A request as it came, up to its body.
struct Asked {
    text: String,
    /// `HOST:PORT` of where it is to go.
    to: String,
    is_tunnel: bool,
}

impl Proxy {
    /// Begins one that lets in everybody and knows no host.
    pub fn that() -> ProxyBuilder {
        ProxyBuilder::default()
    }

    /// Its URL.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The first lines of the requests so far.
    pub fn asked(&self) -> Vec<String> {
        let heads = self.heads().into_iter();
        heads
            .map(|head| head.lines().next().unwrap_or_default().to_owned())
            .collect()
    }

    /// The heads of the requests so far.
    pub fn heads(&self) -> Vec<String> {
        self.rules.asked.lock().clone()
    }
}

impl ProxyBuilder {
    /// Knows that `host` (with its port) is at this port of loopback.
    pub fn knows(mut self, host: &str, port: u16) -> Self {
        self.rules.hosts.insert(host.to_owned(), port);
        self
    }

    /// Lets in only who says this name and this password.
    pub fn wants(mut self, credentials: &str) -> Self {
        let credentials = BASE64_STANDARD.encode(credentials);
        self.rules.authorization = Some(format!("basic {credentials}").to_lowercase());
        self
    }

    /// Answers this to everything, such as `403 Forbidden`.
    pub fn refuses(mut self, status: &'static str) -> Self {
        self.rules.status = Some(status);
        self
    }

    /// Listens on this port instead of a free one.
    pub fn on_port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Starts it.
    ///
    /// # Panics
    ///
    /// When the port is taken.
    pub async fn start(self) -> Proxy {
        let address = SocketAddr::from(([127, 0, 0, 1], self.port));
        let listener = TcpListener::bind(address).await.expect("a free port");
        let port = listener.local_addr().expect("a port").port();
        let rules = Arc::new(self.rules);
        let serving = tokio::spawn(serve(listener, rules.clone()));
        Proxy {
            port,
            rules,
            _serving: AbortOnDropHandle::new(serving),
        }
    }
}

async fn serve(listener: TcpListener, rules: Arc<Rules>) {
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        let rules = rules.clone();
        // Clients hang up as they like.
        connections.spawn(async move { drop(rules.attend(client).await) });
    }
}

impl Rules {
    async fn attend(&self, client: TcpStream) -> io::Result<()> {
        let mut client = BufReader::new(client);
        let Some(first) = self.next(&mut client).await? else {
            return Ok(());
        };
        let refusal = self.refusal(&first);
        let server = match self.hosts.get(&first.to) {
            Some(port) if refusal.is_none() => TcpStream::connect(("127.0.0.1", *port)).await.ok(),
            _ => None,
        };
        let Some(mut server) = server else {
            let status = refusal.unwrap_or("502 Bad Gateway");
            let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            return client.write_all(answer.as_bytes()).await;
        };
        if first.is_tunnel {
            client.write_all(b"HTTP/1.1 200 Connected\r\n\r\n").await?;
            return tokio::io::copy_bidirectional(&mut client, &mut server)
                .await
                .map(drop);
        }
        self.pass_on(first, client, server).await
    }

    /// Passes on requests one after the other, and whatever the server says meanwhile.
    async fn pass_on(&self, first: Asked, client: BufReader<TcpStream>, server: TcpStream) -> io::Result<()> {
        let (reader, mut writer) = tokio::io::split(client);
        let (mut answers, mut requests) = server.into_split();
        let mut reader = BufReader::new(reader);
        let forth = async {
            let mut next = Some(first);
            while let Some(asked) = next {
                requests.write_all(asked.text.as_bytes()).await?;
                let mut body = (&mut reader).take(asked.body_length());
                tokio::io::copy(&mut body, &mut requests).await?;
                next = self.next(&mut reader).await?;
            }
            Ok(())
        };
        tokio::select! {
            done = forth => done,
            done = tokio::io::copy(&mut answers, &mut writer) => done.map(drop),
        }
    }

    /// The next request, written down; `None` at the end.
    async fn next(&self, reader: &mut (impl tokio::io::AsyncBufRead + Unpin)) -> io::Result<Option<Asked>> {
        let mut text = String::new();
        while !text.ends_with("\r\n\r\n") {
            if reader.read_line(&mut text).await? == 0 {
                return Ok(None);
            }
        }
        self.asked.lock().push(text.clone());
        Ok(Some(Asked::read(text)))
    }

    fn refusal(&self, asked: &Asked) -> Option<&'static str> {
        let text = asked.text.to_lowercase();
        let known = |wanted: &String| text.contains(&format!("proxy-authorization: {wanted}\r\n"));
        match &self.authorization {
            Some(wanted) if !known(wanted) => Some("407 Proxy Authentication Required"),
            _ => self.status,
        }
    }
}

impl Asked {
    fn read(text: String) -> Self {
        let mut words = text.split(' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let is_tunnel = method == "CONNECT";
        let authority = target.strip_prefix("http://").unwrap_or(target);
        let authority = authority.split('/').next().unwrap_or_default();
        let to = if authority.contains(':') {
            authority.to_owned()
        } else {
            format!("{authority}:80")
        };
        Self { text, to, is_tunnel }
    }

    fn body_length(&self) -> u64 {
        let head = self.text.to_lowercase();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        length.map_or(0, |length| length.parse().expect("a length"))
    }
}

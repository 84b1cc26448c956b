//! A way to a gateway that writes down each request that passes.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::io::{self, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::task::AbortOnDropHandle;

use crate::wait_until;

/// How long a request may keep a test waiting.
const PATIENCE: Duration = Duration::from_secs(60);

/// Passes connections on to a loopback port. It ends when dropped.
#[derive(Debug)]
pub struct Recorder {
    port: u16,
    sent: Arc<Mutex<Vec<Sent>>>,
    _serving: AbortOnDropHandle<()>,
}

/// A request as it was sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sent {
    /// Verb and path.
    pub line: String,
    /// All headers in order, save those that say where the request goes and how long it is.
    pub headers: Vec<(String, String)>,
    /// The body, byte for byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Box<RawValue>>,
}

impl Recorder {
    /// Listens on a port of its own.
    pub async fn before(port: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let own = listener.local_addr().expect("a port").port();
        let sent = Arc::<Mutex<Vec<Sent>>>::default();
        let serving = tokio::spawn(serve(listener, port, sent.clone()));
        Self {
            port: own,
            sent,
            _serving: AbortOnDropHandle::new(serving),
        }
    }

    /// The URL of the gateway behind it.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    /// What was sent so far, and forgets it.
    pub fn take(&self) -> Vec<Sent> {
        std::mem::take(&mut self.sent.lock())
    }

    /// Waits until so many requests of a method were sent.
    pub async fn await_sent(&self, method: &str, count: usize) {
        let what = format!("{count} requests {method}");
        wait_until(PATIENCE, &what, || {
            let sent = self.sent.lock();
            (sent.iter().filter(|sent| sent.method() == method).count() >= count).then_some(())
        })
        .await;
    }
}

impl Sent {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self
            .headers
            .iter()
            .find(|(own, _)| own.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The message in the body; `null` where there is none.
    pub fn message(&self) -> Value {
        let text = self.body.as_ref().map(|body| body.get());
        text.map_or(Value::Null, |text| {
            serde_json::from_str(text).expect("a body is JSON")
        })
    }

    /// The method of the message, or the verb where there is none.
    pub fn method(&self) -> String {
        let verb = self.line.split(' ').next().unwrap_or_default();
        self.message()["method"].as_str().unwrap_or(verb).to_owned()
    }

    /// Takes a request from the front of what came, once all of it is there.
    fn take(came: &mut Vec<u8>) -> Option<Self> {
        const END: &[u8] = b"\r\n\r\n";
        let end = came.windows(END.len()).position(|bytes| bytes == END)?;
        let head = String::from_utf8_lossy(&came[..end]).into_owned();
        let mut lines = head.lines();
        let line = lines.next()?.rsplit_once(' ')?.0.to_owned();
        let headers = lines.filter_map(|line| line.split_once(": "));
        let headers = headers
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let mut sent = Self {
            line,
            headers,
            body: None,
        };
        let length = sent
            .header("content-length")
            .map_or(0, |length| length.parse().expect("a length"));
        let start = end + END.len();
        let body = came.get(start..start + length)?.to_vec();
        came.drain(..start + length);
        if !body.is_empty() {
            let body = String::from_utf8(body).expect("a body is UTF-8");
            sent.body = Some(RawValue::from_string(body).expect("a body is JSON"));
        }
        sent.headers
            .retain(|(name, _)| !["host", "content-length"].contains(&&*name.to_lowercase()));
        Some(sent)
    }
}

async fn serve(listener: TcpListener, to: u16, sent: Arc<Mutex<Vec<Sent>>>) {
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        connections.spawn(carry(client, to, sent.clone()));
    }
}

/// Carries one connection to the end of either side.
async fn carry(client: TcpStream, to: u16, sent: Arc<Mutex<Vec<Sent>>>) {
    let Ok(gateway) = TcpStream::connect(("127.0.0.1", to)).await else {
        return;
    };
    let (asking, mut answering) = client.into_split();
    let (mut answers, questions) = gateway.into_split();
    tokio::select! {
        () = note(asking, questions, &sent) => {}
        _ = io::copy(&mut answers, &mut answering) => {}
    }
}

/// Passes on what a client says, and writes it down.
async fn note(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, sent: &Mutex<Vec<Sent>>) {
    let (mut piece, mut came) = (vec![0; 64 * 1024], Vec::new());
    while let Ok(count @ 1..) = from.read(&mut piece).await {
        came.extend_from_slice(&piece[..count]);
        while let Some(request) = Sent::take(&mut came) {
            sent.lock().push(request);
        }
        if to.write_all(&piece[..count]).await.is_err() {
            return;
        }
    }
}

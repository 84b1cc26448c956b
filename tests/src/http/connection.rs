//! One connection to a server, read as far as each test wants.

use std::io;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::{Answer, Event, Head};

/// How long the next bytes may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A connection that sends exact bytes.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    /// What came from the wire and is not read yet.
    wire: Vec<u8>,
    /// What was freed of its framing and is not read yet.
    body: Vec<u8>,
    left: Left,
}

/// How much of a body is still to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    Bytes(usize),
    Chunks,
    UntilClose,
}

impl Connection {
    /// How many bytes have come that nobody has read, up to 8 MiB.
    pub async fn unread(&self) -> usize {
        let mut room = vec![0; 8 << 20];
        self.stream.peek(&mut room).await.unwrap_or_default()
    }

    /// Connects to a loopback port.
    ///
    /// # Panics
    ///
    /// When nobody listens there.
    pub async fn open(port: u16) -> Self {
        let opened = Self::try_open(port).await;
        opened.unwrap_or_else(|error| panic!("nobody listens on port {port}: {error}"))
    }

    /// The same where it may be that nobody listens.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub async fn try_open(port: u16) -> io::Result<Self> {
        Ok(Self {
            stream: TcpStream::connect(("127.0.0.1", port)).await?,
            wire: Vec::new(),
            body: Vec::new(),
            left: Left::Bytes(0),
        })
    }

    /// Sends bytes as they are.
    ///
    /// # Panics
    ///
    /// When the other side has closed the connection.
    pub async fn send(&mut self, bytes: &[u8]) {
        self.try_send(bytes).await.expect("the connection is open");
    }

    /// The same where the other side may have closed the connection.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub async fn try_send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await
    }

    /// Breaks it off so that the other side sees a reset.
    ///
    /// # Panics
    ///
    /// When the system does not let it.
    pub fn reset(self) {
        self.stream.set_zero_linger().expect("a connection can be reset");
    }

    /// Reads the head of the next answer.
    ///
    /// # Panics
    ///
    /// When there is none within a minute, or it is not HTTP.
    pub async fn head(&mut self) -> Head {
        self.try_head()
            .await
            .expect("the head comes before the connection closes")
    }

    /// The same where the connection may close before; `None` then.
    pub async fn try_head(&mut self) -> Option<Head> {
        let mut text = String::new();
        while !text.ends_with("\n\n") {
            text += &self.wire_line().await?;
            text.push('\n');
        }
        let head = Head::parse(&text);
        self.left = Left::of(&head);
        Some(head)
    }

    /// Reads the next whole answer.
    pub async fn answer(&mut self) -> Answer {
        let head = self.head().await;
        let body = self.body().await;
        Answer { head, body }
    }

    /// The same where the connection may close before all of it is there; `None` then.
    pub async fn try_answer(&mut self) -> Option<Answer> {
        let head = self.try_head().await?;
        let body = self.body().await;
        let is_whole = matches!(self.left, Left::Bytes(0) | Left::UntilClose);
        is_whole.then_some(Answer { head, body })
    }

    /// Reads the rest of the body.
    pub async fn body(&mut self) -> Vec<u8> {
        while self.more_body().await {}
        std::mem::take(&mut self.body)
    }

    /// Reads to the end of the body, and says whether that was its proper end and not only that of
    /// the connection.
    pub async fn ends_whole(&mut self) -> bool {
        self.body().await;
        self.left == Left::Bytes(0)
    }

    /// Reads the next event of a stream; `None` at its end. An event that breaks off is none, and
    /// those that only give the stream an id are passed over.
    pub async fn event(&mut self) -> Option<Event> {
        loop {
            let event = self.any_event().await?;
            if !event.is_priming() {
                return Some(event);
            }
        }
    }

    /// Reads the next event of a stream, whatever it is.
    pub async fn any_event(&mut self) -> Option<Event> {
        let mut block = Vec::new();
        loop {
            let line = self.body_line().await?;
            match (line.is_empty(), block.is_empty()) {
                (true, true) => {}
                (true, false) => return Some(Event::parse(&block)),
                (false, _) => block.push(line),
            }
        }
    }

    /// Reads events until one carries a message that `wanted` accepts; `None` at the end.
    pub async fn message(&mut self, wanted: impl Fn(&Value) -> bool) -> Option<Value> {
        loop {
            let event = self.event().await?;
            if event.data.is_empty() {
                continue; // A comment, to keep the connection open.
            }
            let message = event.message();
            if wanted(&message) {
                return Some(message);
            }
        }
    }

    /// Moves bytes of the body from the wire; false at its end.
    async fn more_body(&mut self) -> bool {
        match self.left {
            Left::Chunks => self.more_of_chunk().await,
            Left::Bytes(0) => false,
            Left::Bytes(left) => self.more_of(left).await,
            Left::UntilClose => self.more_of(usize::MAX).await,
        }
    }

    async fn more_of(&mut self, most: usize) -> bool {
        if self.wire.is_empty() && !self.fill().await {
            return false;
        }
        let count = most.min(self.wire.len());
        self.body.extend(self.wire.drain(..count));
        if let Left::Bytes(left) = &mut self.left {
            *left -= count;
        }
        true
    }

    async fn more_of_chunk(&mut self) -> bool {
        let line = self.wire_line().await.unwrap_or_default();
        let size = line
            .split(';')
            .next()
            .and_then(|size| usize::from_str_radix(size.trim(), 16).ok());
        let size = size.unwrap_or(0);
        while self.wire.len() < size + 2 {
            if !self.fill().await {
                return false;
            }
        }
        self.body.extend(self.wire.drain(..size + 2).take(size));
        if size == 0 {
            self.left = Left::Bytes(0);
        }
        size > 0
    }

    async fn wire_line(&mut self) -> Option<String> {
        loop {
            if let Some(line) = first_line(&mut self.wire, 0) {
                return Some(line);
            }
            if !self.fill().await {
                return None;
            }
        }
    }

    async fn body_line(&mut self) -> Option<String> {
        let mut seen = 0;
        loop {
            if let Some(line) = first_line(&mut self.body, seen) {
                return Some(line);
            }
            seen = self.body.len();
            if !self.more_body().await {
                return None;
            }
        }
    }

    /// Reads more from the wire; false at the end.
    async fn fill(&mut self) -> bool {
        let mut more = vec![0; 64 * 1024];
        let read = timeout(PATIENCE, self.stream.read(&mut more))
            .await
            .expect("bytes come within a minute");
        // A reset is an end too.
        let count = read.unwrap_or(0);
        self.wire.extend(&more[..count]);
        count > 0
    }
}

impl Left {
    fn of(head: &Head) -> Self {
        let chunked = head
            .header("transfer-encoding")
            .is_some_and(|coding| coding.contains("chunked"));
        let length = head
            .header("content-length")
            .and_then(|length| length.parse().ok());
        match (chunked, length) {
            (true, _) => Self::Chunks,
            (false, Some(length)) => Self::Bytes(length),
            (false, None) if matches!(head.status, 100..200 | 204 | 304) => Self::Bytes(0),
            (false, None) => Self::UntilClose,
        }
    }
}

/// Takes the first line, of which the first `seen` bytes hold no line end.
fn first_line(bytes: &mut Vec<u8>, seen: usize) -> Option<String> {
    let end = seen + bytes[seen..].iter().position(|&byte| byte == b'\n')?;
    let line: Vec<u8> = bytes.drain(..=end).collect();
    Some(String::from_utf8_lossy(line.trim_ascii_end()).into_owned())
}

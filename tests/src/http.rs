//! An HTTP client that sends exact bytes and hides nothing.

mod connection;

use serde_json::Value;

pub use connection::Connection;

/// The head of an answer.
#[derive(Clone, Debug)]
pub struct Head {
    /// The status code.
    pub status: u16,
    /// All headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
}

/// A whole answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Status and headers.
    pub head: Head,
    /// The body, freed of chunks.
    pub body: Vec<u8>,
}

/// One server-sent event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// The type, empty when the event names none.
    pub name: String,
    /// The data.
    pub data: String,
    /// The id, if it has one.
    pub id: Option<String>,
    /// When the client is to come back, if it says so.
    pub retry: Option<String>,
    /// The comments that stood before or in it.
    pub comments: Vec<String>,
}

/// A request to be sent; its text is all that is sent.
#[derive(Clone, Debug)]
pub struct Request {
    line: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    /// A POST of a JSON-RPC message with the headers that MCP wants.
    pub fn post(path: &str, message: impl Into<Vec<u8>>) -> Self {
        Self::new("POST", path)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .body(message)
    }

    /// A GET of an event stream.
    pub fn get(path: &str) -> Self {
        Self::new("GET", path).header("accept", "text/event-stream")
    }

    /// A request with nothing but a `Host`.
    pub fn new(method: &str, path: &str) -> Self {
        let line = format!("{method} {path} HTTP/1.1");
        Self {
            line,
            headers: Vec::new(),
            body: Vec::new(),
        }
        .header("host", "localhost")
    }

    /// Adds a header line.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Removes the lines of a header.
    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(own, _)| own != name);
        self
    }

    /// Replaces the lines of a header.
    pub fn replace(self, name: &str, value: &str) -> Self {
        self.without(name).header(name, value)
    }

    /// Adds `Authorization: Bearer …`.
    pub fn token(self, token: &str) -> Self {
        self.header("authorization", &format!("Bearer {token}"))
    }

    /// Replaces the method.
    pub fn verb(mut self, method: &str) -> Self {
        let (_, rest) = self.line.split_once(' ').expect("a request line has blanks");
        self.line = format!("{method} {rest}");
        self
    }

    /// Sets the body.
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// The bytes on the wire.
    pub fn bytes(&self) -> Vec<u8> {
        let mut text = format!("{}\r\n", self.line);
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if !self.body.is_empty() {
            text.push_str(&format!("content-length: {}\r\n", self.body.len()));
        }
        text.push_str("\r\n");
        [text.as_bytes(), &self.body].concat()
    }

    /// Sends it on a connection of its own, and reads the whole answer.
    pub async fn send(&self, port: u16) -> Answer {
        self.start(port).await.answer().await
    }

    /// The same where nobody may listen, or the connection may close before the whole answer; `None` then.
    pub async fn try_send(&self, port: u16) -> Option<Answer> {
        let mut connection = Connection::try_open(port).await.ok()?;
        connection.try_send(&self.bytes()).await.ok()?;
        connection.try_answer().await
    }

    /// Sends it on a connection of its own, and reads nothing.
    pub async fn start(&self, port: u16) -> Connection {
        let mut connection = Connection::open(port).await;
        connection.send(&self.bytes()).await;
        connection
    }

    /// Sends it on a connection of its own, and reads only the head; the body comes event by event.
    pub async fn open(&self, port: u16) -> (Head, Connection) {
        let mut connection = self.start(port).await;
        (connection.head().await, connection)
    }
}

impl Head {
    /// The value of a header, if exactly one line has it.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut all = self.headers.iter().filter(|(own, _)| own == name);
        let first = all.next()?;
        all.next().is_none().then_some(first.1.as_str())
    }

    fn parse(text: &str) -> Self {
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        let status = first.split(' ').nth(1).and_then(|status| status.parse().ok());
        let headers = lines.filter_map(|line| line.split_once(':'));
        let headers = headers
            .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
            .collect();
        Self {
            status: status.unwrap_or_else(|| panic!("not an HTTP answer: {first}")),
            headers,
        }
    }
}

impl Answer {
    /// The status code.
    pub fn status(&self) -> u16 {
        self.head.status
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The events of the body, without those that only give the stream an id.
    pub fn events(&self) -> Vec<Event> {
        self.all_events()
            .into_iter()
            .filter(|event| !event.is_priming())
            .collect()
    }

    /// All events of the body.
    pub fn all_events(&self) -> Vec<Event> {
        let text = self.text().replace("\r\n", "\n");
        let blocks = text.split("\n\n").filter(|block| !block.trim().is_empty());
        blocks
            .map(|block| Event::parse(&block.lines().map(str::to_owned).collect::<Vec<_>>()))
            .collect()
    }

    /// The text of a member of the last message, byte for byte.
    ///
    /// # Panics
    ///
    /// When there is no such member.
    pub fn raw(&self, path: &[&str]) -> String {
        let streamed = self
            .head
            .header("content-type")
            .is_some_and(|kind| kind.contains("event-stream"));
        let last = self.events().pop().filter(|_| streamed).map(|event| event.data);
        crate::raw::member(&last.unwrap_or_else(|| self.text()), path)
    }

    /// The last message of the body, whether it is JSON or a stream.
    ///
    /// # Panics
    ///
    /// When there is none.
    pub fn message(&self) -> Value {
        let last = self
            .events()
            .pop()
            .map(|event| event.message())
            .filter(|message| !message.is_null());
        let whole = || serde_json::from_slice(&self.body);
        last.map_or_else(whole, Ok)
            .unwrap_or_else(|_| panic!("no message in {:?}", self.text()))
    }
}

impl Event {
    /// Whether it is there for its id alone.
    pub fn is_priming(&self) -> bool {
        self.id.is_some() && self.data.is_empty()
    }

    /// The data as JSON; null when it is not JSON.
    pub fn message(&self) -> Value {
        serde_json::from_str(&self.data).unwrap_or_default()
    }

    fn parse(lines: &[String]) -> Self {
        let mut event = Self::default();
        let mut data = Vec::new();
        for line in lines {
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "" => event.comments.push(value.to_owned()),
                "event" => value.clone_into(&mut event.name),
                "data" => data.push(value),
                "id" => event.id = Some(value.to_owned()),
                "retry" => event.retry = Some(value.to_owned()),
                _ => {}
            }
        }
        event.data = data.join("\n");
        event
    }
}

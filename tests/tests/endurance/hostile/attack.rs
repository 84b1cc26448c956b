//! What somebody sends who means harm.

use std::time::Duration;

use mcpr_tests::fuzz::Dice;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

/// How long an attacker waits for an answer.
const PATIENCE: Duration = Duration::from_millis(500);

/// How long a slow one keeps its connection, byte by byte.
const DRIPS: usize = 20;
const DRIP: Duration = Duration::from_millis(25);

/// A message that would be good.
const CALL: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a_t","arguments":{"n":1}}}"#;

/// The kinds of attacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Bytes of no meaning.
    Random,
    /// A message in which some bytes are others.
    Altered,
    /// A request that ends in the middle.
    Truncated,
    /// A head, a body or a nesting beyond all limits.
    Oversized,
    /// A request that does not come to its end.
    Slow,
    /// A call whose answer nobody waits for.
    Abandoned,
    /// Ids that are guessed.
    Guessed,
}

/// Where the attackers go, and what they have got hold of.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) port: u16,
    /// How many connections the gateway has places for.
    pub(super) connections: usize,
    /// A token that is good.
    pub(super) token: String,
    /// A session of it.
    pub(super) session: String,
}

impl Kind {
    pub(super) const ALL: [Self; 7] = [
        Self::Random,
        Self::Altered,
        Self::Truncated,
        Self::Oversized,
        Self::Slow,
        Self::Abandoned,
        Self::Guessed,
    ];
}

impl Plan {
    /// More connections than there are places for, on which nothing is said.
    pub(super) async fn strangers(&self) -> Vec<TcpStream> {
        let mut strangers = Vec::new();
        for _ in 0..self.connections + self.connections / 4 {
            strangers.extend(TcpStream::connect(("127.0.0.1", self.port)).await.ok());
        }
        strangers
    }

    /// Makes one attack, and says what it was; nothing if not a byte of it could be sent.
    pub(super) async fn attack(&self, dice: &mut Dice) -> Option<Kind> {
        let kind = *dice.pick(&Kind::ALL);
        // Only the system can refuse it: it was too fast.
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await.ok()?;
        let bytes = self.bytes(kind, dice);
        let begin = if kind == Kind::Slow { 1 } else { bytes.len() };
        let begun = stream
            .write(&bytes[..begin])
            .await
            .ok()
            .filter(|sent| *sent > 0)?;
        let rest = &bytes[begun..];
        match kind {
            Kind::Slow => drip(&mut stream, rest).await,
            Kind::Abandoned => {
                _ = stream.write_all(rest).await;
                _ = stream.set_zero_linger();
            }
            _ => send(&mut stream, rest, dice.one_in(4)).await,
        }
        Some(kind)
    }

    fn bytes(&self, kind: Kind, dice: &mut Dice) -> Vec<u8> {
        let whole = self.request(CALL.as_bytes(), &self.session, dice);
        match kind {
            Kind::Random => (0..=dice.below(4000)).map(|_| dice.below(256) as u8).collect(),
            Kind::Altered => self.request(&altered(CALL.as_bytes(), dice), &self.session, dice),
            Kind::Truncated => whole[..=dice.below(whole.len() - 1)].to_vec(),
            Kind::Oversized => self.oversized(dice),
            Kind::Slow | Kind::Abandoned => whole,
            Kind::Guessed => self.guessed(dice),
        }
    }

    /// A request with this body, from somebody with a token or from nobody.
    fn request(&self, body: &[u8], session: &str, dice: &mut Dice) -> Vec<u8> {
        let token = if dice.one_in(3) {
            "mcpr_pat_0"
        } else {
            &*self.token
        };
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\nmcp-session-id: {session}\r\n\
             content-type: application/json\r\naccept: application/json, text/event-stream\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        [head.as_bytes(), body].concat()
    }

    fn oversized(&self, dice: &mut Dice) -> Vec<u8> {
        match dice.below(4) {
            0 => format!(
                "GET /mcp HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n",
                "y".repeat(200_000)
            )
            .into(),
            1 => format!(
                "GET /mcp HTTP/1.1\r\nhost: localhost\r\n{}\r\n",
                "x: y\r\n".repeat(5000)
            )
            .into(),
            2 => self.request(&vec![b' '; 2 << 20], &self.session, dice),
            _ => self.request("{\"a\":".repeat(100_000).as_bytes(), &self.session, dice),
        }
    }

    /// Sessions and events that somebody else might have.
    fn guessed(&self, dice: &mut Dice) -> Vec<u8> {
        let session = String::from_utf8_lossy(&altered(self.session.as_bytes(), dice)).into_owned();
        let session: String = session.chars().filter(char::is_ascii_graphic).collect();
        self.request(CALL.as_bytes(), &session, dice)
    }
}

/// Some bytes changed.
fn altered(bytes: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=dice.below(4) {
        let place = dice.below(bytes.len());
        bytes[place] = dice.below(256) as u8;
    }
    bytes
}

/// Sends it, and waits for some of the answer, or only for the end of the connection.
async fn send(stream: &mut TcpStream, bytes: &[u8], ends: bool) {
    let sent = stream.write_all(bytes).await;
    if sent.is_ok() && ends {
        _ = stream.shutdown().await;
    }
    let mut answer = [0; 1024];
    _ = timeout(PATIENCE, stream.read(&mut answer)).await;
}

/// Sends it byte by byte, and never to its end.
async fn drip(stream: &mut TcpStream, bytes: &[u8]) {
    for byte in bytes.iter().take(DRIPS) {
        if stream.write_all(&[*byte]).await.is_err() {
            return; // Its place was needed.
        }
        sleep(DRIP).await;
    }
}

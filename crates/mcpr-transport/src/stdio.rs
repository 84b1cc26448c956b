//! The client end of a child process: one line is one message (all revisions, transports: stdio).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt;
use mcpr_protocol::{ErrorObject, Id, Message, Method, Request, Response, Rope, Version, code};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;
use tracing::{debug, warn};

use crate::child::{
    Child, ChildSpec, Grace, Guardian, Line, Receipt, SpawnError, Stdout, TooLong, WriteError, Writer,
};
use crate::intake;
use crate::pending::{Pending, Waiting, Withdraw, cancelled};
use crate::{Answering, Event, Exchange, Failed, FailedKind, Outgoing, Party, Reason, Transport};

/// How many events wait for the one who reads them; more are dropped, so that responses still come.
const EVENTS: usize = 256;

/// How long a child that closed its stdout may take to end before that is helped along.
const AFTERLIFE: Duration = Duration::from_secs(1);

/// How many odd lines of one child are logged; the rest would be the same story.
const ODD_LINES: u32 = 20;

/// How much of an odd line is logged.
const EXCERPT: usize = 200;

/// A server that runs as a child process.
#[derive(Debug)]
pub struct Stdio {
    child: Arc<Child>,
    pending: Arc<Pending>,
    post: Arc<Post>,
    spoken: Arc<AtomicBool>,
    _reader: AbortOnDropHandle<()>,
}

/// The way to the server, for those who have only a word to say.
#[derive(Debug)]
struct Post {
    writer: Writer,
    runtime: Handle,
}

/// The reading side.
struct Reader {
    server: String,
    stdout: Stdout,
    child: Arc<Child>,
    pending: Arc<Pending>,
    events: mpsc::Sender<Event>,
    spoken: Arc<AtomicBool>,
    odd: u32,
}

/// A request whose answer comes on the pipe.
struct Call {
    waiting: Waiting<Post>,
    writer: Writer,
    receipt: Receipt,
}

impl Stdio {
    /// Starts the server; nothing is said yet.
    ///
    /// # Errors
    ///
    /// As [`Child::spawn`].
    pub async fn spawn(
        spec: &ChildSpec,
        guardian: &Guardian,
    ) -> Result<(Arc<Self>, mpsc::Receiver<Event>), SpawnError> {
        let (child, stdout) = Child::spawn(spec, guardian).await?;
        let child = Arc::new(child);
        let (events, heard) = mpsc::channel(EVENTS);
        let pending = Pending::new();
        let spoken = Arc::new(AtomicBool::new(false));
        let reader = Reader {
            server: spec.server.clone(),
            stdout,
            child: child.clone(),
            pending: pending.clone(),
            events,
            spoken: spoken.clone(),
            odd: 0,
        };
        let post = Arc::new(Post {
            writer: child.writer().clone(),
            runtime: Handle::current(),
        });
        let reader = AbortOnDropHandle::new(tokio::spawn(reader.run()));
        Ok((
            Arc::new(Self {
                child,
                pending,
                post,
                spoken,
                _reader: reader,
            }),
            heard,
        ))
    }

    /// The id of the process, which is also that of its group.
    pub fn pid(&self) -> i32 {
        self.child.pid()
    }

    /// The last lines that it has written to stderr.
    pub fn last_words(&self) -> String {
        self.child.stderr_tail()
    }

    /// Whether it has written anything yet, to stdout or stderr.
    pub fn has_spoken(&self) -> bool {
        self.spoken.load(Ordering::Relaxed) || !self.child.stderr_tail().is_empty()
    }
}

#[async_trait]
impl Transport for Stdio {
    fn next_id(&self) -> u64 {
        self.pending.next_id()
    }

    async fn open(&self, request: Outgoing) -> Result<Exchange, Failed> {
        let ticket = self.pending.enter(request.id, request.party)?;
        if request.method == Method::Listen {
            ticket.is_for_a_listen();
        }
        let text = Request::text(&Id::number(request.id), request.method.as_str(), request.params);
        let receipt = self.post.writer.send(text).await.map_err(unwritten)?;
        // A handshake cannot be cancelled (all revisions of the session era, cancellation).
        let withdraw = (request.method != Method::Initialize).then(|| self.post.clone());
        let writer = self.post.writer.clone();
        Ok(Exchange::new(Call {
            waiting: Waiting::new(ticket, withdraw),
            writer,
            receipt,
        }))
    }

    fn attend(&self, party: Party) -> Option<Exchange> {
        self.pending.attend(party)
    }

    fn is_quiet_for(&self, party: Party) -> bool {
        self.pending.is_quiet_for(party)
    }

    async fn send(&self, message: Message) -> Result<(), Failed> {
        self.post
            .writer
            .send(text_of(&message))
            .await
            .map(drop)
            .map_err(unwritten)
    }

    fn negotiated(&self, _: Version) {} // A pipe carries no headers.

    async fn close(&self) {
        let exit = self.child.stop(Grace::default()).await;
        self.pending.fail_all(&Failed::maybe_sent(
            FailedKind::Closed,
            format!("the server was stopped ({exit})"),
        ));
    }
}

fn text_of(message: &Message) -> Rope {
    match message {
        Message::Request(request) => {
            Request::text(&request.id, request.method.as_str(), request.params_rope())
        }
        Message::Notification(notification) => notification.to_rope(),
        Message::Response(response) => response.to_rope(),
    }
}

fn unwritten(error: WriteError) -> Failed {
    match error.is_unsent() {
        true => Failed::unsent(FailedKind::Closed, error),
        false => Failed::maybe_sent(FailedKind::Closed, error),
    }
}

impl Withdraw for Post {
    /// The server is told before this returns, unless its pipe is full: whoever gives up last, at the
    /// end of the gateway, is then heard before the pipe is closed.
    fn withdraw(self: Arc<Self>, id: u64, why: Reason) {
        let post = self.clone();
        let mut telling = Box::pin(async move { post.writer.send(cancelled(id, why).to_rope()).await });
        match telling.as_mut().now_or_never() {
            Some(told) => note_untold(id, told.is_ok()),
            None => drop(self.runtime.spawn(async move {
                let told = timeout(Duration::from_secs(5), telling).await;
                note_untold(id, matches!(told, Ok(Ok(_))));
            })),
        }
    }
}

fn note_untold(id: u64, told: bool) {
    if !told {
        debug!(
            request_id = id,
            "the server could not be told of a cancelled request"
        );
    }
}

impl Answering for Call {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Message, Failed>> {
        self.waiting
            .poll_next(cx)
            .map_err(|failed| match self.writer.is_unsent(self.receipt) {
                true => Failed {
                    sent: crate::Sent::No,
                    ..failed
                },
                false => failed,
            })
    }

    fn cancel(mut self: Box<Self>, why: Reason) {
        self.waiting.give_up(why);
    }
}

impl Reader {
    /// Reads until the server ends, then tells everybody who waits.
    async fn run(mut self) {
        loop {
            match self.stdout.next().await {
                Ok(Some(line)) => self.take(line),
                Ok(None) => break,
                Err(error) => {
                    debug!(server = self.server, %error, "stdout cannot be read");
                    break;
                }
            }
        }
        let failed = self.farewell().await;
        self.pending.fail_all(&failed);
        let _ = self.events.send(Event::Closed(failed)).await;
    }

    fn take(&mut self, line: Line) {
        self.spoken.store(true, Ordering::Relaxed);
        match line {
            Line::Text(text) => match intake::read(&text) {
                Ok(message) => self.deliver(message),
                Err(broken) => self.note_odd(&broken.to_string(), &text),
            },
            Line::NotUtf8(bytes) => self.note_odd("not UTF-8", &bytes),
            Line::TooLong(line) => self.answer_too_long(&line),
        }
    }

    fn deliver(&self, message: Message) {
        let Some(event) = self.pending.deliver(message) else {
            return;
        };
        if self.events.try_send(event).is_err() {
            warn!(
                server = self.server,
                "a message of the server was dropped: too many came at once"
            );
        }
    }

    /// Banners and log lines on stdout are skipped (B03); the first ones are worth a line in the log.
    fn note_odd(&mut self, reason: &str, line: &[u8]) {
        self.odd += 1;
        if self.odd <= ODD_LINES {
            let start = String::from_utf8_lossy(&line[..line.len().min(EXCERPT)]);
            warn!(server = self.server, reason, line = %start, "skipped a line on stdout that is no message");
        }
    }

    /// The call that an over-long line answered fails, if its id can be told (B89).
    fn answer_too_long(&mut self, line: &TooLong) {
        let detail = format!(
            "its answer of {} bytes is longer than a message may be",
            line.bytes
        );
        warn!(
            server = self.server,
            bytes = line.bytes,
            "threw away a line that is longer than a message may be"
        );
        if let Some(id) = id_in(&line.head).or_else(|| id_in(&line.tail)) {
            let error = ErrorObject::new(code::INTERNAL, format!("server `{}`: {detail}", self.server));
            let response = Response {
                id: Some(Id::number(id)),
                outcome: Err(error.render()),
            };
            self.deliver(Message::Response(response));
        }
    }

    /// How the server ended, in its own last words.
    async fn farewell(&self) -> Failed {
        let end = match timeout(AFTERLIFE, self.child.wait()).await {
            Ok(exit) => format!("the process ended ({exit})"),
            Err(_) => {
                self.child.stop(Grace::default()).await;
                "the process closed its stdout and was stopped".to_owned()
            }
        };
        let words = self.child.last_words().await;
        Failed::maybe_sent(FailedKind::Closed, obituary(end, &words))
    }
}

fn obituary(end: String, words: &str) -> String {
    match words.trim() {
        "" => end,
        words => format!("{end}; its last words: {words}"),
    }
}

/// The number after `"id":` in a piece of a message.
fn id_in(piece: &[u8]) -> Option<u64> {
    let at = memchr::memmem::find(piece, b"\"id\":")? + 5;
    let rest = &piece[at..];
    let start = rest.iter().position(|byte| *byte != b' ')?;
    let digits = rest[start..].iter().take_while(|byte| byte.is_ascii_digit());
    std::str::from_utf8(&digits.copied().collect::<Vec<_>>())
        .ok()?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b89_the_id_of_a_line_that_was_thrown_away_is_found() {
        assert_eq!(id_in(br#"{"jsonrpc":"2.0","id": 17,"result":{"#), Some(17));
        assert_eq!(id_in(br#"xxx"},"id":8}"#), Some(8));
        assert_eq!(id_in(br#"{"id":"text""#), None);
    }
}

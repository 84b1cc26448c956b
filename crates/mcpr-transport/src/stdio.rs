//! The client end of a child process: one line is one message (all revisions, transports: stdio).

use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt;
use mcpr_protocol::{Id, Message, Method, Request, Rope, Version};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;
use tracing::{debug, warn};

use crate::child::{
    Child, ChildSpec, Grace, Guardian, Line, Receipt, SpawnError, Stdout, TooLong, WriteError, Writer,
};
use crate::excerpt::excerpt_of;
use crate::pending::{Pending, Waiting, Withdraw, cancelled};
use crate::{Answering, Event, Exchange, Failed, FailedKind, Outgoing, Party, Reason, Transport};
use crate::{gist, intake};

/// How many events wait for the one who reads them; more are dropped, so that responses still come.
const EVENTS: usize = 256;

/// How long a child that closed its stdout may take to end before that is helped along.
const AFTERLIFE: Duration = Duration::from_secs(1);

/// How many odd lines of one child are logged; the rest would be the same story.
const ODD_LINES: u32 = 20;

/// A server that runs as a child process.
#[derive(Debug)]
pub struct Stdio {
    child: Arc<Child>,
    pending: Arc<Pending>,
    post: Arc<Post>,
    course: Arc<Course>,
    _reader: AbortOnDropHandle<()>,
}

/// How far a conversation has come.
#[derive(Debug, Default)]
struct Course {
    /// The server has written something.
    spoken: AtomicBool,
    /// The client whose words it was sent, [`NOBODY`] or [`SEVERAL`]: what it writes may repeat them.
    told_by: AtomicU64,
}

/// It was sent nothing of a client.
const NOBODY: u64 = Party::GATEWAY.client;
/// It was sent something of more than one, or nobody knows of how many.
const SEVERAL: u64 = u64::MAX;

impl Course {
    /// Notes whose words it is sent with a request. The gateway may pass on what clients have told it, as it
    /// subscribes for all of them; what it asks of each server at its start is its own.
    fn tell(&self, method: &Method, party: Party) {
        match party.client {
            NOBODY if is_the_gateways_own(method) => {}
            NOBODY => self.hear(SEVERAL),
            client => self.hear(client),
        }
    }

    fn hear(&self, client: u64) {
        let before = self.told_by.load(Ordering::Relaxed);
        if before == client || before == SEVERAL {
            return;
        }
        let first = self
            .told_by
            .compare_exchange(NOBODY, client, Ordering::Relaxed, Ordering::Relaxed);
        if first.is_err_and(|other| other != client) {
            self.told_by.store(SEVERAL, Ordering::Relaxed);
        }
    }

    /// Whose words it may repeat.
    fn told_by(&self) -> u64 {
        self.told_by.load(Ordering::Relaxed)
    }
}

/// Whether nothing of a client is in a request of the gateway.
fn is_the_gateways_own(method: &Method) -> bool {
    matches!(
        method,
        Method::Initialize
            | Method::Discover
            | Method::Ping
            | Method::ToolsList
            | Method::PromptsList
            | Method::ResourcesList
            | Method::TemplatesList
    )
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
    course: Arc<Course>,
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
        let course = Arc::<Course>::default();
        let reader = Reader {
            server: spec.server.clone(),
            stdout,
            child: child.clone(),
            pending: pending.clone(),
            events,
            course: course.clone(),
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
                course,
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
        self.course.spoken.load(Ordering::Relaxed) || !self.child.stderr_tail().is_empty()
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
        self.course.tell(&request.method, request.party);
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
        self.course.hear(party.client); // Its questions may be answered by that client.
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
        let (for_clients, for_all) = self.told(failed);
        self.pending.fail_all(&for_clients);
        let _ = self.events.send(Event::Closed(for_all)).await;
    }

    /// What those who wait are told of the end, and what everybody is: its last words may repeat what a client
    /// sent, and are for that client alone then, or for nobody (LOG-04).
    fn told(&self, failed: Failed) -> (Failed, Failed) {
        let silent = Failed {
            said: None,
            ..failed.clone()
        };
        match self.course.told_by() {
            NOBODY => (failed.clone(), failed.in_full()),
            SEVERAL => (silent.clone(), silent),
            _ => (failed, silent),
        }
    }

    fn take(&mut self, line: Line) {
        self.course.spoken.store(true, Ordering::Relaxed);
        match line {
            Line::Text(text) => match intake::read(&text) {
                Ok(message) => self.deliver(message),
                Err(broken) => self.take_broken(&broken, &text),
            },
            Line::NotUtf8(bytes) => self.take_broken(&"not UTF-8", &bytes),
            Line::TooLong(line) => self.take_too_long(&line),
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

    /// A call fails whose answer this is (B90); whatever else cannot be read is passed over.
    fn take_broken(&mut self, why: &dyn Display, line: &[u8]) {
        let detail = format!("its answer cannot be read: {why}");
        let failed = Failed::maybe_sent(FailedKind::Malformed, detail).saying(excerpt_of(line));
        if self.pending.fail_answered(line, &failed) {
            warn!(server = self.server, reason = %why, bytes = line.len(), "an answer of the server cannot be read, and its call fails");
        } else {
            self.note_odd(why, line);
        }
    }

    /// Banners and log lines on stdout are skipped (B03). The first ones are worth a line in the log,
    /// and are shown there while nothing of a client can be in them (LOG-04).
    fn note_odd(&mut self, reason: &dyn Display, line: &[u8]) {
        self.odd += 1;
        if self.odd <= ODD_LINES {
            let shown = (self.course.told_by() == NOBODY).then(|| excerpt_of(line));
            warn!(server = self.server, %reason, bytes = line.len(), line = shown, "skipped a line on stdout that is no message");
        }
    }

    /// The call that an over-long line answered fails, if its id can be told (B89).
    fn take_too_long(&self, line: &TooLong) {
        let detail = format!(
            "its answer of {} bytes is longer than a message may be",
            line.bytes
        );
        warn!(
            server = self.server,
            bytes = line.bytes,
            "threw away a line that is longer than a message may be"
        );
        if let Some(id) = gist::answered_by_ends(&line.head, &line.tail) {
            self.pending
                .fail(id, &Failed::maybe_sent(FailedKind::TooLarge, detail));
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
        let words = Some(words.trim()).filter(|words| !words.is_empty());
        let words = words.map(|words| format!("its last words: {words}"));
        Failed::maybe_sent(FailedKind::Closed, end).saying(words.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(stdio: &Stdio, method: Method, party: Party) -> Outgoing {
        Outgoing {
            id: stdio.next_id(),
            method,
            params: Rope::new(),
            name: None,
            headers: Vec::new(),
            party,
        }
    }

    /// What comes for the first request, of a server that answers it with what this shell command says.
    async fn asked(says: &str) -> Result<Message, Failed> {
        let script = format!("read -r line; {says}; exec cat >/dev/null");
        let spec = ChildSpec {
            args: vec!["-c".into(), script],
            ..ChildSpec::new("test", "sh")
        };
        let (stdio, _events) = Stdio::spawn(&spec, &Guardian::none()).await.unwrap();
        let party = Party {
            who: 1,
            client: 1,
            can_be_asked: false,
        };
        let request = request(&stdio, Method::ToolsCall, party);
        let mut exchange = stdio.open(request).await.unwrap();
        timeout(Duration::from_secs(20), exchange.next()).await.unwrap()
    }

    #[tokio::test]
    async fn b90_log_04_an_answer_that_is_no_text_fails_its_call_and_is_shown_to_nobody_else() {
        let answer = r#"printf '{"jsonrpc":"2.0","id":1,"result":{"t":"\377 s3cret"}}\n'"#;

        let failed = asked(answer).await.unwrap_err();

        assert_eq!(
            (failed.kind, failed.sent),
            (FailedKind::Malformed, crate::Sent::Maybe)
        );
        assert_eq!(failed.to_string(), "its answer cannot be read: not UTF-8");
        assert!(failed.said.unwrap().contains("s3cret"));
    }

    /// What is heard of the end of a server that says its last words after so many requests: by each who has sent
    /// one, and by everybody.
    async fn last_words(requests: &[(Method, u64)]) -> (Vec<bool>, bool) {
        let script = format!(
            "for i in $(seq {}); do read -r line; done; echo W0RDS >&2; exit 3",
            requests.len()
        );
        let spec = ChildSpec {
            args: vec!["-c".into(), script],
            ..ChildSpec::new("test", "sh")
        };
        let (stdio, mut events) = Stdio::spawn(&spec, &Guardian::none()).await.unwrap();
        let mut asked = Vec::new();
        for (method, client) in requests {
            let party = Party {
                who: *client,
                client: *client,
                can_be_asked: false,
            };
            asked.push(stdio.open(request(&stdio, method.clone(), party)).await.unwrap());
        }
        let mut heard = Vec::new();
        for mut exchange in asked {
            heard.push(exchange.next().await.unwrap_err().whole().contains("W0RDS"));
        }
        let Some(Event::Closed(failed)) = events.recv().await else {
            panic!("its end is told to everybody");
        };
        (heard, failed.whole().contains("W0RDS"))
    }

    #[tokio::test]
    async fn log_04_b20_the_last_words_of_a_server_are_for_the_client_that_alone_has_told_it_something() {
        let call = |client| (Method::ToolsCall, client);
        assert_eq!(
            last_words(&[(Method::ToolsList, NOBODY)]).await,
            (vec![true], true)
        );
        assert_eq!(last_words(&[call(7), call(7)]).await, (vec![true, true], false));
        assert_eq!(last_words(&[call(7), call(8)]).await, (vec![false, false], false));
        let subscribed = (Method::ResourcesSubscribe, NOBODY);
        assert_eq!(last_words(&[subscribed]).await, (vec![false], false));
    }

    #[tokio::test]
    async fn b20_the_last_words_of_a_server_are_its_own() {
        let failed = asked("echo 'out of s3cret' >&2; exit 3").await.unwrap_err();

        assert!(!failed.to_string().contains("s3cret"), "{failed}");
        assert!(
            failed.whole().ends_with("its last words: out of s3cret"),
            "{}",
            failed.whole()
        );
    }
}

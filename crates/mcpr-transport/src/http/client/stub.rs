//! A server that tests script.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, Request, Response};
use http_body::Frame;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use mcpr_protocol::Message;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;

/// An HTTP server on a free port that remembers what it was asked; dropping it ends it.
pub(crate) struct Stub {
    port: u16,
    seen: watch::Receiver<Vec<Seen>>,
    _tasks: JoinSet<()>,
}

/// One request as the server saw it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// Which connection it came on, from 1.
    pub(crate) connection: usize,
}

/// What the server answers.
pub(crate) struct Reply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: ReplyBody,
}

/// The sending end of a streamed body; dropping it ends the body, an error breaks it off.
pub(crate) type Stream = mpsc::UnboundedSender<Result<Bytes, io::Error>>;

enum ReplyBody {
    Whole(Option<Bytes>),
    Stream(mpsc::UnboundedReceiver<Result<Bytes, io::Error>>),
    /// No answer at all; the sender is dropped when the client goes.
    Silence(oneshot::Sender<()>),
}

impl Seen {
    /// The method of the MCP message, or nothing.
    pub(crate) fn mcp(&self) -> String {
        match Message::parse(&self.body) {
            Ok(Message::Request(request)) => request.method.to_string(),
            Ok(Message::Notification(notification)) => notification.method.into(),
            _ => String::new(),
        }
    }

    /// The id of the MCP request.
    pub(crate) fn id(&self) -> String {
        match Message::parse(&self.body) {
            Ok(Message::Request(request)) => request.id.to_string(),
            _ => "null".to_owned(),
        }
    }

    /// All values of a header, joined.
    pub(crate) fn header(&self, name: &str) -> String {
        let values: Vec<_> = self
            .headers
            .get_all(name)
            .iter()
            .map(|value| value.to_str().unwrap())
            .collect();
        values.join(" | ")
    }
}

impl Reply {
    pub(crate) fn status(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: ReplyBody::Whole(None),
        }
    }

    pub(crate) fn text(status: u16, media: &str, text: impl Into<Bytes>) -> Self {
        let body = ReplyBody::Whole(Some(text.into()));
        Self {
            body,
            ..Self::status(status)
        }
        .with("content-type", media)
    }

    pub(crate) fn json(text: impl Into<String>) -> Self {
        Self::text(200, "application/json", text.into())
    }

    /// The result of the request that was seen.
    pub(crate) fn result(seen: &Seen, result: &str) -> Self {
        Self::json(response(seen, result))
    }

    /// A stream of events that ends after `text`.
    pub(crate) fn events(text: impl Into<String>) -> Self {
        Self::text(200, "text/event-stream", text.into())
    }

    /// A stream of events that goes on as long as the test wants.
    pub(crate) fn stream() -> (Self, Stream) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let body = ReplyBody::Stream(receiver);
        (
            Self {
                body,
                ..Self::status(200)
            }
            .with("content-type", "text/event-stream"),
            sender,
        )
    }

    /// The same body under another status and of another kind.
    pub(crate) fn answering(mut self, status: u16, media: &str) -> Self {
        self.status = status;
        self.headers = vec![("content-type", media.to_owned())];
        self
    }

    /// No answer; the receiver hears when the client has gone.
    pub(crate) fn silence() -> (Self, oneshot::Receiver<()>) {
        let (sender, receiver) = oneshot::channel();
        (
            Self {
                body: ReplyBody::Silence(sender),
                ..Self::status(200)
            },
            receiver,
        )
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// The text of a response to the request that was seen.
pub(crate) fn response(seen: &Seen, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, seen.id())
}

/// Sends a text into a streamed body.
pub(crate) fn say(stream: &Stream, text: impl Into<String>) {
    stream.send(Ok(Bytes::from(text.into()))).unwrap();
}

impl Stub {
    /// Starts a server that answers what `script` says.
    pub(crate) async fn start(script: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (noted, seen) = watch::channel(Vec::new());
        let mut tasks = JoinSet::new();
        tasks.spawn(serve(listener, Arc::new(script), Arc::new(noted)));
        Self {
            port,
            seen,
            _tasks: tasks,
        }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// What was asked so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.borrow().clone()
    }

    /// What was asked so far, in words: `POST /mcp initialize`.
    pub(crate) fn story(&self) -> Vec<String> {
        let line = |seen: &Seen| {
            format!("{} {} {}", seen.method, seen.path, seen.mcp())
                .trim()
                .to_owned()
        };
        self.seen().iter().map(line).collect()
    }

    /// Waits for a request of which this is true.
    pub(crate) async fn saw(&self, is_it: impl Fn(&Seen) -> bool) -> Seen {
        let mut seen = self.seen.clone();
        let all = seen.wait_for(|all| all.iter().any(&is_it)).await.unwrap();
        all.iter().find(|seen| is_it(seen)).unwrap().clone()
    }
}

type Script = Arc<dyn Fn(&Seen) -> Reply + Send + Sync>;

async fn serve(listener: TcpListener, script: Script, noted: Arc<watch::Sender<Vec<Seen>>>) {
    let mut connections = JoinSet::new();
    for number in 1.. {
        let (stream, _) = listener.accept().await.unwrap();
        let (script, noted) = (Arc::clone(&script), Arc::clone(&noted));
        let service =
            service_fn(move |request| answer(request, number, Arc::clone(&script), Arc::clone(&noted)));
        connections.spawn(async move {
            drop(
                http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service)
                    .await,
            )
        });
    }
}

async fn answer(
    request: Request<Incoming>,
    connection: usize,
    script: Script,
    noted: Arc<watch::Sender<Vec<Seen>>>,
) -> Result<Response<ReplyBody>, Infallible> {
    let (head, body) = request.into_parts();
    let seen = Seen {
        method: head.method.to_string(),
        path: head.uri.to_string(),
        headers: head.headers,
        body: body
            .collect()
            .await
            .map(|body| body.to_bytes())
            .unwrap_or_default(),
        connection,
    };
    let reply = script(&seen);
    noted.send_modify(|all| all.push(seen));
    if let ReplyBody::Silence(kept) = reply.body {
        std::future::pending::<()>().await;
        drop(kept);
        unreachable!("nothing comes after silence");
    }
    let mut response = Response::builder().status(reply.status);
    for (name, value) in reply.headers {
        response = response.header(HeaderName::from_static(name), value);
    }
    Ok(response.body(reply.body).unwrap())
}

impl http_body::Body for ReplyBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        match &mut *self {
            Self::Whole(whole) => Poll::Ready(whole.take().map(|text| Ok(Frame::data(text)))),
            Self::Stream(pieces) => pieces
                .poll_recv(cx)
                .map(|piece| piece.map(|piece| piece.map(Frame::data))),
            Self::Silence(_) => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> http_body::SizeHint {
        match self {
            Self::Whole(whole) => {
                http_body::SizeHint::with_exact(whole.as_ref().map_or(0, |text| text.len() as u64))
            }
            _ => http_body::SizeHint::default(),
        }
    }
}

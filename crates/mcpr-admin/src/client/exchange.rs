//! One request over one connection.

use std::pin::{Pin, pin};

use bytes::{Bytes, BytesMut};
use http::{Request, response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};

use super::ClientError;

/// The longest answer that is read in one piece, in bytes: all lists of a gateway fit.
const LONGEST: usize = 256 << 20;

/// An answer of which the head is there. The connection is worked on by whoever waits for more of
/// it, so it ends with this value.
pub(super) struct Answer {
    pub(super) head: response::Parts,
    body: Incoming,
    connection: Connection,
    /// A connection without anybody who could ask more would close.
    _sender: SendRequest<Full<Bytes>>,
}

/// The connection, for as long as there is something to do on it.
struct Connection(Option<Pin<Box<dyn Future<Output = hyper::Result<()>> + Send>>>);

impl Answer {
    /// Sends the request and waits for the head of the answer.
    pub(super) async fn to<S>(stream: S, request: Request<Full<Bytes>>) -> hyper::Result<Self>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        let mut connection = Connection(Some(Box::pin(connection)));
        let answer = connection.work_for(sender.send_request(request)).await?;
        let (head, body) = answer.into_parts();
        Ok(Self {
            head,
            body,
            connection,
            _sender: sender,
        })
    }

    /// The next piece of the body; nothing at its end. Cancel-safe.
    pub(super) async fn piece(&mut self) -> hyper::Result<Option<Bytes>> {
        loop {
            let frame = self.connection.work_for(self.body.frame()).await;
            match frame.transpose()?.map(hyper::body::Frame::into_data) {
                Some(Ok(piece)) => return Ok(Some(piece)),
                Some(Err(_)) => {} // Trailers mean nothing here.
                None => return Ok(None),
            }
        }
    }

    /// The rest of the body, if it is no longer than any answer of a gateway.
    pub(super) async fn rest(mut self) -> Result<Bytes, ClientError> {
        let mut rest = BytesMut::new();
        while let Some(piece) = self.piece().await? {
            rest.extend_from_slice(&piece);
            if rest.len() > LONGEST {
                return Err(ClientError::TooLong(LONGEST));
            }
        }
        Ok(rest.freeze())
    }
}

impl Connection {
    /// Works on the connection until what is waited for is there.
    async fn work_for<T>(&mut self, waited_for: impl Future<Output = T>) -> T {
        let mut waited_for = pin!(waited_for);
        if let Some(connection) = &mut self.0 {
            tokio::select! {
                there = &mut waited_for => return there,
                _ = connection => {}
            }
        }
        self.0 = None;
        // What was read by then is still on its way to the answer.
        waited_for.await
    }
}

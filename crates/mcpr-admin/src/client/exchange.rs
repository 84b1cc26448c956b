//! One request over one connection.

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};

/// Sends the request and reads the whole answer. The connection is worked on right here, so that
/// it ends with this future.
pub(super) async fn exchange<S>(
    stream: S,
    request: Request<Full<Bytes>>,
) -> hyper::Result<(StatusCode, Bytes)>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let asked = async move {
        let (head, body) = sender.send_request(request).await?.into_parts();
        Ok((head.status, body.collect().await?.to_bytes()))
    };
    let mut connection = std::pin::pin!(connection);
    let mut asked = std::pin::pin!(asked);
    tokio::select! {
        answer = &mut asked => answer,
        // What it has read by then is still in the channel to `asked`.
        _ = &mut connection => asked.await,
    }
}

//! Takes the body of a request, within limits (step 4 of a request's path).

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use tokio::time::timeout;

use super::{Limits, Refusal};
use crate::compact::compact;

/// How much is set aside for a body on its announcement alone.
const SET_ASIDE: usize = 64 * 1024;

/// The whole body.
///
/// One that came in one piece is not copied unless it is small. One that is announced as too large is refused before
/// any of it is read.
///
/// # Errors
///
/// [`Refusal::TooLarge`], [`Refusal::TooSlow`], [`Refusal::Broken`].
pub(super) async fn take(body: &mut Incoming, limits: &Limits) -> Result<Bytes, Refusal> {
    let limit = limits.body;
    if body.size_hint().lower() > limit as u64 {
        return Err(Refusal::TooLarge { limit });
    }
    in_time(limits.body_time, read(body, limit)).await
}

async fn in_time(
    limit: Duration,
    body: impl Future<Output = Result<Bytes, Refusal>>,
) -> Result<Bytes, Refusal> {
    timeout(limit, body)
        .await
        .unwrap_or(Err(Refusal::TooSlow { limit }))
}

async fn read(body: &mut Incoming, limit: usize) -> Result<Bytes, Refusal> {
    let Some(first) = next(body).await? else {
        return Ok(Bytes::new());
    };
    if body.is_end_stream() && first.len() <= limit {
        return Ok(compact(first));
    }
    let announced = first.len() + usize::try_from(body.size_hint().lower()).unwrap_or(limit);
    let mut whole = BytesMut::with_capacity(announced.min(SET_ASIDE).max(first.len()));
    whole.extend_from_slice(&first);
    while whole.len() <= limit {
        match next(body).await? {
            Some(piece) => whole.extend_from_slice(&piece),
            None => return Ok(whole.freeze()),
        }
    }
    Err(Refusal::TooLarge { limit })
}

/// The next piece that is data; trailers mean nothing here.
async fn next(body: &mut Incoming) -> Result<Option<Bytes>, Refusal> {
    while let Some(frame) = body.frame().await {
        if let Ok(piece) = frame.map_err(|_| Refusal::Broken)?.into_data() {
            return Ok(Some(piece));
        }
    }
    Ok(None)
}

//! Takes the body of a request, within limits (step 4 of a request's path).

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use tokio::time::{Instant, timeout_at};

use super::connection::Arriving;
use super::{Limits, Refusal};
use crate::compact::compact;

/// How many bytes of a body must come in a second, once its time is over.
const SPEED: usize = 16 * 1024;

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
pub(super) async fn take(body: &mut impl Arriving, limits: &Limits) -> Result<Bytes, Refusal> {
    let limit = limits.body;
    if body.size_hint().lower() > limit as u64 {
        return Err(Refusal::TooLarge { limit });
    }
    read(body, limit, Pace::begin(limits.body_time)).await
}

/// How long a body may take: some time whatever it is, and what it takes at the least speed.
#[derive(Clone, Copy)]
struct Pace {
    began: Instant,
    limit: Duration,
}

impl Pace {
    fn begin(limit: Duration) -> Self {
        let began = Instant::now();
        Self { began, limit }
    }

    /// Until when there must be more than so much.
    fn due(self, read: usize) -> Instant {
        let at_least = Duration::from_secs((read / SPEED) as u64);
        self.began + self.limit + at_least
    }
}

async fn read(body: &mut impl Arriving, limit: usize, pace: Pace) -> Result<Bytes, Refusal> {
    let Some(first) = next(body, pace, 0).await? else {
        return Ok(Bytes::new());
    };
    if body.is_end_stream() && first.len() <= limit {
        return Ok(compact(first));
    }
    let announced = first.len() + usize::try_from(body.size_hint().lower()).unwrap_or(limit);
    let mut whole = BytesMut::with_capacity(announced.min(SET_ASIDE).max(first.len()));
    whole.extend_from_slice(&first);
    while whole.len() <= limit {
        match next(body, pace, whole.len()).await? {
            Some(piece) => whole.extend_from_slice(&piece),
            None => return Ok(whole.freeze()),
        }
    }
    Err(Refusal::TooLarge { limit })
}

/// The next piece that is data; trailers mean nothing here.
async fn next(body: &mut impl Arriving, pace: Pace, read: usize) -> Result<Option<Bytes>, Refusal> {
    let too_slow = |_| Refusal::TooSlow { limit: pace.limit };
    let due = pace.due(read);
    while let Some(frame) = timeout_at(due, body.frame()).await.map_err(too_slow)? {
        if let Ok(piece) = frame.map_err(|_| Refusal::Broken)?.into_data() {
            return Ok(Some(piece));
        }
    }
    Ok(None)
}

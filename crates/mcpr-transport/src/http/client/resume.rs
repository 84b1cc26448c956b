//! Picks a broken stream up where it ended (session era).

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderValue;
use tokio::time::sleep;

use super::answer::Answer;
use super::hop::Stamp;
use super::parcel::Parcel;
use super::streamable::Shared;
use crate::http::names;
use crate::{Failed, FailedKind};

/// The way back into a stream.
pub(super) type Resuming = Pin<Box<dyn Future<Output = Result<Answer, Failed>> + Send>>;

/// How long to wait where the server does not say.
const PAUSE: Duration = Duration::from_millis(500);
/// The shortest wait, also where the server asks for none.
const SHORTEST: Duration = Duration::from_millis(100);
/// The longest wait that comes from failing again and again.
const LONGEST: Duration = Duration::from_secs(60);

/// How long to wait before reconnecting: as long as the server says, and longer with each failure.
pub(super) fn pause(asked: Option<Duration>, failures: u32, longest_asked: Duration) -> Duration {
    let asked = asked.unwrap_or(PAUSE).min(longest_asked).max(SHORTEST);
    let grown = asked.saturating_mul(1 << failures.min(16));
    grown.min(asked.max(LONGEST))
}

impl Shared {
    /// Asks for what followed `last_id`. `breaks` counts the tries before that brought nothing.
    pub(super) async fn resume(
        self: Arc<Self>,
        stamp: Stamp,
        last_id: Bytes,
        retry: Option<Duration>,
        breaks: u32,
    ) -> Result<Answer, Failed> {
        let limits = self.link.limits();
        let mut reason = "it breaks off each time".to_owned();
        for failures in breaks..limits.resumes {
            sleep(pause(retry, failures, limits.retry)).await;
            match self.ask_for_stream(&stamp, Some(&last_id)).await {
                Ok(mut answer) if answer.is_stream() => {
                    answer.continues(last_id, retry);
                    return Ok(answer);
                }
                Ok(answer) if is_passing(answer.status.as_u16()) => {
                    reason = format!("HTTP {}", answer.status)
                }
                Ok(answer) => return Err(self.not_resumed(&answer, &stamp)),
                Err(failed) => reason = failed.detail,
            }
        }
        let origin = self.link.origin();
        let detail =
            format!("the stream from {origin} broke off before the response, and does not go on: {reason}");
        Err(Failed::maybe_sent(FailedKind::Closed, detail))
    }

    /// Asks for a stream of the session, from its beginning or from behind an event.
    pub(super) async fn ask_for_stream(
        &self,
        stamp: &Stamp,
        last_id: Option<&Bytes>,
    ) -> Result<Answer, Failed> {
        let mut parcel = Parcel::get(&stamp.headers);
        if let Some(id) = last_id.and_then(|id| HeaderValue::from_bytes(id).ok()) {
            parcel.add(names::LAST_EVENT_ID, id);
        }
        self.link.start(parcel).await?.await
    }

    fn not_resumed(&self, answer: &Answer, stamp: &Stamp) -> Failed {
        let status = answer.status.as_u16();
        let lost = status == 404 && stamp.session.is_some();
        let kind = if lost {
            FailedKind::SessionExpired
        } else {
            FailedKind::Closed
        };
        let origin = self.link.origin();
        let detail = format!(
            "the stream from {origin} broke off before the response, and asking for the rest is answered with {status}"
        );
        Failed::maybe_sent(kind, detail)
    }
}

/// Whether a status may be another one in a moment.
pub(super) fn is_passing(status: u16) -> bool {
    matches!(status, 408 | 409 | 425 | 429 | 500 | 502 | 503 | 504)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_what_the_server_asks_for_and_grow_with_failures() {
        let millis = |asked: Option<u64>, failures| {
            pause(
                asked.map(Duration::from_millis),
                failures,
                Duration::from_secs(300),
            )
            .as_millis()
        };
        assert_eq!(
            [0, 1, 2, 40].map(|failures| millis(None, failures)),
            [500, 1000, 2000, 60_000]
        );
        assert_eq!([0, 3].map(|failures| millis(Some(200), failures)), [200, 1600]);
        assert_eq!(
            [0, 3].map(|failures| millis(Some(120_000), failures)),
            [120_000, 120_000]
        );
        assert_eq!(millis(Some(u64::MAX), 9), 300_000);
        assert_eq!([0, 3].map(|failures| millis(Some(0), failures)), [100, 800]);
    }
}

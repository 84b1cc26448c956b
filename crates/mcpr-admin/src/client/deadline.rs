//! Until when an operation may take.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::ClientError;

/// Until when an operation may take, if there is such a limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline(Option<(Instant, Duration)>);

impl Deadline {
    /// So long from now.
    pub(super) fn after(limit: Option<Duration>) -> Self {
        Self(limit.map(|limit| (Instant::now() + limit, limit)))
    }

    /// Waits for this as long as there is time.
    pub(super) async fn keep<T, E>(self, work: impl Future<Output = Result<T, E>>) -> Result<T, ClientError>
    where
        ClientError: From<E>,
    {
        match self.0 {
            None => Ok(work.await?),
            Some((at, limit)) => Ok(timeout_at(at, work)
                .await
                .map_err(|_| ClientError::TimedOut(limit))??),
        }
    }
}

//! What a server that is ready waits for.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use crate::wishes::Asked;
use crate::{PerFeed, Replica};

/// Waits until nobody has used the server for `limit`; a subscription is a use as long as it lasts.
pub(super) async fn unused(replica: &Replica, wishes: &PerFeed<Arc<Asked>>, limit: Option<Duration>) {
    let Some(limit) = limit else {
        return std::future::pending().await;
    };
    loop {
        if wishes.none_left().await {
            replica.touch();
        }
        replica.unused_for(limit).await;
        if wishes.are_empty() {
            return;
        }
    }
}

/// Waits until then, or for ever.
pub(super) async fn wait_until(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => std::future::pending().await,
    }
}

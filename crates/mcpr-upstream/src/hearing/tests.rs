//! What a connection leaves behind.

use std::sync::atomic::AtomicBool;

use async_trait::async_trait;
use mcpr_protocol::{Message, Version};
use mcpr_registry::Capabilities;
use mcpr_transport::{Exchange, FailedKind, Outgoing, Transport};

use super::*;
use crate::{NoAudience, Roots};

/// A server that nobody needs to ask anything.
struct Unasked;

#[async_trait]
impl Transport for Unasked {
    fn next_id(&self) -> u64 {
        0
    }

    async fn open(&self, _: Outgoing) -> Result<Exchange, Failed> {
        Err(Failed::unsent(FailedKind::Closed, "it is not asked"))
    }

    async fn send(&self, _: Message) -> Result<(), Failed> {
        Ok(())
    }

    fn negotiated(&self, _: Version) {}

    async fn close(&self) {}
}

#[tokio::test]
async fn b34_a_session_that_is_renewed_leaves_nothing_of_the_one_before() {
    let version = Version::NEWEST_SESSION;
    let introduced = Introduced {
        version,
        capabilities: Capabilities::default(),
        server_info: None,
        instructions: None,
        announced: Heard::default(),
        gateway: None,
    };
    let roots = Roots::new(Arc::new(AtomicBool::new(false)));
    let name: mcpr_registry::ServerName = "s".parse().unwrap();
    let replica = Replica::new(name.clone(), version, Arc::new(Unasked), None, roots);
    let herald = Herald::new(name, Arc::new(NoAudience));
    let wishes = PerFeed::new(|_| Arc::default());
    let (mut hearing, _news) = Hearing::begin(&replica, &introduced, &wishes, &herald).await;
    let at_first = hearing.tasks.len();

    for _ in 0..100 {
        hearing.renew(&introduced);
        tokio::task::yield_now().await;
    }

    assert_eq!(hearing.tasks.len(), at_first);
}

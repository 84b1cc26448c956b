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

/// Begins to hear such a server out, which has these capabilities.
async fn begun(
    capabilities: Capabilities,
) -> (Hearing, mpsc::Receiver<News>, Introduced, PerFeed<Arc<Asked>>) {
    let version = Version::NEWEST_SESSION;
    let introduced = Introduced {
        version,
        capabilities,
        server_info: None,
        instructions: None,
        announced: Heard::default(),
        gateway: None,
    };
    let roots = Roots::new(Arc::new(AtomicBool::new(false)));
    let name: mcpr_registry::ServerName = "s".parse().unwrap();
    let replica = Replica::new(name.clone(), version, Arc::new(Unasked), None, roots);
    let herald = Herald::new(name, Arc::new(NoAudience));
    let wishes = PerFeed::new(|feed| {
        let wishes = crate::Wishes::default();
        if feed == Feed::Resources {
            wishes.add(&"file:///a".into());
        }
        wishes.ask()
    });
    let (hearing, news) = Hearing::begin(&replica, &introduced, &wishes, &herald).await;
    (hearing, news, introduced, wishes)
}

#[tokio::test(start_paused = true)]
async fn b106_a_subscription_that_finds_the_way_broken_is_not_refused_and_is_tried_again() {
    let capabilities = Capabilities {
        resources: true,
        subscribe: true,
        ..Capabilities::default()
    };
    let (_hearing, mut news, _, wishes) = begun(capabilities).await;

    for _ in 0..2 {
        assert!(matches!(news.recv().await, Some(News::Lost)));
    }

    let refused = timeout(
        Duration::from_secs(5),
        wishes.of(Feed::Resources).settled("file:///a"),
    );
    assert!(refused.await.is_err(), "it waits for what becomes of the server");
}

#[tokio::test]
async fn b34_a_session_that_is_renewed_leaves_nothing_of_the_one_before() {
    let (mut hearing, _news, introduced, _) = begun(Capabilities::default()).await;
    let at_first = hearing.tasks.len();

    for _ in 0..100 {
        hearing.renew(&introduced);
        tokio::task::yield_now().await;
    }

    assert_eq!(hearing.tasks.len(), at_first);
}

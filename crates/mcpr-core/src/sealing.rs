//! The keys of handles that clients carry, and new ones in their place (SEC-03).

use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use mcpr_auth::Timestamp;
use mcpr_bridge::Sealer;
use mcpr_store::{SealingKeys, Store, StoreError};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::gateway::Gateway;

/// How long a key is used before another follows; what it has sealed opens for as long again.
const AGE: Duration = Duration::from_secs(30 * 24 * 3600);

/// How often it is looked whether there is another.
const LOOK: Duration = Duration::from_secs(3600);

/// How long a new one seals nothing, so that all gateways that share a store can open what it seals.
const NOTICE: Duration = Duration::from_secs(2 * 3600);

/// How long a handle may be good: what a key seals at the last, while the next one seals nothing yet, opens to its end.
pub(crate) const LONGEST: Duration = AGE.saturating_sub(NOTICE);

/// The sealer with the keys of a store.
pub(crate) async fn sealer(store: &dyn Store) -> Result<Sealer, StoreError> {
    let keys = keys(store, Timestamp::now()).await?;
    let sealer = Sealer::new(keys.newest.as_bytes());
    renew(&sealer, &keys);
    Ok(sealer)
}

/// Has the keys of a gateway be those of its store for as long as it runs.
pub(crate) async fn keep_fresh(gateway: Weak<Gateway>, stop: CancellationToken) {
    while stop.run_until_cancelled(sleep(LOOK)).await.is_some() {
        let Some(gateway) = gateway.upgrade() else { return };
        look(&gateway).await;
    }
}

async fn look(gateway: &Arc<Gateway>) {
    match keys(&*gateway.store, Timestamp::now()).await {
        Ok(keys) => renew(&gateway.sealer, &keys),
        Err(error) => {
            tracing::warn!(reason = %error, "the keys of what clients carry cannot be read, and stay as they are");
        }
    }
}

async fn keys(store: &dyn Store, now: Timestamp) -> Result<SealingKeys, StoreError> {
    let age = i64::try_from(AGE.as_secs()).unwrap_or(i64::MAX);
    let oldest = Timestamp::from_unix(now.unix().saturating_sub(age));
    store.sealing_keys(now, oldest).await
}

fn renew(sealer: &Sealer, keys: &SealingKeys) {
    if let Some(former) = &keys.former {
        let drawn = Duration::from_secs(u64::try_from(keys.drawn.unix()).unwrap_or_default());
        let since = SystemTime::UNIX_EPOCH + drawn + NOTICE;
        sealer.renew(keys.newest.as_bytes(), former.as_bytes(), since);
    }
}

#[cfg(test)]
mod tests {
    use mcpr_bridge::Purpose;
    use mcpr_store::Memory;

    use super::*;

    #[test]
    fn sec_03_what_a_key_seals_at_the_last_opens_for_as_long_as_a_handle_may_be_good() {
        let (next, after_next) = (AGE, 2 * AGE);
        let sealed_at_the_last = next + NOTICE;
        assert!(sealed_at_the_last + LONGEST <= after_next);
        assert!(LOOK < NOTICE, "a new key is known everywhere before it seals");
    }

    #[tokio::test]
    async fn sec_03_handles_outlive_a_change_of_keys_and_not_two() {
        let store = Memory::new();
        let on = |day: i64| Timestamp::from_unix(1_800_000_000 + day * 24 * 3600);
        let first = keys(&store, on(0)).await.unwrap();
        let sealer = Sealer::new(first.newest.as_bytes());
        let expires = SystemTime::now() + Duration::from_secs(60);
        let handle = sealer.seal(Purpose::Task, &[], expires, b"x");

        let mut good = Vec::new();
        for day in [29, 31, 60, 62] {
            renew(&sealer, &keys(&store, on(day)).await.unwrap());
            good.push(
                sealer
                    .open(Purpose::Task, &[], &handle, SystemTime::now())
                    .is_ok(),
            );
        }

        assert_eq!(good, [true, true, true, false]);
    }
}

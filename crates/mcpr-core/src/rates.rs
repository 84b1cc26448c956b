//! How many requests principals send (SEC-05).

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use mcpr_auth::{Bucket, Principal, Rate};
use parking_lot::Mutex;
use tokio::time::Instant;

/// Beyond so many buckets those that are full are forgotten: they are as if new.
const MANY: usize = 1024;

/// What each principal may still send now.
#[derive(Clone, Default)]
pub(crate) struct Rates(Arc<Mutex<HashMap<Principal, Kept>>>);

#[derive(Clone, Copy)]
struct Kept {
    bucket: Bucket,
    rate: Rate,
    at: Instant,
}

impl Rates {
    /// Counts requests of a principal.
    ///
    /// # Errors
    ///
    /// How long to wait until they may come.
    pub(crate) fn take(&self, principal: &Principal, rate: Rate, requests: usize) -> Result<(), Duration> {
        let now = Instant::now();
        let mut all = self.0.lock();
        if all.len() >= MANY && !all.contains_key(principal) {
            all.retain(|_, kept| !kept.is_full(now));
        }
        let kept = all
            .entry(principal.clone())
            .or_insert_with(|| Kept::new(rate, now));
        if kept.rate != rate {
            *kept = Kept::new(rate, now);
        }
        kept.is_full(now);
        kept.bucket.take(rate, requests)
    }
}

impl Kept {
    fn new(rate: Rate, at: Instant) -> Self {
        Self {
            bucket: Bucket::full(rate),
            rate,
            at,
        }
    }

    /// Gives back what has come back until now; whether that is all.
    fn is_full(&mut self, now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.at);
        self.at = now;
        self.bucket.refill(self.rate, passed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn sec_05_each_principal_has_its_own_rate_and_a_new_one_counts_at_once() {
        let rates = Rates::default();
        let (slow, fast) = ("1/s".parse().unwrap(), "2/s".parse().unwrap());
        let local = Principal::local();
        assert!(rates.take(&local, slow, 1).is_ok());
        assert_eq!(rates.take(&local, slow, 1), Err(Duration::from_secs(1)));
        assert!(rates.take(&Principal::anonymous(), slow, 1).is_ok());

        assert!(rates.take(&local, fast, 2).is_ok());
        assert_eq!(rates.take(&local, fast, 1), Err(Duration::from_millis(500)));
        tokio::time::advance(Duration::from_millis(500)).await;
        assert!(rates.take(&local, fast, 1).is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn sec_05_who_has_sent_nothing_for_a_while_is_forgotten() {
        let rates = Rates::default();
        let rate = "1/s".parse().unwrap();
        for number in 0..MANY {
            let principal = Principal::stdio(&number.to_string());
            rates.take(&principal, rate, 1).unwrap();
        }
        tokio::time::advance(Duration::from_secs(1)).await;

        rates.take(&Principal::local(), rate, 1).unwrap();

        assert_eq!(rates.0.lock().len(), 1);
    }
}

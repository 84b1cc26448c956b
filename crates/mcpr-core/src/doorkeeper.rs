//! Who is let in: the tokens in memory, kept equal to those in the store.

use std::sync::Arc;
use std::time::Duration;

use mcpr_auth::{Denied, Minted, NewToken, Principal, Timestamp, Token, TokenStore, Tokens, mint, rotate};
use mcpr_store::{Store, StoreError};
use tokio::sync::{Mutex, watch};
use tokio::time::{MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;

/// How often the store is asked whether somebody else has changed it (an offline `mcpr-ctl`).
const LOOK: Duration = Duration::from_millis(500);

/// How often it is looked whether a token of the program around the gateway that will end has ended.
const GLANCE: Duration = Duration::from_secs(10);

/// How often uses of tokens are written down.
const SAVE: u32 = 120;

/// Keeps the table of tokens.
pub(crate) struct Doorkeeper {
    tokens: Tokens,
    /// The store of the embedding program, in the place of these.
    own: Option<Arc<dyn TokenStore>>,
    /// Changes go one after the other, so that no older state overwrites a newer; holds the
    /// store's count of other processes' changes.
    changing: Mutex<u64>,
    /// The same count, for those who keep more than tokens.
    others: watch::Sender<u64>,
}

/// A token that could not be made, rotated or revoked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TokenError {
    /// They are not this gateway's to change.
    #[error("this gateway's tokens are kept by the program that it is a part of")]
    NotHere,
    #[error(transparent)]
    Mint(#[from] mcpr_auth::MintError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Waits until a token store has changed; for ever, if it cannot any more.
pub(crate) async fn changed(changes: &mut watch::Receiver<u64>) {
    if changes.changed().await.is_err() {
        std::future::pending().await
    }
}

impl Doorkeeper {
    /// Reads the tokens; those of a store of its own count instead, where the program has one.
    pub(crate) async fn new(
        store: &dyn Store,
        own: Option<Arc<dyn TokenStore>>,
    ) -> Result<Arc<Self>, StoreError> {
        let seen = store.changes_by_others().await?;
        let tokens = Tokens::default();
        tokens.replace(store.tokens().await?);
        Ok(Arc::new(Self {
            tokens,
            own,
            changing: Mutex::new(seen),
            others: watch::Sender::new(seen),
        }))
    }

    /// Who is let in.
    pub(crate) fn tokens(&self) -> &dyn TokenStore {
        self.own.as_deref().unwrap_or(&self.tokens)
    }

    /// Whether the tokens are the gateway's to list and to change.
    ///
    /// # Errors
    ///
    /// When the program around it keeps them.
    pub(crate) fn has_tokens(&self) -> Result<(), TokenError> {
        self.own.is_none().then_some(()).ok_or(TokenError::NotHere)
    }

    /// Wakes its holder when another process has changed the store.
    pub(crate) fn others(&self) -> watch::Receiver<u64> {
        self.others.subscribe()
    }

    /// Whether who was let in earlier would be let in now. Who came without a token needs none.
    pub(crate) fn still_lets_in(&self, principal: &Principal, now: Timestamp) -> bool {
        principal.grant().is_none() || self.tokens().recheck(principal, now).is_ok()
    }

    /// Whether this principal would still be let in with the text it came with.
    pub(crate) fn lets_in(&self, principal: &Principal) -> bool {
        self.tokens().recheck_text(principal, Timestamp::now()).is_ok()
    }

    /// Resolves when this principal would no longer be let in with the text it came with; its calls and its
    /// streams end then (SEC-02).
    pub(crate) async fn banished(&self, principal: &Principal) -> Denied {
        let mut changes = self.tokens().changes();
        loop {
            let now = Timestamp::now();
            let until = match self.tokens().recheck_text(principal, now) {
                Ok(until) => until,
                Err(denied) => return denied,
            };
            // That a token of our own has ended is announced, so that no call needs a timer for it.
            let until = until.filter(|_| self.own.is_some());
            tokio::select! {
                () = changed(&mut changes) => {}
                () = over(until, now) => {}
            }
        }
    }

    /// Makes a token; the secret is in the answer and nowhere else.
    pub(crate) async fn create(&self, store: &dyn Store, new: NewToken) -> Result<Minted, TokenError> {
        self.has_tokens()?;
        let _one_at_a_time = self.changing.lock().await;
        let minted = mint(new, Timestamp::now())?;
        store.insert_token(minted.token.clone(), minted.hash).await?;
        self.tokens.insert(&minted.token, minted.hash);
        Ok(minted)
    }

    /// Gives a token another text; the one it had is accepted for as long as `grace`.
    pub(crate) async fn rotate(
        &self,
        store: &dyn Store,
        which: &str,
        grace: Duration,
    ) -> Result<Minted, TokenError> {
        self.has_tokens()?;
        let _one_at_a_time = self.changing.lock().await;
        let (token, from) = store.token(which).await?;
        let minted = rotate(&token, from, grace, Timestamp::now())?;
        store
            .rotate_token(minted.token.clone(), from, minted.hash)
            .await?;
        self.tokens.insert(&minted.token, minted.hash);
        Ok(minted)
    }

    /// Revokes a token; its sessions end with the next sweep, its requests are refused at once.
    pub(crate) async fn revoke(&self, store: &dyn Store, which: &str) -> Result<Token, TokenError> {
        self.has_tokens()?;
        let _one_at_a_time = self.changing.lock().await;
        let now = Timestamp::now();
        let token = store.revoke_token(which, now).await?;
        self.tokens.revoke(&token.id, now);
        Ok(token)
    }

    /// Writes down when tokens were last used.
    pub(crate) async fn save_uses(&self, store: &dyn Store) {
        let used = self.tokens.drain_used();
        if !used.is_empty()
            && let Err(error) = store.touch_tokens(used).await
        {
            tracing::warn!(reason = %error, "the last use of tokens could not be stored");
        }
    }

    /// Follows what others change in the store, and what time changes, until the gateway ends.
    pub(crate) async fn follow(self: Arc<Self>, store: Arc<dyn Store>, stop: CancellationToken) {
        tokio::select! {
            () = stop.cancelled() => {}
            () = self.follow_store(&*store) => {}
            () = self.follow_clock() => {}
        }
    }

    /// Announces that tokens have ended.
    async fn follow_clock(&self) {
        let mut ticks = interval(LOOK);
        let mut since = Timestamp::now();
        loop {
            ticks.tick().await;
            let now = Timestamp::now();
            self.tokens.announce_ends(since, now);
            since = now;
        }
    }

    async fn follow_store(&self, store: &dyn Store) {
        let mut ticks = interval(LOOK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut lost = false;
        for tick in 1_u32.. {
            ticks.tick().await;
            let looked = self.look(store).await;
            tell(&looked, &mut lost);
            if tick % SAVE == 0 {
                self.save_uses(store).await;
            }
        }
    }

    async fn look(&self, store: &dyn Store) -> Result<(), StoreError> {
        let mut seen = self.changing.lock().await;
        let now = store.changes_by_others().await?;
        if now != *seen {
            self.tokens.replace(store.tokens().await?);
            *seen = now;
            self.others.send_replace(now);
        }
        Ok(())
    }
}

/// Tells once that the database cannot be read, and once that it can again.
fn tell(looked: &Result<(), StoreError>, lost: &mut bool) {
    match looked {
        Err(error) if !*lost => tracing::warn!(
            reason = %error,
            "the database cannot be read: tokens count as they were, and what others change is not seen"
        ),
        Ok(()) if *lost => tracing::info!("the database can be read again"),
        _ => {}
    }
    *lost = looked.is_err();
}

/// Waits until a time is over, or until it is worth a look whether it is: the clock may be set meanwhile.
async fn over(until: Option<Timestamp>, now: Timestamp) {
    let Some(end) = until else {
        return std::future::pending().await;
    };
    let left = u64::try_from(end.unix() - now.unix()).unwrap_or(0);
    sleep(Duration::from_secs(left.max(1)).min(GLANCE)).await;
}

//! The table of tokens, in memory.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::mem;
use std::sync::atomic::{AtomicI64, Ordering};

use foldhash::HashMap;
use parking_lot::{Mutex, RwLock};
use tokio::sync::watch;

use crate::format::shown_prefix;
use crate::{
    Denied, Presented, Principal, Retiring, Timestamp, Token, TokenHash, TokenId, TokenStore, inspect,
};

/// The tokens of one gateway.
///
/// Its owner fills it from the database, changes it after each change there, and writes
/// [the last uses](Tokens::drain_used) back from time to time.
#[derive(Debug, Default)]
pub struct Tokens {
    table: RwLock<Table>,
    used: Mutex<BTreeMap<TokenId, Timestamp>>,
    generation: watch::Sender<u64>,
}

/// Looked up by hash: how long that takes tells nothing about any token's text.
/// Nobody can choose these hashes, so a fast table is as good as one against chosen keys.
#[derive(Debug, Default)]
struct Table {
    entries: HashMap<TokenHash, Entry>,
    /// The hashes of each token, that of its text first.
    hashes: HashMap<TokenId, Vec<TokenHash>>,
}

#[derive(Debug)]
struct Entry {
    id: TokenId,
    principal: Principal,
    expires: Option<Timestamp>,
    /// From when on this text is refused, where the token has another one.
    replaced: Option<Timestamp>,
    revoked: Option<Timestamp>,
    /// Seconds since 1970 of the last use that was noted, 0 for none.
    noted: AtomicI64,
}

impl Tokens {
    /// Puts these tokens in place of all that were known. Nobody is woken if they are the same.
    pub fn replace(&self, tokens: impl IntoIterator<Item = (Token, TokenHash)>) {
        let mut table = Table::default();
        for (token, hash) in tokens {
            table.insert(&token, hash);
        }
        let differs = {
            let mut known = self.table.write();
            let differs = !known.lets_in_the_same(&table);
            known.turn_into(table);
            differs
        };
        if differs {
            self.changed();
        }
    }

    /// Adds a token, or puts a changed record in place of the old one.
    pub fn insert(&self, token: &Token, hash: TokenHash) {
        self.table.write().insert(token, hash);
        self.changed();
    }

    /// Refuses a token from now on; false if there is none with this id that was good.
    pub fn revoke(&self, id: &TokenId, now: Timestamp) -> bool {
        let revoked = self.table.write().revoke(id, now);
        if revoked {
            self.changed();
        }
        revoked
    }

    /// Wakes those who wait for changes if a token, or a text of one, has ended after `since` and by `now`.
    pub fn announce_ends(&self, since: Timestamp, now: Timestamp) {
        let ended = self.table.read().ends_between(since, now);
        if ended {
            self.changed();
        }
    }

    /// How many tokens are known, good or not.
    pub fn len(&self) -> usize {
        self.table.read().hashes.len()
    }

    /// Whether no token is known.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes the uses noted since the last time, at most one a minute for each token.
    pub fn drain_used(&self) -> Vec<(TokenId, Timestamp)> {
        mem::take(&mut *self.used.lock()).into_iter().collect()
    }

    /// Announces a change that the table already shows: see [`Memo`](crate::Memo) for why in this order.
    fn changed(&self) {
        self.generation.send_modify(|generation| *generation += 1);
    }
}

impl TokenStore for Tokens {
    fn verify(&self, presented: &str, now: Timestamp) -> Result<Principal, Denied> {
        match inspect(presented) {
            Presented::NotAToken => return Err(Denied::NotAToken),
            Presented::BadChecksum => {
                return Err(Denied::BadChecksum {
                    prefix: shown_prefix(presented),
                });
            }
            Presented::WellFormed(_) => {}
        }
        let table = self.table.read();
        let entry = table.entries.get(&TokenHash::of(presented));
        let entry = entry.ok_or_else(|| Denied::Unknown {
            prefix: shown_prefix(presented),
        })?;
        entry.check(now)?;
        if entry.note(now) {
            self.used.lock().insert(entry.id.clone(), now);
        }
        Ok(entry.principal.clone())
    }

    fn recheck(&self, principal: &Principal, now: Timestamp) -> Result<(), Denied> {
        let Some(grant) = principal.grant() else {
            return Ok(());
        };
        self.table.read().entry(&grant.id, now)?.check(now)
    }

    fn recheck_text(&self, principal: &Principal, now: Timestamp) -> Result<Option<Timestamp>, Denied> {
        let Some(grant) = principal.grant() else {
            return Ok(None);
        };
        let table = self.table.read();
        let current = table.entry(&grant.id, now)?;
        let Some(text) = grant.text else {
            return current.check(now).map(|()| current.expires);
        };
        let entry = table.entries.get(&text).ok_or_else(|| Denied::Replaced {
            id: grant.id.clone(),
            at: now,
        })?;
        entry.check(now).map(|()| entry.principal.expires())
    }

    fn generation(&self) -> u64 {
        *self.generation.borrow()
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.generation.subscribe()
    }
}

impl Table {
    fn insert(&mut self, token: &Token, hash: TokenHash) {
        let entry = Entry::new(token, hash);
        for old in self.hashes.remove(&token.id).unwrap_or_default() {
            self.entries
                .remove(&old)
                .into_iter()
                .for_each(|old| entry.keep_noted(&old));
        }
        let mut hashes = vec![hash];
        if let Some(retiring) = &token.retiring {
            hashes.push(retiring.hash);
            self.entries
                .insert(retiring.hash, Entry::retiring(token, retiring));
        }
        for spent in &token.spent {
            hashes.push(*spent);
            self.entries.insert(*spent, Entry::spent(token, *spent));
        }
        self.hashes.insert(token.id.clone(), hashes);
        self.entries.insert(hash, entry);
    }

    /// What is known of a token by the text it has now. One that is gone from the table altogether was
    /// revoked as far as its holder can tell.
    fn entry(&self, id: &TokenId, now: Timestamp) -> Result<&Entry, Denied> {
        let hash = self.hashes.get(id).and_then(|hashes| hashes.first());
        let entry = hash.and_then(|hash| self.entries.get(hash));
        entry.ok_or_else(|| Denied::Revoked {
            id: id.clone(),
            at: now,
        })
    }

    fn revoke(&mut self, id: &TokenId, now: Timestamp) -> bool {
        let mut revoked = false;
        for hash in self.hashes.get(id).into_iter().flatten() {
            if let Some(entry) = self.entries.get_mut(hash) {
                revoked |= entry.revoked.is_none();
                entry.revoked.get_or_insert(now);
            }
        }
        revoked
    }

    fn ends_between(&self, since: Timestamp, now: Timestamp) -> bool {
        let ends = self
            .entries
            .values()
            .flat_map(|entry| [entry.expires, entry.replaced]);
        ends.flatten().any(|end| since < end && end <= now)
    }

    /// Whether nothing but last uses differs.
    fn lets_in_the_same(&self, other: &Table) -> bool {
        let same = |(hash, entry): (&TokenHash, &Entry)| {
            let known = other.entries.get(hash);
            known.is_some_and(|known| entry.says_the_same(known))
        };
        self.entries.len() == other.entries.len() && self.entries.iter().all(same)
    }

    fn turn_into(&mut self, new: Table) {
        let old = mem::replace(self, new);
        for (hash, entry) in &self.entries {
            if let Some(old) = old.entries.get(hash) {
                entry.keep_noted(old);
            }
        }
    }
}

impl Entry {
    /// What is known of a token by the text it had before.
    fn retiring(token: &Token, text: &Retiring) -> Self {
        let until = text.until;
        let end = token.expires.map_or(until, |end| end.min(until));
        // Whoever comes with it is let in until then, and remembered no longer.
        let known = Token {
            expires: Some(end),
            ..token.clone()
        };
        Self {
            principal: Principal::with_text(&known, text.hash),
            replaced: Some(until),
            ..Self::new(token, text.hash)
        }
    }

    /// What is known of a token by a text that it had earlier.
    fn spent(token: &Token, text: TokenHash) -> Self {
        Self {
            replaced: Some(token.rotated.unwrap_or(token.created)),
            ..Self::new(token, text)
        }
    }

    fn new(token: &Token, text: TokenHash) -> Self {
        Self {
            id: token.id.clone(),
            principal: Principal::with_text(token, text),
            expires: token.expires,
            replaced: None,
            revoked: token.revoked,
            noted: AtomicI64::new(token.last_used.map_or(0, Timestamp::unix)),
        }
    }

    /// How many seconds lie between two uses that are noted.
    const NOTE_EVERY: u64 = 60;

    fn check(&self, now: Timestamp) -> Result<(), Denied> {
        if let Some(at) = self.revoked {
            return Err(Denied::Revoked {
                id: self.id.clone(),
                at,
            });
        }
        match (self.expires, self.replaced) {
            (Some(at), _) if at <= now => Err(Denied::Expired {
                id: self.id.clone(),
                at,
            }),
            (_, Some(at)) if at <= now => Err(Denied::Replaced {
                id: self.id.clone(),
                at,
            }),
            _ => Ok(()),
        }
    }

    /// Notes a use; true if it is the first for a minute.
    fn note(&self, now: Timestamp) -> bool {
        let last = self.noted.load(Ordering::Relaxed);
        // The difference has no sign, so that a clock set back does not silence a token for long.
        let due = now.unix().abs_diff(last) >= Self::NOTE_EVERY;
        due && self
            .noted
            .compare_exchange(last, now.unix(), Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    }

    fn says_the_same(&self, other: &Entry) -> bool {
        self.id == other.id
            && self.principal.grant() == other.principal.grant()
            && self.expires == other.expires
            && self.replaced == other.replaced
            && self.revoked == other.revoked
    }

    fn keep_noted(&self, old: &Entry) {
        self.noted
            .fetch_max(old.noted.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

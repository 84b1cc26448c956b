//! How much each principal has at once, so that one client leaves room for the others (SEC-05).

use std::sync::Arc;

use foldhash::HashMap;
use mcpr_auth::Principal;
use mcpr_config::PerPrincipal;
use parking_lot::Mutex;

/// What is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Share {
    /// A request that goes to a server, from its arrival to its answer.
    AtServer,
    /// A request that mcpr answers by itself. Counted apart, so that long calls leave room for lists
    /// and built-in tools.
    Inside,
    /// A stream that no request ends.
    Stream,
    /// A connection over the network, from its first request on.
    Connection,
    /// A resource, or a task, that is heard of.
    Subscription,
}

/// There are as many of something as there may be; it says how many that is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum Full {
    /// [`Share::AtServer`].
    #[error(
        "too many requests at once: a principal may have {0} at servers (`limits.perPrincipal.inFlight`); try again when \
         one of them has ended"
    )]
    AtServers(usize),
    /// [`Share::Inside`].
    #[error(
        "too many requests at once: a principal may have {0} beside those at servers (`limits.perPrincipal.inFlight`); try \
         again in a moment"
    )]
    Inside(usize),
    /// [`Share::Stream`].
    #[error(
        "too many streams: a principal may have {0} open (`limits.perPrincipal.streams`); close one of them first"
    )]
    Streams(usize),
    /// [`Share::Connection`].
    #[error(
        "too many connections: a principal may have {0} open (`limits.perPrincipal.connections`); close one of them, or \
         send several requests on each"
    )]
    Connections(usize),
    /// [`Share::Subscription`].
    #[error(
        "too many subscriptions: a principal may have {0} in all its sessions and listens \
         (`limits.perPrincipal.subscriptions`); end some of them first"
    )]
    Subscriptions(usize),
    /// Sessions of one principal.
    #[error(
        "too many sessions: a principal may have {0} (`limits.perPrincipal.sessions`), and all of them are in use; end one \
         of them with DELETE first"
    )]
    Sessions(usize),
    /// Sessions of everybody.
    #[error(
        "too many sessions: there may be {0} (`limits.sessions`), and all of them are in use; try again later"
    )]
    AllSessions(usize),
}

/// What each principal has now.
#[derive(Clone, Default)]
pub(crate) struct Quotas(Arc<Mutex<HashMap<Principal, Counts>>>);

/// One of what a principal may have, for as long as it is kept.
pub(crate) struct Spot {
    quotas: Quotas,
    principal: Principal,
    share: Share,
}

#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Counts([usize; Share::ALL.len()]);

impl Share {
    const ALL: [Self; 5] = [
        Self::AtServer,
        Self::Inside,
        Self::Stream,
        Self::Connection,
        Self::Subscription,
    ];

    /// How many of it a principal may have.
    fn most(self, limits: &PerPrincipal) -> usize {
        match self {
            Self::AtServer | Self::Inside => limits.in_flight,
            Self::Stream => limits.streams,
            Self::Connection => limits.connections,
            Self::Subscription => limits.subscriptions,
        }
    }

    fn full(self, limits: &PerPrincipal) -> Full {
        let most = self.most(limits);
        match self {
            Self::AtServer => Full::AtServers(most),
            Self::Inside => Full::Inside(most),
            Self::Stream => Full::Streams(most),
            Self::Connection => Full::Connections(most),
            Self::Subscription => Full::Subscriptions(most),
        }
    }
}

impl Quotas {
    /// Counts one more in.
    ///
    /// # Errors
    ///
    /// When the principal has as many as it may have.
    pub(crate) fn take(
        &self,
        principal: &Principal,
        share: Share,
        limits: &PerPrincipal,
    ) -> Result<Spot, Full> {
        let mut all = self.0.lock();
        let known = all.get_mut(principal);
        let count = known.as_ref().map_or(0, |counts| counts.0[share as usize]);
        if count >= share.most(limits) {
            return Err(share.full(limits));
        }
        match known {
            Some(counts) => counts.0[share as usize] += 1,
            None => {
                let mut counts = Counts::default();
                counts.0[share as usize] = 1;
                all.insert(principal.clone(), counts);
            }
        }
        drop(all);
        Ok(Spot {
            quotas: self.clone(),
            principal: principal.clone(),
            share,
        })
    }

    fn give_back(&self, principal: &Principal, share: Share) {
        let mut all = self.0.lock();
        let Some(counts) = all.get_mut(principal) else {
            return;
        };
        counts.0[share as usize] -= 1;
        if *counts == Counts::default() {
            all.remove(principal);
        }
    }
}

impl Spot {
    /// Whether it is this principal's.
    pub(crate) fn is_of(&self, principal: &Principal) -> bool {
        self.principal == *principal
    }
}

impl Drop for Spot {
    fn drop(&mut self) {
        self.quotas.give_back(&self.principal, self.share);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: PerPrincipal = PerPrincipal {
        in_flight: 1,
        sessions: 1,
        streams: 1,
        connections: 1,
        subscriptions: 1,
        rate: None,
    };

    #[test]
    fn sec_05_each_principal_has_its_own_share_of_each_kind() {
        let quotas = Quotas::default();
        let principals = [Principal::local(), Principal::anonymous()];
        let take = |principal, share| quotas.take(principal, share, &ONE);
        let held: Vec<_> = principals
            .iter()
            .flat_map(|principal| Share::ALL.map(|share| take(principal, share)))
            .collect();

        assert!(held.iter().all(Result::is_ok));
        for principal in &principals {
            assert!(Share::ALL.iter().all(|share| take(principal, *share).is_err()));
        }
    }

    #[test]
    fn what_is_given_back_can_be_had_again_and_nothing_is_left_of_it() {
        let quotas = Quotas::default();
        let held = quotas.take(&Principal::local(), Share::AtServer, &ONE).unwrap();
        assert!(quotas.take(&Principal::local(), Share::AtServer, &ONE).is_err());

        drop(held);

        assert!(quotas.0.lock().is_empty());
        assert!(quotas.take(&Principal::local(), Share::AtServer, &ONE).is_ok());
    }

    #[test]
    fn a_refusal_names_the_setting() {
        let limits = PerPrincipal::default();
        let named = Share::ALL.map(|share| share.full(&limits).to_string());
        assert!(named[0].contains("256") && named[0].contains("`limits.perPrincipal.inFlight`"));
        assert!(named[1].contains("256") && named[1].contains("`limits.perPrincipal.inFlight`"));
        assert!(named[2].contains("256") && named[2].contains("`limits.perPrincipal.streams`"));
        assert!(named[3].contains("512") && named[3].contains("`limits.perPrincipal.connections`"));
        assert!(named[4].contains("4000") && named[4].contains("`limits.perPrincipal.subscriptions`"));
    }
}

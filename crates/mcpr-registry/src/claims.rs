//! Who gets which name (AGG-02, AGG-04, AGG-05).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::naming::{BUILT_IN_TOOLS, Namer, Wish};
use crate::{Assignments, Kind, Oddity, Origin, PrefixPolicy, ServerName};

/// An item that wants a name. Of one server and kind, no two claims have the same origin name.
#[derive(Clone, Debug)]
pub(crate) struct Claim<'a> {
    pub(crate) namer: &'a Namer<'a>,
    pub(crate) origin: Arc<str>,
}

/// What became of the claims.
#[derive(Debug)]
pub(crate) struct Settled {
    /// The name of each claim; `None` where another server's overrides it.
    pub(crate) names: Vec<Option<Arc<str>>>,
    /// What was odd, by the index of the claim.
    pub(crate) oddities: Vec<(usize, Oddity)>,
}

/// Gives every claim of a kind its name; claims are in the order of the configuration.
pub(crate) fn settle(
    kind: Kind,
    policy: PrefixPolicy,
    claims: &[Claim<'_>],
    namers: &[Namer<'_>],
    known: &Assignments,
) -> Settled {
    let mut settling = Settling::new(kind, claims);
    match policy {
        PrefixPolicy::Always => settling.always(namers, known),
        PrefixPolicy::Conflict => settling.conflict(),
        PrefixPolicy::Never => settling.never(),
    }
    settling.settled
}

struct Settling<'a> {
    kind: Kind,
    claims: &'a [Claim<'a>],
    /// Who has a name: a claim, or somebody who is not among them.
    taken: HashMap<Arc<str>, Option<usize>>,
    settled: Settled,
}

impl<'a> Settling<'a> {
    fn new(kind: Kind, claims: &'a [Claim<'a>]) -> Self {
        let mut taken = HashMap::with_capacity(claims.len());
        if kind == Kind::Tools {
            taken.extend(BUILT_IN_TOOLS.map(|name| (Arc::from(name), None)));
        }
        let settled = Settled {
            names: vec![None; claims.len()],
            oddities: Vec::new(),
        };
        Self {
            kind,
            claims,
            taken,
            settled,
        }
    }

    /// First those who have a name keep it, then the absent, then the new ones come.
    fn always(&mut self, namers: &[Namer<'_>], known: &Assignments) {
        for index in 0..self.claims.len() {
            self.keep(index, known);
        }
        self.reserve(namers, known);
        for (index, claim) in self.claims.iter().enumerate() {
            if self.settled.names[index].is_none() {
                self.grant(index, &claim.namer.prefixed(&claim.origin));
            }
        }
    }

    /// Bare names; where servers are in conflict about one, each of them takes its prefix.
    fn conflict(&mut self) {
        let wishes: Vec<Wish> = self
            .claims
            .iter()
            .map(|claim| claim.namer.bare(&claim.origin))
            .collect();
        let contested = contested(self.claims, &wishes);
        for (index, (claim, wish)) in self.claims.iter().zip(&wishes).enumerate() {
            if contested.contains(wish.text.as_str()) {
                self.grant(index, &claim.namer.prefixed(&claim.origin));
            } else {
                self.grant(index, wish);
            }
        }
    }

    /// Bare names; the later server takes them from the earlier.
    fn never(&mut self) {
        for (index, claim) in self.claims.iter().enumerate() {
            let wish = claim.namer.bare(&claim.origin);
            let holder = self.taken.get(wish.text.as_str()).copied().flatten();
            match holder.filter(|holder| claim.namer.fits(&wish) && !self.same_server(*holder, index)) {
                Some(holder) => self.override_with(index, holder, &wish),
                None => self.grant(index, &wish),
            }
        }
    }

    /// Gives a claim the name it was given before, if that still holds.
    fn keep(&mut self, index: usize, known: &Assignments) {
        let Claim { namer, origin } = &self.claims[index];
        let Some(exposed) = known.name(self.kind, namer.server, origin) else {
            return;
        };
        if !self.taken.contains_key(exposed) && namer.could_have_made(exposed, origin) {
            self.give(index, exposed.clone());
            self.report(index, &namer.prefixed(origin));
        }
    }

    /// Keeps the names of items that are not there now for their return.
    fn reserve(&mut self, namers: &[Namer<'_>], known: &Assignments) {
        let namers: HashMap<&ServerName, &Namer<'_>> =
            namers.iter().map(|namer| (namer.server, namer)).collect();
        let present: HashSet<(&ServerName, &str)> = self
            .claims
            .iter()
            .map(|claim| (claim.namer.server, &*claim.origin))
            .collect();
        let absent = known
            .of_kind(self.kind)
            .filter(|(server, origin, _)| !present.contains(&(*server, &***origin)));
        for (server, origin, exposed) in absent {
            let holds = namers
                .get(server)
                .is_none_or(|namer| namer.could_have_made(exposed, origin));
            if holds {
                self.taken.entry(exposed.clone()).or_insert(None);
            }
        }
    }

    /// Gives a claim the name it wishes for, or the next best.
    fn grant(&mut self, index: usize, wish: &Wish) {
        let Claim { namer, origin } = &self.claims[index];
        let free = |name: &str| !self.taken.contains_key(name);
        let name = if namer.fits(wish) && free(&wish.text) {
            wish.text.clone()
        } else {
            let mut rounds = (0..).map(|round| namer.hashed(wish, origin, round));
            rounds
                .find(|name| free(name))
                .expect("there are more hashes than items")
        };
        self.give(index, name.into());
        self.report(index, wish);
    }

    fn override_with(&mut self, index: usize, holder: usize, wish: &Wish) {
        self.settled.names[holder] = None;
        let Claim { namer, origin } = &self.claims[index];
        let by = Origin {
            server: namer.server.clone(),
            name: origin.clone(),
        };
        self.settled.oddities.push((holder, Oddity::Overridden { by }));
        self.give(index, wish.text.as_str().into());
    }

    fn give(&mut self, index: usize, name: Arc<str>) {
        self.taken.insert(name.clone(), Some(index));
        self.settled.names[index] = Some(name);
    }

    /// Says so where a claim did not get what it wished for.
    fn report(&mut self, index: usize, wish: &Wish) {
        let Some(exposed) = self.settled.names[index]
            .as_deref()
            .filter(|name| *name != wish.text)
        else {
            return;
        };
        let exposed = exposed.to_owned();
        let oddity = if self.claims[index].namer.fits(wish) {
            Oddity::Renamed {
                wanted: wish.text.clone(),
                exposed,
            }
        } else {
            Oddity::Shortened { exposed }
        };
        self.settled.oddities.push((index, oddity));
    }

    fn same_server(&self, one: usize, other: usize) -> bool {
        self.claims[one].namer.server == self.claims[other].namer.server
    }
}

/// The names that several servers wish for and could get.
fn contested<'a>(claims: &[Claim<'_>], wishes: &'a [Wish]) -> HashSet<&'a str> {
    let mut first: HashMap<&str, &ServerName> = HashMap::with_capacity(wishes.len());
    let fitting = claims
        .iter()
        .zip(wishes)
        .filter(|(claim, wish)| claim.namer.fits(wish));
    fitting
        .filter(|(claim, wish)| *first.entry(&wish.text).or_insert(claim.namer.server) != claim.namer.server)
        .map(|(_, wish)| wish.text.as_str())
        .collect()
}

//! Which backend gets the next call: a pure decision over what is known of each (LB-01 to LB-06).

use std::sync::Arc;

use mcpr_upstream::Spread;
use smallvec::SmallVec;

/// The call that a [`Balance`] finds a backend for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Choice<'a> {
    /// The server, by its name in the configuration.
    pub server: &'a str,
    /// The tool, prompt or URI by its name at the server, where the call is about one.
    pub item: Option<&'a str>,
    /// The rule that the configuration has for the server, which is a [`Balance`] too.
    pub usual: Spread,
}

/// A backend that could take a call, as a [`Balance`] sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Candidate<'a> {
    /// What tells it from the server's other backends.
    pub label: &'a str,
    /// The tags that the configuration gives it.
    pub tags: &'a [String],
    /// How many calls it works on.
    pub in_flight: usize,
    /// When it was last chosen, counted in choices; 0 if never.
    pub last_turn: u64,
}

/// A rule by which one of several equal backends is chosen.
///
/// It has the last word: the candidates are ready, trusted, have room, did not fail this call before, and carry as
/// many of the tags that the client would like as any. It is asked for each call, and calls to the same server wait
/// meanwhile, so it decides from what it has at hand and never blocks.
///
/// A function is a rule too:
///
/// ```
/// use mcpr_router::{Balance, Candidate, Choice};
///
/// fn least_busy(_: &Choice<'_>, candidates: &[Candidate<'_>]) -> usize {
///     let numbered = candidates.iter().enumerate();
///     numbered.min_by_key(|(_, candidate)| candidate.in_flight).map_or(0, |(index, _)| index)
/// }
/// # fn takes(_: impl Balance) {}
/// # takes(least_busy);
/// ```
pub trait Balance: Send + Sync {
    /// The index of the one that gets the call. There is at least one; an index beyond the last
    /// means the first.
    fn pick(&self, call: &Choice<'_>, candidates: &[Candidate<'_>]) -> usize;
}

/// Each in turn.
#[derive(Clone, Copy, Debug)]
pub struct RoundRobin;

/// The one with the fewest calls under way; among equals, each in turn.
#[derive(Clone, Copy, Debug)]
pub struct LeastBusy;

impl Balance for RoundRobin {
    fn pick(&self, _: &Choice<'_>, candidates: &[Candidate<'_>]) -> usize {
        least(candidates, |candidate| candidate.last_turn)
    }
}

impl Balance for LeastBusy {
    fn pick(&self, _: &Choice<'_>, candidates: &[Candidate<'_>]) -> usize {
        least(candidates, |candidate| (candidate.in_flight, candidate.last_turn))
    }
}

/// The first with the smallest key.
fn least<K: Ord>(candidates: &[Candidate<'_>], key: impl Fn(&Candidate<'_>) -> K) -> usize {
    let numbered = candidates.iter().enumerate();
    numbered
        .min_by_key(|(_, candidate)| key(candidate))
        .map_or(0, |(index, _)| index)
}

/// The rule that the configuration names.
impl Balance for Spread {
    fn pick(&self, call: &Choice<'_>, candidates: &[Candidate<'_>]) -> usize {
        match self {
            Self::RoundRobin => RoundRobin.pick(call, candidates),
            Self::LeastBusy => LeastBusy.pick(call, candidates),
        }
    }
}

/// A rule that its program keeps a hand on.
impl<B: Balance + ?Sized> Balance for Arc<B> {
    fn pick(&self, call: &Choice<'_>, candidates: &[Candidate<'_>]) -> usize {
        (**self).pick(call, candidates)
    }
}

impl<F> Balance for F
where
    F: Fn(&Choice<'_>, &[Candidate<'_>]) -> usize + Send + Sync,
{
    fn pick(&self, call: &Choice<'_>, candidates: &[Candidate<'_>]) -> usize {
        self(call, candidates)
    }
}

/// What is known of a backend when a call looks for one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Known<'a> {
    pub(crate) candidate: Candidate<'a>,
    pub(crate) standing: Standing,
    /// Whether the call may go there at all: it has what is asked for, and did not fail this very
    /// call before.
    pub(crate) eligible: bool,
    /// Whether the last calls there went well (LB-03, outlier ejection).
    pub(crate) trusted: bool,
    /// Whether one more call may be open there.
    pub(crate) has_room: bool,
    /// How many of the tags that the client would like it carries.
    pub(crate) liked: usize,
    /// Whether the caller's connection is there (LB-06), or what the call is about.
    pub(crate) is_home: bool,
}

/// Where a backend is in its life, as far as a call cares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Standing {
    /// Takes calls.
    Ready,
    /// Is started by the first call.
    Asleep,
    /// Is being started.
    Starting,
    /// Is not to be had.
    Down,
}

/// What a call does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Decision {
    /// It goes to this backend.
    Take(usize),
    /// All that could take it are at their limit: it waits in line.
    Full,
    /// All that could take it sleep: it wakes them.
    Wake,
    /// Those that could take it are being started.
    Starting,
    /// There is none.
    Nobody,
}

/// Decides where a call goes.
///
/// What there is of each backend; most servers have one, or two.
pub(crate) type Few<T> = SmallVec<[T; 2]>;

/// Among those that are ready: home before all, then those that are trusted, then those with room,
/// then those that are liked most, then the rule. If none is trusted, all are: a server with only
/// bad backends is better than none.
pub(crate) fn decide(backends: &[Known<'_>], call: &Choice<'_>, rule: &dyn Balance) -> Decision {
    let mut open: Few<usize> = (0..backends.len())
        .filter(|&index| backends[index].eligible)
        .collect();
    let any = |standing| open.iter().any(|&index| backends[index].standing == standing);
    if !any(Standing::Ready) {
        return match () {
            () if any(Standing::Asleep) => Decision::Wake,
            () if any(Standing::Starting) => Decision::Starting,
            () => Decision::Nobody,
        };
    }
    open.retain(|&mut index| backends[index].standing == Standing::Ready);
    prefer(&mut open, |index| backends[index].is_home);
    prefer(&mut open, |index| backends[index].trusted);
    open.retain(|&mut index| backends[index].has_room);
    let most = open
        .iter()
        .map(|&index| backends[index].liked)
        .max()
        .unwrap_or_default();
    open.retain(|&mut index| backends[index].liked == most);
    let candidates: Few<Candidate<'_>> = open.iter().map(|&index| backends[index].candidate).collect();
    match open.first() {
        None => Decision::Full,
        Some(&first) => Decision::Take(open.get(rule.pick(call, &candidates)).copied().unwrap_or(first)),
    }
}

/// Leaves only those that fit, if any does.
fn prefer(open: &mut Few<usize>, fits: impl Fn(usize) -> bool) {
    if open.iter().any(|&index| fits(index)) {
        open.retain(|&mut index| fits(index));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: Choice<'_> = Choice {
        server: "git",
        item: Some("status"),
        usual: Spread::LeastBusy,
    };

    /// A backend that is ready, and was chosen last in the turn of that number.
    fn ready(last_turn: u64) -> Known<'static> {
        Known {
            candidate: Candidate {
                label: "a",
                tags: &[],
                in_flight: 0,
                last_turn,
            },
            standing: Standing::Ready,
            eligible: true,
            trusted: true,
            has_room: true,
            liked: 0,
            is_home: false,
        }
    }

    fn with(change: impl FnOnce(&mut Known<'static>)) -> Known<'static> {
        let mut known = ready(0);
        change(&mut known);
        known
    }

    fn robin(backends: &[Known<'_>]) -> Decision {
        decide(backends, &CALL, &RoundRobin)
    }

    #[test]
    fn lb_01_each_in_turn_is_the_one_whose_turn_is_longest_ago() {
        assert_eq!(robin(&[ready(0), ready(0), ready(0)]), Decision::Take(0));
        assert_eq!(robin(&[ready(3), ready(1), ready(2)]), Decision::Take(1));
    }

    #[test]
    fn lb_01_three_hundred_calls_over_three_are_a_hundred_each() {
        let mut turns = [0_u64; 3];
        let mut counts = [0; 3];
        for turn in 1..=300 {
            let Decision::Take(index) = robin(&turns.map(ready)) else {
                panic!("all are ready");
            };
            turns[index] = turn;
            counts[index] += 1;
        }
        assert_eq!(counts, [100; 3]);
    }

    #[test]
    fn lb_01_the_least_busy_is_the_one_with_the_fewest_calls_then_each_in_turn() {
        let busy = |in_flight, last_turn| {
            with(|known| {
                known.candidate.in_flight = in_flight;
                known.candidate.last_turn = last_turn;
            })
        };
        assert_eq!(
            decide(&[busy(2, 1), busy(1, 9), busy(3, 0)], &CALL, &LeastBusy),
            Decision::Take(1)
        );
        let equals = [busy(1, 2), busy(1, 1)];
        assert_eq!(decide(&equals, &CALL, &CALL.usual), Decision::Take(1));
    }

    #[test]
    fn lb_02_liked_backends_win_while_one_can_take_the_call() {
        let liked = |liked| with(|known| known.liked = liked);
        let full = with(|known| {
            known.liked = 2;
            known.has_room = false;
        });
        let down = with(|known| {
            known.liked = 2;
            known.standing = Standing::Down;
        });
        assert_eq!(robin(&[liked(0), liked(1), liked(2)]), Decision::Take(2));
        assert_eq!(robin(&[liked(0), full, liked(1)]), Decision::Take(2));
        assert_eq!(robin(&[liked(0), down, ready(1)]), Decision::Take(0));
    }

    #[test]
    fn lb_03_who_failed_this_call_or_has_not_what_it_asks_for_is_left_out() {
        let out = with(|known| known.eligible = false);
        assert_eq!(robin(&[out, ready(9)]), Decision::Take(1));
        assert_eq!(robin(&[out, out]), Decision::Nobody);
        let other_sleeps = with(|known| known.standing = Standing::Asleep);
        assert_eq!(robin(&[out, other_sleeps]), Decision::Wake);
    }

    #[test]
    fn lb_03_who_is_not_trusted_gets_nothing_while_another_is() {
        let doubted = with(|known| known.trusted = false);
        let busy = with(|known| known.has_room = false);
        assert_eq!(robin(&[doubted, ready(7)]), Decision::Take(1));
        assert_eq!(robin(&[doubted, doubted]), Decision::Take(0));
        assert_eq!(robin(&[doubted, busy]), Decision::Full);
    }

    #[test]
    fn lb_05_who_is_not_ready_is_waited_for_only_if_nobody_is() {
        let standing = |standing| with(|known| known.standing = standing);
        let (asleep, starting, down) = (
            standing(Standing::Asleep),
            standing(Standing::Starting),
            standing(Standing::Down),
        );
        assert_eq!(robin(&[down, starting, asleep, ready(5)]), Decision::Take(3));
        assert_eq!(robin(&[down, starting, asleep]), Decision::Wake);
        assert_eq!(robin(&[down, starting]), Decision::Starting);
        assert_eq!(robin(&[down]), Decision::Nobody);
        assert_eq!(robin(&[]), Decision::Nobody);
    }

    #[test]
    fn lb_06_home_comes_before_all_else_as_long_as_it_is_ready() {
        let home = with(|known| {
            known.is_home = true;
            known.trusted = false;
            known.candidate.last_turn = 99;
        });
        let full = Known {
            has_room: false,
            ..home
        };
        let gone = Known {
            standing: Standing::Down,
            ..home
        };
        assert_eq!(robin(&[ready(0), home]), Decision::Take(1));
        assert_eq!(robin(&[ready(0), full]), Decision::Full);
        assert_eq!(robin(&[ready(0), gone]), Decision::Take(0));
    }

    #[test]
    fn agg_14_a_server_at_its_limit_makes_calls_wait() {
        let full = with(|known| known.has_room = false);
        assert_eq!(robin(&[full, full]), Decision::Full);
        assert_eq!(robin(&[full, ready(4)]), Decision::Take(1));
    }

    #[test]
    fn a_rule_that_points_beyond_the_last_gets_the_first() {
        let beyond = |_: &Choice<'_>, candidates: &[Candidate<'_>]| candidates.len();
        assert_eq!(
            decide(&[with(|known| known.has_room = false), ready(1)], &CALL, &beyond),
            Decision::Take(1)
        );
    }

    #[test]
    fn emb_03_a_rule_of_a_program_sees_the_call_and_those_that_could_take_it() {
        let tags = ["eu".to_owned()];
        let candidate = Candidate {
            tags: &tags,
            ..ready(0).candidate
        };
        let tagged = Known {
            candidate,
            ..ready(0)
        };
        let rule = |call: &Choice<'_>, candidates: &[Candidate<'_>]| {
            assert_eq!((call.server, call.item), ("git", Some("status")));
            let at_home = candidates.iter().position(|candidate| candidate.tags == ["eu"]);
            at_home.unwrap_or_else(|| call.usual.pick(call, candidates))
        };
        assert_eq!(
            decide(&[ready(1), ready(2), tagged], &CALL, &rule),
            Decision::Take(2)
        );
        assert_eq!(decide(&[ready(2), ready(1)], &CALL, &rule), Decision::Take(1));
    }
}

//! Sessions of servers that expired under one request (SRV-07).

/// How many renewals in a row may bring nobody an answer.
const BARREN: u32 = 10;

/// How often sessions were renewed for a request.
///
/// A server may forget its sessions faster than it answers all who wait: as long as it answers some,
/// the request is sent again, to its deadline. One that answers nobody is not asked for ever.
#[derive(Debug, Default)]
pub(super) struct Renewals {
    /// What each replica had answered when its session was found expired, by the address of the replica.
    seen: Vec<(usize, u64)>,
    barren: u32,
}

impl Renewals {
    /// Whether a session that expired is worth another one; `answered` is how many requests the
    /// replica has answered so far.
    pub(super) fn another(&mut self, replica: usize, answered: u64) -> bool {
        let known = self.seen.iter_mut().find(|(known, _)| *known == replica);
        let before = match known {
            Some((_, before)) => std::mem::replace(before, answered),
            None => {
                self.seen.push((replica, answered));
                answered
            }
        };
        self.barren = if answered > before { 1 } else { self.barren + 1 };
        self.barren <= BARREN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn srv_07_a_server_that_answers_somebody_between_its_losses_is_asked_on() {
        let mut renewals = Renewals::default();
        assert!((0..1_000).all(|answered| renewals.another(1, answered)));
    }

    #[test]
    fn srv_07_a_server_that_answers_nobody_is_not_asked_for_ever() {
        let mut renewals = Renewals::default();
        let tries = (0..1_000).take_while(|_| renewals.another(1, 5)).count();
        assert_eq!(tries, BARREN as usize);
    }

    #[test]
    fn srv_07_two_backends_that_answer_nobody_are_no_progress_of_each_other() {
        let mut renewals = Renewals::default();
        let backends = [(1, 8), (2, 5)];
        let tries = backends.iter().cycle().take(1_000);
        let tries = tries
            .take_while(|(replica, answered)| renewals.another(*replica, *answered))
            .count();
        assert_eq!(tries, BARREN as usize);
    }
}

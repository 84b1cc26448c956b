//! Who has requests open on a connection.

use mcpr_transport::Party;

/// The parties on one connection, as far as they must not meet.
#[derive(Debug, Default)]
pub(crate) struct Floor {
    /// Requests of those that cannot be asked anything.
    mute: usize,
    /// The others, with how many requests each has open.
    asking: Vec<(Party, usize)>,
    /// Who was on it last.
    last: u64,
}

impl Floor {
    /// Whether one more of this party keeps each question the server may ask clear: alone with
    /// its like, or among those that cannot be asked.
    pub(crate) fn has_room_for(&self, party: Party) -> bool {
        let strangers = self.asking.iter().any(|(other, _)| other.who != party.who);
        if party.can_be_asked {
            self.mute == 0 && !strangers
        } else {
            self.asking.is_empty()
        }
    }

    /// Whether one more of this party leaves no doubt whose roots the server makes use of: among the
    /// like of the same client, or among those that have none.
    pub(crate) fn is_one_clients(&self, party: Party) -> bool {
        let strangers = self.asking.iter().any(|(other, _)| other.client != party.client);
        !strangers && (self.mute == 0 || !party.can_be_asked)
    }

    /// How many requests of a party that can be asked are open.
    pub(crate) fn open_of(&self, party: Party) -> usize {
        let own = self.asking.iter().find(|(other, _)| other.who == party.who);
        own.map_or(0, |(_, count)| *count)
    }

    /// Whether nobody is on it.
    pub(crate) fn is_free(&self) -> bool {
        self.mute == 0 && self.asking.is_empty()
    }

    /// Who was on it last.
    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    pub(crate) fn enter(&mut self, party: Party) {
        self.last = party.who;
        if !party.can_be_asked {
            self.mute += 1;
        } else if let Some((_, count)) = self.asking.iter_mut().find(|(other, _)| other.who == party.who) {
            *count += 1;
        } else {
            self.asking.push((party, 1));
        }
    }

    pub(crate) fn leave(&mut self, party: Party) {
        if !party.can_be_asked {
            self.mute -= 1;
        } else if let Some((_, count)) = self.asking.iter_mut().find(|(other, _)| other.who == party.who) {
            *count -= 1;
            self.asking.retain(|(_, count)| *count > 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asking(who: u64) -> Party {
        Party {
            who,
            client: who,
            can_be_asked: true,
        }
    }

    fn mute(who: u64) -> Party {
        Party {
            who,
            client: who,
            can_be_asked: false,
        }
    }

    #[test]
    fn who_can_be_asked_meets_only_itself() {
        let mut floor = Floor::default();
        floor.enter(asking(1));
        assert!(floor.has_room_for(asking(1)));
        assert!(!floor.has_room_for(asking(2)) && !floor.has_room_for(mute(1)));
        assert_eq!((floor.open_of(asking(1)), floor.open_of(asking(2))), (1, 0));
        floor.leave(asking(1));
        assert!(floor.is_free() && floor.has_room_for(asking(2)));
        assert_eq!(floor.last(), 1);
    }

    #[test]
    fn those_who_cannot_be_asked_share() {
        let mut floor = Floor::default();
        floor.enter(mute(1));
        assert!(floor.has_room_for(mute(2)) && !floor.has_room_for(asking(1)));
    }
}

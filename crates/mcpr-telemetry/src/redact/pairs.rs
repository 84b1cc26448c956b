//! A set of two-byte beginnings: the cheap question asked at every place of a text.

/// Which pairs of bytes can begin something that has to be taken out.
#[derive(Clone)]
pub(super) struct Pairs {
    bits: [u64; 1024],
    empty: bool,
}

impl Pairs {
    pub(super) const fn none() -> Self {
        Self {
            bits: [0; 1024],
            empty: true,
        }
    }

    pub(super) const fn insert(&mut self, pair: [u8; 2]) {
        let at = u16::from_be_bytes(pair) as usize;
        self.bits[at / 64] |= 1 << (at % 64);
        self.empty = false;
    }

    /// The first place at or after `from` where a pair of the set stands.
    pub(super) fn find(&self, bytes: &[u8], from: usize) -> Option<usize> {
        if self.empty {
            return None;
        }
        let rest = bytes.get(from..)?;
        rest.windows(2)
            .position(|pair| self.holds([pair[0], pair[1]]))
            .map(|at| from + at)
    }

    fn holds(&self, pair: [u8; 2]) -> bool {
        let at = usize::from(u16::from_be_bytes(pair));
        self.bits[at / 64] & (1 << (at % 64)) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_next_pair_and_only_those_in_the_set() {
        let mut pairs = Pairs::none();
        pairs.insert(*b"be");
        pairs.insert([0xff, 0xff]);

        assert_eq!(pairs.find(b"to be or not to be", 0), Some(3));
        assert_eq!(pairs.find(b"to be or not to be", 4), Some(16));
        assert_eq!(pairs.find(b"to be or not to be", 17), None);
        assert_eq!(pairs.find(b"b", 9), None);
        assert_eq!(Pairs::none().find(b"to be", 0), None);
    }
}

//! Choices that belong to one input.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

use bytes::Bytes;

/// Numbers that look random and are the same in every run (SplitMix64).
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The dice that begin with this.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Dice that are others in every run.
    pub fn random() -> Self {
        Self(RandomState::new().build_hasher().finish())
    }

    /// The next number.
    #[expect(clippy::should_implement_trait, reason = "there is always one more")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below this one, or 0.
    pub fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound.max(1) as u64).expect("it is below the bound")
    }

    /// Whether one of so many.
    pub fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    /// One of these.
    ///
    /// # Panics
    ///
    /// When there are none.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// The bytes in pieces of up to so many, empty ones among them.
    pub fn pieces(&mut self, bytes: &[u8], longest: usize) -> Vec<Bytes> {
        let (mut pieces, mut rest) = (Vec::new(), bytes);
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(self.below(longest + 1).min(rest.len()));
            pieces.push(Bytes::copy_from_slice(piece));
            rest = after;
        }
        pieces
    }
}

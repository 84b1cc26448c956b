//! Bytes that nobody meant: what everything that reads from others is held to.
//!
//! A [`Target`] has a corpus, the files in `tests/fixtures/fuzz/NAME`, and a property that must hold for any
//! bytes. It is tried with each file as it is and then with changed ones, for some seconds or, in its long form,
//! for minutes. The short form tries the same in every run; `MCPR_SEED` does so for the long one. What breaks a
//! property is made as short as it can be and written into the target folder, to become a file of the corpus.

mod change;
mod dice;
mod watch;

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use crate::bins::{package, target};
use crate::footprint::{forget_peak, peak_memory};
use crate::{extent, figure, is_long};

pub use change::mutated;
pub use dice::Dice;

use watch::Watch;

/// How many inputs are tried between two looks at the time.
const ROUND: u32 = 256;

/// How often each file of the corpus is tried as it is, each time with other dice.
const AS_IT_IS: u64 = 16;

/// How much memory all targets of a process together may take at any time.
const MEMORY: usize = 64 << 20;

/// What this process took before its first target: peaks are those of a process, and targets share one.
static BEFORE: LazyLock<usize> = LazyLock::new(|| {
    forget_peak();
    peak_memory()
});

/// What a property says of one input.
pub type Verdict = Result<(), TestCaseError>;

/// A reader of foreign bytes.
#[derive(Debug)]
pub struct Target {
    name: &'static str,
    corpus: Vec<Vec<u8>>,
    words: Vec<Vec<u8>>,
}

impl Target {
    /// The target with the corpus of this name.
    ///
    /// # Panics
    ///
    /// When there is none.
    pub fn new(name: &'static str) -> Self {
        let folder = package().join("fixtures/fuzz").join(name);
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        files.sort(); // So that all machines try the same.
        let read =
            |file: &PathBuf| fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let corpus: Vec<_> = files.iter().map(read).collect();
        assert!(!corpus.is_empty(), "{} holds a corpus", folder.display());
        Self {
            name,
            corpus,
            words: Vec::new(),
        }
    }

    /// Adds texts that mean something to the reader, to be written into its inputs.
    pub fn words<W: AsRef<[u8]>>(mut self, words: &[W]) -> Self {
        self.words.extend(words.iter().map(|word| word.as_ref().to_vec()));
        self
    }

    /// Checks that the property holds, and that it and the other targets of this process take neither much
    /// memory nor long.
    ///
    /// # Panics
    ///
    /// When it does not.
    pub fn holds(&self, property: impl Fn(&[u8], Dice) -> Verdict) {
        let (before, watch) = (*BEFORE, Watch::begin(self.name));
        for (bytes, roll) in self
            .corpus
            .iter()
            .flat_map(|bytes| (0..AS_IT_IS).map(move |roll| (bytes, roll)))
        {
            property(bytes, Dice::new(roll)).unwrap_or_else(|reason| self.fail(&reason, bytes));
        }
        let (seed, mut rounds) = (seed(), 0);
        figure(&format!("fuzz {}: MCPR_SEED", self.name), seed);
        let end = Instant::now() + extent(Duration::from_secs(20), Duration::from_secs(600));
        while Instant::now() < end {
            self.round(seed.wrapping_add(rounds), &property);
            rounds += 1;
            watch.lives();
        }
        figure(&format!("fuzz {}: inputs", self.name), rounds * u64::from(ROUND));
        let grown = peak_memory().saturating_sub(before);
        figure(&format!("fuzz {}: bytes of all targets so far", self.name), grown);
        assert!(
            grown < MEMORY,
            "with the target {} this process took {grown} bytes",
            self.name
        );
    }

    fn round(&self, seed: u64, property: &impl Fn(&[u8], Dice) -> Verdict) {
        let input = (mutated(&self.corpus, &self.words), proptest::num::u64::ANY);
        let tried = runner(seed).run(&input, |(bytes, roll)| property(&bytes, Dice::new(roll)));
        match tried {
            Ok(()) => {}
            Err(TestError::Fail(reason, (bytes, _))) => self.fail(&reason, &bytes),
            Err(TestError::Abort(reason)) => panic!("the target {} was given up: {reason}", self.name),
        }
    }

    /// Tells what went wrong with these bytes, and keeps them.
    fn fail(&self, reason: &dyn std::fmt::Display, bytes: &[u8]) -> ! {
        let folder = target().join("fuzz");
        let file = folder.join(format!("{}-{}", self.name, digest(bytes)));
        let kept = fs::create_dir_all(&folder).and_then(|()| fs::write(&file, bytes));
        let place = match kept {
            Ok(()) => format!("copy {} to tests/fixtures/fuzz/{}", file.display(), self.name),
            Err(error) => format!("they could not be kept: {error}"),
        };
        panic!("{reason}\nwith the bytes \"{}\"; {place}", bytes.escape_ascii());
    }
}

/// A name for an input (FNV-1a).
fn digest(bytes: &[u8]) -> String {
    let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", bytes.iter().fold(0xcbf2_9ce4_8422_2325, step))
}

/// With what the random numbers begin.
fn seed() -> u64 {
    let wanted = std::env::var("MCPR_SEED").ok().and_then(|seed| seed.parse().ok());
    wanted.unwrap_or_else(|| if is_long() { Dice::random().next() } else { 1 })
}

fn runner(seed: u64) -> TestRunner {
    let config = Config {
        cases: ROUND,
        failure_persistence: None,
        max_shrink_iters: 4096,
        ..Config::default()
    };
    let seed = [seed, !seed, seed.rotate_left(32), 0]
        .map(u64::to_le_bytes)
        .concat();
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &seed))
}

//! Sealed handles: only unchanged, only for what and for whom they were made.

use std::time::{Duration, SystemTime};

use mcpr_bridge::{Purpose, Sealer};
use mcpr_tests::fuzz::{Dice, Target, Verdict};
use proptest::{prop_assert, prop_assert_eq};

const ALL: [Purpose; 3] = [Purpose::RequestState, Purpose::Cursor, Purpose::Task];
const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=. \n";

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

/// The handle with one or several changes.
fn altered(handle: &str, foreign: &str, dice: &mut Dice) -> String {
    let mut text = handle.as_bytes().to_vec();
    for _ in 0..=dice.below(3) {
        let (place, letter) = (dice.below(text.len()), *dice.pick(LETTERS));
        match dice.below(6) {
            0 => text.truncate(place),
            1 => text.insert(place, letter),
            2 => drop(text.drain(..place)),
            3 => text.push(letter),
            4 => {
                text.truncate(place);
                text.extend_from_slice(foreign.as_bytes().get(place..).unwrap_or_default());
            }
            _ if text.is_empty() => {}
            _ => text[place] = letter,
        }
    }
    String::from_utf8(text).unwrap()
}

fn property(bytes: &[u8], mut dice: Dice) -> Verdict {
    let key = [dice.below(256) as u8; 32];
    let (sealer, other_key) = (Sealer::new(&key), Sealer::new(&[key[0] ^ 1; 32]));
    let purpose = *dice.pick(&ALL);
    let (mine, theirs) = (["tk_mine", "tools/list"], ["tk_other", "tools/list"]);
    let handle = sealer.seal(purpose, &mine, at(100), bytes);
    let open = |bound: &[&str], text: &str| sealer.open(purpose, bound, text, at(1));

    prop_assert_eq!(open(&mine, &handle), Ok(bytes.to_vec()));
    for bound in [
        &theirs[..],
        &mine[..1],
        &["tk_minetools/list"],
        &["tk_mine", "tools/list", ""],
    ] {
        prop_assert!(open(bound, &handle).is_err(), "{:?}", bound);
    }
    for other in ALL.into_iter().filter(|other| *other != purpose) {
        prop_assert!(sealer.open(other, &mine, &handle, at(1)).is_err(), "{:?}", other);
    }
    prop_assert!(sealer.open(purpose, &mine, &handle, at(101)).is_err(), "too late");
    prop_assert!(
        other_key.open(purpose, &mine, &handle, at(1)).is_err(),
        "another key"
    );
    let foreign = sealer.seal(purpose, &theirs, at(100), bytes);
    for _ in 0..8 {
        let text = altered(&handle, &foreign, &mut dice);
        prop_assert!(text == handle || open(&mine, &text).is_err(), "{}", text);
    }
    prop_assert!(open(&mine, &String::from_utf8_lossy(bytes)).is_err());
    Ok(())
}

#[test]
fn sec_03_a_sealed_handle_opens_only_unchanged_and_for_its_principal() {
    Target::new("sealed").holds(property);
}

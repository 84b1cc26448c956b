//! Changes of an object are splices: what is not named stays as it was, byte for byte.

use bytes::Bytes;
use mcpr_protocol::{Edit, Object, RawJson, Rope};
use mcpr_tests::fuzz::{Dice, Target, Verdict};
use proptest::test_runner::TestCaseError;
use proptest::{prop_assert, prop_assert_eq};

use crate::json;

const WORDS: &[&str] = &[
    "\"a\":1",
    ",\"b\":[1, 2]",
    "\"\\u0061\":2",
    "\"a\\\"}\":{}",
    "{}",
    "{\"a\":{\"a\":1}}",
    "[]",
    "\"\\\\\"",
    "\\",
    "1E400",
    "null",
    " , ",
    " : ",
    "\n",
    "\r\n",
    "\u{e9}",
    "\"_meta\":{}",
    ",",
];

/// New values, and names beside those that are there.
const VALUES: [&str; 6] = ["1", "\"x, }\"", "{ \"n\" : [ ] }", "[]", "null", "\n\t{\r\n}"];
const NAMES: [&str; 4] = ["a", "new", "q\"uote", "\u{e9}"];

/// The members of an object as a list that is changed in the plainest way.
type Model = Vec<(String, String)>;

fn model(object: &Object) -> Model {
    let members = object.members();
    members
        .map(|(name, value)| (name.to_owned(), value.as_str().to_owned()))
        .collect()
}

/// Names of members that are there, and others.
fn names(object: &Object) -> Vec<String> {
    let there = object.members().map(|(name, _)| name.to_owned());
    there.chain(NAMES.map(str::to_owned)).collect()
}

/// Changes the object and the list in the same way.
fn change<'a>(edit: &mut Edit<'a>, model: &mut Model, names: &'a [String], dice: &mut Dice) {
    let (name, value) = (dice.pick(names), *dice.pick(&VALUES));
    let place = model.iter().position(|(known, _)| known == name);
    match place {
        _ if dice.one_in(3) => {
            edit.remove(name);
            model.retain(|(known, _)| known != name);
        }
        Some(place) => {
            edit.set(name, RawJson::from_static(value));
            model[place].1 = value.trim().to_owned();
        }
        None => {
            edit.set(name, RawJson::from_static(value));
            model.push((name.clone(), value.trim().to_owned()));
        }
    }
}

/// The object that a text must be.
fn object(text: Rope) -> Result<Object, TestCaseError> {
    let raw = RawJson::parse(text.into_bytes()).map_err(|error| TestCaseError::fail(error.to_string()))?;
    Object::read(&raw).map_err(|error| TestCaseError::fail(error.to_string()))
}

/// Whether nothing and everything set to what it is leave the text alone.
fn stands_still(raw: &RawJson, read: &Object, names: &[String]) -> Verdict {
    prop_assert_eq!(Edit::new(read).finish().into_bytes(), raw.bytes().clone());
    let mut same = Edit::new(read);
    for name in names {
        if let Some(value) = read.get(name) {
            same.set(name, value);
        }
    }
    prop_assert_eq!(same.finish().into_bytes(), raw.bytes().clone());
    Ok(())
}

/// Whether a text on one line is the same JSON without a line end.
fn fits_on_a_line(raw: &RawJson) -> Verdict {
    let line = Rope::from(raw.clone()).on_one_line().into_bytes();
    prop_assert!(!line.iter().any(|byte| matches!(byte, b'\n' | b'\r')));
    let spaced = |text: &[u8]| {
        text.iter()
            .map(|byte| if byte.is_ascii_whitespace() { b' ' } else { *byte })
            .collect::<Bytes>()
    };
    prop_assert_eq!(spaced(&line), spaced(raw.as_bytes()));
    Ok(())
}

fn property(bytes: &[u8], mut dice: Dice) -> Verdict {
    let Some(raw) = json(bytes) else { return Ok(()) };
    fits_on_a_line(&raw)?;
    let Ok(read) = Object::read(&raw) else {
        return Ok(());
    };
    let (names, mut model) = (names(&read), model(&read));
    stands_still(&raw, &read, &names)?;
    let mut edit = Edit::new(&read);
    for _ in 0..dice.below(6) {
        change(&mut edit, &mut model, &names, &mut dice);
    }
    let changed = object(edit.finish())?;
    // Members that were taken out and set again may come in another order.
    let sorted = |mut model: Model| {
        model.sort();
        model
    };
    prop_assert_eq!(sorted(self::model(&changed)), sorted(model));
    Ok(())
}

#[test]
fn agg_03_whatever_is_spliced_everything_else_keeps_its_bytes() {
    Target::new("splice").words(WORDS).holds(property);
}

//! Texts inside of JSON texts, byte for byte.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// The text of a member of an object, found by the names on the way to it.
///
/// # Panics
///
/// When there is none.
pub fn member(text: &str, path: &[&str]) -> String {
    try_member(text, path).unwrap_or_else(|| panic!("no `{}` in {text}", path.join(".")))
}

/// The same where there may be none.
///
/// # Panics
///
/// When what should hold it is no object.
pub fn try_member(text: &str, path: &[&str]) -> Option<String> {
    path.iter().try_fold(text.to_owned(), |text, name| {
        let members: BTreeMap<String, Box<RawValue>> = serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{error}: no object with `{name}` in {text}"));
        Some(members.get(*name)?.get().to_owned())
    })
}

/// The names and texts of the members of an object, by name.
///
/// # Panics
///
/// When it is none.
pub fn members(text: &str) -> Vec<(String, String)> {
    let members: BTreeMap<String, Box<RawValue>> =
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: no object in {text}"));
    let texts = members
        .into_iter()
        .map(|(name, text)| (name, text.get().to_owned()));
    texts.collect()
}

/// The texts of the elements of an array.
///
/// # Panics
///
/// When it is none.
pub fn elements(text: &str) -> Vec<String> {
    let elements: Vec<Box<RawValue>> =
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: no array in {text}"));
    elements.iter().map(|element| element.get().to_owned()).collect()
}

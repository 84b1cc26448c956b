//! Values that are secret by what stands beside them: found in one walk over the whole text.

use std::borrow::Cow;
use std::collections::HashMap;
use std::mem;
use std::ops::Range;

use mcpr_config::{looks_secret, secret_parts, secret_words};

use super::{next_text, plain, value_start};

/// The names under which a pair says what its `value` is, as in `{"name":"password","value":"…"}`.
const LABELS: [&str; 8] = [
    "name", "key", "header", "variable", "field", "id", "label", "type",
];
/// The names of the other half.
const VALUES: [&str; 2] = ["value", "val"];
/// So many texts, of so many bytes each, are a command line at the most.
const ARGUMENTS: usize = 256;
const ARGUMENT: usize = 16 << 10;

/// What of a text, or of the value that it names, is secret.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Hidden {
    /// The value of which it is the name.
    Value,
    /// Parts of the text, as it is meant.
    Parts(Vec<Range<usize>>),
}

/// An object or an array that has begun.
enum Level {
    Object(Pair),
    /// Its texts, unless it has something else too, or too many.
    Array(Option<Vec<Range<usize>>>),
}

/// What an object says of its `value`.
#[derive(Default)]
struct Pair {
    is_secret: bool,
    value: Option<usize>,
}

/// What is secret of the texts of a JSON text, by where they begin.
pub(super) fn told(json: &str) -> HashMap<usize, Hidden> {
    let mut found = HashMap::new();
    let mut around = vec![Level::Object(Pair::default())];
    let mut from = 0;
    while let Some(text) = next_text(json, from) {
        between(json, from..text.start, &mut around, &mut found);
        from = text.end;
        match (value_start(json, text.end), around.last_mut()) {
            (Some(value), Some(Level::Object(pair))) => pair.note(json, &text, value),
            (None, Some(Level::Array(texts))) => add(texts, text),
            (None, Some(Level::Object(_))) => found.extend(command_line(json, text)),
            _ => {}
        }
    }
    between(json, from..json.len(), &mut around, &mut found);
    around
        .into_iter()
        .for_each(|level| level.end(json, false, &mut found));
    found
}

/// What stands between two texts.
fn between(json: &str, part: Range<usize>, around: &mut Vec<Level>, found: &mut HashMap<usize, Hidden>) {
    for byte in &json.as_bytes()[part] {
        match byte {
            b'{' | b'[' => {
                if let Some(Level::Array(texts)) = around.last_mut() {
                    *texts = None;
                }
                around.push(match byte {
                    b'{' => Level::Object(Pair::default()),
                    _ => Level::Array(Some(Vec::new())),
                });
            }
            b'}' | b']' => {
                if let Some(level) = around.pop() {
                    let listed = matches!(around.last(), Some(Level::Array(_)));
                    level.end(json, listed, found);
                }
            }
            _ => {}
        }
    }
}

fn add(texts: &mut Option<Vec<Range<usize>>>, text: Range<usize>) {
    if let Some(known) = texts {
        match known.len() < ARGUMENTS && text.len() < ARGUMENT {
            true => known.push(text),
            false => *texts = None,
        }
    }
}

impl Level {
    /// Notes what is secret in it; `listed` says whether it stands in an array itself.
    fn end(self, json: &str, listed: bool, found: &mut HashMap<usize, Hidden>) {
        match self {
            Self::Object(pair) => found.extend(pair.secret().map(|name| (name, Hidden::Value))),
            Self::Array(texts) => found.extend(arguments(json, texts.unwrap_or_default(), listed)),
        }
    }
}

/// What is secret of a text that may be a whole command line.
fn command_line(json: &str, text: Range<usize>) -> Option<(usize, Hidden)> {
    let parts = match text.len() < ARGUMENT {
        true => secret_words(&plain(json, &text)),
        false => Vec::new(),
    };
    (!parts.is_empty()).then_some((text.start, Hidden::Parts(parts)))
}

/// What is secret of texts that are a command line or, in a list of such, a name with its value.
fn arguments(json: &str, places: Vec<Range<usize>>, listed: bool) -> Vec<(usize, Hidden)> {
    let texts: Vec<Cow<'_, str>> = places.iter().map(|place| plain(json, place)).collect();
    let texts: Vec<&str> = texts.iter().map(Cow::as_ref).collect();
    let mut parts = secret_parts(&texts);
    if let ([name, value], [_, of_value]) = (&texts[..], &mut parts[..])
        && listed
        && looks_secret(name)
    {
        *of_value = Vec::from_iter(Some(0..value.len()));
    }
    let hidden = places
        .iter()
        .zip(&mut parts)
        .filter(|(_, parts)| !parts.is_empty());
    hidden
        .map(|(place, parts)| (place.start, Hidden::Parts(mem::take(parts))))
        .collect()
}

impl Pair {
    fn note(&mut self, json: &str, name: &Range<usize>, value: usize) {
        let spelled = plain(json, name);
        let is_one_of = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(&spelled));
        if is_one_of(&VALUES) {
            self.value = Some(name.start);
        } else if is_one_of(&LABELS)
            && json[value..].starts_with('"')
            && let Some(label) = next_text(json, value)
        {
            self.is_secret |= looks_secret(&plain(json, &label));
        }
    }

    fn secret(self) -> Option<usize> {
        self.value.filter(|_| self.is_secret)
    }
}

//! Reads typed values; every fault says where it is.

use mcpr_registry::nearest;
use std::ops::RangeInclusive;
use std::time::Duration;

use crate::fault::Fault;
use crate::keys::{Choice, Keys};
use crate::quantity;
use crate::tree::{Key, Node, Shape};

/// The members of an object, read by their keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Members<'n> {
    keys: &'static Keys,
    all: &'n [(Key, Node)],
}

impl<'n> Members<'n> {
    /// The value of a member; `null` counts as absent.
    pub(crate) fn get(&self, key: &str) -> Option<&'n Node> {
        debug_assert!(
            self.keys.known(key),
            "`{key}` is missing in the table of {}",
            self.keys.of
        );
        let member = self.all.iter().find(|(known, _)| known.text == key);
        member
            .map(|(_, value)| value)
            .filter(|value| value.shape != Shape::Null)
    }

    /// Reads a member, if it is there.
    pub(crate) fn read<T>(
        &self,
        key: &str,
        how: impl FnOnce(&'n Node) -> Result<T, Fault>,
    ) -> Result<Option<T>, Fault> {
        self.get(key).map(how).transpose()
    }

    /// Reads a member into its place; leaves what is there if it is absent.
    pub(crate) fn read_into<T>(
        &self,
        target: &mut T,
        key: &str,
        how: impl FnOnce(&'n Node) -> Result<T, Fault>,
    ) -> Result<(), Fault> {
        if let Some(value) = self.read(key, how)? {
            *target = value;
        }
        Ok(())
    }

    /// The keys that the table does not know.
    pub(crate) fn unknown(&self) -> impl Iterator<Item = &'n Key> {
        let keys = self.keys;
        self.all
            .iter()
            .map(|(key, _)| key)
            .filter(move |key| !keys.known(&key.text))
    }
}

impl Node {
    /// A fault in this value.
    pub(crate) fn fault(&self, problem: impl std::fmt::Display) -> Fault {
        let subject = if self.path.is_empty() {
            "it".to_owned()
        } else {
            format!("`{}`", self.path)
        };
        Fault::new(format!("{subject} {problem}")).at(&self.place)
    }

    fn wrong(&self, wanted: &str) -> Fault {
        self.fault(format_args!("must be {wanted}, not {}", self.shape.name()))
    }

    /// The members of an object that may have no other keys than these.
    pub(crate) fn members(&self, keys: &'static Keys) -> Result<Members<'_>, Fault> {
        let members = self.loose_members(keys)?;
        match members.unknown().next() {
            Some(key) => Err(self.unknown_key(key, keys)),
            None => Ok(members),
        }
    }

    fn unknown_key(&self, key: &Key, keys: &Keys) -> Fault {
        let hint = match nearest(&key.text, keys.all.iter().copied()) {
            Some(known) => format!("did you mean `{known}`?"),
            None => format!("it may have {}", listed(keys.all.iter().copied())),
        };
        Fault::new(format!("unknown key `{}` in `{}`", key.text, self.path))
            .hint(hint)
            .at(&key.place)
    }

    /// The members of an object that may have other keys too.
    pub(crate) fn loose_members(&self, keys: &'static Keys) -> Result<Members<'_>, Fault> {
        Ok(Members {
            keys,
            all: self.entries()?,
        })
    }

    /// The members of an object whose keys are names.
    pub(crate) fn entries(&self) -> Result<&[(Key, Node)], Fault> {
        match &self.shape {
            Shape::Object(members) => Ok(members),
            _ => Err(self.wrong("an object")),
        }
    }

    pub(crate) fn items(&self) -> Result<&[Self], Fault> {
        match &self.shape {
            Shape::List(items) => Ok(items),
            _ => Err(self.wrong("a list")),
        }
    }

    pub(crate) fn text(&self) -> Result<&str, Fault> {
        match &self.shape {
            Shape::Text(text) => Ok(text),
            _ => Err(self.wrong("a text")),
        }
    }

    /// A text, or a number or a boolean as if it had been quoted.
    pub(crate) fn scalar(&self) -> Result<&str, Fault> {
        match &self.shape {
            Shape::Text(text) | Shape::Number(text) => Ok(text),
            Shape::Boolean(true) => Ok("true"),
            Shape::Boolean(false) => Ok("false"),
            _ => Err(self.wrong("a text")),
        }
    }

    /// A text that is not blank.
    pub(crate) fn filled(&self) -> Result<String, Fault> {
        match self.text()? {
            text if text.trim().is_empty() => Err(self.fault("must not be empty")),
            text => Ok(text.to_owned()),
        }
    }

    pub(crate) fn texts(&self) -> Result<Vec<String>, Fault> {
        self.items()?.iter().map(Self::filled).collect()
    }

    pub(crate) fn boolean(&self) -> Result<bool, Fault> {
        match self.shape {
            Shape::Boolean(value) => Ok(value),
            _ => Err(self.wrong("true or false")),
        }
    }

    pub(crate) fn whole(&self, range: RangeInclusive<usize>) -> Result<usize, Fault> {
        let wanted = || format!("must be a whole number from {} to {}", range.start(), range.end());
        let Shape::Number(text) = &self.shape else {
            return Err(self.fault(format_args!("{}, not {}", wanted(), self.shape.name())));
        };
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| self.fault(format_args!("{}, not {text}", wanted())))
    }

    /// A number of milliseconds, or a text with units.
    pub(crate) fn duration(&self) -> Result<Duration, Fault> {
        let wanted = "must be a duration: a number of milliseconds, or a text such as \"30s\" or \"1h30m\"";
        let read = match &self.shape {
            Shape::Number(text) => text.parse().ok().and_then(quantity::milliseconds),
            Shape::Text(text) => quantity::duration(text),
            other => return Err(self.fault(format_args!("{wanted}, not {}", other.name()))),
        };
        read.ok_or_else(|| self.fault(format_args!("{wanted}, and longer than zero")))
    }

    /// A duration, or `"off"` for none.
    pub(crate) fn limit(&self) -> Result<Option<Duration>, Fault> {
        match &self.shape {
            Shape::Text(text) if text == "off" => Ok(None),
            _ => self
                .duration()
                .map(Some)
                .map_err(|fault| fault.hint("\"off\" means no limit")),
        }
    }

    /// A number of bytes, or a text with a unit.
    pub(crate) fn size(&self) -> Result<usize, Fault> {
        let read = match &self.shape {
            Shape::Number(text) => text.parse().ok(),
            Shape::Text(text) => quantity::size(text),
            _ => None,
        };
        let size = read
            .filter(|size| *size > 0)
            .and_then(|size| usize::try_from(size).ok());
        size.ok_or_else(|| self.fault("must be a number of bytes, or a text such as \"4MiB\""))
    }

    /// One of some words.
    pub(crate) fn choice<T: Copy>(&self, choice: &Choice<T>) -> Result<T, Fault> {
        let text = self.text()?;
        let chosen = choice.words.iter().find(|(word, _)| *word == text);
        chosen
            .map(|(_, value)| *value)
            .ok_or_else(|| self.no_choice(text, &choice.names()))
    }

    fn no_choice(&self, text: &str, names: &[&'static str]) -> Fault {
        let fault = self.fault(format_args!("must be {}, not `{text}`", alternatives(names)));
        match nearest(text, names.iter().copied()) {
            Some(known) => fault.hint(format!("did you mean `{known}`?")),
            None => fault,
        }
    }
}

impl Shape {
    fn name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
        }
    }
}

/// `a, b and c`, each in quotes.
pub(crate) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    enumerated(names, "and")
}

fn alternatives(names: &[&str]) -> String {
    enumerated(names.iter().copied(), "or")
}

fn enumerated<'a>(names: impl IntoIterator<Item = &'a str>, last: &str) -> String {
    let quoted: Vec<_> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((end, [])) => end.clone(),
        Some((end, rest)) => format!("{} {last} {end}", rest.join(", ")),
        None => String::new(),
    }
}

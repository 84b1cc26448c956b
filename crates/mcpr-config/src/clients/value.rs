//! Values of all the languages that clients write their files in.

use std::fmt;

/// A value whose members keep their order. It may hold secrets: its `Debug` tells only its kind.
#[derive(Clone, PartialEq, Eq)]
pub enum Value {
    /// Nothing.
    Null,
    /// True or false.
    Boolean(bool),
    /// The text of a number.
    Number(String),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Value>),
    /// An object; each key once.
    Object(Vec<(String, Value)>),
}

impl Value {
    /// An object without members.
    pub fn object() -> Self {
        Self::Object(Vec::new())
    }

    /// The object with one more member; one of the same key is replaced.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Self>) -> Self {
        self.put(key, value);
        self
    }

    /// The object with one more member, if there is a value for it.
    #[must_use]
    pub fn with_some(self, key: &str, value: Option<impl Into<Self>>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// Adds a member to an object, or replaces the one of that key.
    pub fn put(&mut self, key: &str, value: impl Into<Self>) {
        if let Self::Object(members) = self {
            let value = value.into();
            match members.iter_mut().find(|(known, _)| known == key) {
                Some(member) => member.1 = value,
                None => members.push((key.to_owned(), value)),
            }
        }
    }

    /// A member of an object; `null` counts as absent.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let (_, value) = self.members().iter().find(|(known, _)| known == key)?;
        (*value != Self::Null).then_some(value)
    }

    /// The members of an object; nothing else has any.
    pub fn members(&self) -> &[(String, Self)] {
        match self {
            Self::Object(members) => members,
            _ => &[],
        }
    }

    /// The items of a list; nothing else has any.
    pub fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    /// The text, if it is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The text, or a number or a boolean as if it had been quoted.
    pub fn scalar(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Number(text) => Some(text),
            Self::Boolean(true) => Some("true"),
            Self::Boolean(false) => Some("false"),
            _ => None,
        }
    }

    /// Whether it is true or false, if it is either.
    pub fn boolean(&self) -> Option<bool> {
        match self {
            Self::Boolean(value) => Some(*value),
            _ => None,
        }
    }

    /// Whether it is an object.
    pub fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Number(number.to_string())
    }
}

impl<T: Into<Self>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }
}

impl<K: Into<String>, V: Into<Self>> FromIterator<(K, V)> for Value {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(members: I) -> Self {
        let member = |(key, value): (K, V)| (key.into(), value.into());
        Self::Object(members.into_iter().map(member).collect())
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Null => "Null",
            Self::Boolean(_) => "Boolean(..)",
            Self::Number(_) => "Number(..)",
            Self::Text(_) => "Text(..)",
            Self::List(_) => "List(..)",
            Self::Object(_) => "Object(..)",
        })
    }
}

//! What a caller may do.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// One thing a caller may be allowed to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// List what there is and read the status.
    Read,
    /// Also call tools, read resources, get prompts, and equip a toolset for oneself.
    Call,
    /// Everything, the operator's commands included.
    Admin,
}

/// A set of scopes, written `read call`; the default is just that.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Scopes(u8);

/// A text that names no scopes, or one that there is not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidScopes {
    /// The text is empty.
    #[error("no scope given; choose from `read`, `call` and `admin`")]
    Empty,
    /// The text holds this unknown word.
    #[error("there is no scope `{0}`; choose from `read`, `call` and `admin`")]
    Unknown(String),
}

impl Scope {
    /// All scopes, the weakest first.
    pub const ALL: [Self; 3] = [Self::Read, Self::Call, Self::Admin];

    /// The scope's name as it is written in commands and error bodies.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Call => "call",
            Self::Admin => "admin",
        }
    }

    fn bit(self) -> u8 {
        1 << self as u8
    }
}

impl Scopes {
    /// The set of these scopes.
    pub fn of(scopes: &[Scope]) -> Self {
        Self(scopes.iter().fold(0, |bits, scope| bits | scope.bit()))
    }

    /// Whether the set allows `scope`: a stronger scope allows what a weaker one does.
    pub fn allows(self, scope: Scope) -> bool {
        self.0 >= scope.bit()
    }

    /// The scopes named in the set, the weakest first.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL
            .into_iter()
            .filter(move |scope| self.0 & scope.bit() != 0)
    }
}

impl Default for Scopes {
    fn default() -> Self {
        Self::of(&[Scope::Read, Scope::Call])
    }
}

impl FromStr for Scopes {
    type Err = InvalidScopes;

    /// Reads names divided by spaces or commas.
    fn from_str(text: &str) -> Result<Self, InvalidScopes> {
        let words = text.split([' ', ',']).filter(|word| !word.is_empty());
        let scopes = words.map(str::parse).collect::<Result<Vec<Scope>, _>>()?;
        if scopes.is_empty() {
            Err(InvalidScopes::Empty)
        } else {
            Ok(Self::of(&scopes))
        }
    }
}

impl FromStr for Scope {
    type Err = InvalidScopes;

    fn from_str(word: &str) -> Result<Self, InvalidScopes> {
        let known = Self::ALL.into_iter().find(|scope| scope.as_str() == word);
        known.ok_or_else(|| InvalidScopes::Unknown(word.to_owned()))
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, scope) in self.iter().enumerate() {
            let space = if index == 0 { "" } else { " " };
            write!(f, "{space}{scope}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scopes({self})")
    }
}

impl From<Scopes> for String {
    fn from(scopes: Scopes) -> Self {
        scopes.to_string()
    }
}

impl TryFrom<String> for Scopes {
    type Error = InvalidScopes;

    fn try_from(text: String) -> Result<Self, InvalidScopes> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sec_02_a_stronger_scope_allows_the_weaker() {
        let allowed = |text: &str| -> Vec<bool> {
            let scopes: Scopes = text.parse().unwrap();
            Scope::ALL.iter().map(|&scope| scopes.allows(scope)).collect()
        };

        assert_eq!(allowed("read"), [true, false, false]);
        assert_eq!(allowed("call"), [true, true, false]);
        assert_eq!(allowed("admin"), [true, true, true]);
    }

    #[test]
    fn scopes_are_read_with_spaces_or_commas_and_shown_in_order() {
        for text in ["read call", "call,read", " call, read ", "read read call"] {
            assert_eq!(text.parse(), Ok(Scopes::default()), "{text}");
        }
        assert_eq!(Scopes::default().to_string(), "read call");
    }

    #[test]
    fn an_unknown_scope_is_named() {
        let error = "read write".parse::<Scopes>().unwrap_err();

        assert_eq!(
            error.to_string(),
            "there is no scope `write`; choose from `read`, `call` and `admin`"
        );
        assert_eq!(" ,".parse::<Scopes>(), Err(InvalidScopes::Empty));
    }
}

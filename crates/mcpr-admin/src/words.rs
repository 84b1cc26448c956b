//! Enums that are written as fixed words.

/// A text that is none of the words there are.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is none of {}", .known.join(", "))]
pub struct UnknownWord {
    pub(crate) text: String,
    pub(crate) known: &'static [&'static str],
}

/// Ties each variant to its one word: in JSON, in commands and in tables.
macro_rules! words {
    ($type:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        impl $type {
            /// All of them, in the order of their declaration.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            const WORDS: &[&str] = &[$($word),+];

            /// The word for it.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),+
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::UnknownWord;

            fn from_str(text: &str) -> Result<Self, $crate::UnknownWord> {
                let known = Self::ALL.iter().find(|known| known.as_str() == text);
                let unknown = || $crate::UnknownWord { text: text.to_owned(), known: Self::WORDS };
                known.copied().ok_or_else(unknown)
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str> as serde::Deserialize>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(crate) use words;

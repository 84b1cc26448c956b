//! The four kinds of things that servers list.

use std::fmt;
use std::str::FromStr;

use mcpr_protocol::{Method, notification};

/// A kind of thing that servers list.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// What a model can call.
    Tools,
    /// Prepared messages.
    Prompts,
    /// What can be read under a URI.
    Resources,
    /// Patterns of such URIs (RFC 6570).
    Templates,
}

/// The text names no kind of thing that servers list.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is none of `tools`, `prompts`, `resources`, `resourceTemplates`")]
pub struct UnknownKind(pub String);

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Tools, Self::Prompts, Self::Resources, Self::Templates];

    /// The member of a list result that holds the items; also the kind's name in the store.
    pub fn member(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
        }
    }

    /// The method that lists the kind.
    pub fn method(self) -> Method {
        match self {
            Self::Tools => Method::ToolsList,
            Self::Prompts => Method::PromptsList,
            Self::Resources => Method::ResourcesList,
            Self::Templates => Method::TemplatesList,
        }
    }

    /// The kind that a method lists.
    pub fn listed_by(method: &Method) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.method() == *method)
    }

    /// The notification that says that a list of the kind changed; templates share that of resources.
    pub fn changed(self) -> &'static str {
        match self {
            Self::Tools => notification::TOOLS_CHANGED,
            Self::Prompts => notification::PROMPTS_CHANGED,
            Self::Resources | Self::Templates => notification::RESOURCES_CHANGED,
        }
    }

    /// The member of an item that says which one it is.
    pub fn key(self) -> &'static str {
        match self {
            Self::Tools | Self::Prompts => "name",
            Self::Resources => "uri",
            Self::Templates => "uriTemplate",
        }
    }

    /// What people call one item of the kind.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Tools => "tool",
            Self::Prompts => "prompt",
            Self::Resources => "resource",
            Self::Templates => "resource template",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.member())
    }
}

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(text: &str) -> Result<Self, UnknownKind> {
        let known = Self::ALL.into_iter().find(|kind| kind.member() == text);
        known.ok_or_else(|| UnknownKind(text.to_owned()))
    }
}

impl serde::Serialize for Kind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.member())
    }
}

impl<'de> serde::Deserialize<'de> for Kind {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

//! What was odd about a listing, and what was done about it.

use std::fmt;

use crate::{HeaderFault, Kind, Origin, SchemaFault, ServerName};

/// One odd thing of one server. The same listing gives the same warnings again, so a reporter that
/// wants to say each once compares them with those of the catalog before.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Warning {
    /// The server.
    pub server: ServerName,
    /// The kind of the item.
    pub kind: Kind,
    /// The item as the server named it; its place in the list, such as `#3`, where it has no name.
    pub item: String,
    /// What is odd.
    pub what: Oddity,
}

/// What can be odd about an item.
#[derive(Clone, PartialEq, Eq, Hash, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Oddity {
    /// It is left out, because it is no object.
    #[error("left out: it is not a JSON object")]
    NotAnObject,
    /// It is left out, because two readers could understand two things.
    #[error("left out: its member `{0}` is there twice")]
    Duplicate(String),
    /// It is left out, because parsers of many clients would fail at it, and lose the whole list.
    #[error("left out: it is nested more than {0} levels deep, which many clients cannot read")]
    TooDeep(usize),
    /// The same for half of a surrogate pair: JSON's grammar allows it, and it is no text.
    #[error("left out: it holds half of a character (`{0}`), which many clients cannot read")]
    HalfCharacter(String),
    /// It is left out, because `naming.style` is `raw` and its name would command a terminal or mislead a reader.
    #[error("left out: its name holds characters that cannot be seen, and `naming.style` is \"raw\"")]
    Unprintable,
    /// It is left out, because nobody could ask for it.
    #[error("left out: it has no `{0}`")]
    Nameless(&'static str),
    /// It is left out, because the server lists another one of the same name.
    #[error("left out: the server lists this name twice, the first is kept")]
    Twice,
    /// It is left out, because no client could call it.
    #[error("left out: its `inputSchema` cannot be used: {0}")]
    SchemaHopeless(SchemaFault),
    /// It is left out, as 2026-07-28 demands of clients over HTTP.
    #[error("left out: its `x-mcp-header` is not valid: {0}")]
    HeaderInvalid(HeaderFault),
    /// Its schema was repaired.
    #[error("its `inputSchema` had no `\"type\":\"object\"`, which was added")]
    SchemaRepaired,
    /// Its `_meta` was replaced.
    #[error("its `_meta` is not an object that can be added to, and was replaced")]
    MetaReplaced,
    /// Its name was shortened.
    #[error("its name is too long for clients, it is exposed as `{exposed}`")]
    Shortened {
        /// The name it got.
        exposed: String,
    },
    /// Its name was taken.
    #[error("its name `{wanted}` belongs to another one, it is exposed as `{exposed}`")]
    Renamed {
        /// The name it would have had.
        wanted: String,
        /// The name it got.
        exposed: String,
    },
    /// Another server, later in the order of the configuration, has the same name.
    #[error("`{}` of server `{}` overrides it, because `naming.prefix` is `never`", Shown(&by.name), by.server)]
    Overridden {
        /// The one that is exposed.
        by: Origin,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            server,
            kind,
            item,
            what,
        } = self;
        write!(f, "server `{server}`, {} `{}`: {what}", kind.noun(), Shown(item))
    }
}

/// A text of a server as it may stand in a message: on one line, and not longer than a line.
struct Shown<'a>(&'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LONGEST: usize = 200;
        let end = self
            .0
            .char_indices()
            .nth(LONGEST)
            .map_or(self.0.len(), |(index, _)| index);
        let (shown, rest) = self.0.split_at(end);
        write!(
            f,
            "{}{}",
            shown.escape_debug(),
            if rest.is_empty() { "" } else { "…" }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_one_line_whatever_the_server_wrote() {
        let warning = Warning {
            server: "git".parse().unwrap(),
            kind: Kind::Tools,
            item: format!("a\n{}", "x".repeat(300)),
            what: Oddity::Nameless("name"),
        };
        let text = warning.to_string();
        assert!(text.starts_with(r"server `git`, tool `a\nxxx"), "{text}");
        assert!(text.ends_with("x…`: left out: it has no `name`"), "{text}");
    }
}
